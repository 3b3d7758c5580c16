#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Input that changes while it is read is reported; large input takes bounded memory.
#	test_input.sh [all]	"all": a larger file, and each command with each kind of change, before
#				every second of its system calls, and not one in five
# slow: 1
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need gcc strip

gcc -O1 -Wall -Werror "$here/meddle.c" -o "$work/meddle" || { echo "Bail out! meddle.c does not compile"; exit 1; }
all=${1:-} step=5
if [ -n "$all" ]; then
	step=2
	cp /bin/ls "$work/plain"
else
	gcc -O1 "$here/frame_pointers.c" -o "$work/plain"
fi
strip "$work/plain" || { echo "Bail out! no file to read"; exit 1; }
# Without a build-id beectl hashes the whole file.  One function has CFI in .debug_frame only.
cat >"$work/debug.s" <<'EOF2'
	.cfi_sections .debug_frame
	.globl _start
_start:
	.cfi_startproc
	.cfi_undefined rip
	xor %ebp, %ebp
	call *%rbx
	hlt
	.cfi_endproc
EOF2
gcc -nostdlib -static -Wa,--compress-debug-sections=zlib -Wl,--build-id=none "$work/debug.s" \
	-o "$work/debug" || { echo "Bail out! no program with .debug_frame"; exit 1; }
# Without section headers beectl finds .eh_frame by PT_GNU_EH_FRAME.
cp "$work/plain" "$work/sectionless"
printf '\0\0\0\0\0\0\0\0' | dd of="$work/sectionless" bs=1 seek=40 conv=notrunc status=none
printf '\0\0\0\0' | dd of="$work/sectionless" bs=1 seek=60 conv=notrunc status=none

# meddle HOW ELF COMMAND...: changes ELF in the ways HOW while COMMAND runs; "half" cuts it to half
# its size, "less" by one byte, the others are those of meddle.c.
meddle() {
	local how=$1 elf=$2 size
	shift 2
	size=$(stat -c %s "$elf")
	[ -z "$all" ] || how="0 half less grow scribble"
	how=${how/half/$((size / 2))}
	for how in ${how/less/$((size - 1))}; do
		"$work/meddle" "$elf" "$how" "$step" "$work/out" "$@" || return
	done
}

# A sparse file whose section header of .eh_frame claims 2 GiB.
check_large_section() {
	"$python" - "$work/plain" "$work/large" <<-'END' || return
		import struct, sys
		image = bytearray(open(sys.argv[1], "rb").read())
		shoff, = struct.unpack_from("<Q", image, 40)
		shnum, shstrndx = struct.unpack_from("<HH", image, 60)
		def section(i):
		    return struct.unpack_from("<IIQQQQ", image, shoff + 64 * i)
		strings = section(shstrndx)[4]
		for i in range(shnum):
		    if image[strings + section(i)[0]:].startswith(b".eh_frame\0"):
		        struct.pack_into("<Q", image, shoff + 64 * i + 32, 2 << 30)
		with open(sys.argv[2], "wb") as file:
		    file.write(image)
		    file.truncate(3 << 30)
	END
	"$here/../lib/most_memory.py" $((96 << 20)) sh -c '! "$0" compile "$@" 2>"$1.err"' "$beectl" "$work/large" -o "$work/none" ||
		return
	"$beectl" compile "$work/large" -o "$work/none" 2>"$work/err"
	cat "$work/err"
	[ "$(cat "$work/err")" = "beectl: compile: $work/large: section .eh_frame has more than 512 MiB" ]
}

ktap_plan 7
"$work/meddle" "$work/plain" 0 1000000 "$work/out" "$beectl" compile -q "$work/plain" -o "$work/out" >"$work/said" 2>&1
if grep -q '^ptrace' "$work/said"; then
	for name in "compile" "compile --thin" "dump" "size"; do
		ktap_skip "beectl $name survives a file that changes" "$(cat "$work/said")"
	done
	for name in "with .debug_frame" "without sections"; do
		ktap_skip "beectl compile survives a file $name that changes" "$(cat "$work/said")"
	done
else
	ktap_run "beectl compile survives a file that changes" \
		meddle "half less scribble" "$work/plain" "$beectl" compile -q "$work/plain" -o "$work/out"
	ktap_run "beectl compile survives a file with .debug_frame that changes" \
		meddle "0 grow" "$work/debug" \
		"$beectl" compile -q "$work/debug" -o "$work/out"
	ktap_run "beectl compile survives a file without sections that changes" \
		meddle scribble "$work/sectionless" \
		"$beectl" compile -q "$work/sectionless" -o "$work/out"
	ktap_run "beectl compile --thin survives a file that changes" meddle scribble "$work/plain" \
		"$beectl" compile -q --thin 20 "$work/plain" -o "$work/out"
	# shellcheck disable=SC2016  # for sh to expand
	ktap_run "beectl dump survives a file that changes" meddle half "$work/plain" \
		sh -c 'exec "$0" dump --rows "$1" >"$2"' "$beectl" "$work/plain" "$work/out"
	# shellcheck disable=SC2016  # for sh to expand
	ktap_run "beectl size survives a file that changes" meddle scribble "$work/plain" \
		sh -c 'exec "$0" size "$1" >"$2"' "$beectl" "$work/plain" "$work/out"
fi
ktap_run "beectl compile refuses a section that is too large" check_large_section
ktap_finish
