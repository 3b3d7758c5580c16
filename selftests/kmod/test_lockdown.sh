#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernel lockdown: a loaded module goes on working; an unsigned module cannot be loaded.  Lockdown
# cannot be lifted, so this test is the guest's last.
# once: 1
# last: 1
# cpus: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
lockdown=/sys/kernel/security/lockdown

locked_to() {
	grep -q "\[$1\]" "$lockdown"
}

comes_and_goes() {
	locked_to none && guest_insmod && rmmod beeunwind
}

# The loaded module works: it answers requests, places its hook, and perf's stacks are complete.
works() {
	local seconds status=0

	echo "$1" >"$lockdown" && locked_to "$1" || return 1
	"$BEECTL" load --quiet "$deep" && "$BEECTL" config hook off && "$BEECTL" config hook on || return 1
	# A guest that shares its CPUs takes few samples in a second.
	for seconds in 1 8; do
		status=0
		perf record -q -g -e cpu-clock:u -F 999 -o "$WORK/deep.data" -p "$deep" -- \
			sleep "$seconds" >/dev/null || return 1
		/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge "$WORK/deep.data" \
			>"$WORK/judged" && /usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
print(got)
sys.exit(2 if got["samples"] < 100 else got["complete"] < 0.99 * got["samples"])' <"$WORK/judged" ||
			status=$?
		[ "$status" -eq 2 ] || break
	done
	"$BEECTL" unload --quiet --all || status=1
	return $status
}

stays_out() {
	rmmod beeunwind || return 1
	! guest_insmod 2>"$WORK/err" && [ ! -e /sys/module/beeunwind ] || return 1
	grep -q "Operation not permitted" "$WORK/err" || { cat "$WORK/err"; return 1; }
	dmesg | tail -n 5 | grep -i "lockdown.*unsigned module" || return 1
	! "$BEECTL" load --quiet "$deep" 2>"$WORK/err" || return 1
	grep -q "not loaded" "$WORK/err" || { cat "$WORK/err"; return 1; }
}

mountpoint -q /sys/kernel/security ||
	mount -t securityfs securityfs /sys/kernel/security 2>/dev/null ||
	ktap_skip_all "this kernel has no securityfs"
[ -e $lockdown ] || ktap_skip_all "this kernel has no lockdown"
"$TESTS/deep_work" >"$WORK/deep" &
deep=$!
guest_wait grep -q ready "$WORK/deep"
ktap_plan 4
ktap_run "without lockdown an unsigned module loads and unloads" comes_and_goes
guest_insmod
ktap_run "a module loaded before works on under lockdown integrity" works integrity
ktap_run "a module loaded before works on under lockdown confidentiality" works confidentiality
ktap_run "under lockdown an unsigned module is refused, and beectl says why" stays_out
ktap_finish
