#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame names what perf script names: for each recording the same folded stacks.
# slow: 1
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"

record=(perf record -q -F 499 -e cpu-clock -g)

# same_as_perf OPTION COMMAND...: record the command with this option of perf's, or ""
same_as_perf() {
	local option=$1
	shift
	"${record[@]}" ${option:+"$option"} -o "$work/real.data" -- "$@" >/dev/null 2>"$work/errors" ||
		{ cat "$work/errors"; return 1; }
	"$beectl" flame "$work/real.data" --samples --format folded >"$work/folded" 2>"$work/errors" || return
	grep '_\[k\]' "$work/folded" >>"$work/kernel"
	# Debian 13's perf writes the arguments of C++ functions, too; that of Debian 12 does as c++filt -p.
	perf script -f -i "$work/real.data" -F comm,pid,tid,event,ip,sym,symoff,dso --no-inline \
		--max-stack 65536 --no-demangle 2>/dev/null | c++filt -p -i |
		"$python" "$tree/selftests/lib/collapse.py" "$work/folded"
}

# As perf script has them; -z: compressed.  Three attempts: perf has more rules of its own than
# collapse.py knows, for addresses that few recordings have; what we do wrong is in all of them.
check_like_perf() {
	local option
	for option in "" -z; do
		same_as_perf "$option" "$@" || same_as_perf "$option" "$@" || same_as_perf "$option" "$@" || return
	done
}

# The functions of node are in a perf map in /tmp, where perf looks for it.
check_node() {
	# shellcheck disable=SC2016  # for node
	check_like_perf sh -c 'cd "$0" && echo $$ >>pids && exec node --perf-basic-prof -e "$1"' "$work" '
		function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
		for (let k = 0; k < 60; k++) {
			let s = "";
			for (let i = 0; i < 1e4; i++)
				s += i;
			JSON.parse(JSON.stringify({ s, a: s.split("1") }));
			f(22);
		}'
	local status=$? pid
	while read -r pid; do
		rm -f "/tmp/perf-$pid.map"
	done <"$work/pids"
	return $status
}

check_cc1plus() {
	local words=$tree/selftests/lib/demo_words.cc
	g++ -std=gnu++17 -E "$words" -o "$work/words.ii" &&
		check_like_perf "$(gcc -print-prog-name=cc1plus)" -quiet -fpreprocessed -O2 -std=gnu++17 "$work/words.ii" -o /dev/null
}

check_cxx() {
	g++ -O2 -g -o "$work/words" "$tree/selftests/lib/demo_words.cc" &&
		seq 200000 >"$work/text" && check_like_perf "$work/words" "$work/text" 1
}

check_rust() {
	cat >"$work/shapes.rs" <<-'END'
		use std::collections::HashMap;
		trait Shape { fn area(&self) -> f64; }
		struct Square<T>(T);
		impl<T: Into<f64> + Copy> Shape for Square<T> {
			fn area(&self) -> f64 { let side: f64 = self.0.into(); side * side }
		}
		#[inline(never)]
		fn sum(shapes: &[Box<dyn Shape>]) -> f64 { shapes.iter().map(|s| s.area()).sum() }
		#[inline(never)]
		fn words(n: u32) -> HashMap<String, u32> {
			let mut found = HashMap::new();
			for i in 0..n { *found.entry(format!("w{}", i % 977)).or_insert(0) += i; }
			found
		}
		fn main() {
			let shapes: Vec<Box<dyn Shape>> = (0..1000u32).map(|i| if i % 2 == 0 {
				Box::new(Square(i)) as Box<dyn Shape>
			} else {
				Box::new(Square(i as f32))
			}).collect();
			let total: f64 = (0..400).map(|i| sum(&shapes) + words(2000 + i).len() as f64).sum();
			std::fs::write("/dev/null", total.to_string()).unwrap();
		}
	END
	rustc -g -O -C force-frame-pointers=yes "$work/shapes.rs" -o "$work/shapes" 2>"$work/errors" ||
		{ cat "$work/errors"; return 1; }
	check_like_perf "$work/shapes"
}

# Each process begins with samples that stand for little: shares by number are not those by period, which perf
# report has.  From the recording, and from what perf script prints of it.
check_shares() {
	cat >"$work/faults.c" <<-'END'
		#include <stdlib.h>
		#include <sys/mman.h>
		__attribute__((noinline)) static void touch(int pages)
		{
			char *at = mmap(0, 40 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			madvise(at, 40 << 20, MADV_NOHUGEPAGE);
			while (pages--)
				at[4096 * pages] = 1;
		}
		__attribute__((noinline)) static void early(void) { touch(80); __asm__ volatile(""); }
		__attribute__((noinline)) static void late(void) { touch(4000); __asm__ volatile(""); }
		int main(void) { early(); late(); }
	END
	gcc -O1 -g -fno-omit-frame-pointer "$work/faults.c" -o "$work/faults" &&
		perf record -q -e page-faults:u -F 999 -g -o "$work/faults.data" -- \
			sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "$0"; done' "$work/faults" >/dev/null 2>"$work/errors" ||
		{ cat "$work/errors"; return 1; }
	perf script -i "$work/faults.data" >"$work/faults.script" 2>/dev/null || return
	perf report -i "$work/faults.data" --children -g none --sort sym --stdio 2>/dev/null >"$work/report" || return
	local input
	for input in data script; do
		"$beectl" flame "$work/faults.$input" --json >"$work/ours.json" 2>"$work/errors" &&
			"$python" "$tree/selftests/lib/shares.py" "$work/ours.json" "$work/report" || return
	done
	# The test says nothing if shares by number are the same.
	"$beectl" flame "$work/faults.data" --samples --json >"$work/ours.json" 2>"$work/errors" || return
	! "$python" "$tree/selftests/lib/shares.py" "$work/ours.json" "$work/report"
}

"${record[@]}" -o "$work/probe.data" -- true >/dev/null 2>&1 || ktap_skip_all "perf cannot record here"
ktap_plan 10
git=(git -c safe.directory='*' -C "$tree")
if "${git[@]}" rev-parse -q HEAD >/dev/null 2>&1; then
	ktap_run "flame has the stacks of perf script: git" check_like_perf "${git[@]}" log --oneline -300
else
	ktap_skip "flame has the stacks of perf script: git" "this tree is no git repository"
fi
ktap_run "flame has the stacks of perf script: python3" \
	check_like_perf "$python" -c 'import json; [json.dumps([i]) for i in range(100000)]'
ktap_run "flame has the stacks of perf script: perl" check_like_perf perl -e '$x .= $_ * 7 for 1 .. 500000'
ktap_run "flame has the stacks of perf script: a C program" \
	check_like_perf sh -c "timeout 1 '$work/prog' || :"
with g++ "flame has the stacks of perf script: cc1plus" check_cc1plus
with g++ "flame has the stacks of perf script: a C++ program with debug information" check_cxx
with rustc "flame has the stacks of perf script: a Rust program with debug information" check_rust
with node "flame has the stacks of perf script: node with a perf map" check_node
ktap_run "shares in flame's summary are those of perf report" check_shares
ktap_run "recordings of the programs have stacks of the kernel" test -s "$work/kernel"
ktap_finish
