#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame: inlined calls and lines from debug information of all shapes.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"
need objcopy readelf

# sampled FILE PATTERN: at each address of the functions whose names have this form, each a stack of its own;
# FILE's symbols are those of $symbols, if that is set
sampled() {
	nm -S "${symbols:-$1}" | sed -n "s/^\([0-9a-f]*\) \([0-9a-f]*\) [tTW] \($2\)$/\1 \2/p" >"$work/functions"
	[ -s "$work/functions" ] &&
		made "r.map(7, 0x10000000, 0x100000, '$1'); places = [[int(word, 16) for word in line.split()] for line in open(work + '/functions')]; _ = [r.sample(7, [USER, 0x10000000 + at + i - ($(base "$1"))]) for at, size in places for i in range(size)]"
}

# base FILE: what is to be taken from an address of its code for its offset
base() {
	readelf -lW "$1" | awk '$1 == "LOAD" && $8 == "E" { print $3 " - " $2; exit }'
}

# Of what becomes of it.
folded() {
	"$beectl" flame "$work/made.data" --inlines --lines --format folded --symfs "${symfs:-/}"
}

# Functions with variables that move, loops, and inlined calls: enough for sections to be compressed.
many() {
	cat "$work/prog.c"
	for i in {1..40}; do
		echo "struct type_$i { struct type_$i *next, *previous; unsigned long value_$i; char name_${i}[$i]; } variable_$i;"
		echo "__attribute__((noinline)) int function_$i(int n) { int all = n; while (n-- > $i) { middle(); all += sink * n; } return all + n; }"
	done
}

many >"$work/many.c"
for_many="prog;function_[0-9]* (.*many.c:[0-9]*)"

# many_made NAME OPTION...: compile it; NAME.debug is compressed, and so is NAME
many_made() {
	local name=$1
	shift
	gcc -O2 -g "$@" "$work/many.c" -o "$work/$name.whole" &&
		objcopy --compress-debug-sections=zlib "$work/$name.whole" "$work/$name" &&
		objcopy --only-keep-debug "$work/$name" "$work/$name.debug"
}

# is_compressed FILE SECTION...: are they?
is_compressed() {
	local file=$1 section
	shift
	for section; do
		readelf -SW "$file" 2>/dev/null | grep -qE " $section .* M?S?C +[0-9]" || { echo "$section of $file is not compressed"; return 1; }
	done
}

# as_whole NAME FILE: has FILE the same names, inlined calls and lines as what was not compressed?
as_whole() {
	symbols=$work/$1.whole sampled "$work/$1.whole" 'function_.*' && symfs=/ folded >"$work/expected" || return
	[ "$(grep -c "^$for_many;middle (.*)_\[i];innermost (.*)_\[i] [0-9]*$" "$work/expected")" -ge 40 ] &&
		[ "$(grep -c "^$for_many [0-9]*$" "$work/expected")" -ge 40 ] || { head "$work/expected"; return 1; }
	symbols=$work/$1.whole sampled "$2" 'function_.*' && folded >"$work/folded" &&
		{ cmp "$work/expected" "$work/folded" || { diff "$work/expected" "$work/folded" | head; return 1; }; }
}

check_places() {
	local name
	gcc -shared -nostdlib "$tree/selftests/lib/dwarf_places.s" -o "$work/places" || return
	for name in at_top in_namespace in_type outside in_local; do
		sampled "$work/places" "$name" && options=--inlines expect "prog;$name;callee_[i] 3" || return
	done
	sampled "$work/places" '.*' && options=--inlines expect "prog;at_top;callee_[i] 3" "prog;in_local;callee_[i] 3" \
		"prog;in_namespace;callee_[i] 3" "prog;in_type;callee_[i] 3" "prog;outside;callee_[i] 3"
}

# Two units have a function, each with other calls in it; the linker has kept that of the first.
check_first_unit() {
	local i
	for i in 1 2; do
		cat >"$work/unit_$i.cc" <<-END
			volatile int number_$i;
			static inline __attribute__((always_inline)) void call_$i() { number_$i++; }
			inline __attribute__((noinline)) void shared() { call_$i(); }
			void use_$i() { shared(); }
		END
		g++ -O2 -g -fPIC -c "$work/unit_$i.cc" -o "$work/unit_$i.o" || return
	done
	for i in "1 2" "2 1"; do
		g++ -shared -nostdlib -o "$work/units" "$work/unit_${i% *}.o" "$work/unit_${i#* }.o" &&
			symbols=$work/units sampled "$work/units" '_Z6sharedv' || return
		"$beectl" flame "$work/made.data" --inlines --format folded >"$work/folded" &&
			grep -q "^prog;shared;call_${i% *}_\[i] " "$work/folded" &&
			! grep "call_${i#* }" "$work/folded" || { cat "$work/folded"; return 1; }
	done
}

check_compressed() {
	many_made four -gdwarf-4 && is_compressed "$work/four" .debug_{info,abbrev,line,str,loc} &&
		as_whole four "$work/four" || return
	many_made five -gdwarf-5 && is_compressed "$work/five" .debug_{info,abbrev,line,str,loclists} &&
		as_whole five "$work/five" || return
	many_made types -gdwarf-4 -fdebug-types-section && as_whole types "$work/types"
}

# By its name, which is checked by its build-id or, without one, by its checksum; and by its build-id.
check_debug_file() {
	local id option root=$work/root
	for option in none sha1; do
		many_made "$option" -gdwarf-5 "-Wl,--build-id=$option" && is_compressed "$work/$option.debug" .debug_{info,line} &&
			objcopy --strip-all --add-gnu-debuglink="$work/$option.debug" "$work/$option" "$work/stripped" &&
			as_whole "$option" "$work/stripped" || return
	done
	id=$(readelf -n "$work/sha1" | sed -n 's/.*Build ID: //p') && mkdir -p "$root/usr/lib/debug/.build-id/${id:0:2}" "$root/$work" &&
		mv "$work/sha1.debug" "$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" &&
		objcopy --strip-all "$work/sha1" "$root/$work/stripped" && cp "$root/$work/stripped" "$work/stripped" &&
		symfs=$root as_whole sha1 "$work/stripped"
}

# dwz moves what two files share into a third one, which is compressed as well.
check_shared() {
	many_made one -gdwarf-5 && cp "$work/one.whole" "$work/one.dwz" && cp "$work/one.whole" "$work/two.dwz" &&
		dwz -m "$work/shared.whole" -M "$work/shared" "$work/one.dwz" "$work/two.dwz" &&
		objcopy --compress-debug-sections=zlib "$work/one.dwz" && is_compressed "$work/one.dwz" .debug_{info,line} &&
		objcopy --compress-debug-sections=zlib "$work/shared.whole" "$work/shared" &&
		is_compressed "$work/shared" .debug_{info,str} && rm "$work/shared.whole" && as_whole one "$work/one.dwz"
}

# gcc -gsplit-dwarf: the other file is where this one is, not where it was compiled.
check_split() {
	mkdir "$work/there" "$work/here" && cp "$work/many.c" "$work/there" || return
	(cd "$work/there" && gcc -O2 -g -gsplit-dwarf -c many.c -o split.o && gcc split.o -o ../split.whole) &&
		objcopy --compress-debug-sections=zlib "$work/split.whole" "$work/here/split" &&
		is_compressed "$work/here/split" .debug_line && mv "$work/there/split.dwo" "$work/here" &&
		sampled "$work/here/split" 'function_.*' && folded >"$work/folded" &&
		[ "$(grep -c '^prog;function_[0-9]* (.*);middle (.*)_\[i];innermost (.*)_\[i] ' "$work/folded")" = 40 ] || { head "$work/folded"; return 1; }
}

# A section that says that it is larger than all memory, that has another size, or is no deflated data: symbols are left.
check_lies() {
	local offset bytes
	many_made lies -gdwarf-5 && offset=$(readelf -SW "$work/lies" | sed -n 's/.* \.debug_info  *PROGBITS  *[0-9a-f]* \([0-9a-f]*\) .*/0x\1/p') || return
	for bytes in '0 \2\0\0\0' '8 \377\377\377\377\377\377\377\177' '8 \0\0\0\0\0\1\0\0' '8 \1\0\0\0\0\0\0\0' '24 \0\0\0\0\0\0\0\0\0\0' '200 \0\0\0\0\0\0\0\0\0\0'; do
		cp "$work/lies" "$work/lying" &&
			printf '%b' "${bytes#* }" | dd of="$work/lying" bs=1 seek=$((offset + ${bytes%% *})) conv=notrunc status=none &&
			symbols=$work/lies.whole sampled "$work/lying" 'function_.*' && folded >"$work/folded" 2>"$work/errors" &&
			[ "$(grep -c '^prog;function_[0-9]* [0-9]*$' "$work/folded")" = 40 ] || { cat "$work/errors"; head "$work/folded"; return 1; }
	done
}

# Where libdwfl looks for the debug file is a pipe, which nobody writes to.
check_pipe() {
	local place
	gcc -O2 -fno-pie -no-pie "$work/many.c" -o "$work/piped.whole" && cp "$work/piped.whole" "$work/pipe.debug" &&
		objcopy --strip-all --add-gnu-debuglink="$work/pipe.debug" "$work/piped.whole" "$work/piped" &&
		rm "$work/pipe.debug" && mkdir -p "$work/.debug" || return
	for place in "$work/pipe.debug" "$work/.debug/pipe.debug" "$work/.debug/piped"; do
		[ "$place" != "$work/.debug/piped" ] || objcopy --remove-section .gnu_debuglink "$work/piped" || return
		mkfifo "$place" && symbols=$work/piped.whole sampled "$work/piped" main || return
		for options in "" --inlines; do
			# shellcheck disable=SC2086  # perhaps none
			"$beectl" flame "$work/made.data" $options --format folded 2>"$work/errors" |
				grep -q '^prog;\[piped]' || { cat "$work/errors"; return 1; }
		done
		rm "$place"
	done
}

# unopened PIPE...: at the names of these files are pipes, and libdw does not open them
unopened() {
	local pipe
	for pipe; do
		rm -f "$pipe" && mkfifo "$pipe" || return
	done
	"$tree/selftests/lib/unopened.py" "$@" -- "$beectl" flame "$work/made.data" --inlines --format folded >"$work/folded" || return
	rm "$@"
	grep '^prog;' "$work/folded"
}

# The names of split units, absolute and relative ones, and of the package beside the program.
check_split_pipes() {
	mkdir "$work/apart" "$work/alone" && cp "$work/many.c" "$work/apart" && cd "$work/apart" || return
	gcc -O2 -g -gsplit-dwarf -c many.c -o "$work/apart/whole.o" && gcc -O2 -g -gsplit-dwarf -c many.c -o relative.o &&
		gcc whole.o -o ../alone/whole && gcc relative.o -o ../alone/relative || return
	sampled "$work/alone/whole" 'function_1' && folded | grep -q 'middle' && unopened "$work/apart/whole.dwo" "$work/alone/whole.dwp" &&
		sampled "$work/alone/relative" 'function_1' && folded | grep -q 'middle' &&
		unopened "$work/apart/relative.dwo" "$work/alone/relative.dwo" "$work/alone/relative.dwp"
}

check_shared_pipe() {
	many_made base -gdwarf-5 && cp "$work/base.whole" "$work/base.one" && cp "$work/base.whole" "$work/base.two" &&
		dwz -m "$work/base.shared" -M "$work/base.shared" "$work/base.one" "$work/base.two" &&
		symbols=$work/base.whole sampled "$work/base.one" 'function_1' && folded | grep -q 'middle' && unopened "$work/base.shared"
}

# What a name leads to changes at any moment: a debug file, and a link to a pipe.
check_turned_pipe() {
	objcopy --only-keep-debug "$work/prog" "$work/prog.debug" && objcopy --strip-all "$work/prog" "$work/turned" &&
		objcopy --remove-section .note.gnu.build-id "$work/turned" && mkdir -p "$work/.debug" && mkfifo "$work/turned.pipe" || return
	made "r.map(7, 0x500000, 0x10000, work + '/turned'); r.sample(7, [USER, $(address outer) + 0x100000])" || return
	"$python" - "$work/prog.debug" "$work/turned.pipe" "$work/.debug/turned" <<-'END' &
		import ctypes, os, sys
		debug, pipe, name = map(os.fsencode, sys.argv[1:])
		libc = ctypes.CDLL(None)
		os.symlink(debug, name)
		os.symlink(pipe, name + b".other")
		while not libc.renameat2(-100, name, -100, name + b".other", 2):    # AT_FDCWD, RENAME_EXCHANGE
		    pass
	END
	local turns=$! status=0
	# unopened.py ends a command after a minute, so a hundred graphs are drawn by five commands.
	for _ in 1 2 3 4 5; do
		# shellcheck disable=SC2016  # the inner shell expands these
		"$tree/selftests/lib/unopened.py" "$work/turned.pipe" -- sh -c 'for i in $(seq 20); do "$0" flame "$1" --format folded || exit; done' \
			"$beectl" "$work/made.data" || status=$?
	done >"$work/folded"
	rm -r "$work/.debug"
	wait "$turns"
	sort "$work/folded" | uniq -c
	[ "$status" -eq 0 ] && grep -q '^prog;outer 1$' "$work/folded"
}

# An address between the segments, below the others.
check_no_segment() {
	made "r.sample(7, [USER, $(address outer), 0x400800, $(address main) + 8])" &&
		options=--inlines expect "prog;main;[prog]+0x800;outer;middle_[i];innermost_[i] 1" || return
	"$beectl" flame "$work/made.data" --lines --format folded | grep -E '^prog;main \(.*prog\.c:[0-9]*\);\[prog]\+0x800;outer \(.*prog\.c:[0-9]*\) 1$' || return
	# Above the others of its file, too, but not of the functions.
	made "r.sample(7, [USER, $(address outer), 0x40f800, 0x400800])" &&
		options=--inlines expect "prog;[prog]+0x800;[prog]+0xf800;outer;middle_[i];innermost_[i] 1"
}

ktap_plan 12
ktap_run "flame names functions in namespaces, in types and in other functions" check_places
with g++ "flame names a function of several units" check_first_unit
ktap_run "flame names functions by compressed sections" check_compressed
ktap_run "flame names functions by a compressed debug file" check_debug_file
with dwz "flame names functions by a compressed file that debug files share" check_shared
ktap_run "flame names functions by units in files beside the program" check_split
ktap_run "flame survives compressed sections that lie" check_lies
ktap_run "flame does not wait for a debug file that is a pipe" check_pipe
ktap_run "flame survives an address in no segment" check_no_segment
ktap_run "flame does not wait for units in files that are pipes" check_split_pipes
with dwz "flame does not wait for a shared debug file that is a pipe" check_shared_pipe
ktap_run "flame does not wait for a debug file that becomes a pipe at any moment" check_turned_pipe
ktap_finish
