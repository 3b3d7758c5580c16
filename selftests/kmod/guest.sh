# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts that run in a guest.  selftests/run sets BEE_KO and BEECTL; the work
# directory is removed when the script ends.
set -u

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BEE_KO=${BEE_KO:-$TREE/build/kmod/$(uname -r)/beeunwind.ko}
BEECTL=${BEECTL:-$TREE/beectl}
TESTS=$TREE/build/selftests/kmod
WORK=$(mktemp -d)
export BEEUNWIND_LOAD=no	# beectl loads no module: the scripts do
# The system call by which the programs of selftests/kmod/walk mark a stack that is known: getppid().
MARKS="id == 110"
# By default perf links the files in which it has samples into its build-id cache.  The guest's /
# is an overlayfs, where a link copies the file up: it gets another inode.
export HOME=$WORK
printf '[record]\n\tbuild-id = skip\n' >"$HOME/.perfconfig"
# perf record spends half of its start on the kernel's symbols.  A script that does not look at them,
# nor at what perf says (it warns that they are hidden), sets NO_KERNEL_SYMBOLS.
sysctl -q -w "kernel.kptr_restrict=$([ -n "${NO_KERNEL_SYMBOLS-}" ] && echo 2 || echo 0)"
# On the instrumented kernel a callchain may take longer than a test's sampling period, and the
# guest would do nothing but sample.  With these limits perf lowers the rate, and says so.
if [ "${BEE_KERNEL-}" = debug ]; then
	sysctl -q -w kernel.perf_cpu_time_max_percent=25 kernel.perf_event_max_sample_rate=500
fi
# shellcheck source=selftests/ktap.sh
. "$TREE/selftests/ktap.sh"

# Scripts may set it, and guest_exit sets it back, which the kernel refuses as long as there are events
# with callchains.
MAX_STACK=$(cat /proc/sys/kernel/perf_event_max_stack)

max_stack_back() {
	[ "$(cat /proc/sys/kernel/perf_event_max_stack)" = "$MAX_STACK" ] ||
		sysctl -q -w "kernel.perf_event_max_stack=$MAX_STACK"
}

guest_exit() {
	local pids
	pids=$(jobs -p)
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
	guest_wait max_stack_back
	rm -rf "$WORK"
	[ ! -e /sys/module/beeunwind ] || guest_rmmod
}
trap guest_exit EXIT

guest_insmod() {
	insmod "$BEE_KO" "$@"
}

# guest_rmmod: remove the module.  Waits: a process that was killed just before may not have closed its netlink
# socket yet, and while the kernel answers a request of that socket the module is in use.
guest_rmmod() {
	guest_wait rmmod beeunwind
}

# guest_cache: from here on beectl has a cache of the script's own, which is empty.  Before, it has that
# of the guest, with tables of what many scripts run (selftests/lib/prewarm.sh).
guest_cache() {
	rm -rf "$WORK/cache"
	mkdir -m 700 "$WORK/cache"
	export BEEUNWIND_CACHE=$WORK/cache
}

# guest_hooks: print the functions that ftrace has hooked, and how often
guest_hooks() {
	awk '{ print $1, $2 }' /sys/kernel/tracing/enabled_functions
}

# hooks_are TEXT: what guest_hooks has printed
hooks_are() {
	[ "$(guest_hooks)" = "$1" ] || { diff <(echo "$1") <(guest_hooks); return 1; }
}

# table_is PATH: whether the module has a table of this file
table_is() {
	"$BEECTL" status --files --json | /usr/bin/python3 -c '
import json, sys
sys.exit(not any(f["loaded"] and f["path"] == sys.argv[1] for f in json.load(sys.stdin)["files"]))' "$1"
}

# guest_clock NAME: set a variable to the seconds that this guest ran or slept, without those in
# which it waited for a CPU of the host.
guest_clock() {
	until read -r "$1" </run/bee/clock; do
		:	# it is being written
	done
}

# guest_wait COMMAND...: wait for a command to succeed.  Gives up after 30 s of guest_clock, which is
# ample even in an emulated machine, and later on the instrumented kernel.
guest_wait() {
	local now end seconds=30

	[ "${BEE_KERNEL-}" != debug ] || seconds=150
	guest_clock end
	end=$((end + seconds))
	while guest_clock now && [ "$now" -lt "$end" ]; do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	echo "gave up waiting for: $*"
	return 1
}

# guest_wait_long COMMAND...: as guest_wait, but eight times as long, for what can take a guest minutes: the tables of
# large libraries, and files that wait behind these.
guest_wait_long() {
	for _ in 1 2 3 4 5 6 7; do
		guest_wait "$@" >/dev/null && return 0
	done
	guest_wait "$@"
}

# The output of the script, for guest_nested where output is hidden.
exec 3>&1

# guest_nested COMMAND...: run a test; its results, skipped ones too, are shown and counted as parts of the
# next one of this script
guest_nested() {
	local status=0

	"$@" >"$WORK/nested" 2>&1 3>&- || status=$?
	sed 's/^/    /' "$WORK/nested" >&3
	return "$status"
}

# is_asleep PID: the process waits for something, and not only for a CPU
is_asleep() {
	grep -q "^State:.S" "/proc/$1/status"
}

# guest_status FIELD: print a field of "beectl status --json", which has each on a line of its own.
guest_status() {
	"$BEECTL" status --json | sed -n "s/^  \"$1\": \"*\([^\"]*[^\",]\)\"*,*\$/\1/p" | grep .
}
