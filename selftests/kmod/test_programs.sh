#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Plain perf -g on the programs in selftests/fixtures/programs: their stacks are complete.  On the
# instrumented kernel some of them, but longer, for samples are few there.
# timeout: 600
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

programs=$TREE/build/selftests/programs

longer=1
[ "${BEE_KERNEL-}" != debug ] || longer=4

# How often each does what it does, for some hundred samples.
times_of() {
	case $1 in
	calls.*) echo 1000 ;;
	signals.*) echo 400 ;;
	jumps.*) echo 20000 ;;
	throw.*) echo 100 ;;
	deep.*) echo 1500 ;;
	coroutines) echo 150 ;;
	threads.*) echo 20 ;;
	fortran) echo 4 ;;
	rust) echo 60 ;;
	esac
}

record() {
	local name

	for name in $names; do
		"$BEECTL" run -- "$programs/$name" "$((longer * $(times_of "$name")))" || echo "$name: status $?"
	done
}

# As comms go: 15 characters.  Prints "NAME SAMPLES COMPLETE DEEPEST".
judge() {
	PYTHONPATH=$TREE/selftests/lib /usr/bin/python3 - "$WORK/perf.data" <<-'END'
	import collections, sys
	import stacks
	data, verdict = stacks.PerfData(sys.argv[1]), stacks.Judge()
	starts = set()
	count, good, deep = collections.Counter(), collections.Counter(), collections.Counter()
	for sample in data.samples():
	    if sample.user is None:
	        continue
	    place = stacks.outermost(sample, sample.user)
	    # In an exec the user registers are those of the image before.
	    if place is None and len(sample.user) == 1:
	        continue
	    count[sample.comm] += 1
	    # Coroutines begin in libc, at one return address.
	    if sample.comm == "coroutines" and place and "libc.so" in place[0]:
	        starts.add(place)
	        place = None if len(starts) > 1 else place
	        good[sample.comm] += bool(place)
	    else:
	        good[sample.comm] += bool(place and verdict.is_start(place))
	    deep[sample.comm] = max(deep[sample.comm], len(sample.user))
	for comm in sorted(count):
	    print(comm, count[comm], good[comm], deep[comm])
	END
}

# Once without perf: what a first page fault takes to read from the disk would be seen in
# crtbegin.o's functions, which have no CFI.
warm_up() {
	local name

	for name in $names; do
		"$programs/$name" 1
	done >/dev/null 2>&1
}

# complete NAME: and as deep as the program goes.  All but those few in code without CFI:
# crtbegin.o's, in which a short program often is.
complete() {
	local samples good deep spare least=1 share=3

	[[ $1 != deep.* ]] || least=1000
	grep -F "${1:0:15} " "$WORK/judged" >"$WORK/line" || { echo "no samples"; return 1; }
	read -r _ samples good deep <"$WORK/line"
	echo "samples $samples complete $good, the deepest of $deep frames"
	# Or five: of some 80 samples a few more are in code without CFI by chance.
	spare=$((share * samples / 100 > 5 ? share * samples / 100 : 5))
	[ "$samples" -ge 20 ] && [ $((samples - good)) -le "$spare" ] && [ "$deep" -ge "$least" ] &&
		return 0
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why --comm "$1" "$WORK/perf.data" | head -n 20
	return 1
}

wanted=.
[ "${BEE_KERNEL-}" != debug ] || wanted='[.]gcc(-O2)?( |$)|[.](lazy|cet|static-pie)|^[^.]*( |$)'
mapfile -t lines <<<"$(grep -E "$wanted" "$programs/list" 2>/dev/null)"
[ -n "${lines[0]}" ] || ktap_skip_all "selftests/fixtures/programs: not built"
names=$(printf '%s\n' "${lines[@]}" | grep -v ' # SKIP ')
sysctl -q -w kernel.perf_event_max_stack=1024
guest_insmod || exit 1
# Through ld.so's resolver, which keeps its CFA in rbx, no walk comes, and short programs are
# there for up to 5 % of their time.
export LD_BIND_NOW=1
export BEECTL programs names longer
export -f times_of record
warm_up
perf record -q -N -B -e cpu-clock -F 4999 -g -o "$WORK/perf.data" -- bash -c record >"$WORK/out" 2>&1
judge >"$WORK/judged" || cat "$WORK/out"
ktap_plan $((${#lines[@]} + 1))
ktap_run "all ended well" test ! -s "$WORK/out"
ktap_diag "$(cat "$WORK/out")"
for line in "${lines[@]}"; do
	case $line in
	*' # SKIP '*) ktap_skip "${line%% #*}" "${line#* # SKIP }" ;;
	*.musl) ktap_skip "$line" "Debian's musl has no CFI" ;;
	*) ktap_run "$line" complete "$line" ;;
	esac
done
ktap_diag "$(awk '{ s += $2; c += $3 } END { print "samples", s, "complete", c }' "$WORK/judged")"
ktap_finish
