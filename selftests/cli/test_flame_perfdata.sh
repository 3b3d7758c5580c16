#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame: what single records of perf's mean, and what a recording may cost who reads it.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"

# The symbol that perf names is not the only one at its address, nor the last one; or it is not there.
check_kernel_symbol() {
	printf '%s\n' "ffffffff82000000 T _stext" "ffffffff82000000 T _text" "ffffffff82000000 T __pi__text" "ffffffff82000100 t work" \
		"ffffffff82000200 T _etext" >"$work/kallsyms"
	made "r.kernel('_text', 0xffffffff81000000); r.sample(7, [KERNEL, 0xffffffff81000110])" &&
		options="--kallsyms $work/kallsyms" expect "prog;work_[k] 1" || return
	made "r.kernel('other', 0xffffffff81000000); r.sample(7, [KERNEL, 0xffffffff81000110])" &&
		"$beectl" flame "$work/made.data" --kallsyms "$work/kallsyms" --format folded 2>"$work/errors" |
		diff - <(echo "prog;[kernel]+0xffffffff81000110_[k] 1") && grep "no names: .* has no symbol other" "$work/errors"
}

# Which kernel was recorded says its mapping.
check_kernel_build_id() {
	local kernel=0xffffffff81000110
	made "r.map(0xffffffff, 0xffffffff81000000, 1 << 30, '[kernel.kallsyms]_text', 0xffffffff81000000, b'another kernel......'); r.sample(7, [KERNEL, $kernel])" &&
		"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | diff - <(echo "prog;[kernel]+${kernel}_[k] 1") &&
		grep "no names: another kernel was recorded" "$work/errors" &&
		"$beectl" flame "$work/made.data" --raw 2>/dev/null | grep -a "^file kernel $(printf 'another kernel......' | od -An -tx1 | tr -d ' \n') "
}

# If nothing says which kernel was recorded, it is known only whether the machine was started anew.
check_kernel_started_anew() {
	local start=$1
	made "r.kernel('_stext', 0x$start + 0x200000); r.sample(7, [KERNEL, 0x$start + 0x200100])" &&
		"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" && grep "started anew" "$work/errors" &&
		made "r.kernel('_stext', 0x$start); r.sample(7, [KERNEL, 0x$start + 0x100])" &&
		"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" && diff /dev/null "$work/errors"
}

# perf has found 8 running, and says what it has mapped: that is all.  9 has been forked, and has more.
check_found_running() {
	made "r.fork(7, 8, found=True); r.comm(8, 'other'); r.map(8, 0x500000, 0x10000, work + '/prog'); r.fork(7, 9); r.map(9, 0x500000, 0x10000, work + '/prog'); _ = [r.sample(pid, [USER, $(address outer), $(address outer) + 0x100004]) for pid in (8, 9)]" &&
		expect "other;outer;[unknown] 1" "prog;outer;outer 1"
}

# Two files had one path, in two containers: which of them has a build-id that the recording gives for the
# path is not known.  perf's copy of the other one is at hand.
check_build_ids_of_path() {
	local inode id other dir entries
	sed 's/outer/another/' "$work/prog.c" >"$work/another.c" && gcc -O2 -fno-pie -no-pie -fno-reorder-functions -fno-ipa-icf \
		-Wl,--build-id "$work/another.c" "$work/label.s" -o "$work/another" && inode=$(stat -c %i "$work/prog") || return
	id=$(readelf -n "$work/prog" | sed -n 's/.*Build ID: //p')
	other=$(readelf -n "$work/another" | sed -n 's/.*Build ID: //p')
	dir=$work/copies/.debug/.build-id/${other:0:2}/${other:2}
	mkdir -p "$dir" && cp "$work/another" "$dir/elf" || return
	for entries in "$id $other" "$other $id" "$other" "$id"; do
		made "r.map(7, 0x400000, 0x10000, work + '/prog', inode=$inode); r.comm(8, 'other'); r.map(8, 0x400000, 0x10000, work + '/prog', inode=$((inode + 1))); _ = [r.sample(pid, [USER, $(address outer)]) for pid in (7, 8)]; _ = [r.build_id(work + '/prog', bytes.fromhex(i)) for i in '$entries'.split()]" &&
			HOME=$work/copies "$beectl" flame "$work/made.data" --format folded 2>"$work/errors" |
			diff - <(printf 'other;[prog]+0x%x 1\nprog;outer 1\n' $(($(address outer) - 0x400000))) &&
			grep "prog: no names: .*inode number differs" "$work/errors" || { echo "$entries"; return 1; }
	done
	# The kernel knows the generation of an inode, perf does not: that is one file.
	made "r = Recording(); r.comm(7, 'prog'); r.map(7, 0x400000, 0x10000, work + '/prog', inode=$((inode + 1))); r.comm(8, 'other'); r.map(8, 0x400000, 0x10000, work + '/prog', inode=$((inode + 1)), generation=99); _ = [r.sample(pid, [USER, $(address outer)]) for pid in (7, 8)]; r.build_id(work + '/prog', bytes.fromhex('$id'))" &&
		expect "other;outer 1" "prog;outer 1" && [ "$("$beectl" flame "$work/made.data" --raw | grep -c "^file elf ")" = 1 ]
}

# The kernel says where a BPF program is and ends; kallsyms has those that are left, and where they begin.
check_bpf() {
	local at=0xffffffffc0200800 end=0xffffffffc0200900
	printf '%s\n' "ffffffff81000000 T _stext" "ffffffffc0200000 t bpf_prog_aaa_left	[bpf]" >"$work/kallsyms"
	made "s = lambda *ips: r.sample(7, [KERNEL, *ips]); s($at + 16); r.kernel_symbol('bpf_prog_bbb_first', $at, 0x100); s($at + 16); s($at, $end); s($end); r.kernel_symbol('bpf_prog_bbb_first', $at, 0x100, gone=True); s($at + 16); r.kernel_symbol('bpf_prog_ccc_second', $at - 16, 0x100); s($at + 16)" || return
	set -- "prog;bpf_prog_aaa_left_[k] 3" "prog;bpf_prog_bbb_first_[k] 1" "prog;bpf_prog_bbb_first_[k];bpf_prog_bbb_first_[k] 1" \
		"prog;bpf_prog_ccc_second_[k] 1"
	options="--kallsyms $work/kallsyms" expect "$@" && "$beectl" flame "$work/made.data" --raw >"$work/bpf.raw" &&
		"$beectl" flame --enrich "$work/bpf.raw" --kallsyms "$work/kallsyms" --format folded | diff - <(printf '%s\n' "$@")
}

# Threads of perf write files of their own: each sample is of what was mapped then, whichever file has it.
check_threads() {
	mkdir "$work/threads" && made "files = [[], []]
for i in range(3000):
    r.map(7, 0x400000, 0x10000, '/other' if i % 2 else work + '/prog')
    r.sample(7, [USER, $(address outer)])
    files[i % 3 == 0].append(r.records.pop())
for i, records in enumerate(files):
    with open(f'{work}/threads/data.{i}', 'wb') as file:
        file.writelines(records)
r.write(work + '/threads/data')" || return
	"$beectl" flame "$work/threads" --format folded 2>/dev/null |
		diff - <(printf '%s\n' "prog;[other]+$(printf '%#x' $(($(address outer) - 0x400000))) 1500" "prog;outer 1500") || return
	truncate -s -1 "$work/threads/data.1" && "$beectl" flame "$work/threads" 2>/dev/null | grep ": 2,999 samples, .*the recording is cut off$"
}

# The kernel counts a lost sample for the ring buffer, and for its event, which perf adds when it ends.
# What a filter was to drop is not lost.
check_lost() {
	local records want
	while IFS=: read -r records want; do
		made "r.sample(7, [USER, $(address outer)]); lost = lambda n: r.add(2, 0, struct.pack('<QQ', 1, n), 7); samples = lambda n, misc=0: r.add(13, misc, struct.pack('<Q', n), 7); $records" &&
			"$beectl" flame "$work/made.data" --json | grep "\"lost\": $want\b" || { echo "$records"; return 1; }
	done <<-END
		lost(2); lost(3); samples(5); samples(100, 1 << 15):5
		lost(2); samples(3); samples(4):7
		lost(8); samples(3):8
	END
}

# A process is there until its last thread ends, whichever that is; then another one can get its number.
check_exit() {
	made "s = lambda: r.sample(7, [USER, $(address outer), $(address main) + 8]); r.fork(7, 7, 12); r.fork(7, 7, 13); r.exit(7, 13); r.exit(7, 7); s(); r.exit(7, 99); s(); r.exit(7, 12); s(); r.map(7, 0x400000, 0x10000, work + '/prog'); s(); r.exit(7); s(); r.fork(1, 7); r.map(7, 0x400000, 0x10000, work + '/prog'); s()" &&
		expect ":7;main;outer 1" "prog;[unknown];[unknown] 2" "prog;main;outer 3"
}

# A process with 10,000 mappings forks 1,600 others, each of which maps one more: those that end cost nothing,
# and those that do not can take neither all memory nor what a process with few has mapped.
check_many_processes() {
	local ends=$1 most=$2
	made "_ = [r.map(9, 0x10000000 + 0x2000 * i, 0x1000, '/lib') for i in range(10000)]; _ = [(r.fork(9, pid), r.map(pid, 0x500000, 0x1000, '/own'), $ends and r.exit(pid)) for pid in range(1000, 2600)]; r.sample(7, [USER, $(address outer)])" &&
		"$tree/selftests/lib/most_memory.py" $((most << 20)) "$beectl" flame "$work/made.data" -o "$work/out.folded" &&
		diff "$work/out.folded" <(echo "prog;outer 1")
}

# A thread gives itself a million names, and is sampled in one of them.
check_many_names() {
	made "_ = [(r.comm(7, 'name%d' % i), i % 1000 or r.round()) for i in range(1000000)]; r.sample(7, [USER, $(address outer)])" &&
		"$tree/selftests/lib/most_memory.py" $((40 << 20)) "$beectl" flame "$work/made.data" -o "$work/out.folded" &&
		diff "$work/out.folded" <(echo "name999999;outer 1")
}

# A process maps ever new files.  Too many are not remembered, but those that are known are, by other processes.
check_many_files() {
	made "_ = [(r.map(9, 0x10000000, 0x1000, '/lib/%d' % i), i % 1000 or r.round()) for i in range(270000)]; r.fork(7, 8); r.map(8, 0x400000, 0x10000, work + '/prog'); _ = [r.sample(pid, [USER, at]) for pid, at in ((7, $(address outer)), (8, $(address outer)), (9, 0x10000010))]" &&
		"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | diff <(printf '%s\n' ":9;[unknown] 1" "prog;outer 2") - &&
		grep "too much code mapped: the addresses of 78[56][0-9] mappings" "$work/errors"
}

# In folded stacks a line that begins with # is a comment: no name may begin one.
check_name_of_comment() {
	made "r.comm(7, '#7'); r.sample(7, [USER, $(address outer)])" && expect "_#7;outer 1" &&
		"$beectl" flame "$work/made.data" --format folded | "$beectl" flame - --format folded | diff - <(echo "_#7;outer 1")
}

# A GiB of records, packed into a MiB: in which no round ends; samples that wait for user stacks; mappings and
# other things that each have a name of their own.
check_much_packed() {
	"$python" - "$work/made.data" "$1" <<-'END' || return
		import struct, sys
		from perfdata import *
		path, what = sys.argv[1:]
		def frame(start, end):
		    """a Zstandard frame (RFC 8878): START, ones, END"""
		    blocks = (len(start), 0, start), (65528 - len(start) - len(end), 1, b"\xff"), (len(end), 0, end)
		    return b"\x28\xb5\x2f\xfd\x00\x38" + b"".join(
		        struct.pack("<I", (end is block[2]) | block[1] << 1 | block[0] << 3)[:3] + block[2] for block in blocks)
		def packed(number):
		    name, mine = b"/%d" % number, struct.pack("<IIQQ", 9, 9, 1, 1)
		    mapping = struct.pack("<IHHIIQQQIIQQII", 10, 2, 65528, 9, 9, 0x500000, 4096, 0, 0, 0, 1, 0, 5, 2) + name
		    return {
		        "rounds": (struct.pack("<IHH", 14, 0, 65528), b""),
		        "deferred": (struct.pack("<IHHQQIIQQQ", 9, 1, 65528, 1, 0, 7, 7, 1, 1, 8184), struct.pack("<QQ", DEFERRED, 0)),
		        "files": (mapping, b"\0" + mine),
		        "jitdumps": (mapping, b"/jit-9.dump\0" + mine),
		        "symbols": (struct.pack("<IHHQIHH", 17, 0, 65528, 1 << 63, 4096, 1, 0) + name, b"\0" + mine),
		        "build-ids": (struct.pack("<IHHI20sB3x", 67, 1 << 15, 65528, 0xffffffff, name, 20) + name, b"\0"),
		        "kernels": (struct.pack("<IHHIIQQQ", 1, 1, 65528, 0xffffffff, 0, 1 << 63, 4096, 1 << 63) +
		                    b"[kernel.kallsyms]" + name, b"\0" + mine),
		    }[what]
		r = Recording()
		for i in range(256):
		    frames = b"".join(frame(*packed(64 * i + j)) for j in range(64))
		    r.records.append(struct.pack("<IHH", 81, 0, 8 + len(frames)) + frames)
		    if what != "rounds":
		        r.round()
		r.sample(7, [USER, 0x401000])
		r.write(path)
	END
	"$tree/selftests/lib/most_memory.py" $(($2 << 20)) "$beectl" flame "$work/made.data" --json >"$work/output" || { cat "$work/output"; return 1; }
	grep "\"samples\": $([ "$1" = deferred ] && echo 16385 || echo 1)," "$work/output"
}

# What has no name has a number; but the idle threads of the kernel, all of number 0, are called as by perf.
check_idle() {
	printf '%s\n' "ffffffff81000000 T idle" >"$work/kallsyms"
	made "r.sample(0, [KERNEL, 0xffffffff81000010]); r.sample(9, [KERNEL, 0xffffffff81000010])" &&
		options="--kallsyms $work/kallsyms" expect ":9;idle_[k] 1" "swapper;idle_[k] 1" &&
		options="--kallsyms $work/kallsyms --split tid" expect ":9-9/9;idle_[k] 1" "swapper-0/0;idle_[k] 1"
}

# Without a build-id: a file of another device that has the same inode number may be another one.
check_device_of_inode() {
	local inode dev major minor device doubt
	read -r inode dev <<<"$(stat -c '%i %d' "$work/prog")"
	major=$(("$dev" >> 8 & 0xfff)) minor=$(("$dev" & 0xff | "$dev" >> 12 & 0xfff00))
	while IFS=: read -r device doubt; do
		made "r.map(7, 0x400000, 0x10000, work + '/prog', inode=$inode, dev=($device)); r.sample(7, [USER, $(address outer)])" &&
			"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | diff - <(echo "prog;outer 1") &&
			[ "$(grep -c "prog: it may be another file" "$work/errors")" -eq "$doubt" ] || { echo "$device"; cat "$work/errors"; return 1; }
	done <<-END
		0, 0:0
		$major, $minor:0
		$((major + 1)), $minor:1
		$major, $((minor + 1)):$((major != 0))
	END
}

# Behind some records of perf's are data, which are skipped: their end is missing, be it all of them.
check_cut_in_data() {
	local size
	for size in 0 131072 1048575 1048576; do
		"$python" - "$work/made.pipe" "$size" <<-END || return
			import struct, sys
			from perfdata import *
			r = Recording()
			r.sample(7, [USER, 0x401000])
			r.records.append(struct.pack("<IHHQ", 71, 0, 48, 1 << 20) + bytes(32))
			with open(sys.argv[1], "wb") as file:
			    file.write(r.pipe_header() + b"".join(r.records) + bytes(int(sys.argv[2])))
		END
		"$beectl" flame - --json <"$work/made.pipe" | grep "\"unfinished\": $([ "$size" = 1048576 ] && echo false || echo true)" ||
			{ echo "$size"; return 1; }
	done
}

# perf record --call-graph lbr: the processor knows where the calls were made that have not returned.  With RAW data
# before them, and the word of PERF_SAMPLE_BRANCH_HW_INDEX; and a count that the record has no room for.
check_lbr() {
	local call count
	call=$(objdump -d "$work/prog" | sed -n '/<caller>:/,/^$/s/^ *\([0-9a-f]*\):.*call.*<stop>.*/0x\1/p')
	for count in 2 3; do
		made "plain = r.attr()
r.attr = lambda: (plain[:24] + struct.pack('<Q', SAMPLE_TYPE | SAMPLE_CALLCHAIN | 1 << 10 | 1 << 11) + plain[32:72] + struct.pack('<Q', 1 << 11 | 1 << 17)).ljust(ATTR_SIZE, b'\\0')
r.sample(7, [KERNEL, 0xffffffff81000010, USER, $(address stop) + 4])
chain = r.records[-1]
branches = struct.pack('<I4xQQ', 4, $count, 0) + struct.pack('<6Q', $call, $(address stop), 0, $(address main) + 8, $(address caller), 0)
r.records[-1] = struct.pack('<IHH', 9, 2, len(chain) + len(branches)) + chain[8:] + branches" &&
			"$beectl" flame "$work/made.data" --kallsyms /dev/null --format folded >"$work/folded.$count" 2>/dev/null || return
	done
	diff "$work/folded.2" <(echo "prog;main;caller;stop;[kernel]+0xffffffff81000010_[k] 1") &&
		diff "$work/folded.3" <(echo "prog;stop;[kernel]+0xffffffff81000010_[k] 1")
}

ktap_plan 25
ktap_run "flame knows where the kernel was by one of several symbols" check_kernel_symbol
ktap_run "flame names functions of the kernel that was recorded, and of no other" check_kernel_build_id
stext=$(sed -n 's/ T _stext$//p' /proc/kallsyms 2>/dev/null)
if [ -n "${stext//0/}" ]; then
	ktap_run "flame warns if the machine was started anew since the recording" \
		check_kernel_started_anew "$stext"
else
	ktap_skip "flame warns if the machine was started anew since the recording" \
		"/proc/kallsyms shows no addresses"
fi
ktap_run "flame knows what processes that were there before perf have mapped" check_found_running
ktap_run "flame keeps the build-ids of two files that had one path" check_build_ids_of_path
ktap_run "flame names BPF programs that are gone" check_bpf
ktap_run "flame has callers by the processor's last branch records" check_lbr
ktap_run "flame tells of lost samples" check_lost
ktap_run "flame reads a directory of perf record --threads" check_threads
ktap_run "flame keeps a process's mappings until its last thread ends" check_exit
ktap_run "flame keeps its limit of memory with many processes that end" check_many_processes True 64
ktap_run "flame keeps its limit of memory with many processes that do not end" check_many_processes False 400
ktap_run "flame keeps its limit of memory with many names of a thread" check_many_names
ktap_run "flame keeps its limit of memory with many files" check_many_files
ktap_run "a name that would be a comment is changed in folded stacks" check_name_of_comment
ktap_run "flame keeps its limit of memory with many records that wait for the end of a round" \
	check_much_packed rounds 1500
ktap_run "flame keeps its limit of memory with many samples that wait for user stacks" \
	check_much_packed deferred 800
for what in files jitdumps symbols build-ids kernels; do
	ktap_run "flame keeps its limit of memory with long names of $what" check_much_packed "$what" 400
done
ktap_run "flame calls the kernel's idle threads swapper" check_idle
if [ "$(stat -f -c %T "$work")" = overlayfs ]; then
	ktap_skip "flame doubts a file with the recorded inode number on another device" \
		"overlayfs has devices of its own"
else
	ktap_run "flame doubts a file with the recorded inode number on another device" \
		check_device_of_inode
fi
ktap_run "flame reads a pipe that is cut off in data between records" check_cut_in_data
ktap_finish
