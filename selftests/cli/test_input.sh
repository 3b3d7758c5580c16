#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# Input that is changed while it is read, or that is large: told of, and bounded.
#	BEECTL=path PYTHON=python3
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/ktap.sh
. "$here/../ktap.sh"

beectl=$(realpath "${BEECTL:-$here/../../beectl}") python=${PYTHON:-/usr/bin/python3}
[ -x "$beectl" ] || ktap_skip_all "beectl is not built"
"$python" -c '' 2>/dev/null || ktap_skip_all "$python is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Most bytes of memory that compiling libLLVM-14 (110 MB, 7.2 MB of .eh_frame) may take.
MEMORY=$((96 << 20))

gcc -O1 -Wall -Werror "$here/meddle.c" -o "$work/meddle" || { echo "Bail out! meddle.c does not compile"; exit 1; }
cp "$beectl" "$work/plain" && strip "$work/plain"
# Without build-id all of it is read; .debug_frame is the only CFI of a function.
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
# Without section headers .eh_frame is found by PT_GNU_EH_FRAME.
cp "$work/plain" "$work/sectionless"
printf '\0\0\0\0\0\0\0\0' | dd of="$work/sectionless" bs=1 seek=40 conv=notrunc status=none
printf '\0\0\0\0' | dd of="$work/sectionless" bs=1 seek=60 conv=notrunc status=none

# meddle ELF COMMAND...: changed in all ways, before each system call
meddle() {
	local elf=$1 how size
	shift
	size=$(stat -c %s "$elf")
	for how in 0 $((size / 2)) $((size - 1)) grow scribble; do
		"$work/meddle" "$elf" "$how" "$work/out" "$@" || return
	done
}

# most_memory BYTES COMMAND...: its most, and that of its children
most_memory() {
	"$python" - "$@" <<-'END'
		import resource, subprocess, sys
		status = subprocess.run(sys.argv[2:]).returncode
		most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
		print(f"exit status {status}, {most} bytes")
		sys.exit(status or most > int(sys.argv[1]))
	END
}

check_memory() {
	most_memory "$MEMORY" "$beectl" compile -q "$1" -o "$work/table"
}

# Sections of 2 GiB that are not there but for their headers.
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
	most_memory "$MEMORY" sh -c '! "$0" compile "$@" 2>"$1.err"' "$beectl" "$work/large" -o "$work/none" ||
		return
	"$beectl" compile "$work/large" -o "$work/none" 2>"$work/err"
	cat "$work/err"
	[ "$(cat "$work/err")" = "beectl: compile: $work/large: section .eh_frame has more than 512 MiB" ]
}

ktap_plan 8
"$work/meddle" "$work/plain" 0 "$work/out" "$beectl" compile -q "$work/plain" -o "$work/out" >"$work/said" 2>&1
if grep -q '^ptrace' "$work/said"; then
	for name in compile "compile, .debug_frame" "compile, no sections" "compile --fp-bypass" \
		"dump" "size"; do
		ktap_skip "$name" "$(cat "$work/said")"
	done
else
	ktap_run "compile" meddle "$work/plain" "$beectl" compile -q "$work/plain" -o "$work/out"
	ktap_run "compile, .debug_frame" meddle "$work/debug" \
		"$beectl" compile -q "$work/debug" -o "$work/out"
	ktap_run "compile, no sections" meddle "$work/sectionless" \
		"$beectl" compile -q "$work/sectionless" -o "$work/out"
	ktap_run "compile --thin" meddle "$work/plain" \
		"$beectl" compile -q --thin 20 "$work/plain" -o "$work/out"
	# shellcheck disable=SC2016  # for sh to expand
	ktap_run "dump" meddle "$work/plain" \
		sh -c 'exec "$0" dump --rows "$1" >"$2"' "$beectl" "$work/plain" "$work/out"
	# shellcheck disable=SC2016  # for sh to expand
	ktap_run "size" meddle "$work/plain" \
		sh -c 'exec "$0" size "$1" >"$2"' "$beectl" "$work/plain" "$work/out"
fi
llvm=$(/sbin/ldconfig -p | sed -n 's|^[[:space:]]*libLLVM-14.so.1 (.*x86-64.*) => ||p' | head -n1)
if [ -n "$llvm" ]; then
	ktap_run "memory for libLLVM-14" check_memory "$llvm"
else
	ktap_skip "memory for libLLVM-14" "libLLVM-14 is not installed"
fi
ktap_run "a section that is too large" check_large_section
ktap_finish
