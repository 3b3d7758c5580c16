#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Assembles asm/*.S and compares the rows of each with asm/*.rows.
#	BEE_UPDATE_GOLDEN=1	rewrite asm/*.rows instead, and fail
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need as ld objcopy readelf
set -o pipefail

# link NAME LINKER...: makes NAME.so from NAME.o, with the text at a fixed address
link() {
	local name=$1
	shift
	"$@" -shared --build-id=none --section-start=.text=0x1000 -o "$work/$name.so" "$work/$name.o" 2>"$work/ld" ||
		{ cat "$work/ld"; return 1; }
}

same_rows() {
	diff -u "$1" - >"$work/diff" && return
	head -n 30 "$work/diff"
	return 1
}

# A program's rows before packing, after packing, and from a table file.
check_program() {
	local name=$1
	as --64 -I "$here/asm" -o "$work/$name.o" "$here/asm/$name.S" && link "$name" ld || return
	if [ -n "${BEE_UPDATE_GOLDEN:-}" ]; then
		"$beectl" dump --rows "$work/$name.so" >"$here/asm/$name.rows"
		echo "$name.rows is rewritten"
		return 1
	fi
	"$beectl" dump --rows --unpacked "$work/$name.so" | same_rows "$here/asm/$name.rows" &&
		"$beectl" dump --rows "$work/$name.so" | same_rows "$here/asm/$name.rows" &&
		"$beectl" compile -q "$work/$name.so" -o "$work/$name.beet" &&
		"$beectl" dump --rows "$work/$name.beet" | same_rows "$here/asm/$name.rows"
}

check_deterministic() {
	"$beectl" compile -q "$work/frames.so" -o "$work/again.beet" &&
		cmp "$work/frames.beet" "$work/again.beet"
}

# The CFI of frames.S in .debug_frame instead of .eh_frame; readelf confirms which section there is.
check_debug_frame() {
	local flag=$1 looks=$2
	{ echo ".cfi_sections .debug_frame"; cat "$here/asm/frames.S"; } >"$work/debug.S"
	as --64 -o "$work/debug.o" "$work/debug.S" && link debug ld || return
	objcopy --remove-section=.eh_frame "$flag" "$work/debug.so" || return
	readelf --wide -S "$work/debug.so" >"$work/sections"
	grep -q "$looks" "$work/sections" || { cat "$work/sections"; return 1; }
	! grep ' \.eh_frame ' "$work/sections" || return
	"$beectl" dump --rows "$work/debug.so" | same_rows "$here/asm/frames.rows"
}

# frames.S linked without section headers: beectl finds .eh_frame by PT_GNU_EH_FRAME.
check_no_sections() {
	ld -shared --build-id=none -Ttext=0x1000 --eh-frame-hdr -o "$work/bare.so" "$work/frames.o" || return
	# e_shoff = 0, e_shnum = e_shstrndx = 0
	printf '\0\0\0\0\0\0\0\0' | dd of="$work/bare.so" bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of="$work/bare.so" bs=1 seek=60 conv=notrunc status=none
	"$beectl" dump --rows "$work/bare.so" | same_rows "$here/asm/frames.rows"
}

# frames.S in a file that ends behind its segments: section headers, and an empty segment that was
# PT_GNU_STACK, are said to lie behind that.  Such files run (gold; strip --strip-section-headers).
check_cut() {
	ld -shared --build-id=none -Ttext=0x1000 --eh-frame-hdr -o "$work/cut.so" "$work/frames.o" &&
		"$python" - "$work/cut.so" <<'END' || return
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, = struct.unpack_from("<Q", data, 32)
number, = struct.unpack_from("<H", data, 56)
heads = [list(struct.unpack_from("<IIQQQQQQ", data, at + 56 * i)) for i in range(number)]
end = max(h[2] + h[5] for h in heads if h[0] == 1)
stack, = (i for i in range(number) if heads[i][0] == 0x6474e551)
struct.pack_into("<IIQQQQQQ", data, at + 56 * stack, 1, 6, end + 0x1000, 0x100000, 0x100000, 0, 4096, 4096)
assert struct.unpack_from("<Q", data, 40)[0] >= end
open(sys.argv[1], "wb").write(data[:end])
END
	"$beectl" dump --rows "$work/cut.so" | same_rows "$here/asm/frames.rows" && "$beectl" verify "$work/cut.so"
}

# gold chooses the addresses itself, so the rows are compared with those of readelf.
check_linker() {
	local linker=$1
	link frames "$linker" || return
	"$beectl" dump --rows "$work/frames.so" >"$work/rows" || return
	cut -f2- "$here/asm/frames.rows" >"$work/expected"
	cut -f2- "$work/rows" | same_rows "$work/expected" &&
		"$here/../lib/readelf_rows.py" "$work/frames.so" "$work/rows"
}

# Of two FDEs for the same text, that of .eh_frame is used, not that of .debug_frame.
check_eh_frame_wins() {
	cat >"$work/both.S" <<'EOF'
	.cfi_sections .debug_frame, .eh_frame
	.text
	.cfi_startproc
	nop
	.cfi_def_cfa_offset 64
	nop
	.cfi_endproc
EOF
	printf '0000000000001000\trsp+8\tsame\tcfa-8\n0000000000001001\trsp+64\tsame\tcfa-8\n0000000000001002\tend\n' \
		>"$work/both.rows"
	as --64 -o "$work/both.o" "$work/both.S" && link both ld || return
	"$beectl" dump --rows "$work/both.so" | same_rows "$work/both.rows"
}

# outermost_if HAS FORM LD-OPTION...: asm/entry.S, linked so, has an outermost row if HAS is 1
outermost_if() {
	local has=$1 form=$2
	shift 2
	ld --build-id=none -o "$work/form" "$work/entry.o" "$@" || return
	"$beectl" dump --rows "$work/form" >"$work/rows" || return
	[ "$(grep -c 'undef$' "$work/rows")" -eq "$has" ] || { echo "a $form:"; cat "$work/rows"; return 1; }
	# stacks.py, which judges the stacks in other tests, finds the entry point, too.
	PYTHONPATH=$here/../lib "$python" -B -c '
import stacks, sys
sys.exit(bool(stacks.Elf(sys.argv[1]).entry) != bool(int(sys.argv[2])))' "$work/form" "$has" ||
		{ echo "a $form: stacks.py"; return 1; }
}

# Only what can be started has an entry point.  Each library has an e_entry, as those of GNU ld up
# to 2.35 had.
check_entry() {
	printf '\t.section .init_array, "aw"\n\t.quad 0\n' >"$work/array.S"
	as --64 -o "$work/entry.o" "$here/asm/entry.S" &&
		as --64 -o "$work/array.o" "$work/array.S" &&
		ld -shared -o "$work/other.so" "$work/array.o" &&
		outermost_if 1 "static program" &&
		outermost_if 1 "static PIE" -pie --no-dynamic-linker "$work/array.o" &&
		outermost_if 1 "PIE" -pie --dynamic-linker=/x "$work/other.so" &&
		outermost_if 1 "program" --dynamic-linker=/x "$work/other.so" &&
		outermost_if 1 "dynamic linker" -shared -soname ld.so &&
		outermost_if 0 "library with constructors" -shared "$work/array.o" &&
		outermost_if 0 "library that needs another" -shared "$work/other.so"
}

programs=("$here"/asm/*.S)
ktap_plan $((${#programs[@]} + 10))
for program in "${programs[@]}"; do
	name=$(basename "$program" .S)
	ktap_run "$name" check_program "$name"
done
ktap_run "a file compiled twice has equal tables" check_deterministic
ktap_run "rows of .debug_frame are those of .eh_frame" \
	check_debug_frame --decompress-debug-sections ' .debug_frame .* 0   0  8$'
ktap_run "rows of a compressed .debug_frame are those of .eh_frame" \
	check_debug_frame --compress-debug-sections=zlib-gabi ' .debug_frame .* C  '
ktap_run "rows of .zdebug_frame are those of .eh_frame" \
	check_debug_frame --compress-debug-sections=zlib-gnu ' .zdebug_frame '
ktap_run "rows of a file without section headers are complete" check_no_sections
ktap_run "rows of a file whose section headers are past its end are complete" check_cut
ktap_run "entry points of programs are outermost, those of libraries are not" check_entry
ktap_run "an FDE of .eh_frame counts before one of .debug_frame" check_eh_frame_wins
for linker in ld.gold ld.lld; do
	with $linker "rows of a file linked by $linker are readelf's" check_linker $linker
done
ktap_finish
