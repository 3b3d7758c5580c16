#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# Sizes of other formats, which "make bench" prints: every figure is computed again by other
# means, and the size of SFrame is compared with what as and ld make.
#	AS=as LD=ld	the assembler and linker to use
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need readelf gcc make

as=${AS:-as} ld=${LD:-ld}
make -s -C "$here/../bench" >&2 || exit 1
sizes=$tree/build/selftests/bench/sizes

# Compare with the SFrame section that gas and ld make of the same functions.  Debian 12's binutils
# 2.40 writes version 1, which differs in the size of an FDE; 2.44 writes version 2.
check_sframe() {
	local options=$1
	# shellcheck disable=SC2086  # a list of words
	gcc $options -fcf-protection=none -fPIC -S "$here/sframe.c" -o "$work/s.s" &&
		"$as" --gsframe "$work/s.s" -o "$work/s.o" 2>/dev/null &&
		"$ld" -shared "$work/s.o" -o "$work/s.so" &&
		"$sizes" "$work/s.so" >"$work/s.json" || return
	grep -q '"sframe_skipped": 1$' "$work/s.json" || { cat "$work/s.json"; return 1; }
	"$python" "$here/../lib/size_check.py" sframe "$work/s.json" "$work/s.so"
}

as_has_sframe() {
	echo 'f: .cfi_startproc; nop; .cfi_endproc' | "$as" --gsframe -o "$work/probe.o" - 2>/dev/null
}

mapfile -t files < <(stock_files | grep -v LLVM)
[ "${#files[@]}" -gt 0 ] || ktap_skip_all "no stock file is installed"
ktap_plan 5
ktap_run "sizes of all formats" "$python" "$here/../lib/size_check.py" formats "$beectl" "$sizes" \
	"${files[@]}"
for options in -O0 -O2 -Os "-O2 -fno-omit-frame-pointer"; do
	if as_has_sframe; then
		ktap_run "SFrame, gcc $options" check_sframe "$options"
	else
		ktap_skip "SFrame, gcc $options" "$as knows no --gsframe"
	fi
done
ktap_finish
