# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts that sample programs of selftests/kmod/walk; after guest.sh.

# At rt_sigreturn() the topmost frame is the signal trampoline.
SIGRETURN="id == 15"

# What is tested of code without CFI are the steps of the walk, not the rows that its code proves; with
# ROWS="" it is both.
ROWS=--cfi-only

# sampled DATA PROGRAM: record a callchain at each mark of a program of selftests/kmod/walk
sampled() {
	perf record -q -N -B -e raw_syscalls:sys_enter --filter "$MARKS" -c 1 -g \
		-o "$WORK/$1.data" setarch -R "$BEECTL" run ${ROWS:+"$ROWS"} -- "$TESTS/$2" >"$WORK/$1.said"
}

# checked DATA PROGRAM [EVENT]: the sampled stacks are those that the program printed
checked() {
	/usr/bin/python3 "$TREE/selftests/kmod/walk/check.py" "$WORK/$1.data" "$TESTS/$2" \
		"$WORK/$1.said" "${@:3}"
}

known() {
	sampled "$@" && checked "$@"
}

with_sigreturn() {
	local MARKS="$MARKS || $SIGRETURN"
	known "$@"
}

# complete PERCENT DATA [OPTION]...: at least 100 samples, and so many that two incomplete ones are
# not too many unless PERCENT is 100 (20 on the instrumented kernel, which takes few), of which at
# least PERCENT are complete.  Status 2: too few samples.
complete() {
	local percent=$1 data=$WORK/$2.clock least=100
	[ "$percent" != 99.5 ] || least=400
	[ "${BEE_KERNEL-}" != debug ] || least=20
	shift 2
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge "$@" "$data" >"$WORK/judged" || return 1
	tee -a "$WORK/figures" <"$WORK/judged"
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why "$@" "$data" | head -n 20
	/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
sys.exit(2 if got["samples"] < int(sys.argv[2]) else
         got["complete"] < float(sys.argv[1]) / 100 * got["samples"])' \
		"$percent" "$least" <"$WORK/judged"
}

# enough COMMAND...: run COMMAND with seconds=1.  If it returns 2, which means too few samples, as on a
# busy host, run it again with more seconds.
enough() {
	local seconds status

	for seconds in 1 8 32 128; do
		status=0
		"$@" || status=$?
		[ "$status" -eq 2 ] || return "$status"
	done
	return 1
}

# clocked PROGRAM: sample the program at any instruction for $seconds.  The tables are not those of
# sampled(), which lack code without CFI, like that of crtbegin.o.
clocked() {
	"$BEECTL" unload -q --all || return 1
	perf record -q -N -B -e cpu-clock -F 1999 -g -o "$WORK/$1.clock" \
		"$BEECTL" run -- "$TESTS/$1" "$seconds" >/dev/null
}

# complete_through MAPPING PROGRAM: all samples with a frame in this mapping are complete
complete_through() {
	clocked "$2" && complete 100 "$2" --comm "$2" --through "$1"
}
