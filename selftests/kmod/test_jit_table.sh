#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks through code that a JIT compiler has registered with CFI: each stack is known.
# timeout: 900
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

MARKS="id == 110"

# served PROGRAM READY GO: load the program's tables whenever it waits for them
served() {
	local pid
	guest_wait pidof "$1" || return 1
	pid=$(pidof "$1")
	while read -r -n 1 <"$2" && [ -d "/proc/$pid" ]; do
		"$BEECTL" load --cfi-only "$pid" >>"$WORK/loads" 2>&1 ||
			echo "load: status $?" >>"$WORK/loads"
		echo g >"$3"
	done
}

# known_stacks: all marks of walk_registered have the stacks that it prints
known_stacks() {
	local server status=0

	mkfifo "$WORK/ready" "$WORK/go"
	served walk_registered "$WORK/ready" "$WORK/go" &
	server=$!
	perf record -q -N -B -e raw_syscalls:sys_enter --filter "$MARKS" -c 1 -g \
		-o "$WORK/known.data" setarch -R "$TESTS/walk_registered" "$WORK/ready" "$WORK/go" \
		>"$WORK/known.said" || status=1
	kill "$server"
	cat "$WORK/loads"
	[ "$status" = 0 ] && /usr/bin/python3 "$TREE/selftests/kmod/walk/check.py" "$WORK/known.data" \
		walk_registered "$WORK/known.said"
}

guest_insmod || exit 1
ktap_plan 1
ktap_run "known stacks through registered code" known_stacks
ktap_finish
