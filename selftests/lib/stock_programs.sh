# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Debian's programs at work, for scripts in guests to sample.
# shellcheck disable=SC2034  # pid is for those

# make_repository COMMITS: one in which git takes long to compute diffs: one file, rewritten line by
# line.
make_repository() {
	git init -q -b main repo
	perl -e '
		srand 1;
		my @lines = map { "line $_ of the file" } 1 .. 1500;
		for my $n (1 .. $ARGV[0]) {
			$lines[rand @lines] = "changed in $n, " . rand for 1 .. 100;
			my $text = join("\n", @lines) . "\n";
			printf "commit refs/heads/main\ncommitter A <a\@example.org> %d +0000\n" .
				"data 2\nc\nM 100644 inline file\ndata %d\n%s\n",
				1e9 + $n, length $text, $text;
		}' "$1" | git -C repo fast-import --quiet
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

# make_inputs COMMITS: what the programs work on, in the current directory; COMMITS: for git.
make_inputs() {
	cc1plus=$(gcc -print-prog-name=cc1plus)
	cp "$cc1plus" input
	make_repository "$1"
	make_source
	g++ -std=gnu++17 -E deep.cc -o deep.ii
}

# start NAME: run the program as one process, in the background, where make_inputs was called; sets
# pid.  xz has two threads, or THREADS.
start() {
	rm -f imported
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
	xz) xz "-T${THREADS:-2}" --block-size=1MiB -c <input >/dev/null & ;;
	sqlite3)
		sqlite3 :memory: "
with recursive n(x) as (values(1) union all select x + 1 from n)
select count(distinct printf('%x', x % 1000)) from n where x % 7;" >/dev/null &
		;;
	cc1plus) "$cc1plus" -quiet -fpreprocessed -O2 -std=gnu++17 deep.ii -o /dev/null & ;;
	esac
	pid=$!
}

# is_at_work NAME: it has come so far that "beectl load" finds all that it maps: it has used a fifth of
# a second of CPU time, and python3 has finished its imports.
is_at_work() {
	[ "$(awk '{ print $14 }' "/proc/$pid/stat")" -ge 20 ] && { [ "$1" != python3 ] || [ -e imported ]; }
}
