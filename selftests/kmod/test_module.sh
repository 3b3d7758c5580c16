#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module is loaded and unloaded, leaves nothing behind, and does not change the callchains of
# processes whose files have no tables.
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

mkdir "$WORK/files"
touch "$WORK"/files/{1..60}

# Print the callchains of a program that does the same in every run, one for each system call.
chains() {
	perf record -q -e raw_syscalls:sys_enter -c 1 -g -o "$WORK/chains.data" \
		setarch -R /bin/ls -l --color=never "$WORK/files" >/dev/null &&
		perf script -i "$WORK/chains.data" -F comm,ip --no-inline |
		awk '/^ls/ { on = 1 } on' >"$1"
	[ -s "$1" ] && [ "$(grep -c . "$1")" -gt 500 ]
}

loads_and_unloads() {
	local before

	before=$(guest_hooks)
	guest_insmod && [ "$(guest_status hook)" = on ] && ! hooks_are "$before" || return 1
	rmmod beeunwind && [ ! -e /sys/module/beeunwind ] && hooks_are "$before"
}

unknown_is_untouched() {
	chains "$WORK/before.1" && chains "$WORK/before.2" || return 1
	cmp "$WORK/before.1" "$WORK/before.2" || { echo "two runs without the module differ"; return 1; }
	guest_insmod && chains "$WORK/with" || return 1
	[ "$(guest_status hook_hits)" -gt 100 ] || { echo "the hook did not see the samples"; return 1; }
	rmmod beeunwind && cmp "$WORK/before.1" "$WORK/with"
}

unloaded_is_as_before() {
	chains "$WORK/after" && cmp "$WORK/before.1" "$WORK/after"
}

ktap_plan 3
ktap_run "the module loads, sits in perf's path, and unloads" loads_and_unloads
ktap_run "a process whose files are unknown has the callchains that it has without the module" \
	unknown_is_untouched
ktap_run "after rmmod a process has the callchains that it had before insmod" unloaded_is_as_before
ktap_finish
