#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl verify: it finds no difference in beectl itself and in odd files; in a table with one
# error it finds that error, at the right place.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need as ld

# assemble NAME SOURCE [LINKER]: makes NAME.so, always with the same build-id
assemble() {
	local name=$1 source=$2 linker=${3:-ld}
	as --64 -I "$here/../golden/asm" -o "$work/$name.o" "$source" &&
		"$linker" -shared --build-id=0x000102030405060708090a0b0c0d0e0f --section-start=.text=0x1000 \
			-o "$work/$name.so" "$work/$name.o" 2>"$work/ld" ||
		{ cat "$work/ld"; return 1; }
}

# verify STATUS ARGUMENT...: beectl verify exits with STATUS
verify() {
	local status=$1 got
	shift
	"$beectl" verify "$@" >"$work/out" 2>"$work/err"
	got=$?
	cat "$work/out" "$work/err"
	[ "$got" -eq "$status" ] || { echo "exit status $got, not $status"; return 1; }
}

# figure NAME: the number that the summary gives it
figure() {
	sed -n "s/^$1  *\([0-9][0-9]*\).*/\1/p" "$work/out"
}

# No difference; at least three pcs for each row were compared, so that 0 means something.
is_clean() {
	verify 0 "$@" || return
	[ "$(figure differences)" = 0 ] && [ "$(figure rows)" -gt 0 ] &&
		[ "$(figure 'pcs compared')" -ge $((3 * $(figure rows))) ]
}

check_program() {
	assemble program "$here/../golden/asm/$1.S" "${2:-ld}" && is_clean "$work/program.so"
}

# Only the function of C, of three bytes, is compared.
check_go() {
	assemble program "$here/../golden/asm/$1.S" && verify 0 "$work/program.so" || return
	[ "$(figure differences)" = 0 ] && [ "$(figure 'pcs compared')" = 9 ] &&
		[ "$(figure Go)" = $((0x$(readelf -SW "$work/program.so" |
			sed -n 's/.* \.text  *PROGBITS  *[^ ]* [^ ]* \([^ ]*\) .*/\1/p') - 3)) ]
}

# The file that the wrong tables below are compared with.
cat >"$work/right.S" <<'END'
	.text
first:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	nop
	nop
	nop
	nop
	.cfi_endproc
	.p2align 4
second:
	.cfi_startproc
	nop
	nop
	.cfi_endproc
	.p2align 4
none:
	jmp *%rax
	.p2align 4
third:
	.cfi_startproc
	.cfi_def_cfa rbp, 16
	nop
	.cfi_endproc
	.p2align 4
proven:
	push %rax
	pop %rax
	ret
	.p2align 4
last:
	.cfi_startproc
	ret
	.cfi_endproc
END

assemble right "$work/right.S" || { echo "Bail out! no file to compare with"; exit 1; }

# found RANGE SED: the table of the source edited by SED differs in RANGE and nowhere else
found() {
	local range=$1 edit=$2
	sed "$edit" "$work/right.S" >"$work/wrong.S"
	! cmp -s "$work/right.S" "$work/wrong.S" || { echo "nothing is edited"; return 1; }
	assemble wrong "$work/wrong.S" || return
	"$beectl" compile -q "$work/wrong.so" -o "$work/wrong.beet" || return
	verify 1 --table "$work/wrong.beet" "$work/right.so" || return
	[ "$(sed -n 's/.*right.so: \(0x[0-9a-f]*-0x[0-9a-f]*\).*: libdw: .*/\1/p' "$work/out" |
		tr '\n' ' ')" = "$range " ] || { echo "not at $range"; return 1; }
	[ "$(figure differences)" -gt 0 ] && [ ! -s "$work/err" ]
}

check_right_table() {
	"$beectl" compile -q "$work/right.so" -o "$work/right.beet" &&
		is_clean --table "$work/right.beet" "$work/right.so"
}

check_other_file() {
	"$beectl" compile -q /bin/sh -o "$work/other.beet" || return
	verify 1 --table "$work/other.beet" "$beectl" &&
		grep -q "the table is that of another file" "$work/err" &&
		[ "$(figure differences)" = 0 ] && [ "$(figure 'pcs compared')" = 0 ] && ! grep libdw: "$work/out"
}

# Escape sequences in names of symbols do not reach the terminal.
check_symbol() {
	sed $'s/^first:/.type "fi\e[31mrst", @function\\\n"fi\e[31mrst":/' "$work/right.S" >"$work/symbol.S" && assemble symbol "$work/symbol.S" &&
		assemble odd "$here/../golden/asm/odd.S" && "$beectl" compile -q "$work/odd.so" -o "$work/odd.beet" &&
		verify 1 --table "$work/odd.beet" "$work/symbol.so" &&
		grep -qF ' (fi\033[31mrst+0x' "$work/out"
}

# The rows that "compile --thin" leaves out are differences.
check_lossy_table() {
	"$beectl" compile -q --thin 20 "$beectl" -o "$work/thin.beet" || return
	verify 1 --table "$work/thin.beet" "$beectl" && grep -q "it is not exact" "$work/err" &&
		[ "$(figure differences)" -gt 0 ]
}

check_refused_table() {
	"$beectl" compile -q "$beectl" -o "$work/cut.beet" && truncate -s -1 "$work/cut.beet" || return
	verify 1 --table "$work/cut.beet" "$beectl" && grep -q "table refused: " "$work/err" || return
	verify 1 --table /nonexistent "$beectl" && grep -q "cannot read the table: No such" "$work/err"
}

# .debug_frame of two objects, with a zero word between them, as linkers pad sections.
check_filling() {
	local name
	{ echo ".cfi_sections .debug_frame"; cat "$work/right.S"; } >"$work/debug.S"
	printf '\t.section .debug_frame, "", @progbits\n\t.long 0\n' >"$work/zero.S"
	{ echo ".cfi_sections .debug_frame"; cat "$here/../golden/asm/frames.S"; } >"$work/frames.S"
	for name in debug zero frames; do
		as --64 -o "$work/$name.o" "$work/$name.S" || return
	done
	ld -shared -o "$work/filled.so" "$work/frames.o" "$work/zero.o" "$work/debug.o" || return
	readelf --wide --debug-dump=frames "$work/filled.so" 2>/dev/null | grep -A3 'ZERO term' |
		grep -q CIE || { echo "no zero word in the middle"; return 1; }
	is_clean "$work/filled.so"
}

# Two FDEs for the same text: libdw uses the one that it reads first and drops the other; the
# table uses the one that starts last.  Neither is wrong.
check_contradictory() {
	cat >"$work/twice.S" <<'END'
	.text
start:	.fill	16, 1, 0x90
	.section .eh_frame, "a", @progbits
cie:	.long	1f - 0f
0:	.long	0
	.byte	1
	.string	"zR"
	.byte	1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	.balign	8
1:
	.long	1f - 0f
0:	.long	0b - cie
	.long	start - ., 16
	.byte	0
	.balign	8
1:
	.long	1f - 0f
0:	.long	0b - cie
	.long	start + 4 - ., 4
	.byte	0, 0x0e, 32
	.balign	8
1:
END
	assemble twice "$work/twice.S" && verify 0 -v "$work/twice.so" &&
		[ "$(figure differences)" = 0 ] && [ "$(figure contradictory)" = 6 ] &&
		grep -q 'contradictory .*; FDEs overlap in 16 bytes, 0 describe no text' "$work/out" &&
		grep -q '0x1004-0x1008.*: FDEs overlap; libdw: rsp+8, same, cfa-8; table: rsp+32' "$work/out" &&
		grep -q '0x1008-0x1010.*: FDEs overlap; libdw: rsp+8, same, cfa-8; table: gap' "$work/out"
}

# The search table lacks its last entry: libdw, as the unwinder of C++, does not find that FDE.
check_unlisted() {
	local hdr
	as --64 -o "$work/listed.o" "$work/right.S" &&
		ld -shared --eh-frame-hdr --section-start=.text=0x1000 -o "$work/listed.so" \
			"$work/listed.o" && is_clean "$work/listed.so" || return
	hdr=$(readelf --wide -S "$work/listed.so" | sed -n 's/.* \.eh_frame_hdr *PROGBITS *[0-9a-f]* *\([0-9a-f]*\).*/\1/p')
	printf '\003' | dd of="$work/listed.so" bs=1 seek=$((0x$hdr + 8)) conv=notrunc status=none
	verify 0 "$work/listed.so" && [ "$(figure contradictory)" = 3 ] &&
		grep -q '0x1050-0x1051.*: FDE is not in .eh_frame_hdr; libdw: no FDE; table: rsp+8' "$work/out"
}

# Of an FDE for no bytes and the one behind it, for text at the same address, lld puts the empty one
# into the search table: libdw finds no FDE for that text, and none for the text before it.
check_empty() {
	{ printf '\t.text\n\tret\n'; sed -n '/^start:/,/^1:/p' "$work/twice.S"
	  for size in 0 16; do
		printf '\t.long 1f - 0f\n0:\t.long 0b - cie\n\t.long start - ., %s\n\t.byte 0, 0x0e, 32\n\t.balign 8\n1:\n' $size
	  done; } >"$work/empty.S" && as --64 -o "$work/empty.o" "$work/empty.S" &&
		ld.lld -shared --eh-frame-hdr -o "$work/empty.so" "$work/empty.o" &&
		verify 0 "$work/empty.so" && [ "$(figure contradictory)" = 3 ] &&
		grep -q 'FDE is not in .eh_frame_hdr; libdw: no FDE; table: rsp+32' "$work/out"
}

# A table that has a library's e_entry as outermost.
check_entry() {
	cp "$here/../golden/asm/entry.S" "$work/program.S" &&
		{ cat "$work/program.S"; printf '\t.section .init_array, "aw"\n\t.quad 0\n'; } >"$work/library.S" &&
		assemble program "$work/program.S" && assemble library "$work/library.S" &&
		is_clean "$work/program.so" && is_clean "$work/library.so" || return
	"$beectl" compile -q "$work/program.so" -o "$work/program.beet" || return
	verify 1 --table "$work/program.beet" "$work/library.so" &&
		grep -q 'library.so: 0x1005-0x1085.*: libdw: no FDE; table: rsp+8, same, undef$' "$work/out"
}

# Behind a CFA that is an expression, instructions for its offset and for its register: libdw has
# no CFA there, so a second judge has to find that the table is right, and that another one is not.
check_half_cfa() {
	cat >"$work/half.S" <<'END'
	.text
	.cfi_startproc
	.cfi_escape 0x0f, 2, 0x73, 8	# CFA = rbx+8
	nop
	.cfi_def_cfa_offset 48
	nop
	.cfi_def_cfa_register rbp
	nop
	.cfi_endproc
END
	assemble half "$work/half.S" && "$beectl" compile -q "$work/half.so" -o "$work/half.beet" &&
		is_clean "$work/half.so" && grep -q '^unsupported  *0  rows' "$work/out" &&
		half_cfa_differs '0x1001-0x1002.*libdw: rbx+16, .*table: rbx+8,' 's/0x73, 8/0x73, 16/' &&
		half_cfa_differs '0x1002-0x1003.*libdw: rbp+56, .*table: rbp+48,' 's/offset 48/offset 56/'
}

# Empty expressions: their value is the CFA, but libdw says "undefined".
check_empty_expression() {
	cat >"$work/nothing.S" <<'END'
	.text
	.cfi_startproc
	.cfi_escape 0x16, 7, 0		# rsp = CFA
	nop
	.cfi_escape 0x10, 6, 0		# rbp = *CFA
	nop
	.cfi_remember_state
	.cfi_offset rbp, -24
	.cfi_undefined rsp
	nop
	.cfi_restore_state
	.cfi_escape 0x10, 16, 0		# RA = *CFA
	nop
	.cfi_restore rip
	.cfi_escape 0x16, 6, 0		# rbp = CFA, which a table cannot say
	nop
	.cfi_endproc
END
	assemble nothing "$work/nothing.S" && "$beectl" compile -q "$work/nothing.so" -o "$work/nothing.beet" &&
		is_clean -v "$work/nothing.so" && grep -q '^unsupported  *2  rows' "$work/out" || return
	sed 's/0x10, 6, 0/0x16, 6, 0/' "$work/nothing.S" >"$work/edited.S" && assemble edited "$work/edited.S" &&
		verify 1 --table "$work/nothing.beet" "$work/edited.so" &&
		grep -q '0x1001-0x1002.*libdw: rsp+8, (cfa value), cfa-8.*; table: rsp+8, cfa+0, cfa-8$' "$work/out"
}

# A zero word in the middle of .eh_frame, and no PT_GNU_EH_FRAME: what is behind it is compared.
check_terminator() {
	{ sed -n '/^start:/,/^1:/p' "$work/twice.S"
	  printf '0:\t.long 1f - 2f\n2:\t.long 2b - cie\n\t.long start - ., 8\n\t.byte 0\n\t.balign 4\n1:\t.long 0\n'
	  printf '0:\t.long 1f - 2f\n2:\t.long 2b - cie\n\t.long start + 8 - ., 8\n\t.byte 0, 0x0e, 24\n\t.balign 4\n1:\t.long 0\n'
	} >"$work/middle.S" && assemble middle "$work/middle.S" && "$beectl" compile -q "$work/middle.so" -o "$work/middle.beet" &&
		is_clean "$work/middle.so" && [ "$(figure 'no FDE')" = 0 ] || return
	sed 's/0x0e, 24/0x0e, 32/' "$work/middle.S" >"$work/edited.S" && assemble edited "$work/edited.S" &&
		verify 1 --table "$work/middle.beet" "$work/edited.so" &&
		grep -q '0x1008-0x1010.*: libdw: rsp+32, .*table: rsp+24' "$work/out"
}

# half_cfa_differs MESSAGE SED: the table of half.so differs from half.S edited by SED
half_cfa_differs() {
	sed "$2" "$work/half.S" >"$work/edited.S" && assemble edited "$work/edited.S" &&
		verify 1 --table "$work/half.beet" "$work/edited.so" && grep -q "$1" "$work/out"
}

# .eh_frame_hdr is damaged, so that libdw finds other FDEs, or none.  Nothing is wrong with the table.
check_damaged() {
	local hdr
	as --64 -o "$work/damaged.o" "$work/right.S" &&
		ld -shared --eh-frame-hdr --section-start=.text=0x1000 -o "$work/sound.so" "$work/damaged.o" || return
	hdr=$(readelf --wide -S "$work/sound.so" | sed -n 's/.* \.eh_frame_hdr *PROGBITS *[0-9a-f]* *\([0-9a-f]*\).*/\1/p')
	damaged "$hdr" "a version that is none" 0 '\002' 0 &&
		damaged "$hdr" ".eh_frame elsewhere" 4 '\001' 0 &&
		damaged "$hdr" "more entries than there are" 11 '\177' &&
		damaged "$hdr" "the pc of the first entry" 12 '\100' &&
		damaged "$hdr" "the pc of the second entry" 23 '\177' &&
		damaged "$hdr" "the FDE of the third entry" 32 '\001'
}

# damaged HDR WHAT OFFSET BYTE [0]: with one byte changed there are no differences, but, unless
# libdw does without .eh_frame_hdr, places where libdw finds nothing
damaged() {
	cp "$work/sound.so" "$work/damaged.so" &&
		printf '%b' "$4" | dd of="$work/damaged.so" bs=1 seek=$((0x$1 + $3)) conv=notrunc status=none || return
	verify 0 "$work/damaged.so" && [ "$(figure differences)" = 0 ] || { echo "$2"; return 1; }
	[ $# -eq 5 ] || grep -q '.eh_frame_hdr is damaged; libdw: ' "$work/out" || { echo "no doubt: $2"; return 1; }
}

# The instructions of the first FDE advance past its end, to where the second one is.
check_past_end() {
	printf '\t.text\n\t.cfi_startproc\n\t.cfi_escape 4, 40, 0, 0, 0, 0x0e, 64\n\tnop\n\t.cfi_endproc\n\tret\n\tret\n\tnop\n' >"$work/past.S"
	printf '\t.cfi_startproc\n\t.cfi_def_cfa_offset 24\n\tnop\n\t.cfi_endproc\n' >>"$work/past.S"
	assemble past "$work/past.S" && is_clean "$work/past.so"
}

# More states are restored than the compiler remembers, which libdw does not mind.
check_too_deep() {
	{ printf '\t.text\n\t.cfi_startproc\n'; printf '\t.cfi_remember_state\n%.0s' {1..17}
	  printf '\tnop\n\t.cfi_def_cfa_offset 16\n\tnop\n\t.cfi_restore_state\n\tnop\n\t.cfi_endproc\n'; } >"$work/deep.S"
	assemble deep "$work/deep.S" && is_clean -v "$work/deep.so" && grep -q '^ *cfi  *1  1 bytes' "$work/out"
}

# Code without CFI that nothing can be made of; and some that rows are made of.
check_no_cfi() {
	printf '\t.text\n\thlt\n' >"$work/bare.S"
	assemble bare "$work/bare.S" && verify 0 "$work/bare.so" &&
		grep -q '^files  *0  and 1 without unwind information' "$work/out" || return
	printf '\t.text\n\tret\n\t.p2align 4\n\tpush %%rax\n\tpop %%rax\n\tret\n' >"$work/bare.S"
	assemble bare "$work/bare.S" && is_clean "$work/bare.so" && [ "$(figure rows)" = 3 ]
}

check_unsupported() {
	assemble odd "$here/../golden/asm/odd.S" && verify 0 -v "$work/odd.so" &&
		grep -q '^ *cfa-expr  *[1-9][0-9]* ' "$work/out" &&
		grep -q 'cfa-expr, 1 rows, 1 bytes: (rsp+8 rip+0 15 and 12 ge 3 shl plus), same, cfa-8' \
			"$work/out"
}

# json.rst lists all names of the JSON output.  The output has all of them when the
# file has unsupported rules, and the table is wrong and says that it leaves out rows.
check_json_names() {
	assemble odd "$here/../golden/asm/odd.S" && "$beectl" compile -q --thin 1 "$work/right.so" -o "$work/table" || return
	"$beectl" verify --json --table "$work/table" "$work/odd.so" >"$work/json" && return 1
	"$python" - "$work/json" "$(json_keys verify)" <<'END'
import json, re, sys
def names(value):
    if isinstance(value, dict):
        return set(value).union(*map(names, value.values()))
    return set().union(*map(names, value)) if isinstance(value, list) else set()
got = json.load(open(sys.argv[1]))
assert got["files"][0]["shown"] and got["files"][0]["unsupported"], got
assert got["files"][0]["shown"][0]["start"].startswith("0x"), got
missing = (names(got) | {f["status"] for f in got["files"]}) - set(re.findall(r"\w+", sys.argv[2]))
assert not missing, missing
END
}

# In a directory each x86-64 file is compared once, other files are not; JSON has the same figures.
check_directory() {
	mkdir -p "$work/dir/below" && cp "$beectl" "$work/dir/below/one" &&
		ln "$work/dir/below/one" "$work/dir/again" && ln -s below/one "$work/dir/link" &&
		echo text >"$work/dir/text" && cp "$work/right.so" "$work/dir/two" || return
	is_clean -j 2 "$work/dir" && [ "$(figure files)" = 2 ] || return
	"$beectl" verify --json "$work/dir" >"$work/json" || return
	"$python" - "$work/json" "$(figure rows)" "$(figure 'pcs compared')" <<'END'
import json, sys
got = json.load(open(sys.argv[1]))
total, files = got["total"], got["files"]
print(total)
assert [total["rows"], total["pcs"]] == [int(n) for n in sys.argv[2:]]
assert total["compared"] == len(files) == 2 and total["differences"] == 0
assert total["rows"] == sum(f["rows"] for f in files)
assert all(f["status"] == "compared" for f in files)
END
}

# --all: of a system with a file in each of the five places, and others elsewhere.
check_all() {
	local root=$work/root place
	mkdir -p "$root/proc"
	for place in usr/lib/x bin sbin lib lib64 opt; do
		mkdir -p "$root/$place" && cp "$work/right.so" "$root/$place/${place//\//-}.so" || return
	done
	# shellcheck disable=SC2046  # a list of paths
	cp -L $(ldd "$beectl" "${beectl%/*}/beectl-draw.so" | grep -o '/[^ :]*' | sort -u) "$root/opt/" || return
	# shellcheck disable=SC2016  # for the inner shell
	unshare -r -m sh -c 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"' "$root" \
		/opt/ld-linux-x86-64.so.2 --library-path /opt "/opt/${beectl##*/}" verify --all --json -j 2 \
		>"$work/json" || return
	"$python" -c 'import json, sys
paths = sorted(f["path"] for f in json.load(sys.stdin)["files"] if f["status"] == "compared")
assert paths == ["/bin/bin.so", "/lib/lib.so", "/lib64/lib64.so", "/sbin/sbin.so", "/usr/lib/x/usr-lib-x.so"], paths' \
		<"$work/json"
}

check_bad_files() {
	verify 1 /nonexistent "$beectl" && grep -q "^beectl: verify: /nonexistent: No such file" "$work/err" &&
		[ "$(figure files)" = 1 ] && [ "$(figure differences)" = 0 ] || return
	verify 1 /etc/passwd && grep -q "not an ELF file" "$work/err" || return
	mkdir "$work/empty" && verify 1 "$work/empty" &&
		[ "$(cat "$work/err")" = "beectl: verify: no x86-64 executable or shared object below what was named" ] || return
	verify 1 --json "$work/empty" && tr -d ' \n' <"$work/out" | grep -q '"files":\[]'
}

check_usage() {
	verify 2 && verify 2 -j 0 "$beectl" && verify 2 --table "$work/right.beet" &&
		verify 2 --table "$work/right.beet" "$beectl" "$beectl" && verify 2 --all "$beectl"
}

check_musl() {
	printf 'int main(void) { return 0; }\n' >"$work/musl.c"
	musl-gcc -static -o "$work/musl" "$work/musl.c" && is_clean "$work/musl" &&
		"$beectl" dump --rows "$work/musl" | grep -q "undef$"
}

programs=("$here"/../golden/asm/*.S)
# Neither a file nor a directory below one that was named is left out in silence.
check_unreadable() {
	local what as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups "$work/some/beectl")
	umask 022
	chmod 711 "$work" && mkdir -p "$work/some/unreadable/below" && cp "$beectl" "${beectl%/*}/beectl-draw.so" "$work/some" &&
		cp /bin/true "$work/some/unreadable/file" && chmod 000 "$work/some/unreadable/file" || return
	for what in file below; do
		"${as_nobody[@]}" verify "$work/some/unreadable" >"$work/out" 2>"$work/errors"
		[ $? -eq 1 ] && grep "unreadable/$what: Permission denied" "$work/errors" || { cat "$work/out" "$work/errors"; return 1; }
		rm -f "$work/some/unreadable/file"
		chmod 000 "$work/some/unreadable/below"
	done
}

ktap_plan $((${#programs[@]} + 43))
ktap_run "verify finds no difference in beectl itself" is_clean "$beectl"
for program in "${programs[@]}"; do
	name=$(basename "$program" .S)
	check=check_program
	[[ $name != go* ]] || check=check_go
	ktap_run "$name" "$check" "$name"
done
for linker in ld.gold ld.lld; do
	if command -v $linker >/dev/null; then
		ktap_run "verify finds no difference in a file linked by $linker" check_program frames $linker
	else
		ktap_skip "verify finds no difference in a file linked by $linker" "not installed"
	fi
done
if command -v musl-gcc >/dev/null; then
	ktap_run "verify finds no difference in a static program with musl" check_musl
else
	ktap_skip "verify finds no difference in a static program with musl" "musl-gcc: not installed"
fi
ktap_run "verify --table compares a given table" check_right_table
ktap_run "verify finds another CFA offset" found 0x1001-0x1005 's/def_cfa_offset 16/def_cfa_offset 24/'
ktap_run "verify finds another CFA register" found 0x1030-0x1031 's/def_cfa rbp/def_cfa rbx/'
ktap_run "verify finds FP saved elsewhere" found 0x1001-0x1005 's/rbp, -16/rbp, -24/'
ktap_run "verify finds FP not saved" found 0x1001-0x1005 '/cfi_offset rbp/d'
ktap_run "verify finds FP undefined" \
	found 0x1010-0x1012 '/^second/,/endproc/s/startproc/&\n.cfi_undefined rbp/'
ktap_run "verify finds RA saved elsewhere" \
	found 0x1010-0x1012 '/^second/,/endproc/s/startproc/&\n.cfi_offset rip, -16/'
ktap_run "verify finds RA undefined" \
	found 0x1010-0x1012 '/^second/,/endproc/s/startproc/&\n.cfi_undefined rip/'
ktap_run "verify finds a signal frame" \
	found 0x1010-0x1012 '/^second/,/endproc/s/startproc/&\n.cfi_signal_frame/'
ktap_run "verify finds that rsp is not the CFA" \
	found 0x1010-0x1012 '/^second/,/endproc/s/startproc/&\n.cfi_register rsp, r8/'
ktap_run "verify finds a row too late" \
	found 0x1001-0x1002 '/^first/,/endproc/{/cfi_def/d;/cfi_offset/d;0,/\tnop/s/\tnop/&\n.cfi_def_cfa_offset 16\n.cfi_offset rbp, -16/}'
ktap_run "verify finds a gap" \
	found "0x1005-0x1010 0x1010-0x1012" '/^second/,/endproc/{/startproc/d;/endproc/d}'
ktap_run "verify finds rules for code without any" \
	found 0x1012-0x1030 's/^none:/&\n.cfi_startproc/;s/^third:/.cfi_endproc\n&/'
ktap_run "verify finds other rows than the code proves" \
	found 0x1041-0x1042 's/^proven:/&\n.cfi_startproc/;s/^last:/.cfi_endproc\n&/'
ktap_run "verify finds a rule that is unsupported without need" \
	found 0x1030-0x1031 's/def_cfa rbp, 16/escape 0x0f, 1, 0x38/'
ktap_run "verify finds CFI that is malformed only for the table" \
	found 0x1010-0x1012 '/^second/,/endproc/s/startproc/&\n.cfi_escape 0x3e/'
ktap_run "verify refuses the table of another file" check_other_file
ktap_run "verify prints no escape sequence from a symbol" check_symbol
ktap_run "verify compares a table that is not exact" check_lossy_table
ktap_run "verify says why a table is refused" check_refused_table
ktap_run "a zero word within .debug_frame" check_filling
ktap_run "FDEs that overlap" check_contradictory
ktap_run "an FDE that .eh_frame_hdr does not list" check_unlisted
with ld.lld "an FDE of no bytes in .eh_frame_hdr" check_empty
ktap_run "an empty expression" check_empty_expression
ktap_run "a terminator in the middle of .eh_frame" check_terminator
ktap_run "verify finds an outermost row at the entry point of a library" check_entry
ktap_run "a CFA that libdw refuses" check_half_cfa
ktap_run "a damaged .eh_frame_hdr" check_damaged
ktap_run "an advance past the end of an FDE" check_past_end
ktap_run "more states than are remembered" check_too_deep
ktap_run "verify of a file without CFI" check_no_cfi
if unshare -r -m true 2>"$work/err"; then
	ktap_run "verify finds no difference in all files of this system" check_all
else
	ktap_skip "verify finds no difference in all files of this system" "$(cat "$work/err")"
fi
ktap_run "verify lists what a table cannot hold" check_unsupported
ktap_run "verify compares the files of a directory" check_directory
if [ "$(id -u)" -eq 0 ]; then
	ktap_run "verify names a file in a directory that cannot be read" check_unreadable
else
	ktap_skip "verify names a file in a directory that cannot be read" "only root can become another user"
fi
ktap_run "json.rst lists what is in JSON" check_json_names
ktap_run "verify refuses files that are no ELF files" check_bad_files
ktap_run "verify refuses wrong usage" check_usage
ktap_finish
