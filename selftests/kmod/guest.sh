# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What the scripts that run in a guest share.  BEE_KO and BEECTL come from
# selftests/run; the work directory is gone with the script.
set -u

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BEE_KO=${BEE_KO:-$TREE/build/kmod/$(uname -r)/beeunwind.ko}
BEECTL=${BEECTL:-$TREE/beectl}
TESTS=$TREE/build/selftests/kmod
WORK=$(mktemp -d)
# perf would link what it has seen into its build-id cache; here / is an overlayfs, on which
# a file that is linked becomes another one.
export HOME=$WORK
printf '[record]\n\tbuild-id = skip\n' >"$HOME/.perfconfig"
# On the instrumented kernel a callchain may take longer than a test's sampling period: there
# would be time for nothing else.  perf then samples at this rate, and says so.
if [ "${BEE_KERNEL-}" = debug ]; then
	sysctl -q -w kernel.perf_cpu_time_max_percent=25 kernel.perf_event_max_sample_rate=500
fi
# shellcheck source=selftests/ktap.sh
. "$TREE/selftests/ktap.sh"

guest_exit() {
	local pids
	pids=$(jobs -p)
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
	rm -rf "$WORK"
	[ ! -e /sys/module/beeunwind ] || rmmod beeunwind
}
trap guest_exit EXIT

guest_insmod() {
	insmod "$BEE_KO" "$@"
}

# Wait for a command to succeed; 20 s is for ever even in an emulated machine, but for one
# with the instrumented kernel.
guest_wait() {
	local i tries=200

	[ "${BEE_KERNEL-}" != debug ] || tries=1000
	for i in $(seq "$tries"); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	echo "gave up waiting for: $*"
	return 1
}

# A field of "beectl status --json".
guest_status() {
	"$BEECTL" status --json | /usr/bin/python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    value = value[key]
print(value)' "$1"
}
