#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest's side of selftests/vm/nmi: the work that goes on while NMIs are injected.
#	nmi_guest.sh COUNT BEE_NMI.KO
# Two thirds of the NMIs come while two processes stay loaded and other processes fork, map and are
# loaded: every callchain of the two must be right.  The rest come while the module is loaded and
# unloaded.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/../kmod/guest.sh"
count=$1

taken() {
	cat /sys/module/bee_nmi/parameters/taken
}

until_taken() {
	while [ "$(taken)" -lt "$1" ]; do sleep 0.2; done
}

# One process after another, each with mappings that come and go.
storm_forks() {
	while :; do
		/usr/bin/python3 -S -c '
import mmap, os
for i in range(20):
    pid = os.fork()
    if not pid:
        with open("/bin/true", "rb") as file:
            mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
        os.execv("/bin/true", ["true"])
    os.wait()' >/dev/null 2>&1
		echo >>"$WORK/forks"
	done
}

# Requests with tables and diffs, for a process whose stacks are not judged.
storm_requests() {
	local pid

	while :; do
		sleep 100 &
		pid=$!
		"$BEECTL" load --quiet $pid && "$BEECTL" unload --quiet /usr/bin/sleep
		"$BEECTL" load --quiet $BASHPID
		kill $pid
		echo >>"$WORK/loads"
	done
}

record() {
	# perf executes its command once it records: the file then tells that it does.
	perf record -q -a -g -c 1 -m 4M -e bee_nmi:bee_nmi -o "$1" -- \
		sh -c ': >"$0" && exec sleep 100000' "$1.started" &
	recorder=$!
	guest_wait_long test -e "$1.started"
}

stop_record() {
	kill -INT "$recorder"
	wait "$recorder"
}

right_stacks() {
	local walks pids

	guest_insmod && "$BEECTL" load --quiet "${deep[@]}" || return 1
	storm_forks &
	pids=$!
	storm_requests 2>"$WORK/storm.err" &
	pids="$pids $!"
	record "$WORK/nmi.data" || return 1
	walks=$(guest_status walks)
	echo "# inject" >&3
	until_taken $((count * 2 / 3))
	stop_record
	walks=$(($(guest_status walks) - walks))
	# shellcheck disable=SC2086
	kill $pids
	echo "# $(taken) NMIs taken, $(cat /sys/module/bee_nmi/parameters/user) of them in user code;" \
		"$walks walks, $(wc -l <"$WORK/forks") x 20 forks, $(wc -l <"$WORK/loads") x 3 loads" >&3
	head -n 3 "$WORK/storm.err"
	[ "$walks" -gt $((count / 20)) ] || { echo "too few walks"; return 1; }
	perf script -i "$WORK/nmi.data" --kallsyms=/proc/kallsyms -F comm,tid,ip,sym --no-inline 2>/dev/null |
		/usr/bin/python3 "$TREE/selftests/lib/deep.py" 99 "${deep[@]}" >"$WORK/judged"
	local status=$?
	sed 's/^/# /' "$WORK/judged" >&3
	return $status
}

come_and_go() {
	local i=0 before
	before=$(taken)

	record "$WORK/go.data" || return 1
	while [ "$(taken)" -lt $((before + count / 3)) ] || [ $i -lt 3 ]; do
		guest_rmmod && guest_insmod || return 1
		"$BEECTL" load --quiet "${deep[@]}" || return 1
		i=$((i + 1))
	done
	kill -0 "$recorder" || return 1
	stop_record
	echo "# $i times loaded and unloaded, $(($(taken) - before)) NMIs taken" >&3
}

exec 3>&1
insmod "$2" || exit 1
deep=()
for cpu in 0 1; do
	taskset -c $cpu "$TESTS/deep_work" >"$WORK/deep.$cpu" &
	deep+=($!)
	guest_wait grep -q ready "$WORK/deep.$cpu" || exit 1
done
ktap_plan 2
# Not ktap_run, which would use a subshell: the second test needs what the first has started.
if right_stacks >"$WORK/log" 2>&1; then ktap_ok "stacks taken in NMI are right"; else
	ktap_diag "$(cat "$WORK/log")"
	ktap_fail "stacks taken in NMI are right"
fi
if come_and_go >"$WORK/log" 2>&1; then ktap_ok "the module comes and goes under NMIs"; else
	ktap_diag "$(cat "$WORK/log")"
	ktap_fail "the module comes and goes under NMIs"
fi
ktap_finish
