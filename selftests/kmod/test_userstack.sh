#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# User stacks that ftrace takes at a tracepoint (options/userstacktrace) are those that perf takes there.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
TRACING=/sys/kernel/tracing
EVENT=$TRACING/events/syscalls/sys_enter_write

# shellcheck disable=SC2034  # named by their names
perl=(/usr/bin/perl -e '$| = 1; print "x" for 1 .. 200')
# shellcheck disable=SC2034
python3=(/usr/bin/python3 -c 'for i in range(200): print("x", flush=True)')

# The stacks of one program: ftrace's in the file "trace", perf's in "data".  Prints how many there are and how many
# are equal.  ftrace takes 8 frames of each.
cat >"$WORK/compare.py" <<'END'
import re, sys
comm, trace, data, lib = sys.argv[1:]
sys.path.insert(0, lib)
import stacks
ftrace = []
for line in open(trace):
    if "<user stack trace>" in line:
        mine = line.strip().startswith(comm + "-")
        if mine:
            ftrace.append([])
    elif line.startswith(" =>") and mine:
        ftrace[-1].append(int(re.search("<([0-9a-f]+)>", line)[1], 16))
perf = [list(sample.user or []) for sample in stacks.PerfData(data).samples() if sample.comm == comm]
equal = sum(a == b[:8] for a, b in zip(ftrace, perf))
deep = sum(len(a) == 8 for a in ftrace)
print(f"{len(ftrace)} stacks of ftrace, {len(perf)} of perf, {equal} equal, {deep} of 8 frames; the first ones:")
for stack in ftrace[:1] + perf[:1]:
    print(*(f"{ip:x}" for ip in stack))
print(len(ftrace), len(perf), equal, deep, file=sys.stderr)
END

tracing_end() {
	echo 0 >"$EVENT/enable"
	echo 0 >"$EVENT/filter"
	echo 0 >"$TRACING/options/userstacktrace"
	echo >"$TRACING/trace"
}

# stacks NAME: sets "ftrace", "perf", "equal" and "deep", the numbers that compare.py prints
stacks() {
	local -n command=$1
	echo >"$TRACING/trace"
	echo "comm == \"$1\"" >"$EVENT/filter" && echo 1 >"$TRACING/options/userstacktrace" && echo 1 >"$EVENT/enable" &&
		perf record -q -N -B -e syscalls:sys_enter_write -g --user-callchains -o "$WORK/data" -- \
			"$BEECTL" run -- "${command[@]}" >/dev/null || { tracing_end; return 1; }
	cat "$TRACING/trace" >"$WORK/trace"
	tracing_end
	/usr/bin/python3 "$WORK/compare.py" "$1" "$WORK/trace" "$WORK/data" "$TREE/selftests/lib" 2>"$WORK/numbers" &&
		read -r ftrace perf equal deep <"$WORK/numbers"
}

# In the first run the tables may come while the program runs.
as_perf() {
	stacks "$1" && stacks "$1" && [ "$ftrace" -ge 200 ] && [ "$perf" -eq "$ftrace" ] && [ "$equal" -eq "$ftrace" ] &&
		[ "$deep" -ge 200 ]
}

# Both go by the frame pointer then.
not_without() {
	local status=0
	"$BEECTL" config hook off && stacks "$1" && [ "$ftrace" -ge 200 ] && [ "$deep" -lt 20 ] || status=1
	"$BEECTL" config hook on
	return "$status"
}

guest_cache
guest_insmod || exit 1
ktap_plan 4
for program in perl python3; do
	ktap_run "$program: ftrace's stacks are perf's" as_perf "$program"
	ktap_run "$program: with the hook off ftrace's stacks are short" not_without "$program"
done
ktap_finish
