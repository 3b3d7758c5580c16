#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Starting points for the fuzzers in DIR/{table,elf,cfi}, from the golden programs.
#	make_seeds.sh DIR
here=$(cd "$(dirname "$0")" && pwd)
beectl=${BEECTL:-$here/../../beectl}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$1/table" "$1/elf" "$1/cfi"
for source in "$here"/../golden/asm/*.S; do
	name=$(basename "$source" .S)
	as --64 -o "$work/$name.o" "$source" &&
		ld -shared -s -z max-page-size=0x200 -z noseparate-code --build-id --eh-frame-hdr \
			-Ttext=0x1000 -o "$1/elf/$name" "$work/$name.o" 2>/dev/null || exit
	# The first byte says that it is .eh_frame.
	objcopy -O binary --only-section=.eh_frame "$1/elf/$name" "$work/frames" || exit
	{ printf '\0'; cat "$work/frames"; } >"$1/cfi/$name"
	if [ -x "$beectl" ]; then
		"$beectl" compile -q "$1/elf/$name" -o "$1/table/$name" || exit
	fi
done
# One of a real file, with everything that a table can have in it.
if [ -x "$beectl" ] && [ -e /lib64/ld-linux-x86-64.so.2 ]; then
	"$beectl" compile -q /lib64/ld-linux-x86-64.so.2 -o "$1/table/ld.so" || exit
fi
