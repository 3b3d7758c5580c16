# shellcheck shell=bash disable=SC2034,SC2154  # what the script that sources it has
# SPDX-License-Identifier: GPL-2.0
# The stock programs that the same-sample oracle runs, the loop over them, and the sums of its
# results.  Source it with TREE, WORK and share set.

cc1plus=$(gcc -print-prog-name=cc1plus 2>/dev/null)
postgres=$(echo /usr/lib/postgresql/*/bin)
input=$(readlink -f /usr/bin/python3)

python3_script='
import functools, json, re, time
json.loads(json.dumps(re.sub("a", "b", "a")))
time.sleep(2)   # gives time for the tables of the libraries just loaded
def tree(n):
    return {"left": tree(n - 1), "right": tree(n - 1), "name": str(n)} if n else None
def depth(node):
    return 1 + max(map(depth, (node["left"], node["right"]))) if node else 0
while True:
    data = tree(7)
    depth(data)
    sorted(json.loads(json.dumps(data)).items(), key=lambda kv: re.sub("[a-z]", "x", str(kv)))
    functools.reduce(lambda a, b: a + b, map(str, range(500)))'

perl_script='
sub ack { my ($m, $n) = @_; $m == 0 ? $n + 1 : $n == 0 ? ack($m - 1, 1) : ack($m - 1, ack($m, $n - 1)) }
while (1) {
	ack(2, 5);
	my @sorted = sort { length($a) <=> length($b) || $a cmp $b } map { "x" x ($_ % 17) . $_ } 1 .. 500;
	my $text = join " ", @sorted;
	my %seen; $seen{$1}++ while $text =~ /(x+\d(?:\d(?{ 1 }))?)/g;
	(my $copy = $text) =~ s/(\d+)/sprintf("%x", $1)/ge;
}'

bash_script='
f() { local i=$1; ((i)) && { f $((i - 1)); echo "${x//a/b}" >/dev/null; }; }
while :; do x=aaaa; f 20; for i in {1..50}; do [[ $x$i =~ a+[0-9] ]]; printf -v y "%d" "$i"; done; done'

sqlite3_script='
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000000)
SELECT count(*), sum(length(hex(x))) FROM c WHERE x LIKE "%7%" GROUP BY x % 10 ORDER BY 2;'

# prepare NAME: sets the array command; or fails, and sets why if that is because something is missing.
prepare() {
	command=() why=
	case $1 in
	python3) command=(/usr/bin/python3 -c "$python3_script") ;;
	perl) command=(perl -e "$perl_script") ;;
	git) command=(git -c safe.directory='*' -C "$TREE" --no-pager log -p --stat -M --patience --output=/dev/null) ;;
	xz) command=(xz -T2 --block-size=1MiB -f -k -c "$input") ;;
	bash) command=(bash -c "$bash_script") ;;
	sqlite3) command=(sqlite3 :memory: "$sqlite3_script") ;;
	openssl) command=(openssl speed -seconds 1 sha256 aes-128-cbc rsa2048 ecdsap256) ;;
	as) command=(as -o "$WORK/a.o" "$WORK/a.s") ;;
	cc1plus) command=("$cc1plus" -imultiarch "$(gcc -print-multiarch)" -quiet -O2 -std=gnu++17 "$WORK/a.cc" -o /dev/null) ;;
	clang) command=(clang++ -O2 -std=c++17 -c "$WORK/a.cc" -o /dev/null) ;;
	postgres) command=(setpriv --reuid=65534 --regid=65534 --clear-groups "$postgres/postgres" --single -D "$WORK/db" postgres) ;;
	node) command=(node -e 'for (;;) JSON.stringify([...Array(999).keys()].map(x => String(x)).sort().map(x => ({ x: x.replace(/1/g, "a") })))') ;;
	java) command=(java -Xmx256m "$WORK/A.java") ;;
	esac
	command -v "${command[0]}" >/dev/null || { why="${command[0]##*/}: not installed"; return 1; }
	case $1 in
	git) git -c safe.directory='*' -C "$TREE" rev-parse -q HEAD >/dev/null 2>&1 || { why="the tree is no repository"; return 1; } ;;
	as)
		command -v perl >/dev/null || { why="perl: not installed"; return 1; }
		perl -e 'for (1 .. 60000) { print ".globl f$_\nf$_:\n\tpush %rbp\n\tmov \$$_, %eax\n\tadd 8(%rsp,%rdi,4), %rax\n\tjne f$_\n\tpop %rbp\n\tret\n" }' >"$WORK/a.s"
		;;
	cc1plus | clang)
		printf '#include <%s>\n' algorithm functional iostream map random regex string vector >"$WORK/a.cc"
		printf '%s\n' 'int main(int n, char **v) { std::regex r(v[0]); std::map<std::string, std::vector<int>> m;' \
			'm[v[0]].push_back(std::regex_match(v[1], r)); std::cout << m.size() << n; }' >>"$WORK/a.cc"
		;;
	postgres)
		[ -x "$postgres/initdb" ] || { why="postgres: not installed"; return 1; }
		mkdir "$WORK/db" && chown 65534 "$WORK/db" && chmod 755 "$WORK"
		setpriv --reuid=65534 --regid=65534 --clear-groups "$postgres/initdb" -D "$WORK/db" --no-sync \
			>"$WORK/out" 2>&1
		;;
	java)
		cat >"$WORK/A.java" <<-'END'
		import java.util.*;
		class A {
			public static void main(String[] a) {
				for (;;) { var m = new TreeMap<String, Integer>();
					for (int i = 0; i < 2000; i++) m.merge(String.valueOf(i * 7919 % 977), i, Integer::sum); }
			}
		}
		END
		;;
	esac
}

# input_of NAME: prints the standard input of the program.
input_of() {
	[ "$1" != postgres ] || while :; do echo "select count(*), sum(length(md5(x::text))) from generate_series(1, 20000) x where x::text like '%7%';"; done
}

# sum FILE: adds up the summary lines of "sample"; fails if fewer than $share % of the native
# stacks are complete
sum() {
	/usr/bin/python3 - "$1" "$share" <<-'END'
	import re, sys
	lines = open(sys.argv[1]).read().splitlines()
	rows = [list(map(int, re.findall(r" (\d+)\b", line))) for line in lines]
	names = re.findall(r"[a-zA-Z][a-zA-Z ]* (?=\d)", lines[0].split(":", 1)[1])
	total = [sum(column) for column in zip(*rows)]
	print("\n".join(lines))
	samples, lost, identical, comparable, *rest, complete, native = total
	print(f"all: samples {samples} lost {lost} identical {identical} of {comparable} comparable, "
	      f"complete {complete} of {native} native ({100 * complete / native:.3f} %)")
	sys.exit(100 * complete < float(sys.argv[2]) * native)
	END
}

# compare_all NAME...: run compare, a function of the script, for each program; then judge the sum.
# compare writes what is to be shown to $WORK/out, and appends summary lines to $WORK/sums.
compare_all() {
	local name status

	ktap_plan $(($# + 1))
	touch "$WORK/sums"
	for name in "$@"; do
		: >"$WORK/out"
		if prepare "$name"; then
			ktap_run "$name: as libdw" compare "$name"
		elif [ -n "$why" ]; then
			ktap_skip "$name: as libdw" "$why"
		else
			ktap_fail "$name: as libdw"
		fi
		# Show figures and differences of each program, passed or failed.
		[ ! -s "$WORK/out" ] || ktap_diag "$(tail -n 8 "$WORK/out")"
	done
	sum "$WORK/sums" >"$WORK/all"
	status=$?
	ktap_diag "$(cat "$WORK/all")"
	ktap_run "$share % of native samples are complete" test "$status" -eq 0
	ktap_finish
}
