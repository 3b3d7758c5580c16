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

# Wait for a command to succeed; 20 s is for ever even in an emulated machine.
guest_wait() {
	local i
	for i in $(seq 200); do
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
