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

# "status PID" shows exactly the executable mappings, and that each has a table.
mappings_have_tables() {
	"$BEECTL" status --json "$target" | /usr/bin/python3 -c '
import json, sys
want = set()
for line in open(f"/proc/{sys.argv[1]}/maps"):
    words = line.split(maxsplit=5)
    if "x" in words[1] and "vsyscall" not in line:
        want.add(tuple(int(a, 16) for a in words[0].split("-")))
ranges = json.load(sys.stdin)["process"]["ranges"]
got = {(int(r["start"], 0), int(r["end"], 0)) for r in ranges if r["loaded"] and r["state"] == "table" and r["rows"]}
print("wanted", sorted(want), "got", ranges)
sys.exit(want != got or not want)' "$target"
}

# "unload FILE" lists the processes that have it mapped, removes its table, and no other; the file may be gone.
unload() {
	local pid
	cp /bin/sleep "$WORK/unloaded"
	"$WORK/unloaded" infinity &
	pid=$!
	guest_wait grep -q "libc" "/proc/$pid/maps" && "$BEECTL" load -q "$pid" && table_is "$WORK/unloaded" &&
		rm "$WORK/unloaded" && "$BEECTL" unload "$WORK/unloaded" >"$WORK/out"
	cat "$WORK/out"
	kill "$pid"
	grep -q "/unloaded: table removed, 1 process$" "$WORK/out" && grep -q "^ *$pid .* unloaded$" "$WORK/out" &&
		! table_is "$WORK/unloaded" && table_is "$(realpath /usr/bin/perl)"
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

# Of a program that is written to while it runs, the kernel allows its times to change only.
written_program() {
	local pid
	cp /bin/sleep "$WORK/written" && "$WORK/written" infinity &
	guest_wait pgrep -x written || return 1
	pid=$(pgrep -x written)
	guest_wait grep -q written "/proc/$pid/maps" && {
		"$BEECTL" load "$pid" && "$BEECTL" load "$pid" && touch "$WORK/written" && "$BEECTL" status "$pid" &&
			"$BEECTL" load "$pid" && "$BEECTL" status "$pid"
	} >"$WORK/out"
	kill "$pid"
	cat "$WORK/out"
	grep ' written: .* files, ' "$WORK/out" | sed -n 2p | grep -q ' tables ([0-9]* already loaded)' &&
		grep ' written: .* files, ' "$WORK/out" | sed -n 3p | grep -q ' (1 compiled, [0-9]* already loaded)' &&
		[ "$(grep ' [^ ]*/written$' "$WORK/out" | grep -oE ' (was written to|table) ' | xargs)" = "was written to table" ]
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
	fails 1 "over budget.*; more: beectl config budget SIZE$" load "$target" &&
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

# A program with a note behind the end of its file can have no table.  Load, status and record say why, in the same
# words.
refused_file() {
	local pid status=1 why="truncated: a segment lies past the end of the file"
	/usr/bin/python3 - /bin/sleep "$WORK/cut" <<-'END' && chmod 755 "$WORK/cut" || return 1
		import struct, sys
		with open(sys.argv[1], "rb") as file:
		    data = bytearray(file.read())
		headers, = struct.unpack_from("<Q", data, 32)
		note = next(at for at in range(headers, len(data), 56) if data[at] == 4)    # PT_NOTE
		struct.pack_into("<Q", data, note + 8, 1 << 30)
		with open(sys.argv[2], "wb") as file:
		    file.write(data)
	END
	"$WORK/cut" infinity &
	pid=$!
	guest_wait grep -q libc "/proc/$pid/maps" && "$BEECTL" load "$pid" >"$WORK/out" 2>&1 &&
		"$BEECTL" status "$pid" >>"$WORK/out" && "$BEECTL" record -o "$WORK/data" -p "$pid" -- true 2>>"$WORK/out" &&
		"$BEECTL" status --json "$pid" >"$WORK/json" && grep "^beectl: load: warning: $pid: $WORK/cut: $why$" "$WORK/out" &&
		grep "^  no table: $WORK/cut: $why$" "$WORK/out" && grep "^$WORK/cut has no table: $why$" "$WORK/out" &&
		[ "$(grep -c " no table: " "$WORK/out")" -eq 2 ] && /usr/bin/python3 -c '
import json, sys
why = {r["path"].split("/")[-1]: r["why"] for r in json.load(sys.stdin)["process"]["ranges"]}
assert why.pop("cut") == sys.argv[1] and not any(why.values()), why' "$why" <"$WORK/json" && status=0
	[ "$status" -eq 0 ] || cat "$WORK/out"
	kill "$pid"
	return "$status"
}

# One that ends at once if it is run: exit(0), in 32-bit code.
run_thirty_two_bits() {
	printf '.globl _start\n_start: mov $1, %%eax\nxor %%ebx, %%ebx\nint $0x80\n' >"$WORK/exit.S"
	gcc -m32 -nostdlib -static -o "$WORK/exit32" "$WORK/exit.S" && "$WORK/exit32" &&
		"$BEECTL" run "$WORK/exit32"
}

# A set-user-ID program has the user that it has without beectl.
set_user_id() {
	local dir status=1
	dir=$(mktemp -d) && chmod 755 "$dir" && install -m 755 "$BEECTL" "$dir/beectl" &&
		install -m 4755 /usr/bin/id "$dir/of_root" && install -m 4755 -o 65534 /usr/bin/id "$dir/of_nobody" || return 1
	for program in of_root of_nobody; do
		"$BEECTL" run "$dir/$program" -u
		setpriv --reuid 65533 --regid 65533 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon \
			"$dir/beectl" run "$dir/$program" -u
	done >"$WORK/users"
	cat "$WORK/users"
	[ "$(xargs <"$WORK/users")" = "0 0 65534 65534" ] && status=0
	rm -r "$dir"
	return "$status"
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

# walked PROGRAM: each of its system calls is a sample
walked() {
	perf record -q -N -B -e raw_syscalls:sys_enter -c 1 -g -o "$WORK/data" "$1"
}

# The time since a file was used goes on, until it is used again.  A guest that waits for a CPU may take
# as long for the next look: then again, after a longer time.
idle_files() {
	local seconds first later last
	cp /bin/true "$WORK/idle" && "$BEECTL" run "$WORK/idle" || return 1
	for seconds in 1 4 16; do
		walked "$WORK/idle" && first=$(idle "$WORK/idle") || return 1
		sleep "$seconds"
		later=$(idle "$WORK/idle")
		walked "$WORK/idle" && last=$(idle "$WORK/idle") || return 1
		echo "$first, $later, $last"
		[ "$later" -ge $((first + 900 * seconds)) ] || return 1
		[ "$last" -ge "$later" ] || return 0
	done
	return 1
}

# Tables that "cache prewarm" made of files opened by name serve the same files as they are mapped, though the
# module does not know them: only the vDSO's table is compiled.
prewarmed() {
	guest_rmmod && guest_insmod && "$BEECTL" cache clear -q && awk '$2 ~ /x/ && $6 ~ /^\// { print $6 }' "/proc/$target/maps" |
		sort -u | xargs "$BEECTL" cache prewarm -q || return 1
	"$BEECTL" load "$target" >"$WORK/out" || return 1
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
		assert got["processes"] >= 2, "processes"
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

# As after an upgrade the module seems to have another table format or family: preloaded functions add
# $OTHER and $FAMILY to the versions that it tells.  beectl must refuse before it does anything, and say
# which of the two is too old.
other_version() {
	local pid format="takes table format [0-9]*, this beectl makes [0-9]*:" sentence
	local family="has version [0-9]* of the netlink family, this beectl [0-9]*:"
	gcc -shared -fPIC -I"$TREE/include/uapi" -x c - -o "$WORK/other.so" <<-'END' || return 1
		#include <stdint.h>
		#include <stdlib.h>
		#include <linux/genetlink.h>
		#include <linux/netlink.h>
		#include <linux/beeunwind.h>
		uint32_t nla_get_u32(const struct nlattr *attr)
		{
			int other = attr->nla_type == BEEUNWIND_A_INFO_TABLE_VERSION ? atoi(getenv("OTHER")) : 0;

			return *(const uint32_t *)(attr + 1) + other;
		}
		struct genlmsghdr *genlmsg_hdr(struct nlmsghdr *message)
		{
			struct genlmsghdr *header = NLMSG_DATA(message);

			header->version += atoi(getenv("FAMILY"));
			return header;
		}
	END
	export LD_PRELOAD=$WORK/other.so OTHER=0 FAMILY=1
	fails 1 "$family install the beectl" load "$target" && FAMILY=-1 fails 1 "$family rmmod" status &&
		FAMILY=-1 fails 125 "$family rmmod" run touch "$WORK/ran" && [ ! -e "$WORK/ran" ] || return 1
	FAMILY=0 OTHER=1
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
	"$BEECTL" load -q "$target" && "$BEECTL" unload --all >"$WORK/out" &&
		grep '^[1-9][0-9]* tables removed, ' "$WORK/out" &&
		[ "$(guest_status tables) $(guest_status files) $(guest_status table_bytes)" = "0 0 0" ]
}

config() {
	"$BEECTL" config budget 100M hook off share 30 || return 1
	"$BEECTL" config --json | tee "$WORK/out" | /usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
want = {"budget": 100 << 20, "hook": "off", "share": 30}
sys.exit(any(got[k] != want[k] for k in want))' || { cat "$WORK/out"; return 1; }
	"$BEECTL" config hook on budget 256M share 50 && "$BEECTL" config >"$WORK/out" &&
		grep -q '^budget  *256.0 MiB' "$WORK/out" && grep -q '^hook  *on$' "$WORK/out" &&
		grep -q '^share  *50%$' "$WORK/out" && ! "$BEECTL" config share 0 || return 1
	# To raise the share takes CAP_SYS_ADMIN: which setting was refused, and that the other was not.
	! setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$BEECTL" config hook off share 90 \
		2>"$WORK/err" && cat "$WORK/err" &&
		grep -q '^beectl: config: share: .*; what stands before it is set$' "$WORK/err" &&
		"$BEECTL" status >"$WORK/out" &&
		grep '^ *the module.s hook is off, .*beectl config hook on$' "$WORK/out" && "$BEECTL" config hook on
}

# The program has neither unwind information nor a frame pointer, and does nothing but loop.
incomplete_stacks() {
	# The program has no CFI, and beectl makes no rows for it, as it loads rsp from memory.
	printf '%s\n' '.globl main' 'main: mov %rsp, kept(%rip)' 'mov kept(%rip), %rsp' 'mov $300000000, %rbp' \
		'1: dec %rbp' 'jnz 1b' 'xor %eax, %eax' ret '.lcomm kept, 8' >"$WORK/spin.S"
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

ktap_plan 32
ktap_run "without the module beectl says how to load it" \
	fails 1 "modprobe .*insmod .*dmesg.*dkms status.*README" load "$target"
guest_insmod
ktap_run "a user other than root is told which rights beectl needs, and needs none to run a program" not_root
ktap_run "load refuses a process that is not there" fails 1 "no such process" load 4194000
ktap_run "load refuses a kernel thread" fails 1 "kernel thread" load 2
ktap_run "load refuses what is not a number" fails 2 "abc: not a process id" load abc
ktap_run "load without an argument is refused" fails 2 "load: .* is needed" load
ktap_run "load refuses a 32-bit process" thirty_two_bits
ktap_run "load, status and record say why a file can have no table" refused_file
ktap_run "beectl run starts a 32-bit program" run_thirty_two_bits
ktap_run "set-user-ID programs have the user under beectl run that they have without" set_user_id
ktap_run "load and run say that the budget is used up, and what helps" over_budget
ktap_run "loading a process twice changes nothing" load_twice
ktap_run "status of a process shows its executable mappings, and their tables" mappings_have_tables
ktap_run "unload of a file removes its table only, though the file is deleted" unload
ktap_run "unload refuses a process" fails 2 "nothing to unload of one process" unload "$target"
ktap_run "unload refuses a file that has no table" fails 1 "the module knows no such file" unload "$WORK/none"
ktap_run "tables come from the cache when the module was loaded anew" kept_by_the_cache
ktap_run "a damaged cache file is rebuilt" corrupt_cache_is_rebuilt
ktap_run "a deleted program is loaded all the same" deleted_program
ktap_run "a program that was written to is loaded anew" written_program
ktap_run "a process whose first thread has ended is loaded" headless_program
ktap_run "tables that were made before they were needed are used" prewarmed
ktap_run "tables that are not exact say so, and are not kept in the cache" inexact
ktap_run "a module of another table format or family is refused, with what to do" other_version
# What is tested from here on does not depend on who has made the tables of all that runs.
cp -n /var/cache/beeunwind/* "$BEEUNWIND_CACHE"
ktap_run "load --all gives each mapped file a table, or a reason" all_processes
ktap_run "load -v lists mappings, and load --all -v the files without tables" verbose
ktap_run "status shows how long files are idle" idle_files
ktap_run "unload --all removes all tables" all_unloaded
ktap_run "config shows and changes settings" config
ktap_run "beectl status does not call a hook broken that it cannot try" perf_refused
ktap_run "status lists the files in which stacks end" incomplete_stacks
ktap_run "status refuses a process that is not there" fails 1 "no such process" status 4194000
ktap_finish
