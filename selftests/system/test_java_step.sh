#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Topmost frames of a thread of a Java virtual machine, at every instruction in its code heaps: the module's step, in user
# space, and where the thread then returns to.
#	BEE_LONG=1	more instructions and more ways to run
#	BEE_JAVA=...	the command of another JDK
# timeout: 600
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
# shellcheck source=selftests/ktap.sh
. "$tree/selftests/ktap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step=$tree/build/selftests/oracle/java_step
frames=10000
[ -z "${BEE_LONG-}" ] || frames=100000

# Of a virtual machine's threads that run Java the one that has worked most.
busiest() {
	local task best='' most=-1 time
	for task in "/proc/$1/task/"*; do
		grep -qx 'java\|Thread-.*' "$task/comm" || continue
		time=$(awk '{ print $14 + $15 }' "$task/stat" 2>/dev/null) || continue
		[ "$time" -le "$most" ] || { most=$time best=${task##*/}; }
	done
	echo "$best"
}

# stepped MODE OPTIONS...: the claims of FRAMES instructions are right
stepped() {
	local mode=$1 status=0
	shift
	: >"$work/out"
	# shellcheck disable=SC2086
	${BEE_JAVA:-java} "$@" -cp "$work" JavaWork "$mode" >"$work/out" 2>&1 &
	java=$!
	# ktap_run has made a subshell.
	trap 'kill -9 "$java" 2>/dev/null || :' EXIT
	until grep -q ready "$work/out"; do
		kill -0 "$java" || { cat "$work/out"; return 1; }
		sleep 0.1
	done
	"$step" "$java" "$(busiest "$java")" "$frames" >"$work/steps" || status=$?
	tail -n 1 "$work/steps" >>"$work/totals"
	[ "$status" -eq 0 ] || cat "$work/steps"
	return "$status"
}

# The virtual machine may end meanwhile: code that was stepped has saved its flags, with that of single steps, and takes a
# trap of its own when it restores them.  Then java_step cannot tell, and another virtual machine is stepped.
stepped_again() {
	local status
	for _ in 1 2 3; do
		status=0
		(stepped "$@") || status=$?
		[ "$status" -eq 2 ] || break
	done
	return "$status"
}

command -v javac >/dev/null || ktap_skip_all "javac, which this test compiles with, is not installed"
make -s --no-print-directory -C "$here/oracle" >/dev/null
javac -d "$work" "$here/../kmod/walk/JavaWork.java"
runs=("streams" "streams -Xint" "exceptions" "arrays -XX:TieredStopAtLevel=1")
[ -z "${BEE_LONG-}" ] || runs+=("streams -XX:TieredStopAtLevel=1" "streams -XX:-TieredCompilation" "streams -XX:+UseZGC"
	"exceptions -Xint" "locks" "depth -XX:-Inline" "arrays")
ktap_plan "${#runs[@]}"
for run in "${runs[@]}"; do
	# shellcheck disable=SC2086
	ktap_run "topmost frames of Java at each instruction: $run" stepped_again $run
	ktap_diag "$run: $(tail -n 1 "$work/totals")"
done
ktap_finish
