#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame: names, outputs, and recordings of perf's.
# slow: 1
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"
sanitized_beectl || exit 1

check_noreturn() {
	local call
	call=$(objdump -d "$work/prog" | sed -n '/<caller>:/,/^$/s/^ *\([0-9a-f]*\):.*call.*<stop>.*/0x\1/p')
	made "r.sample(7, [USER, $(address stop) + 4, ${call:?} + 5, $(address main) + 8])" &&
		expect "prog;main;caller;stop 1"
}

# A function that ends with a jump to the one behind it: at the jump, and where it leads.
check_tail_call() {
	made "r.sample(7, [USER, $(address jump), $(address main) + 8])" && expect "prog;main;jumps 1" &&
		made "r.sample(7, [USER, $(address target), $(address main) + 8])" && expect "prog;main;target 1"
}

check_inlines() {
	made "r.sample(7, [USER, $(address outer), $(address main) + 8])" &&
		options=--inlines expect "prog;main;outer;middle_[i];innermost_[i] 1"
}

# A function inside of another one that has none of the addresses.
check_nested() {
	made "r.sample(7, [USER, $(address 'nested\.0'), $(address main) + 8])" &&
		options=--inlines expect "prog;main;nested.0;innermost_[i] 1"
}

# What DWARF does not know to be a function.
check_line_of_label() {
	made "r.sample(7, [USER, $(address label) + 1, $(address main) + 8])" || return
	"$beectl" flame "$work/made.data" --lines --format folded | grep -E ';label \(.*label\.s:4\) 1$'
}

check_lines() {
	made "r.sample(7, [USER, $(address outer), $(address main) + 8])" || return
	"$beectl" flame "$work/made.data" --inlines --lines --format folded |
		grep -E ';outer \(.*prog\.c:8\);middle \(.*prog\.c:7\)_\[i\];innermost \(.*prog\.c:6\)_\[i\] 1$' &&
		"$beectl" flame "$work/made.data" --lines --json >"$work/lines.json" &&
		lists_names flame "$work/lines.json"
}

# User stacks that come after their samples: for two samples, with and without a context of its own, and
# never.
check_deferred() {
	local kernel=0xffffffff81000010 user
	user="$(address outer), $(address main) + 8"
	made "r.sample(7, [KERNEL, $kernel, DEFERRED, 5]); r.sample(7, [KERNEL, $kernel, $kernel, DEFERRED, 5]); r.sample(7, [DEFERRED, 6]); r.user_stack(7, 5, [USER, $user]); r.round(); r.user_stack(7, 6, [$user]); r.user_stack(7, 9, [USER, $user]); r.sample(7, [KERNEL, $kernel, DEFERRED, 7])" &&
		"$beectl" flame "$work/made.data" --kallsyms /dev/null --format folded 2>/dev/null |
			diff - <(printf '%s\n' "prog;[kernel]+0x${kernel#0x}_[k] 1" "prog;main;outer 1" \
				"prog;main;outer;[kernel]+0x${kernel#0x}_[k] 1" "prog;main;outer;[kernel]+0x${kernel#0x}_[k];[kernel]+0x${kernel#0x}_[k] 1") || return
	# A program can have on its stack what looks like the mark.
	made "r.sample(7, [USER, $user, DEFERRED, 5]); r.user_stack(7, 5, [USER, $user])" &&
		expect "prog;[unknown];[unknown];main;outer 1"
}

check_changed() {
	made "r.map(7, 0x400000, 0x10000, work + '/prog', 0, b'0123456789abcdefghij'); r.sample(7, [USER, 0x401010])" || return
	"$beectl" flame "$work/made.data" --format folded >"$work/folded" 2>"$work/errors" || return
	diff - "$work/folded" <<<"prog;[prog]+0x1010 1" && grep -q "build-id differs" "$work/errors"
}

check_gone() {
	made "r.map(7, 0x500000, 0x10000, work + '/gone'); r.sample(7, [USER, 0x500020])" || return
	"$beectl" flame "$work/made.data" --format folded >"$work/folded" 2>"$work/errors" || return
	diff - "$work/folded" <<<"prog;[gone]+0x20 1" && grep -q "gone: no names: No such file" "$work/errors" || return
	# The first 16 are named.
	made "_ = [(r.map(7, 0x500000, 0x10000, work + f'/gone{i}'), r.sample(7, [USER, 0x500020])) for i in range(100)]" &&
		"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | grep -c '^prog;\[gone' | grep -x 100 &&
		[ "$(wc -l <"$work/errors")" -eq 17 ] && grep "84 more warnings about files" "$work/errors" ||
		{ cat "$work/errors"; return 1; }
}

# A recording may name whatever its author likes: what is no regular file is not even opened.
check_devices() {
	local root=$work/devices id=0123456789abcdef0123456789abcdef01234567
	mkdir -p "$root/tmp" "$root/.debug/.build-id/01/${id:2}" &&
		mkfifo "$root/elf" "$root/jit-7.dump" "$root/tmp/perf-7.map" "$root/.debug/.build-id/01/${id:2}/elf" || return
	made "r.map(7, 0x500000, 0x1000, '/elf'); r.map(7, 0x600000, 0x1000, '/none', build_id=bytes.fromhex('$id')); r.map(7, 0x700000, 0x1000, '/jit-7.dump'); r.map(7, 0x800000, 0x1000, '//anon'); r.sample(7, [USER, 0x500010, 0x600010, 0x800010])" &&
		HOME=$root "$python" - "$beectl" "$work/made.data" "$root" <<-'END'
			import ctypes, os, subprocess, sys
			beectl, data, root = sys.argv[1:]
			libc = ctypes.CDLL(None)
			seen = libc.inotify_init1(os.O_NONBLOCK)
			for where, _, names in os.walk(root):
			    for name in names:
			        assert libc.inotify_add_watch(seen, os.fsencode(os.path.join(where, name)), 0x20) >= 0   # IN_OPEN
			done = subprocess.run([beectl, "flame", data, "--symfs", root, "--format", "folded"], capture_output=True, text=True, check=True)
			try:
			    sys.exit(f"{len(os.read(seen, 65536)) // 16} were opened")
			except BlockingIOError:
			    pass
			assert "[elf]+0x" in done.stdout and "[jit]+0x" in done.stdout, done
			assert done.stderr.count("not a regular file") >= 2, done
		END
}

check_unknown() {
	made "r.sample(7, [USER, 0x900000, 0x901000])" && expect "prog;[unknown];[unknown] 1"
}

check_jit() {
	local root=$work/root
	mkdir -p "$root/tmp"
	printf '%s\n' "7000 100 old code" "garbage" "7000 10 JIT:<a&b>;c" "7010 10 second" >"$root/tmp/perf-7.map"
	made "r.map(7, 0x7000, 0x1000, '//anon'); r.sample(7, [USER, 0x7004, 0x7015])" &&
		options="--symfs $root" expect "prog;second_[j];JIT:<a&b>:c_[j] 1" || return
	"$beectl" flame "$work/made.data" --symfs "$work/nowhere" --format folded 2>&1 >/dev/null |
		grep "/tmp/perf-7.map: no such file; the program has to write it" || return
	# The last one counts, wherever older ones begin, and what it leaves of them.
	printf '%s\n' "7010 20 within" "7000 100 over" "6ff0 20 before" "70f0 20 behind" >"$root/tmp/perf-7.map"
	made "r.map(7, 0x6000, 0x2000, '//anon'); r.sample(7, [USER, 0x7018, 0x7031, 0x7011, 0x7010, 0x70f0, 0x70f1, 0x7110, 0x7111])" &&
		options="--symfs $root" expect "prog;[jit]+0x7111;behind_[j];behind_[j];over_[j];before_[j];over_[j];over_[j];over_[j] 1"
}

# A program can have any word as a return address.  If it is PERF_CONTEXT_KERNEL, flame takes what follows for
# more of the program's addresses, and not for the kernel's.
check_forged_mark() {
	made "r.sample(7, [KERNEL, 0xffffffff81000010, USER, $(address outer), KERNEL, 0xffffffff81000010])" &&
		"$beectl" flame "$work/made.data" --kallsyms /dev/null --format folded 2>/dev/null |
			diff - <(echo "prog;[unknown];[unknown];outer;[kernel]+0xffffffff81000010_[k] 1")
}

# The kernel has moved by 0x1000000 since: so have its functions, but where modules are nobody knows.
check_kernel_moved() {
	printf '%s\n' "ffffffff82000000 T _stext" "ffffffff82000100 t work" "ffffffff82000200 T _etext" "ffffffffc0000000 t module_work	[mod]" \
		"ffffffffc0000100 t module_end	[mod]" >"$work/kallsyms"
	made "r.kernel('_stext', 0xffffffff81000000); r.sample(7, [KERNEL, 0xffffffffbf000010, 0xffffffff81000110])" &&
		options="--kallsyms $work/kallsyms" expect "prog;work_[k];[kernel]+0xffffffffbf000010_[k] 1" || return
	made "r.kernel('_stext', 0xffffffff82000000); r.sample(7, [KERNEL, 0xffffffffc0000010, 0xffffffff82000110])" &&
		options="--kallsyms $work/kallsyms" expect "prog;work_[k];module_work_[k] 1" || return
	"$beectl" flame "$work/made.data" --kallsyms "$work/prog.c" 2>&1 >"$work/folded" | tee "$work/errors"
	grep -q "no names: $work/prog.c is not what" "$work/errors"
}

# Functions that were made, made again at the same place, and moved; and each cut of the file.
check_jitdump() {
	mkdir -p "$work/jit" && "$python" - "$work/jit" <<-'END' || return
		import struct, sys
		def record(kind, body):
		    return struct.pack("<IIQ", kind, 16 + len(body), 1) + body
		def load(start, size, index, name):
		    return record(0, struct.pack("<IIQQQQ", 7, 7, start, start, size, index) + name + b"\0" + bytes(size))
		def move(old, new, size, index):
		    return record(1, struct.pack("<IIQQQQQ", 7, 7, new, old, new, size, index))
		data = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 7, 1, 0)
		data += load(0x7000, 16, 0, b"old") + load(0x7010, 16, 1, b"moved") + load(0x7000, 16, 2, b"new;<&")
		data += record(2, struct.pack("<QQ", 0x7010, 0)) + move(0x7010, 0x7100, 16, 1) + record(3, b"")
		with open(sys.argv[1] + "/jit-7.dump", "wb") as file:
		    file.write(data)
	END
	made "r.map(7, 0x6000, 0x1000, work + '/jit/jit-7.dump'); r.map(7, 0x7000, 0x1000, '//anon'); r.sample(7, [USER, 0x7004, 0x7108, 0x7019])" &&
		expect "prog;moved_[j];moved_[j];new:<&_[j] 1" || return
	local bytes whole
	whole=$(stat -c %s "$work/jit/jit-7.dump")
	cp "$work/jit/jit-7.dump" "$work/jit/whole"
	for ((bytes = 0; bytes < whole; bytes += 11)); do
		head -c "$bytes" "$work/jit/whole" >"$work/jit/jit-7.dump"
		"$beectl" flame "$work/made.data" --format folded >"$work/folded" 2>"$work/errors" && [ -s "$work/folded" ] || return
		[ "$bytes" -ge 40 ] || grep -q 'jit-7.dump: ' "$work/errors" || return
	done
	rm "$work/jit/jit-7.dump"
	"$beectl" flame "$work/made.data" --format folded 2>&1 >"$work/folded" | grep -q 'jit-7.dump: No such file' &&
		"$beectl" flame "$work/made.data" --raw | grep -q "^jitdump .*/jit-7.dump$"
}

check_split() {
	made "r.sample(7, [USER, 0x900000])" && options="--split pid" expect "prog-7;[unknown] 1" &&
		options="--split tid" expect "prog-7/7;[unknown] 1"
}

# One name of a MiB, sampled at 1,500 addresses; it is cut after a whole character.
check_long_name() {
	"$python" - "$work/long.s" <<-'END' && gcc -nostdlib -shared "$work/long.s" -o "$work/long.so" || return
		import sys
		name = '"' + "n\u00e4" * 350000 + '"'
		with open(sys.argv[1], "w", encoding="utf-8") as file:
		    file.write(f".globl {name}\n.type {name}, @function\n{name}: .fill 6000, 1, 0x90\n.size {name}, . - {name}\n"
		               '.section .note.GNU-stack,"",@progbits\n')
	END
	local text
	text=0x$(objdump -hw "$work/long.so" | awk '$2 == ".text" { print $6 }')
	made "r.map(7, 0x500000, 0x1000000, work + '/long.so'); _ = [r.sample(7, [USER, 0x500000 + $text + 4 * i]) for i in range(1500)]" &&
		"$tree/selftests/lib/most_memory.py" $((256 << 20)) "$beectl" flame "$work/made.data" -o "$work/out.folded" &&
		"$python" - "$work/out.folded" <<-'END'
			import sys
			with open(sys.argv[1], encoding="utf-8") as file:
			    name = file.read().removeprefix("prog;").removesuffix(" 1500\n")
			assert name == "n\u00e4" * 1364 + "n...", (len(name), name[-20:])
		END
}

# Process 8 maps more than flame keeps of a process.  flame forgets those that are too many, warns of that, and
# still names the function of process 7.
check_many_maps() {
	made "_ = [r.map(8, 0x1000000 + 0x2000 * i, 0x1000, work + '/prog') for i in range(16390)]; r.sample(7, [USER, $(address outer)])" &&
		"$beectl" flame "$work/made.data" --format folded >"$work/folded" 2>"$work/errors" &&
		diff "$work/folded" <(echo "prog;outer 1") &&
		grep -q "too much code mapped: the addresses of 6 mappings are \[unknown\]" "$work/errors"
}

# All events but the first name the same 256 MiB as their ids, which are more than are taken.
check_many_ids() {
	made "r = Recording(8); r.comm(7, 'prog'); r.map(7, 0x400000, 0x10000, work + '/prog'); r.sample(7, [USER, $(address outer)])" &&
		"$python" - "$work/made.data" <<-'END' || return
			import struct, sys
			from perfdata import ATTR_SIZE
			with open(sys.argv[1], "r+b") as file:
			    end = file.seek(0, 2)
			    file.truncate(end + (256 << 20))
			    for event in range(1, 8):
			        file.seek(104 + event * (ATTR_SIZE + 16) + ATTR_SIZE)
			        file.write(struct.pack("<QQ", end, 256 << 20))
		END
	"$tree/selftests/lib/most_memory.py" $((64 << 20)) "$beectl" flame "$work/made.data" -o "$work/out.folded" &&
		diff "$work/out.folded" <(echo "prog;outer 1")
}

# The numbers of reasons are those of the line that the text has; of a line that says something else what
# is understood.
check_stops() {
	local line
	made "r.sample(7, [USER, $(address outer)])" && "$beectl" flame "$work/made.data" --raw -o "$work/none.raw" || return
	for line in 'walks%20ended:%20outermost%20120,%20no-table%203|outermost=120 no-table=3' \
		'walks%20ended:%20gap%201,%20no-table,%20bad-ra%202|gap=1' '|' ':|' 'walks|' '::%20gap%201|'; do
		sed "s/^stops.*/stops ${line%|*}/" "$work/none.raw" >"$work/stops.raw" &&
			"$beectl" flame "$work/stops.raw" --json >"$work/stops.json" || { sed -n '/^stops/p' "$work/stops.raw"; return 1; }
		"$python" -c 'import json, sys
print(*(f"{reason}={walks}" for reason, walks in json.load(open(sys.argv[1]))["stops"].items()))' "$work/stops.json" |
			diff - <(echo "${line#*|}") || return
	done
}

# judges SAMPLES JUDGED COMPLETE OPTION...: flame, run with OPTIONs on made.data, counts so many samples, so
# many of them with a user stack, and so many with a complete one
judges() {
	"$beectl" flame "$work/made.data" "${@:4}" --json >"$work/summary.json" &&
		"$python" - "$work/summary.json" "${@:1:3}" <<-'END'
			import json, sys
			with open(sys.argv[1], encoding="utf-8") as file:
			    got = json.load(file)
			assert [got[name] for name in ("samples", "judged", "complete")] == [int(n) for n in sys.argv[2:]], got
		END
}

# A stack that ends in the kernel, but not at the start of one of its threads: perf had no user stack
# to add, as when a process exits.  Nothing is said of it.
check_judged() {
	printf '%s\n' "ffffffff81000000 T do_exit" "ffffffff81000100 T entry_SYSCALL_64_after_hwframe" \
		"ffffffff81000200 T ret_from_fork" "ffffffff81000300 T end" >"$work/kallsyms"
	made "start = $(address _start) + 8; r.sample(7, [USER, $(address outer), $(address main) + 8]); r.sample(7, [USER, $(address outer), start]); r.sample(7, [KERNEL, 0xffffffff81000010, 0xffffffff81000110, USER, $(address outer), start]); r.sample(7, [KERNEL, 0xffffffff81000010, 0xffffffff81000110]); r.sample(7, [KERNEL, 0xffffffff81000110]); r.sample(7, [KERNEL, 0xffffffff81000010, 0xffffffff81000210])" &&
		judges 6 4 3 --kallsyms "$work/kallsyms"
}

# A frame in memory without a file, at the top or further down: nobody knows whether others are missing.
check_judged_memory() {
	made "start = $(address _start) + 8; r.map(7, 0x7000, 0x1000, '//anon'); r.sample(7, [USER, $(address outer), start]); r.sample(7, [USER, 0x7004, start]); r.sample(7, [USER, $(address outer), 0x7004, start]); r.sample(7, [USER, 0x7004, $(address main) + 8])" &&
		judges 4 4 1 && "$beectl" flame "$work/made.data" >"$work/out" &&
		"$beectl" flame "$work/made.data" -o "$work/out.svg" &&
		grep -q '25.0% of the stacks complete, 50.0% more through code without a file' "$work/out" &&
		grep -q '>event 0: 4 samples, counted as 4 event 0, 25.0% of the stacks complete, 50.0% more through code without a file<' "$work/out.svg"
}

# The module has told how all walks of the recording ended.
check_judged_by_module() {
	made "start = $(address _start) + 8; r.map(7, 0x7000, 0x1000, '//anon'); r.sample(7, [USER, 0x7004, start])" &&
		"$beectl" flame "$work/made.data" --raw -o "$work/made.raw" &&
		sed 's/^stops .*/stops walks ended: outermost 4/' "$work/made.raw" >"$work/proven.raw" &&
		sed 's/^stops .*/stops walks ended: outermost 3, unproven 1/' "$work/made.raw" >"$work/unproven.raw" &&
		"$beectl" flame --enrich "$work/proven.raw" --format summary | grep '100.0% of the stacks complete$' &&
		"$beectl" flame --enrich "$work/unproven.raw" --format summary |
		grep ' 0.0% of the stacks complete, 100.0% more through code without a file$'
}

# Where a program or a thread starts has no name in a file without symbols.
check_judged_stripped() {
	cp "$work/prog" "$work/nameless" && strip "$work/nameless" &&
		made "r.map(7, 0x400000, 0x10000, work + '/nameless'); r.sample(7, [USER, $(address outer), $(address main) + 8]); r.sample(7, [USER, $(address outer), $(address _start) + 8]); r.sample(7, [USER, $(address outer), $(address begin) + 6])" &&
		judges 3 3 2
}

# Nothing is said of stacks that begin in files which are not there.
check_judged_unread() {
	made "r.map(7, 0x500000, 0x10000, '/nowhere'); r.sample(7, [USER, $(address outer), 0x500010])" && judges 1 0 0 &&
		grep '"unread": 1' "$work/summary.json" && "$beectl" flame "$work/made.data" >"$work/summary" 2>/dev/null || return
	cat "$work/summary"
	grep "1 not judged, as files cannot be read$" "$work/summary" && ! grep "% of the stacks" "$work/summary" &&
		"$beectl" flame "$work/made.data" --format svg 2>/dev/null | grep ", 1 not judged, as files cannot be read<" || return
	made "r.map(7, 0x500000, 0x10000, '/nowhere'); r.sample(7, [USER, $(address outer), 0x500010]); r.sample(7, [USER, 0x500010, $(address main) + 8]); r.sample(7, [USER, 0x500010, $(address _start) + 8])" &&
		judges 3 2 1
}

# What no symbol names is called by where its function begins, as CFI has it: one name for all of its addresses.
check_stripped() {
	cp "$work/prog" "$work/bare" && strip "$work/bare" &&
		made "r.map(7, 0x400000, 0x10000, work + '/bare'); _ = [r.sample(7, [USER, $(address nesting) + at, $(address main) + 8 + at]) for at in range(2)]" &&
		"$beectl" flame "$work/made.data" --format folded >"$work/folded" 2>"$work/errors" || return
	printf 'prog;[bare]+%#x;[bare]+%#x 2\n' $(($(address main) - 0x400000)) $(($(address nesting) - 0x400000)) |
		diff - "$work/folded" && grep "warning: $work/bare: 100 % of the samples have functions without names.*-dbgsym.*DEBUGINFOD_URLS" "$work/errors" &&
		[ "$(wc -l <"$work/errors")" -eq 1 ]
}

# A symbol without size does not name the function behind it, which has CFI.
check_label_ends() {
	cat >"$work/hidden.s" <<-'END'
		.globl	lonely
		lonely:
			nop
			ret
			.fill	62, 1, 0xcc
			.cfi_startproc
			nop
			nop
			ret
			.cfi_endproc
			.section .note.GNU-stack,"",@progbits
	END
	gcc -nostdlib -shared "$work/hidden.s" -o "$work/hidden.so" || return
	local text
	text=0x$(objdump -hw "$work/hidden.so" | awk '$2 == ".text" { print $6 }')
	made "r.map(7, 0x500000, 0x100000, work + '/hidden.so'); _ = [r.sample(7, [USER, 0x500000 + $text + at]) for at in (1, 63, 64, 65)]" &&
		"$beectl" flame "$work/made.data" --format folded 2>/dev/null |
			diff <(printf '%s\n' "prog;[hidden.so]+$(printf %#x $((text + 64))) 2" "prog;lonely 2") -
}

# glibc's free() has an old name, cfree@GLIBC_2.2.5, which no program is linked with any more.
check_old_version() {
	printf '%s\n' 'void impl(void) {}' 'extern void old(void) __attribute__((alias("impl")));' \
		'__asm__(".symver impl, release@@V1\n.symver old, longrelease@V1");' >"$work/version.c"
	echo 'V1 { global: release; longrelease; local: *; };' >"$work/version.map"
	gcc -shared -fPIC -nostdlib "$work/version.c" -Wl,--version-script="$work/version.map" -o "$work/version.so" &&
		objdump -T "$work/version.so" | grep '(V1) *longrelease' || return
	local at strip
	at=0x$(objdump -T "$work/version.so" | sed -n 's/^0*\([0-9a-f]*\) .* release$/\1/p')
	for strip in false true; do
		if "$strip"; then strip "$work/version.so"; fi
		made "r.map(7, 0x500000, 0x100000, work + '/version.so'); r.sample(7, [USER, 0x500000 + $at])" &&
			options='' expect "prog;release 1" || return
	done
}

# A stripped program of Go has its names in its function table: all functions are called as in the other one.
check_go_stripped() {
	mkdir "$work/go" && cat >"$work/go/main.go" <<-'END' || return
		package main

		type aVeryLongNameOfATypeThatHasAMethodWithAVeryLongName struct{ n int }

		//go:noinline
		func (t *aVeryLongNameOfATypeThatHasAMethodWithAVeryLongName) add(n int) func() int {
			return func() int { t.n += n; return t.n }
		}

		//go:noinline
		func max[T int | float64](a, b T) T {
			if a > b {
				return a
			}
			return b
		}

		func main() {
			t := &aVeryLongNameOfATypeThatHasAMethodWithAVeryLongName{}
			println(t.add(3)(), max(1, 2), max(1.5, 2.5))
		}
	END
	(cd "$work/go" && export HOME=$work GO111MODULE=off CGO_ENABLED=0 && go build -o ../whole main.go &&
		go build -ldflags='-s -w' -o ../stripped main.go) || return
	local program
	nm "$work/whole" | grep -i ' t ' | grep -v ' runtime.e\?text$\| go:' >"$work/functions"
	grep -q aVeryLongName "$work/functions" || return
	for program in whole stripped; do
		made "r.map(7, 0x400000, 0x10000000, work + '/$program'); _ = [r.sample(7, [USER, int(line.split()[0], 16) + 1]) for line in open(work + '/functions')]" &&
			"$beectl" flame "$work/made.data" --format folded >"$work/$program.folded" || return
	done
	# Its function table has no type arguments.
	sed 's/\(prog;[^[]\+\)\[.*\]/\1[...]/; s/ [0-9]*$//; s/\[whole\]/[stripped]/' "$work/whole.folded" | sort -u >"$work/whole.names"
	[ "$(wc -l <"$work/whole.names")" -gt 1000 ] && grep -q 'aVeryLong.*func1$' "$work/whole.names" &&
		sed 's/ [0-9]*$//' "$work/stripped.folded" | sort -u | diff "$work/whole.names" -
}

# Two programs have a function of the same name: the name says nothing of the file, in a recording and in text.
check_two_modules() {
	local input
	cp "$work/prog" "$work/other" &&
		made "r.map(7, 0x800000, 0x10000, work + '/other'); r.sample(7, [USER, $(address outer)]); r.sample(7, [USER, $(address caller)]); r.sample(7, [USER, $(address outer) + 0x400000])" || return
	printf '%s\n' "prog 7 1.0: 1 cycles:" "401010 outer ($work/prog)" "401020 caller ($work/prog)" "" \
		"prog 7 1.1: 1 cycles:" "801010 outer ($work/other)" >"$work/two.script"
	for input in made.data two.script; do
		"$beectl" flame "$work/$input" -o "$work/out.speedscope.json" || return
		"$python" - "$work" <<-'END' || return
			import json, sys
			with open(sys.argv[1] + "/out.speedscope.json", encoding="utf-8") as file:
			    frames = {frame["name"]: frame.get("file") for frame in json.load(file)["shared"]["frames"]}
			assert frames["caller"] == sys.argv[1] + "/prog" and not frames["outer"], frames
		END
	done
}

check_svg() {
	hostile && "$beectl" flame "$work/made.data" -o "$work/out.svg" 2>/dev/null &&
		xmllint --noout "$work/out.svg"
}

check_json() {
	hostile && "$beectl" flame "$work/made.data" -o "$work/out.speedscope.json" 2>/dev/null &&
		"$beectl" flame "$work/made.data" --json 2>/dev/null >"$work/summary.json" &&
		"$python" - "$work" <<-'END'
			import json, sys
			with open(sys.argv[1] + "/out.speedscope.json", encoding="utf-8") as file:
			    data = json.load(file)
			profile, = data["profiles"]
			names = [[data["shared"]["frames"][i]["name"] for i in s] for s in profile["samples"]]
			assert names[0][1:2] == ["main"] and profile["weights"] == [1] == [profile["endValue"]], data
			with open(sys.argv[1] + "/summary.json", encoding="utf-8") as file:
			    data = json.load(file)
			assert data["samples"] == data["total"] == 1 and len(data["functions"]) == 2, data
		END
}

# Each row names rows that there are; stacks and their weights are those of the folded form.
check_firefox() {
	hostile && "$beectl" flame "$work/made.data" -o "$work/out.profile.json" 2>/dev/null &&
		"$python" -m json.tool "$work/out.profile.json" /dev/null || return
	made "r.sample(7, [KERNEL, 0xffffffff81000010, USER, $(address outer), $(address main) + 8]); r.comm(8, 'other'); r.map(8, 0x400000, 0x10000, work + '/prog'); _ = [r.sample(8, [USER, $(address stop) + 4, $(address main) + 8 + i]) for i in range(3)]; r.sample(8, [USER, $(address main)])" &&
		"$beectl" flame "$work/made.data" --kallsyms /dev/null --format folded >"$work/folded" 2>/dev/null &&
		"$beectl" flame "$work/made.data" --kallsyms /dev/null -o "$work/out.profile.json" 2>/dev/null &&
		"$python" "$tree/selftests/lib/firefox_profile.py" "$work/out.profile.json" | sed 's/_\[k]//' | diff <(sed 's/_\[k]//' "$work/folded") -
}

check_pprof() {
	made "r.sample(7, [USER, $(address stop) + 4, $(address main) + 8]); r.sample(7, [USER, $(address outer), $(address main) + 8])" || return
	"$beectl" flame "$work/made.data" -o "$work/out.pb.gz" &&
		HOME=$work go tool pprof -traces "$work/out.pb.gz" >"$work/traces" 2>&1 || { cat "$work/traces"; return 1; }
	"$python" - "$work/traces" <<-'END'
		import re, sys
		text = open(sys.argv[1], encoding="utf-8").read()
		traces = [t.split() for t in re.split(r"-+\+-+\n", text)[1:] if t.strip()]
		assert sorted(traces) == [["1", "outer", "main", "prog"], ["1", "stop", "main", "prog"]], text
	END
}

# All events, each with samples and periods.
check_pprof_events() {
	made "r = Recording(3); r.comm(7, 'prog'); r.map(7, 0x400000, 0x10000, work + '/prog'); r.sample(7, [USER, $(address outer), $(address main) + 8], 1, 1000); _ = [r.sample(7, [USER, $(address stop) + 4, $(address main) + 8], 3, 7) for i in range(5)]" || return
	"$beectl" flame "$work/made.data" -o "$work/out.pb.gz" &&
		HOME=$work go tool pprof -raw "$work/out.pb.gz" >"$work/raw" 2>&1 || { cat "$work/raw"; return 1; }
	sed -n '/^Samples:/,/^Locations/p' "$work/raw" | sed '1d;$d' | tr -s ' ' | sed 's/: .*//' |
		diff - <(printf '%s\n' "event 0 samples/count event 0/count[dflt] event 2 samples/count event 2/count" \
			" 1 1000 0 0" " 0 0 5 35") || { cat "$work/raw"; return 1; }
	HOME=$work go tool pprof -top -sample_index="event 2" "$work/out.pb.gz" 2>&1 | grep -E '^ +35 +100% .* stop$' &&
		"$beectl" flame "$work/made.data" --show "event 2" -o "$work/out.pb.gz" &&
		HOME=$work go tool pprof -raw "$work/out.pb.gz" 2>&1 | grep -q '^samples/count event 2/count\[dflt\]$'
}

# Which other events there are is said, except where all of them are shown, or one was asked for.
check_other_events() {
	made "r = Recording(3); r.comm(7, 'prog'); r.map(7, 0x400000, 0x10000, work + '/prog'); r.sample(7, [USER, $(address outer)], 1); _ = [r.sample(7, [USER, $(address main)], 3) for i in range(5)]" &&
		"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | diff - <(echo "prog;outer 1") &&
		grep "warning: $work/made.data: shown is event 0; --show EVENT shows the samples of: event 2 (5)$" "$work/errors" &&
		"$beectl" flame "$work/made.data" --show "event 2" --format folded 2>"$work/errors" | diff - <(echo "prog;main 5") &&
		diff /dev/null "$work/errors" &&
		"$beectl" flame "$work/made.data" -o "$work/out.pb.gz" 2>"$work/errors" && diff /dev/null "$work/errors"
}

check_same() {
	made "[r.sample(7, [USER, 0x400000 + 16 * i, 0x401000 + i]) for i in range(500)]" || return
	local format
	for format in $(written_formats); do
		"$beectl" flame "$work/made.data" --format "$format" --jobs 1 >"$work/one" &&
			"$beectl" flame - --format "$format" --jobs 4 <"$work/made.data" | cmp - "$work/one" || return
	done
}

# What perf script prints, with a thread's name that has spaces and digits.
check_script() {
	cat >"$work/script" <<-'END'
		# captured on: somewhere
		my 2 prog 123/124 [001] 12.345: 1000 cycles:P:
			ffffffff81000010 do_work+0x10 ([kernel.kallsyms])
			          401010 helper (inlined)
			          401010 operator() (a, b)+0x4 (/bin/prog)
			          7f0010 JIT:a;b+0x1 (/tmp/perf-123.map)
			          400000 [unknown] (/bin/prog)

		other 5 12.346: 1 cycles:P:
			          401010 main+0x4 (/bin/prog)
	END
	"$beectl" flame "$work/script" --format folded | diff - <(printf '%s\n' \
		"my_2_prog;[prog];JIT:a:b_[j];operator() (a, b);helper_[i];do_work_[k] 1000" "other;main 1")
}

check_folded() {
	printf '%s\n' "a b;c;k_[k] 3" "a b;c 2" "z 1" "a b;c;j_[j];i_[i] 4" >"$work/stacks"
	"$beectl" flame - --format folded <"$work/stacks" >"$work/again" &&
		diff "$work/again" <(sed 's/a b/a_b/' "$work/stacks" | LC_ALL=C sort -t ' ' -k 1,1) &&
		"$beectl" flame "$work/stacks" -o "$work/folded.svg" && grep -q 'k: 3 samples, 30.00 %' "$work/folded.svg" || return
	! printf '%s\n' "a 1" "b 18446744073709551616" | "$beectl" flame - 2>"$work/errors" && grep "line 2 .*more samples" "$work/errors" &&
		! printf '%s\n' "a 18446744073709551615" "b 1" | "$beectl" flame - 2>"$work/errors" && grep "line 2 .*more samples" "$work/errors"
}

# What cannot be read is not taken for the end.
check_unreadable() {
	{ echo "a;b 1"; head -c $((65 << 20)) /dev/zero | tr '\0' x; printf '\na;c 5\n'; } >"$work/stacks"
	! "$beectl" flame "$work/stacks" 2>"$work/errors" && grep "stacks: line 2 has more than 64 MiB" "$work/errors" || return
	made "r.sample(7, [USER, $(address outer)])" && "$beectl" flame "$work/made.data" --raw -o "$work/some.raw" || return
	"$python" - "$beectl" "$work/some.raw" <<-'END'
		import socket, subprocess, sys
		with open(sys.argv[2], "rb") as file:
		    raw = file.read()
		for text, words in ((b"a;b 1\n" * 9 + b"a;c 5", "-: cannot read line 10: Connection reset by peer"),
		                    (raw[:-5], "-: cannot read line %d: Connection" % (raw.count(b"\n") - 1))):
		    ours, theirs = socket.socketpair()
		    ours.sendall(text)
		    theirs.sendall(b"not read, so the connection is reset")
		    ours.close()
		    done = subprocess.run([sys.argv[1], "flame", "-"], stdin=theirs, capture_output=True, text=True, check=False)
		    assert done.returncode == 1 and words in done.stderr, done
	END
}

# Twice as many samples, so shares are what counts; "gone" is in the first only, "new" in the second.
check_diff() {
	printf '%s\n' "p;same 20" "p;less 50" "p;gone;below_[k] 30" >"$work/before"
	printf '%s\n' "p;same 40" "p;less 20" "p;new 140" >"$work/after"
	"$beectl" flame "$work/after" --diff "$work/before" --format folded |
		diff - <(printf '%s\n' "p;gone;below_[k] 30 0" "p;less 50 20" "p;new 0 140" "p;same 20 40") || return
	"$beectl" flame "$work/after" --diff "$work/before" -o "$work/diff.svg" && xmllint --noout "$work/diff.svg" &&
		grep -q '<g class="d6".*<title>new: 140 samples, 70.00 %, before 0.00 %<' "$work/diff.svg" &&
		grep -q '<g class="d0".*<title>less: 20 samples, 10.00 %, before 50.00 %<' "$work/diff.svg" &&
		grep -q '<g class="d3".*<title>same: 40 samples, 20.00 %, before 20.00 %<' "$work/diff.svg" &&
		! grep -q 'gone' "$work/diff.svg" || return
	"$beectl" flame "$work/after" --diff "$work/before" -o "$work/diff.speedscope.json" &&
		"$beectl" flame "$work/after" --diff "$work/before" --json >"$work/diff.json" &&
		lists_names flame "$work/diff.json" && "$python" - "$work" <<-'END' || return
			import json, sys
			with open(sys.argv[1] + "/diff.speedscope.json", encoding="utf-8") as file:
			    after, before = json.load(file)["profiles"]
			assert after["weights"] == [20, 140, 40] and before["weights"] == [30, 50, 20], (after, before)
			assert before["name"] == "before: stacks, in samples" and before["endValue"] == 100 and after["endValue"] == 200
			with open(sys.argv[1] + "/diff.json", encoding="utf-8") as file:
			    functions = {f["name"]: f for f in json.load(file)["functions"]}
			assert functions["gone"] == {"name": "gone", "module": "", "self": 0, "total": 0, "before_self": 0, "before_total": 30}
		END
	"$beectl" flame "$work/after" --diff "$work/before" | grep -E '^ 70\.00%  \+70\.00  70\.00%  \+70\.00  new$' || return
	# Recordings have names of their own; the same one has not changed.
	made "r.sample(7, [USER, $(address outer), $(address main) + 8])" &&
		"$beectl" flame "$work/made.data" --diff "$work/made.data" --format folded | diff - <(echo "prog;main;outer 1 1") || return
	"$beectl" flame "$work/after" --diff "$work/before" -o "$work/diff.pb.gz" 2>"$work/errors"
	[ $? -eq 2 ] && grep -q "pprof cannot show two" "$work/errors" &&
		! "$beectl" flame "$work/after" --diff "$work/nothing" 2>"$work/errors" && grep -q "nothing: No such file" "$work/errors"
}

# In a terminal of 60 columns no line is longer, and the module is seen; elsewhere names are whole.
check_terminal() {
	local name
	name=$(printf 'n\303\244me%.0s' {1..30})
	printf '%s\n' "p;short 2" "p;$name 3" >"$work/long"
	"$beectl" flame "$work/long" | grep -qF " $name" || return
	"$python" - "$beectl" "$work/long" <<-'END'
		import fcntl, os, pty, struct, subprocess, sys, termios
		ours, theirs = pty.openpty()
		fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
		subprocess.run([sys.argv[1], "flame", sys.argv[2]], stdout=theirs, check=True)
		os.close(theirs)
		text = b""
		try:
		    while part := os.read(ours, 65536):
		        text += part
		except OSError:     # EIO: there is no more
		    pass
		lines = text.decode().splitlines()
		cut = [line for line in lines if line.endswith("..")]
		assert len(cut) == 2 and max(map(len, lines)) <= 60 and max(len(line.encode()) for line in cut) >= 59, lines
		assert any(line.endswith(" short") for line in lines), lines
	END
}

# Nothing that a recording says of itself reaches the terminal as a control character.
check_escapes() {
	hostile && "$beectl" flame "$work/made.data" --raw 2>/dev/null |
		sed -E 's/^(stops|cmdline|event 1) .*/\1 %1b[31m%0aforged%07/' >"$work/escapes.raw" || return
	"$beectl" flame "$work/escapes.raw" >"$work/output" 2>&1 || return
	cat -v "$work/output"
	[ "$(grep -c 033.31m.012forged.007 "$work/output")" -eq 3 ] && ! grep -a "$(printf '[\1-\11\13-\37\177]')" "$work/output"
}

check_usage() {
	local words
	for words in "--format gif" "-o x.gif" "--split cpu" "--jobs 0" "--checkpoint 5 perf.data" "-o" \
		"-ao $work/x.svg -- true" "-go$work/x.svg -a" "x.data y.data" "- y.data" "--help=3" \
		"--json -o $work/x.svg x.data" "--json --format svg"; do
		# shellcheck disable=SC2086  # a list of words
		"$beectl" flame $words 2>"$work/errors"
		[ $? -eq 2 ] && grep -q "beectl flame --help" "$work/errors" || { echo "$words"; cat "$work/errors"; return 1; }
	done
	"$beectl" flame -o "$work/none/x.svg" -- touch "$work/ran" 2>"$work/errors"
	[ $? -eq 1 ] && [ ! -e "$work/ran" ] && [ ! -e "$work/x.svg" ] &&
		[ "$(cat "$work/errors")" = "beectl: flame: $work/none/x.svg: No such file or directory" ] || return
	! "$beectl" flame "$work/prog" 2>"$work/errors" && grep -q "prog: it is a program or library, and no recording; to record" "$work/errors" || return
	for words in --inlnes -i -v "-F 99" --call-graph=fp; do
		# shellcheck disable=SC2086  # a list of words
		"$beectl" flame $words "$work/prog" 2>"$work/errors"
		[ $? -eq 2 ] && grep -q "flame: ${words%% *} is none of .*; to read a recording: beectl flame .OPTIONS. FILE; see" "$work/errors" ||
			{ echo "$words"; cat "$work/errors"; return 1; }
	done
	! "$beectl" flame --split cpu "$work/prog" 2>"$work/errors" && grep -q -e "--split: cpu is not comm, pid or tid;" "$work/errors" &&
		! "$beectl" record -F 99 2>"$work/errors" && grep -q 'is needed; see "beectl record --help"' "$work/errors" || return
	! "$beectl" flame "$work/prog.c" 2>"$work/errors" && grep -q "is neither of perf script" "$work/errors" &&
		! "$beectl" flame "$work/nothing" 2>"$work/errors" && grep -q "No such file.*to record a command" "$work/errors" &&
		made "pass" && ! "$beectl" flame "$work/made.data" 2>"$work/errors" && grep -q "made.data: the recording has no samples" "$work/errors" || return
	# Before anything is recorded.
	! "$beectl" flame --diff "$work/nothing" -o "$work/x.svg" -- touch "$work/ran" 2>"$work/errors" &&
		[ ! -e "$work/ran" ] && grep -q "nothing: No such file or directory$" "$work/errors" &&
		! "$beectl" flame --enrich "$work/nothing" 2>"$work/errors" && grep -q "nothing: No such file or directory$" "$work/errors" || return
	made "r.sample(7, [USER, $(address outer)])" && ! "$beectl" flame --show other "$work/made.data" 2>"$work/errors" &&
		grep -q "other: the recording has no such event; it has: event 0$" "$work/errors"
}

# Recorded without -g: what there is is shown, and it is said what is missing.
check_flat() {
	made "r = Recording(chains=False); r.comm(7, 'prog'); r.map(7, 0x400000, 0x10000, work + '/prog'); r.sample(7, [USER, $(address outer)])" &&
		"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | diff - <(echo "prog;outer 1") &&
		grep -q "made.data: it has no callchains.*perf record -g" "$work/errors"
}

# Some tests record a shell that runs this.
busy='i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'

# records_as CMDLINE OPTION...: runs flame with OPTIONs, for a command that is busy for a moment; then "cmdline"
# in its summary begins with CMDLINE
records_as() {
	"$beectl" flame "${@:2}" -F 499 -e cpu-clock --json -- sh -c "$busy" >"$work/output" 2>"$work/errors" &&
		grep -q "\"cmdline\": *\"$1" "$work/output" && return
	cat "$work/output" "$work/errors"
	return 1
}

# The command records; its output and that of the command are separate.
check_records() {
	"$beectl" flame -F 499 -e cpu-clock --out "$work/out.folded" -- \
		sh -c "$busy; echo done" >"$work/output" 2>"$work/errors" || { cat "$work/errors"; return 1; }
	diff - "$work/output" <<<"done" && grep -q '^sh;' "$work/out.folded" || return
	# With -a perf records all processes, and only ends when the command does.
	records_as "sh -c " && records_as "-a -F 499 -e cpu-clock -- sh -c " -a
}

# Perf itself has samples then, of the process that was to become the command.
check_no_command() {
	local status
	"$beectl" flame -F 499 -e cpu-clock -o "$work/none.svg" -- "$work/none" 2>"$work/errors"
	status=$?
	cat "$work/errors"
	[ $status -eq 127 ] && grep -q "none: no such command$" "$work/errors" && [ ! -e "$work/none.svg" ]
}

# What flame writes to standard output has nothing of the command's in it.
check_records_to_stdout() {
	local busy="$busy; echo done"
	"$beectl" flame -F 499 -e cpu-clock --json -- sh -c "$busy" >"$work/output" 2>"$work/errors" &&
		"$python" -m json.tool "$work/output" /dev/null && grep -q '^done$' "$work/errors" &&
		"$beectl" flame -F 499 -e cpu-clock --raw -- sh -c "$busy" >"$work/output" 2>"$work/errors" &&
		"$beectl" flame --enrich "$work/output" --format folded | grep -q '^sh;' || { cat "$work/errors"; return 1; }
}

# By its name without the modifiers that perf adds; what was recorded is shown if there is none.
check_records_event() {
	"$beectl" flame -F 499 -e cpu-clock --show cpu-clock --format folded -- sh -c "$busy" >"$work/output" 2>"$work/errors" &&
		grep -q '^sh;' "$work/output" && ! grep "no such event" "$work/errors" &&
		"$beectl" flame -F 499 -e cpu-clock --show cycles --format folded -- sh -c "$busy" >"$work/output" 2>"$work/errors" &&
		grep -q '^sh;' "$work/output" && grep -q "cycles: the recording has no such event; it has: cpu-clock" "$work/errors" ||
		{ cat "$work/errors"; return 1; }
}

# ^C while perf records: what there is is written, and it is all of the recording.
check_interrupted() {
	"$beectl" flame -F 499 -e cpu-clock --raw -o "$work/cut.raw" -- \
		sh -c 'i=0; while :; do i=$((i+1)); [ $i != 100000 ] || : >"$0"; done' "$work/ready" 2>"$work/errors" &
	local pid=$!
	until_there "$work/ready" $pid && kill -INT $pid && wait $pid || { cat "$work/errors"; return 1; }
	"$beectl" flame "$work/cut.raw" --format folded >"$work/cut.folded" 2>>"$work/errors" && grep -q '^sh;' "$work/cut.folded" &&
		"$beectl" flame "$work/cut.raw" --json 2>>"$work/errors" >"$work/cut.json" &&
		grep -q '"unfinished": false' "$work/cut.json" || { cat "$work/errors" "$work/cut.json"; return 1; }
}

# The terminal is closed: all that runs in it is told, perf and what it has started, too.
check_hangup() {
	sh -c 'while :; do :; done' &
	local busy=$! pid status
	# shellcheck disable=SC2016  # for the inner shell
	setsid "$beectl" flame -F 499 -e cpu-clock -o "$work/hangup.folded" -p "$busy" -- \
		sh -c 'i=0; while :; do i=$((i+1)); [ $i != 100000 ] || : >"$0"; done' "$work/up" 2>"$work/errors" &
	pid=$!
	until_there "$work/up" $pid
	kill -HUP -- -$pid
	wait $pid
	status=$?
	kill "$busy"
	cat "$work/errors"
	[ "$status" -eq 0 ] && grep '^sh;' "$work/hangup.folded" || return
	# shellcheck disable=SC2016
	(trap '' HUP; "$beectl" flame -F 499 -e cpu-clock -o "$work/nohup.folded" -- \
		sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; cat "/proc/$PPID/status"') >"$work/nohup" &&
		grep -q '^SigIgn:.*[13579bdf]$' "$work/nohup"
}

ktap_plan 51
ktap_run "flame names the caller whose call at its end does not return" check_noreturn
ktap_run "flame names both functions of a tail call to the next function" check_tail_call
ktap_run "flame names inlined calls, the outermost first" check_inlines
ktap_run "flame names an inlined call in a function inside of another one" check_nested
ktap_run "flame --lines has the lines of inlined calls" check_lines
ktap_run "flame --lines has the line of a label" check_line_of_label
ktap_run "flame joins samples with user stacks that come later" check_deferred
ktap_run "flame does not name addresses by a file that has changed since" check_changed
ktap_run "flame shows addresses of a file that is gone" check_gone
ktap_run "flame does not open a device for its names" check_devices
ktap_run "flame takes a forged PERF_CONTEXT_KERNEL for an address of the program" check_forged_mark
ktap_run "flame shows addresses that are in no mapping" check_unknown
ktap_run "flame names code made at run time by perf-PID.map" check_jit
ktap_run "flame names a kernel that has moved since the recording" check_kernel_moved
ktap_run "flame names code made at run time by jitdump" check_jitdump
ktap_run "flame takes a name of a MiB" check_long_name
ktap_run "flame counts mappings that are more than are kept" check_many_maps
ktap_run "flame counts ids that are more than are taken" check_many_ids
ktap_run "flame --split keeps processes and threads apart" check_split
with xmllint "SVG of hostile names is well-formed" check_svg
ktap_run "flame tells which stacks are complete" check_judged
ktap_run "flame tells which stacks with code in memory are complete" check_judged_memory
ktap_run "code in memory hides no frame if the module has told that no walk ended so" check_judged_by_module
ktap_run "flame tells which stacks of a program without symbols are complete" check_judged_stripped
ktap_run "stacks that begin in files which are not there are not judged" check_judged_unread
ktap_run "a function without a name is one frame, however many of its addresses were sampled" check_stripped
ktap_run "a symbol without size ends where CFI has the next function" check_label_ends
ktap_run "a symbol's name of an old version does not win" check_old_version
with go "a stripped program of Go has the names that it had" check_go_stripped
ktap_run "flame has no file for a name that functions of two files have" check_two_modules
ktap_run "flame --json has how walks ended" check_stops
ktap_run "JSON of hostile names is well-formed" check_json
ktap_run "flame's file for Firefox profiler has all rows" check_firefox
with go "pprof reads flame's file for pprof" check_pprof
with go "flame's file for pprof has all events" check_pprof_events
ktap_run "flame says which events are not shown" check_other_events
ktap_run "flame writes equal output for equal input" check_same
ktap_run "flame reads text of perf script" check_script
ktap_run "flame reads folded stacks" check_folded
ktap_run "flame refuses text that it cannot read" check_unreadable
with xmllint "flame compares two recordings" check_diff
if "$python" -c 'import pty; pty.openpty()' 2>/dev/null; then
	ktap_run "flame's summary fits into a terminal" check_terminal
else
	ktap_skip "flame's summary fits into a terminal" "no pseudo-terminals"
fi
ktap_run "names in a recording send no escape sequence to the terminal" check_escapes
ktap_run "flame names mistakes in its words" check_usage
ktap_run "flame reads a recording without callchains" check_flat
why=
perf record -q -e cpu-clock -g -o "$work/probe.data" -- true >/dev/null 2>&1 || why="perf cannot record here"
while read -r check name; do
	if [ -z "$why" ]; then
		ktap_run "$name" "$check"
	else
		ktap_skip "$name" "$why"
	fi
done <<-'END'
	check_records flame records a command
	check_no_command flame of a command that is not there writes no picture, and its exit status is 127
	check_records_to_stdout flame records a command, and writes to standard output
	check_records_event flame -e records an event by its name
	check_interrupted ^C ends flame's recording, and the output is written
	check_hangup a terminal that is closed ends flame's recording, but not under nohup
END
ktap_finish
