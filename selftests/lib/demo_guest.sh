#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Guest side of selftests/demo: demo_guest.sh OUT SECONDS MODE...
# Records each workload in each mode (fp, dwarf, bee) into OUT/NAME.MODE.data; with the module there,
# draws OUT/flame.svg of OUT/words.
set -euo pipefail

out=$1 seconds=$2
shift 2
work=$(mktemp -d)
cd "$work"

# A repository in which git takes long to compute diffs: one file, rewritten line by line.
make_repository() {
	git init -q -b main repo
	perl -e '
		srand 1;
		my @lines = map { "line $_ of the file" } 1 .. 1500;
		for my $n (1 .. 2500) {
			$lines[rand @lines] = "changed in $n, " . rand for 1 .. 100;
			my $text = join("\n", @lines) . "\n";
			printf "commit refs/heads/main\ncommitter A <a\@example.org> %d +0000\n" .
				"data 2\nc\nM 100644 inline file\ndata %d\n%s\n",
				1e9 + $n, length $text, $text;
		}' | git -C repo fast-import --quiet
}

make_source() {
	cat >deep.cc <<-'END'
	#include <algorithm>
	#include <functional>
	#include <iostream>
	#include <map>
	#include <memory>
	#include <random>
	#include <regex>
	#include <string>
	#include <tuple>
	#include <unordered_map>
	#include <variant>
	#include <vector>

	template <int N> struct nested {
		std::map<std::string, std::vector<std::tuple<int, nested<N - 1>>>> inner;
		std::variant<int, std::string, nested<N - 1>> choice;
		bool operator<(const nested &o) const { return inner.size() < o.inner.size(); }
	};
	template <> struct nested<0> { int leaf; bool operator<(const nested &o) const { return leaf < o.leaf; } };

	int main(int argc, char **argv)
	{
		std::vector<nested<12>> all(argc);
		std::sort(all.begin(), all.end());
		std::regex words("([a-z]+)(,([a-z]+))*");
		std::unordered_map<std::string, std::function<int(int)>> table;
		for (int i = 0; i < argc; i++)
			table[argv[i]] = [&](int n) { return std::regex_match(argv[n], words); };
		std::mt19937_64 random(argc);
		std::shuffle(all.begin(), all.end(), random);
		std::cout << table.size() << std::endl;
	}
	END
}

# start NAME: run the workload as one process, in the background; sets pid.
start() {
	case $1 in
	python3)
		/usr/bin/python3 -c '
import functools, json, re
def tree(n):
    return {"left": tree(n - 1), "right": tree(n - 1), "name": str(n)} if n else None
def depth(node):
    return 1 + max(map(depth, (node["left"], node["right"]))) if node else 0
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def work():
    fib(16)
    data = tree(8)
    depth(data)
    sorted(json.loads(json.dumps(data)).items(), key=lambda kv: re.sub("[a-z]", "x", str(kv)))
    functools.reduce(lambda a, b: a + b, map(str, range(2000)))
work()
open("imported", "w").close()
while True:
    work()
' &
		;;
	perl)
		perl -e '
sub ack { my ($m, $n) = @_; $m == 0 ? $n + 1 : $n == 0 ? ack($m - 1, 1) : ack($m - 1, ack($m, $n - 1)) }
while (1) {
	ack(2, 6);
	my @sorted = sort { length($a) <=> length($b) || $a cmp $b } map { "x" x ($_ % 17) . $_ } 1 .. 2000;
	my $text = join " ", @sorted;
	my %seen; $seen{$1}++ while $text =~ /(x+\d(?:\d(?{ 1 }))?)/g;
	(my $copy = $text) =~ s/(\d+)/sprintf("%x", $1)/ge;
}' &
		;;
	git) git -C repo --no-pager log -p --stat -M --patience >/dev/null & ;;
	xz) xz -T2 --block-size=1MiB -c <input >/dev/null & ;;
	cc1plus) "$cc1plus" -quiet -fpreprocessed -O2 -std=gnu++17 deep.ii -o /dev/null & ;;
	esac
	pid=$!
}

# record NAME MODE: record a workload in a mode.  The workload is stopped while perf starts, which
# is slow under emulation.  "beectl load" makes tables only of files that are mapped, so python3
# must have finished its imports.
record() {
	local name=$1 mode=$2 options=(-g)

	[ "$mode" != dwarf ] || options=(--call-graph dwarf)
	rm -f imported
	start "$name"
	sleep 1
	while [ "$name" = python3 ] && [ ! -e imported ]; do sleep 0.1; done
	kill -STOP "$pid"
	[ "$mode" != bee ] || "$BEECTL" load "$pid"
	# perf's status says nothing here: perf ends with the signal that ended its workload.
	perf record -q -N -B -e cpu-clock -F 199 "${options[@]}" -p "$pid" \
		-o "$out/$name.$mode.data" -- \
		sh -c "kill -CONT $pid; sleep $seconds; kill -STOP $pid" || true
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	[ -s "$out/$name.$mode.data" ]
}

# A compiler recurses deeper than perf's default limit of 127 frames.
sysctl -q -w kernel.perf_event_max_stack=1024 kernel.perf_event_mlock_kb=16384
# perf spends half of its start on the kernel's symbols, which only the flame graph shows.
sysctl -q -w kernel.kptr_restrict=2
export HOME=$work GIT_PAGER=cat
cc1plus=$(gcc -print-prog-name=cc1plus)
cp "$cc1plus" input
make_repository
make_source
g++ -std=gnu++17 -E deep.cc -o deep.ii

for mode in "$@"; do
	[ "$mode" != bee ] || insmod "$BEE_KO"
	for name in python3 perl git xz cc1plus; do
		echo "recording $name, $mode ($SECONDS s)"
		record "$name" "$mode"
	done
	if [ "$mode" = bee ]; then
		echo "recording words, flame graph ($SECONDS s)"
		cp "$out/words" .
		sysctl -q -w kernel.kptr_restrict=0
		"$BEECTL" flame -e cpu-clock -F 199 --inlines -o "$out/flame.svg" -- ./words deep.ii "$seconds"
		"$BEECTL" status || true
		rmmod beeunwind
	fi
done
