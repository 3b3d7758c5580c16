#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the programs with known stacks into build/selftests/programs, as
# PROGRAM.VARIANT, and says which cannot be built here.
#
#	build.sh [REGEX]	those whose name matches
#
# Prints one line for each: "PROGRAM.VARIANT", or "PROGRAM.VARIANT # SKIP why".
set -u

here=$(cd "$(dirname "$0")" && pwd -P)
out=$here/../../build/selftests/programs
want=${1:-.}
mkdir -p "$out"
out=$(cd "$out" && pwd -P)

# program NAME SOURCE COMPILER FLAGS...
program() {
	local name=$1 source=$here/$2 compiler=$3
	shift 3
	[[ $name =~ $want ]] || return
	if ! command -v "$compiler" >/dev/null; then
		echo "$name # SKIP $compiler: not installed"
	elif [ "$out/$name" -nt "$source" ] && [ "$out/$name" -nt "${BASH_SOURCE[0]}" ]; then
		echo "$name"
	elif "$compiler" -g "$@" -o "$out/$name" "$source" 2>"$out/$name.log"; then
		rm -f "$out/$name.log"
		echo "$name"
	else
		echo "$name # SKIP $compiler $*: $(grep -m1 -E 'error|cannot|not' "$out/$name.log")"
	fi
}

for level in 0 1 2 3 s; do
	program "calls.gcc-O$level" calls.c gcc "-O$level" -static
	program "calls.clang-O$level" calls.c clang "-O$level" -static
done
program calls.realign calls.c gcc -O2 -static -mstackrealign
program calls.fp calls.c gcc -O2 -static -fno-omit-frame-pointer
program calls.unaligned calls.c gcc -Os -falign-functions=1 -static
program calls.lazy calls.c gcc -O2 -Wl,-z,lazy
program calls.now calls.c gcc -O2 -Wl,-z,now,-z,relro -fno-plt
program calls.static-pie calls.c gcc -O2 -static-pie
program calls.no-pie calls.c gcc -O2 -no-pie
program calls.cet calls.c gcc -O2 -fcf-protection=full -Wl,-z,ibtplt
program calls.lld calls.c clang -O2 -fuse-ld=lld
program calls.gold calls.c gcc -O2 -fuse-ld=gold
program calls.noseparate calls.c gcc -O2 -Wl,-z,noseparate-code
program calls.musl calls.c musl-gcc -O2 -static

program signals.gcc-O0 signals.c gcc -O0 -static
program signals.gcc-O2 signals.c gcc -O2 -static
program signals.clang-O2 signals.c clang -O2
program signals.musl signals.c musl-gcc -O2 -static

program jumps.gcc-O0 jumps.c gcc -O0
program jumps.gcc-O2 jumps.c gcc -O2 -static
program jumps.clang-O2 jumps.c clang -O2
program jumps.musl jumps.c musl-gcc -O2 -static

program throw.gcc-O0 throw.cc g++ -O0 -static-libstdc++
program throw.gcc-O2 throw.cc g++ -O2 -static-libstdc++
program throw.clang-O2 throw.cc clang++ -O2 -static-libstdc++

program deep.gcc-O2 deep.c gcc -O2
program deep.clang-O2 deep.c clang -O2
program coroutines coroutines.c gcc -O2
program threads.gcc threads.c gcc -O2 -pthread
program threads.musl threads.c musl-gcc -O2 -static
program fortran fortran.f90 gfortran -O2
program rust rust.rs rustc -O
