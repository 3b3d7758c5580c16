#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes seed inputs for the fuzzers in DIR/{table,elf,cfi,pack,synth,cache,nl,perfdata,flame,jit,maps}, from
# the golden programs.
#	make_seeds.sh DIR
here=$(cd "$(dirname "$0")" && pwd)
beectl=${BEECTL:-$here/../../beectl}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$1/table" "$1/elf" "$1/cfi" "$1/pack" "$1/synth" "$1/cache" "$1/nl" "$1/perfdata" "$1/flame" "$1/jit" "$1/maps"
for source in "$here"/../golden/asm/*.S; do
	name=$(basename "$source" .S)
	as --64 -I "$here/../golden/asm" -o "$work/$name.o" "$source" &&
		ld -shared -s -z max-page-size=0x200 -z noseparate-code --build-id --eh-frame-hdr \
			-Ttext=0x1000 -o "$1/elf/$name" "$work/$name.o" 2>/dev/null || exit
	# The fuzzers' first byte: the rest is .eh_frame.
	objcopy -O binary --only-section=.eh_frame "$1/elf/$name" "$work/frames" || exit
	{ printf '\0'; cat "$work/frames"; } >"$1/cfi/$name"
	cp "$1/cfi/$name" "$1/pack/$name"
	objcopy -O binary --only-section=.text "$1/elf/$name" "$1/synth/$name" || exit
	if [ -x "$beectl" ]; then
		"$beectl" compile -q "$1/elf/$name" -o "$1/table/$name" || exit
	fi
done
# The table of a real file, which has all parts that a table can have.
if [ -x "$beectl" ] && [ -e /lib64/ld-linux-x86-64.so.2 ]; then
	"$beectl" compile -q /lib64/ld-linux-x86-64.so.2 -o "$1/table/ld.so" || exit
fi
for table in "$1"/table/*; do
	[ ! -e "$table" ] || { printf '\1'; cat "$table"; } >"$1/cache/$(basename "$table")"
done
# Attributes of 4 and 8 bytes, a nest and a string, for each kind of answer.
for kind in 0 1 2 3 4 5; do
	printf '%b' "\\x0$kind"'\x08\0\x02\0\x01\0\0\0\x0c\0\x03\0\1\2\3\4\5\6\7\10\x14\0\x07\x80\x0c\0\x02\0abcdefgh\0\0\0\0\x08\0\x05\0a.b\0' \
		>"$1/nl/$kind"
done
# What changes: nothing, or a byte of the CFI before the eleventh read.  A descriptor at 0, its entry at
# 32, the object at 64, its CFI at 0x200, its code at 0x400.
/usr/bin/python3 - "$1/jit" <<-'END' || exit
	import struct, sys
	def section(name, kind, flags, addr, offset, size):
	    return struct.pack("<IIQQQQIIQQ", name, kind, flags, addr, offset, size, 0, 0, 0, 0)
	names = b"\0.text\0.eh_frame\0.shstrtab\0".ljust(32, b"\0")
	elf = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
	    "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, 4, 3)
	elf += bytes(64) + section(1, 1, 6, 0x400, 0, 32) + section(7, 0x70000001, 2, 0x200, 0, 48)
	elf += section(17, 3, 0, 0, 320, 27) + names
	frames = b"\x14\0\0\0\0\0\0\0\1zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1\0\0" \
	    b"\x14\0\0\0\x1c\0\0\0\xe0\1\0\0\x20\0\0\0\0\x44\x0e\x18\0\0\0\0\0\0\0\0"
	memory = struct.pack("<IIQQQ", 1, 0, 0, 32, 0) + struct.pack("<QQQQ", 0, 0, 64, len(elf)) + elf
	memory = memory.ljust(0x200, b"\0") + frames
	for name, change in ("still", bytes(4)), ("changing", b"\x08\x0a\x2b\x02"):
	    with open(f"{sys.argv[1]}/{name}", "wb") as file:
	        file.write(change + memory.ljust(0x400, b"\0") + b"\x90" * 32)
END
# A file whose text has a hole, in lines, and its headers.
/usr/bin/python3 - "$1/maps/hole" <<-'END' || exit
	import struct, sys
	lines = "1000-2000 r-xp 00001000 fe:01 7 /a\n2000-4000 r-xp 00000000 00:00 0\n" \
	    "4000-5000 r--p 00004000 fe:01 7 /a\n"
	with open(sys.argv[1], "wb") as file:
	    file.write(lines.encode() + b"\0" + struct.pack("<9Q", 0, 0, 0x1000, 0x1000, 0x1000, 0x3000,
	                                                    0x4000, 0x4000, 0x1000))
END
# A recording with two processes, and one of perf's pipe with compressed records, if perf can record.
PYTHONPATH=$here/../lib PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$1/perfdata/made" <<-'END' || exit
	import sys
	from perfdata import *
	r = Recording()
	for pid in 7, 8:
	    r.comm(pid, "prog")
	    r.map(pid, 0x400000, 0x10000, "/prog")
	    r.map(pid, 0x7000, 0x1000, "//anon")
	    r.sample(pid, [KERNEL, 0xffffffff81000000, USER, 0x400004, 0x7004, 0x400008])
	    r.round()
	r.write(sys.argv[1])
END
perf record -q -e cpu-clock -g -z -o - -- true >"$1/perfdata/pipe" 2>/dev/null || rm -f "$1/perfdata/pipe"

# A file with compressed debug sections; names; then each kind of text behind an even byte.
for i in 1 2 3 4 5 6 7 8; do
	echo "struct s$i { struct s$i *next; int value; } v$i; int f$i(int n) { int all = v$i.value; while (n--) all += n * n; return all; }"
done | gcc -O2 -g -gz=zlib -shared -fPIC -nostdlib -Wl,-z,noseparate-code -x c - -o "$1/flame/elf"
printf 'acomm\0main\0a<b>&"c"\0\033[1m]]>\0\303\050\355\240\200\0other\0;x y\\' >"$1/flame/names"
printf '\0a b;c;k_[k] 3\na b;c 2\n' >"$1/flame/folded"
printf '\0my 2 prog 12/34 [001] 1.5: 1 cycles:P:\n\t401010 a(b)+0x4 (/bin/x)\n\t0 [unknown] ([unknown])\n\n' >"$1/flame/script"
[ ! -e "$1/perfdata/made" ] || { printf '\0' && "$beectl" flame "$1/perfdata/made" --raw; } >"$1/flame/raw" 2>/dev/null ||
	rm -f "$1/flame/raw"
