#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Plain perf -g on the programs in selftests/fixtures/programs: their stacks are complete.  The
# instrumented kernel takes few samples, so there only some programs run, but longer.
# once: 1
# timeout: 1200
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

programs=$TREE/build/selftests/programs

longer=1
[ "${BEE_KERNEL-}" != debug ] || longer=4

# times_of PROGRAM: print how often the program must do its work for some hundred samples.
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
	effects) echo 1500 ;;
	stdio.*) echo 5000 ;;
	handlers.*) echo 10000 ;;
	esac
}

record() {
	local name

	for name in $names; do
		"$BEECTL" run -- "$programs/$name" "$((longer * $(times_of "$name")))" || echo "$name: status $?"
	done
}

# judge DATA: print "NAME SAMPLES COMPLETE DEEPEST STARTING DATA" for each comm, a program's name cut to 15
# characters.  STARTING are samples that are not judged: musl's dynamic linker ends its work in a function that has
# no rows, since it sets rsp to another stack and jumps.  A program that it loads is judged from the first stack on
# that has a frame of the program.
judge() {
	PYTHONPATH=$TREE/selftests/lib /usr/bin/python3 - "$1" <<-'END'
	import collections, os, sys
	import stacks
	data, verdict = stacks.PerfData(sys.argv[1]), stacks.Judge()
	starts, running = set(), set()
	count, good, deep = collections.Counter(), collections.Counter(), collections.Counter()
	starting = collections.Counter()

	def is_starting(sample):
	    if ".musl-d" in sample.comm and sample.pid not in running:
	        places = filter(None, map(sample.places.find, sample.user))
	        if all(os.path.basename(path)[:15] != sample.comm for path, _ in places):
	            return True
	        running.add(sample.pid)
	    return False

	for sample in data.samples():
	    if sample.user is None:
	        continue
	    place = stacks.outermost(sample, sample.user)
	    # In an exec the user registers are still those of the program before it.
	    if place is None and len(sample.user) == 1:
	        continue
	    if is_starting(sample):
	        starting[sample.comm] += 1
	        continue
	    count[sample.comm] += 1
	    # A coroutine's outermost return address is in libc, the same in all samples.
	    if sample.comm == "coroutines" and place and "libc.so" in place[0]:
	        starts.add(place)
	        place = None if len(starts) > 1 else place
	        good[sample.comm] += bool(place)
	    else:
	        good[sample.comm] += bool(place and verdict.is_start(place))
	    deep[sample.comm] = max(deep[sample.comm], len(sample.user))
	for comm in sorted(count):
	    print(comm, count[comm], good[comm], deep[comm], starting[comm], sys.argv[1])
	END
}

# Run each program once without perf, so that its files are in the page cache when it is sampled.
warm_up() {
	local name

	for name in $names; do
		"$programs/$name" 1
	done >/dev/null 2>&1
}

# last_of NAME: what judge has printed of the program last.
last_of() {
	awk -v name="${1:0:15}" '$1 == name { line = $0 } END { print line }' "$WORK/judged"
}

# On a busy host few timer interrupts may come while a program does its work.  A program that has fewer than $least
# samples is recorded again, with eight times as much work.  throw.* needs 1,000 samples: those that are not
# complete come in groups, and among few samples one group would be a large share.
record_all() {
	local data name samples todo least

	for data in "$WORK"/{1,2,3}.data; do
		perf record -q -N -B -e cpu-clock -F 4999 -g -o "$data" -- bash -c record >>"$WORK/out" 2>&1
		judge "$data" >>"$WORK/judged" || cat "$WORK/out"
		todo=
		for name in $names; do
			read -r _ samples _ <<<"$(last_of "$name")"
			least=$enough
			[[ $name = throw.* && "${BEE_KERNEL-}" != debug ]] && least=1000
			[ "${samples:-0}" -ge "$least" ] || todo+=" $name"
		done
		names=$todo longer=$((longer * 8))
		[ -n "$names" ] || break
		ktap_diag "more work for$names"
	done
}

# complete NAME: the program's stacks are complete, and deep.* is 1000 frames deep.  3 % may be
# incomplete: pages of code or stack can be absent when a sample is taken.  Of throw.* 6 % may be: before
# _Unwind_RaiseException() (libgcc) jumps to the function that catches, it writes that function's registers
# over those that it has saved, and its CFI goes on to say that they are its caller's.
complete() {
	local samples good deep starting data spare least=1 share=3

	[[ $1 != deep.* ]] || least=1000
	[[ $1 != throw.* ]] || share=6
	# In musl's vfork() the return address is in rdx, for which there is no rule, its longjmp() has no rows, as it sets
	# rsp, and behind exit_group() there are none.  The program does little else.
	[[ $1 != jumps.musl* ]] || share=30
	read -r _ samples good deep starting data <<<"$(last_of "$1")"
	[ -n "$samples" ] || { echo "no samples"; return 1; }
	echo "samples $samples complete $good, the deepest of $deep frames; $starting before the program ran"
	# Or five samples may be, where fewer are enough.
	spare=$((share * samples / 100 > 5 ? share * samples / 100 : 5))
	[ "$samples" -ge "$enough" ] && [ $((samples - good)) -le "$spare" ] && [ "$deep" -ge "$least" ] &&
		return 0
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why --comm "$1" "$data" | head -n 20
	return 1
}

wanted=.
[ "${BEE_KERNEL-}" != debug ] || wanted='[.]gcc(-O2)?( |$)|[.](lazy|cet|static-pie)|^[^.]*( |$)'
mapfile -t lines <<<"$(grep -E "$wanted" "$programs/list" 2>/dev/null)"
[ -n "${lines[0]}" ] || { echo "$programs/list: not built"; exit 1; }
names=$(printf '%s\n' "${lines[@]}" | grep -v ' # SKIP ')
sysctl -q -w kernel.perf_event_max_stack=1024
guest_insmod || exit 1
export BEECTL programs names longer
export -f times_of record
warm_up
# Of so many five are 3 %.
enough=170
[ "${BEE_KERNEL-}" != debug ] || enough=20
record_all
ktap_plan $((${#lines[@]} + 1))
ktap_run "all programs of the test have ended with success" test ! -s "$WORK/out"
ktap_diag "$(cat "$WORK/out")"
for line in "${lines[@]}"; do
	case $line in
	*' # SKIP '*) ktap_skip "stacks of ${line%% #*} are complete" "${line#* # SKIP }" ;;
	*) ktap_run "stacks of $line are complete" complete "$line" ;;
	esac
done
ktap_diag "$(awk '{ s += $2; c += $3 } END { print "samples", s, "complete", c }' "$WORK/judged")"
ktap_finish
