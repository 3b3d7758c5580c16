#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest's side of selftests/vm/nmi --torture: runs the torture test while NMIs are injected, and
# then looks for leaked memory if the kernel has kmemleak.
#	torture_guest.sh SECONDS BEE_NMI.KO
# Needs BEE_TEST_KO.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/../kmod/guest.sh"
seconds=$1

taken() {
	cat /sys/module/bee_nmi/parameters/taken
}

# Print a line a minute, so that a run that hangs shows how far it came.  No process is forked for
# it, because the torture test counts processes.
watch_it() {
	local up nmis name value found

	while ! read -r -t 60 <>"$WORK/never"; do
		read -r up _ </proc/uptime
		read -r nmis </sys/module/bee_nmi/parameters/taken
		found=
		while read -r name value; do
			found="$found $name $value"
		done 2>/dev/null </sys/module/beeunwind/parameters/mapped
		while read -r name value; do
			[[ $name != @(MemAvailable|Shmem|SUnreclaim): ]] || found="$found $name $value"
		done </proc/meminfo
		echo "# $up s up: $nmis NMIs,$found"
	done
}

torture() {
	TORTURE_SECONDS=$seconds "$TREE/selftests/kmod/test_torture.py" 2>&1 | sed -u 's/^/# /'
	return "${PIPESTATUS[0]}"
}

insmod "$2" || exit 1
ktap_plan 3
perf record -q -a -g -c 1 -m 1M -e bee_nmi:bee_nmi -o /dev/null &
recorder=$!
guest_wait grep -qx perf /proc/$recorder/comm
mkfifo "$WORK/never"
watch_it &
echo "# inject"
if torture; then ktap_ok "torture under NMIs"; else ktap_fail "torture under NMIs"; fi
nmis=$(taken)
echo "# $nmis NMIs taken, $(cat /sys/module/bee_nmi/parameters/user) of them in user code"
if [ "$nmis" -gt "$seconds" ] && kill -INT $recorder; then
	ktap_ok "NMIs came, and perf recorded to the end"
else
	ktap_fail "NMIs came, and perf recorded to the end"
fi
if [ ! -e /sys/kernel/debug/kmemleak ]; then
	ktap_skip "nothing is leaked" "no kmemleak in this kernel"
else
	ktap_run "nothing is leaked" "$TREE/selftests/lib/leaks.sh"
fi
ktap_finish
