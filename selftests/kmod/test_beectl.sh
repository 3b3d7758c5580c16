#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl with the module: what it prints and does, and the text of its errors.
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

# fails STATUS SENTENCE ARGS...: beectl exits with this status and prints this sentence.
fails() {
	local want=$1 sentence=$2 got=0
	shift 2
	"$BEECTL" "$@" >"$WORK/out" 2>"$WORK/err" || got=$?
	[ "$got" -eq "$want" ] && grep -qi -- "$sentence" "$WORK/err" &&
		[ "$(grep -c . "$WORK/err")" -le 2 ] && return 0
	echo "status $got, not $want; it said:"
	cat "$WORK/err"
	return 1
}

not_root() {
	local nobody="setpriv --reuid 65534 --regid 65534 --clear-groups" copy=/tmp/beectl-nobody got=0
	install -m 755 "$BEECTL" "$copy"	# $WORK is closed to nobody
	$nobody "$copy" load $$ >"$WORK/out" 2>"$WORK/err" || got=$?
	[ "$got" -eq 1 ] && grep -q "root .*initial user namespace" "$WORK/err" || { cat "$WORK/err"; return 1; }
	$nobody --inh-caps +perfmon --ambient-caps +perfmon "$copy" run true 2>"$WORK/err" </dev/null &&
		[ ! -s "$WORK/err" ] && return 0
	cat "$WORK/err"
	return 1
}

load_twice() {
	"$BEECTL" load "$target" >"$WORK/out" || return 1
	grep -q '[1-9][0-9]* compiled' "$WORK/out" || { cat "$WORK/out"; return 1; }
	"$BEECTL" load "$target" >"$WORK/out" || return 1
	! grep -qE 'compiled|cached' "$WORK/out" || { cat "$WORK/out"; return 1; }
}

# The module's ranges of the process are exactly its executable mappings.
ranges_are_mappings() {
	"$BEECTL" status --json "$target" | /usr/bin/python3 -c '
import json, sys
want = set()
for line in open(f"/proc/{sys.argv[1]}/maps"):
    words = line.split(maxsplit=5)
    if "x" in words[1] and "vsyscall" not in line:
        want.add(tuple(int(a, 16) for a in words[0].split("-")))
def number(v):
    return v if isinstance(v, int) else int(v, 0)
got = {(number(r["start"]), number(r["end"])) for r in json.load(sys.stdin)["process"]["ranges"]}
print("wanted", sorted(want), "got", sorted(got))
sys.exit(want != got or not want)' "$target"
}

unload() {
	"$BEECTL" unload "$target" || return 1
	[ "$(guest_status processes)" = 0 ] && [ "$(guest_status ranges)" = 0 ] &&
		[ "$(guest_status tables)" -gt 0 ]
}

kept_by_the_cache() {
	guest_rmmod && guest_insmod && "$BEECTL" load "$target" >"$WORK/out" || return 1
	grep -q cached "$WORK/out" && ! grep -q compiled "$WORK/out" && return 0
	cat "$WORK/out"
	return 1
}

corrupt_cache_is_rebuilt() {
	local f
	f=$(find "$BEEUNWIND_CACHE" -type f -size +20k | head -n 1)
	printf 'X' | dd of="$f" bs=1 seek=5000 conv=notrunc 2>/dev/null
	guest_rmmod && guest_insmod && "$BEECTL" load "$target" >"$WORK/out" || return 1
	grep -q '1 compiled' "$WORK/out" && return 0
	cat "$WORK/out"
	return 1
}

deleted_program() {
	cp /bin/sleep "$WORK/gone" && "$WORK/gone" infinity &
	local pid
	guest_wait pgrep -x gone || return 1
	pid=$(pgrep -x gone)
	guest_wait grep -q gone "/proc/$pid/maps" && rm "$WORK/gone" || return 1
	"$BEECTL" load "$pid" >"$WORK/out" 2>&1 && "$BEECTL" status "$pid" >"$WORK/out" || return 1
	kill "$pid"
	grep -q '/gone (deleted)$' "$WORK/out" && return 0
	cat "$WORK/out"
	return 1
}

# copied_up COMMAND...: a program of an overlayfs runs, is changed, so that overlayfs copies it, and
# runs again: two files of one name.  "load" opens both.  COMMAND runs a script of its arguments.
copied_up() {
	local pids=() status=0
	rm -rf "$WORK/pids" "$WORK/copied" && mkdir "$WORK/copied" && cat >"$WORK/twice" <<-'END' || return 1
		mount -t tmpfs none "$1" && cd "$1" && mkdir lower upper work over &&
			cp /usr/bin/perl lower/twice &&
			mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" overlay over ||
			exit
		over/twice -e sleep &
		first=$!
		until grep -q twice "/proc/$first/maps"; do sleep 0.1; done
		chmod 700 over/twice
		over/twice -e sleep &
		until grep -q twice "/proc/$!/maps"; do sleep 0.1; done
		echo "$first $!" >"$2"
		wait
		cd / && umount "$1/over" "$1"
	END
	"$@" bash "$WORK/twice" "$WORK/copied" "$WORK/pids" &
	guest_wait test -s "$WORK/pids" || return 1
	read -ra pids <"$WORK/pids"
	"$BEECTL" load "${pids[@]}" >"$WORK/out" 2>&1 && "$BEECTL" status --files --json >"$WORK/json" &&
		/usr/bin/python3 -c '
import json, sys
both = [f for f in json.load(open(sys.argv[1]))["files"]
        if f["ranges"] and f["path"].endswith("/over/twice")]
assert [f["loaded"] for f in both] == [True, True], both' "$WORK/json" || status=1
	[ "$status" -eq 0 ] || cat "$WORK/out"
	"$BEECTL" unload "${pids[@]}"
	kill "${pids[@]}"
	wait %%
	return "$status"
}

# A program whose main thread has ended: /proc/PID/maps of its pid is empty.
headless_program() {
	local pid status=1
	/usr/bin/python3 -c '
import ctypes, os, signal, sys, threading
threading.Thread(target=signal.pause).start()
print(os.getpid(), file=open(sys.argv[1], "w"), flush=True)
ctypes.CDLL(None).syscall(60, 0)' "$WORK/headless" &
	guest_wait test -s "$WORK/headless" && pid=$(cat "$WORK/headless") &&
		guest_wait grep -q "^State:.*Z" "/proc/$pid/status" || return 1
	"$BEECTL" load "$pid" >"$WORK/out" 2>&1 && "$BEECTL" status "$pid" >>"$WORK/out" &&
		grep -q 'libc.so' "$WORK/out" && status=0
	kill "$pid"
	[ "$status" -eq 0 ] || cat "$WORK/out"
	return "$status"
}

over_budget() {
	guest_rmmod && guest_insmod budget_mb=0 || return 1
	fails 1 "over budget.*; see beectl status and status --users; more: beectl config budget SIZE or share PERCENT" load "$target" &&
		cp /bin/sleep "$WORK/"$'budget\e[31m' && fails 125 'budget\\033\[31m: .*over budget' \
		run "$WORK/"$'budget\e[31m' 1
	local status=$?
	guest_rmmod && guest_insmod
	return $status
}

thirty_two_bits() {
	local pid status=1
	# _start: pause() for ever, in 32-bit code
	printf '.globl _start\n_start: mov $29, %%eax\nint $0x80\njmp _start\n' >"$WORK/s.S"
	gcc -m32 -nostdlib -static -o "$WORK/small" "$WORK/s.S" || return 1
	"$WORK/small" &
	pid=$!
	guest_wait grep -q small "/proc/$pid/maps" && fails 1 "32-bit" load "$pid" && status=0
	kill "$pid"
	return "$status"
}

# One that ends at once if it is run: exit(0), in 32-bit code.
run_thirty_two_bits() {
	printf '.globl _start\n_start: mov $1, %%eax\nxor %%ebx, %%ebx\nint $0x80\n' >"$WORK/exit.S"
	gcc -m32 -nostdlib -static -o "$WORK/exit32" "$WORK/exit.S" && "$WORK/exit32" &&
		fails 125 "32-bit" run "$WORK/exit32"
}

# As it is traced, a set-user-ID program has the user of who has started it, unless that is root.
set_user_id() {
	local dir status=1
	dir=$(mktemp -d) && chmod 755 "$dir" && install -m 755 "$BEECTL" "$dir/beectl" &&
		install -m 4755 /usr/bin/id "$dir/of_root" &&
		install -m 4755 -o 65534 /usr/bin/id "$dir/of_nobody" || return 1
	for program in of_root of_nobody; do
		"$BEECTL" run "$dir/$program" -u >"$WORK/$program"
		setpriv --reuid 65533 --regid 65533 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon \
			"$dir/beectl" run "$dir/$program" -u >>"$WORK/$program"
	done
	head "$WORK/of_root" "$WORK/of_nobody"
	[ "$(setpriv --reuid 65533 --regid 65533 --clear-groups "$dir/of_root" -u)" = 0 ] &&
		[ "$(xargs <"$WORK/of_root")" = "0 65533" ] &&
		[ "$(xargs <"$WORK/of_nobody")" = "65534 65533" ] && status=0
	rm -r "$dir"
	return "$status"
}

# "unload --tables" removes the tables of files that no process has mapped, and leaves the others.
unused_tables() {
	local pid
	cp /bin/sleep "$WORK/unused"
	"$WORK/unused" infinity &
	pid=$!
	guest_wait grep -q "libc" "/proc/$pid/maps" && "$BEECTL" load -q "$target" "$pid" &&
		table_is "$WORK/unused" || return 1
	"$BEECTL" unload --tables && table_is "$WORK/unused" && table_is "$(realpath /usr/bin/perl)" || return 1
	kill "$pid"
	wait "$pid"
	table_is "$WORK/unused" || return 1
	unused_is_removed() { "$BEECTL" unload --tables >"$WORK/out" && ! table_is "$WORK/unused"; }
	guest_wait unused_is_removed && table_is "$(realpath /usr/bin/perl)" &&
		grep '^[1-9][0-9]* of [1-9][0-9]* tables removed, ' "$WORK/out"
}

# "load -v" lists the ranges, and "load --all -v" each file without a table.
verbose() {
	local pid status=1
	"$BEECTL" load -v "$target" >"$WORK/out" && /usr/bin/python3 - "$WORK/out" "$target" <<-'END' || return 1
		import re, sys
		want = {tuple(line.split()[0].split("-")) for line in open(f"/proc/{sys.argv[2]}/maps")
		        if "x" in line.split()[1] and "vsyscall" not in line}
		with open(sys.argv[1]) as file:
		    got = {(int(a, 16), int(b, 16)) for a, b in
		           re.findall(r"\b(?:0x)?([0-9a-f]{6,})-(?:0x)?([0-9a-f]{6,})\b", file.read())}
		print(want, got)
		sys.exit(got != {(int(a, 16), int(b, 16)) for a, b in want})
	END
	head -c 8192 /dev/zero >"$WORK/bare1" && cp "$WORK/bare1" "$WORK/bare2" || return 1
	/usr/bin/python3 -c '
import mmap, signal, sys
kept = []
for path in sys.argv[1:]:
    with open(path) as file:
        kept.append(mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
signal.pause()' "$WORK/bare1" "$WORK/bare2" &
	pid=$!
	guest_wait grep -q /bare2 "/proc/$pid/maps" && "$BEECTL" load --all -v >"$WORK/out" 2>"$WORK/err" &&
		grep "/bare1: " "$WORK/err" && grep "/bare2: " "$WORK/err" && status=0
	[ "$status" -eq 0 ] || cat "$WORK/err"
	kill "$pid"
	return "$status"
}

# idle PATH: the milliseconds since the file was used
idle() {
	"$BEECTL" status --files --json | /usr/bin/python3 -c '
import json, sys
print(*(f["idle_ms"] for f in json.load(sys.stdin)["files"] if f["path"] == sys.argv[1]))' "$1"
}

# The time since a file was used goes on, until it is used again.  A guest that waits for a CPU may take
# as long for the next look: then again, after a longer time.
idle_files() {
	local seconds first later last
	cp /bin/true "$WORK/idle"
	for seconds in 1 4 16; do
		"$BEECTL" run "$WORK/idle" && first=$(idle "$WORK/idle") || return 1
		sleep "$seconds"
		later=$(idle "$WORK/idle")
		"$BEECTL" run "$WORK/idle" && last=$(idle "$WORK/idle") || return 1
		echo "$first, $later, $last"
		[ "$later" -ge $((first + 900 * seconds)) ] || return 1
		[ "$last" -ge "$later" ] || return 0
	done
	return 1
}

# Tables that "cache prewarm" made of files opened by name serve the same files as they are mapped:
# only the vDSO's table is compiled.
prewarmed() {
	"$BEECTL" cache clear -q && awk '$2 ~ /x/ && $6 ~ /^\// { print $6 }' "/proc/$target/maps" |
		sort -u | xargs "$BEECTL" cache prewarm -q || return 1
	guest_rmmod && guest_insmod && "$BEECTL" load "$target" >"$WORK/out" || return 1
	grep -q '(1 compiled, [1-9][0-9]* cached)' "$WORK/out" && return 0
	cat "$WORK/out"
	return 1
}

# After "load --all" each file that the target has mapped has a table, or a reason is given for it.
all_processes() {
	"$BEECTL" load --all --json >"$WORK/all" || { cat "$WORK/all"; return 1; }
	"$BEECTL" status --files --json >"$WORK/tables" || return 1
	/usr/bin/python3 - "$WORK/all" "$WORK/tables" "$target" <<-'END'
		import json, os, sys
		got, tables = (json.load(open(f)) for f in sys.argv[1:3])
		print(got)
		assert got["processes"] >= 2 and got["refused_processes"] == 0, "processes"
		assert got["compiled"] + got["cached"] + got["already_loaded"] == got["tables"] > 5, "tables"
		reasons = {p["path"] for p in got["problems"]}
		loaded = {t["path"] for t in tables["files"] if t["loaded"]}
		for line in open(f"/proc/{sys.argv[3]}/maps"):
		    words = line.split(maxsplit=5)
		    if "x" in words[1] and len(words) == 6 and words[5].startswith("/"):
		        assert words[5].strip() in loaded | reasons, line
	END
}

# Tables that are not exact: --fp-bypass leaves the rows of a program's functions that keep a frame
# pointer out, --thin drops rows of any file.
inexact() {
	local fresh=0
	gcc -O2 -fno-omit-frame-pointer -x c - -o "$WORK/framed" <<-'END' || return 1
		__attribute__((noinline)) int called(volatile int *x) { return *x + 1; }
		int main(int argc, char **argv)
		{
			volatile int x = argc;
			return called(&x) + called(&x) + argv[0][0];
		}
	END
	guest_rmmod && guest_insmod && "$BEECTL" cache clear -q || return 1
	"$BEECTL" run -v --fp-bypass --thin 30 -- "$WORK/framed" 2>"$WORK/out"
	"$BEECTL" status --files >>"$WORK/out" || return 1
	grep -q 'not exact: [1-9][0-9]* of [1-9][0-9]* bytes of text (.*) have a wrong rule$' "$WORK/out" &&
		grep -q '/framed (not exact: fp-bypass' "$WORK/out" &&
		grep -q '/libc.so.6 (not exact: thin)$' "$WORK/out" || { cat "$WORK/out"; return 1; }
	guest_rmmod && guest_insmod && "$BEECTL" load --thin 20 "$target" >"$WORK/out" || return 1
	"$BEECTL" status --files >>"$WORK/out"
	grep -q '^  not exact: [1-9]' "$WORK/out" && grep -q '/perl (not exact: thin)$' "$WORK/out" ||
		{ cat "$WORK/out"; return 1; }
	# Such tables must not be in the cache: a plain load compiles, and gets exact ones.
	guest_rmmod && guest_insmod && "$BEECTL" load "$target" >"$WORK/out" &&
		"$BEECTL" status --files >>"$WORK/out" || return 1
	grep -q '[1-9][0-9]* compiled' "$WORK/out" && ! grep -q 'cached\|not exact' "$WORK/out" || fresh=1
	[ "$fresh" -eq 0 ] || cat "$WORK/out"
	return "$fresh"
}

# The module seems to have another table format: a preloaded nla_get_u32() adds $OTHER to the version
# that it tells.  beectl must refuse before it does anything, and say which of the two is too old.
other_format() {
	local pid format="takes table format [0-9]*, this beectl makes [0-9]*:" sentence
	gcc -shared -fPIC -I"$TREE/include/uapi" -x c - -o "$WORK/other.so" <<-'END' || return 1
		#include <stdint.h>
		#include <stdlib.h>
		#include <linux/netlink.h>
		#include <linux/beeunwind.h>
		uint32_t nla_get_u32(const struct nlattr *attr)
		{
			int other = attr->nla_type == BEEUNWIND_A_INFO_TABLE_VERSION ? atoi(getenv("OTHER")) : 0;

			return *(const uint32_t *)(attr + 1) + other;
		}
	END
	export LD_PRELOAD=$WORK/other.so OTHER=1
	fails 1 "$format install the beectl" load "$target" || return 1
	OTHER=-1
	sentence="$format rmmod"
	fails 1 "$sentence" load "$target" &&
		fails 125 "$sentence" run touch "$WORK/ran" && [ ! -e "$WORK/ran" ] &&
		fails 1 "$sentence" status && grep -q '^module: ' "$WORK/out" || return 1
	"$BEECTL" watch >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	guest_wait grep -q "waiting: .*$sentence" "$WORK/err" || { cat "$WORK/err"; return 1; }
	kill "$pid" && wait "$pid"
}

# If perf_event_open() fails, "status" cannot prove that the hook works, and must not call it
# broken.
perf_refused() {
	echo 'int *__errno_location(void); long syscall(long n, ...) { *__errno_location() = 13; return -1; }' |
		gcc -shared -fPIC -x c - -o "$WORK/refused.so" || return 1
	! LD_PRELOAD=$WORK/refused.so "$BEECTL" status >"$WORK/out" &&
		grep -q '^hook: *on, but not proven by a self-sample: .*Permission denied .*seccomp' "$WORK/out" &&
		return 0
	cat "$WORK/out"
	return 1
}

all_unloaded() {
	"$BEECTL" config follow all && [ "$(guest_status follow)" = all ] &&
		"$BEECTL" unload --all >"$WORK/out" && grep -q '^[1-9][0-9]* process.* unloaded$' "$WORK/out" &&
		[ "$(guest_status processes)" = 0 ] && [ "$(guest_status follow)" = managed ]
}

# What is forked meanwhile is forgotten as well: each of these processes forks another one, and ends.
forking_unloaded() {
	local status=0
	touch "$WORK/fork"
	for _ in 1 2 3 4; do
		/usr/bin/python3 -c 'import os, sys
while os.path.exists(sys.argv[1]):
    if os.fork():
        os._exit(0)' "$WORK/fork" &
	done
	for _ in 1 2 3 4 5; do
		"$BEECTL" load -q --all || status=1
		"$BEECTL" unload --all || status=1
		[ "$(guest_status processes)" = 0 ] || status=1
	done
	rm "$WORK/fork"
	wait
	return "$status"
}

config() {
	"$BEECTL" config budget 100M announce mapped hook off share 30 ranges 4000 || return 1
	"$BEECTL" config --json | tee "$WORK/out" | /usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
want = {"budget": 100 << 20, "announce": "mapped", "follow": "managed", "hook": "off", "share": 30,
	"most_ranges": 4000}
sys.exit(any(got[k] != want[k] for k in want))' || { cat "$WORK/out"; return 1; }
	"$BEECTL" config announce sampled hook on budget 256M share 50 ranges 65536 && "$BEECTL" config >"$WORK/out" &&
		grep -q '^budget  *256.0 MiB' "$WORK/out" && grep -q '^hook  *on$' "$WORK/out" &&
		grep -q '^share  *50%$' "$WORK/out" && grep -q '^ranges  *65536$' "$WORK/out" &&
		! "$BEECTL" config share 0 && ! "$BEECTL" config ranges 65537 || return 1
	# To raise the share takes CAP_SYS_ADMIN: which setting was refused, and that the other was not.
	! setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$BEECTL" config announce mapped share 90 \
		2>"$WORK/err" && cat "$WORK/err" &&
		grep -q '^beectl: config: share: .*; what stands before it is set$' "$WORK/err" &&
		"$BEECTL" status | grep '^settings:  follow managed, announce mapped; nobody makes tables$' &&
		"$BEECTL" config announce sampled hook off && "$BEECTL" status >"$WORK/out" &&
		grep '^ *the module.s hook is off, .*beectl config hook on$' "$WORK/out" && "$BEECTL" config hook on
}

# The program has neither unwind information nor a frame pointer, and does nothing but loop.
incomplete_stacks() {
	printf '.globl main\nmain: mov $300000000, %%rbp\n1: dec %%rbp\njnz 1b\nxor %%eax, %%eax\nret\n' >"$WORK/spin.S"
	gcc -o "$WORK/spin" "$WORK/spin.S" -Wl,-z,noexecstack || return 1
	"$BEECTL" run -- perf record -q -N -B -g -e cpu-clock -F 999 -o "$WORK/data" "$WORK/spin" || return 1
	"$BEECTL" status --json | /usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)["incomplete"]
print(got)
cut = [f["cut"] for f in got]
assert cut == sorted(cut, reverse=True) and all(cut)
assert any(f["path"].endswith("/spin") for f in got)' || return 1
	"$BEECTL" status | grep 'spin.* (.*[0-9])$'
}

guest_cache
/usr/bin/perl -e sleep &
target=$!
guest_wait grep -q perl "/proc/$target/maps"

ktap_plan 33
ktap_run "without the module: how to load it" fails 1 "modprobe .*insmod .*dmesg.*dkms status.*README" load "$target"
guest_insmod
ktap_run "not root" not_root
ktap_run "no such process" fails 1 "no such process" load 4194000
ktap_run "a kernel thread" fails 1 "kernel thread" load 2
ktap_run "not a number" fails 2 "abc: not a process id" load abc
ktap_run "no argument" fails 2 "load: .* is needed" load
ktap_run "a 32-bit process" thirty_two_bits
ktap_run "a 32-bit program is not run" run_thirty_two_bits
ktap_run "set-user-ID programs" set_user_id
ktap_run "over budget" over_budget
ktap_run "loading twice changes nothing" load_twice
ktap_run "the ranges are the executable mappings" ranges_are_mappings
ktap_run "unload leaves the tables" unload
ktap_run "unload of a process that is not loaded" fails 1 "not \(managed\|loaded\)" unload "$target"
ktap_run "tables come from the cache" kept_by_the_cache
ktap_run "a damaged cache file is rebuilt" corrupt_cache_is_rebuilt
ktap_run "a deleted program is loaded all the same" deleted_program
ktap_run "a program of which overlayfs has made a copy, and the copy" copied_up
ktap_run "both in a mount namespace of their own" copied_up unshare -m
ktap_run "a process whose first thread has ended as well" headless_program
ktap_run "tables that were made before they were needed" prewarmed
ktap_run "tables that are not exact say so, and are not kept" inexact
ktap_run "a module of another table format" other_format
ktap_run "load --all" all_processes
ktap_run "load -v, and load --all -v" verbose
ktap_run "unload --tables leaves those in use" unused_tables
ktap_run "how long files are idle" idle_files
ktap_run "unload --all" all_unloaded
ktap_run "unload --all while processes fork" forking_unloaded
ktap_run "config" config
ktap_run "a hook that cannot be tried" perf_refused
ktap_run "files in which stacks end" incomplete_stacks
ktap_run "status without a process" fails 1 "no such process" status 4194000
ktap_finish
