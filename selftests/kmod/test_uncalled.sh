#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each function that the module hooks to follow processes is called by what beectl status does; if
# one is not, as on a kernel that has inlined it, beectl says so.
# cpus: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

uncalled() {
	/usr/bin/python3 -c 'import json, sys; print(*json.load(open(sys.argv[1]))["uncalled"])' "$WORK/json"
}

# A beectl that cannot move memory stands for a kernel on which copy_vma() is never called.
without_moves() {
	printf '%s\n' '#define _GNU_SOURCE' '#include <sys/mman.h>' \
		'void *mremap(void *at, size_t old, size_t new, int flags, ...)' \
		'{ (void)at, (void)old, (void)new, (void)flags; return MAP_FAILED; }' >"$WORK/still.c"
	gcc -shared -fPIC -o "$WORK/still.so" "$WORK/still.c" || return 1
	guest_insmod || return 1
	! LD_PRELOAD=$WORK/still.so "$BEECTL" status >"$WORK/out" && grep '^broken: .*copy_vma' "$WORK/out" &&
		! grep 'broken: .*begin_new_exec' "$WORK/out"
}

all_called() {
	"$BEECTL" status --json >"$WORK/json" && [ -z "$(uncalled)" ]
}

ktap_plan 2
ktap_run "a function that is never called is named" without_moves
ktap_run "all are called when beectl makes the calls" all_called
ktap_finish
