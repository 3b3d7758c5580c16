#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl cache: fill, show and empty it; several at once; two versions of beectl.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need objcopy

export BEEUNWIND_CACHE=$work/cache

# Copies have an inode, and so a cache entry, of their own, although their build-id is the same.
mkdir "$work/files"
for i in $(seq 12); do
	cp /bin/sh "$work/files/prog$i"
done

# states: prints "N STATE" for each state that entries have, in one line
states() {
	"$beectl" cache list --json | "$python" -c '
import collections, json, sys
got = json.load(sys.stdin)
assert got["bytes"] == sum(e["bytes"] for e in got["entries"])
count = collections.Counter(e["state"] for e in got["entries"])
print(*(f"{n} {state}" for state, n in sorted(count.items())))'
}

states_are() {
	local got
	got=$(states)
	[ "$got" = "$1" ] && return 0
	echo "states: $got, not $1"
	return 1
}

# says STATUS PATTERN ARGUMENT...: beectl exits with STATUS and prints PATTERN, on stdout or stderr
says() {
	local want=$1 pattern=$2 got
	shift 2
	"$beectl" "$@" >"$work/out" 2>&1
	got=$?
	[ "$got" -eq "$want" ] && grep -q -e "$pattern" "$work/out" && return 0
	echo "status $got, not $want; no '$pattern' in:"
	cat "$work/out"
	return 1
}

check_prewarm() {
	says 0 '^12 tables, 12 compiled now, ' cache prewarm "$work/files" &&
		says 0 '^12 tables, 0 compiled now, ' cache prewarm "$work/files" &&
		states_are "12 current" &&
		says 0 "^$work/cache: 12 tables; .* of 256.0 MiB" cache list
}

check_json() {
	"$beectl" cache prewarm --json "$work/files/prog1" /etc/passwd 2>/dev/null | "$python" -c '
import json, sys
got = json.load(sys.stdin)["files"]
assert got[0]["source"] == "cached" and got[0]["bytes"] > 1000, got
assert got[1]["path"] == "/etc/passwd" and got[1]["error"] == "not an ELF file", got' || return
	mkdir "$work/nothing" && "$beectl" cache prewarm --json "$work/nothing" 2>/dev/null | tr -d ' \n' | grep -q '"files":\[]'
}

# A file named on the command line that gives no table, or does not exist, is a failure.
check_failures() {
	says 1 "beectl: cache: /etc/passwd: not an ELF file" cache prewarm /etc/passwd &&
		says 1 "beectl: cache: /nonexistent: No such file" cache prewarm /nonexistent &&
		mkdir "$work/empty" &&
		says 1 "^beectl: cache: no x86-64 executable or shared object below what was named$" cache prewarm "$work/empty" &&
		BEEUNWIND_CACHE=/proc/self/fd says 1 "not kept in the cache: .*; BEEUNWIND_CACHE can name another$" \
			cache prewarm "$beectl" &&
		BEEUNWIND_CACHE=$work/small BEEUNWIND_CACHE_SIZE=4k says 1 "not kept in the cache: .*; BEEUNWIND_CACHE_SIZE can allow more$" \
			cache prewarm "$beectl" &&
		head -c 2000 "$beectl" >"$work/broken" &&
		says 1 "beectl: cache: $work/broken: " cache prewarm "$work/broken"
}

check_damaged() {
	local entry
	entry=$(find "$BEEUNWIND_CACHE" -type f | head -n 1)
	printf 'X' | dd of="$entry" bs=1 seek=1000 conv=notrunc status=none
	states_are "11 current 1 damaged" &&
		says 0 '^12 tables, 1 compiled now' cache prewarm "$work/files" &&
		states_are "12 current"
}

# Entries belong to the build of beectl, by its build-id: a copy with another one compiles anew.
check_generation() {
	local other=$work/beectl-other
	objcopy --dump-section .note.gnu.build-id="$work/note" "$beectl" "$other" &&
		printf '\x5a\xa5' | dd of="$work/note" bs=1 seek=16 conv=notrunc status=none &&
		objcopy --update-section .note.gnu.build-id="$work/note" "$beectl" "$other" || return 1
	(beectl=$other; says 0 '^12 tables, 12 compiled now' cache prewarm "$work/files" &&
		states_are "12 current 12 old") &&
		says 0 '^12 tables, 0 compiled now' cache prewarm "$work/files"
}

# Two file systems with the same files: inode numbers, times and all.  Only the device is another.
check_images() {
	unshare -m bash -c '
		cd "$1" && mount -o loop,ro image1 one && mount -o loop,ro image2 two &&
			[ "$(stat -c "%i %W %Y %Z" one/prog)" = "$(stat -c "%i %W %Y %Z" two/prog)" ] &&
			"$2" cache prewarm -j 1 one/prog two/prog && "$2" cache prewarm one/prog two/prog' \
		- "$work/images" "$beectl" >"$work/out" 2>&1 &&
		grep -q "^2 tables, 2 compiled now" "$work/out" && grep -q "^2 tables, 0 compiled now" "$work/out" ||
		{ cat "$work/out"; return 1; }
}

# make_images: prints what it lacks
make_images() {
	mkdir -p "$work/images/one" "$work/images/two" "$work/images/tree" && cd "$work/images" || return
	cp /bin/sh tree/prog && truncate -s 4M image1 || return
	command -v mkfs.ext4 >/dev/null || { echo "mkfs.ext4 is not installed"; return; }
	mkfs.ext4 -q -F -d tree image1 2>/dev/null || return
	cp image1 image2
	unshare -m mount -o loop,ro image1 one 2>/dev/null || echo "loop devices cannot be mounted"
}

# A root is made with its cache, copied whole, and mounted as another one: by the id of btrfs, which the copy has,
# tables are found.  One is not if its file, with the same inode and times, has other contents under another build-id.
check_shipped() {
	(cd "$work/images" && mkfs.btrfs -q --mixed -r tree btrfs) || return
	unshare -m bash -ec '
		cd "$1"
		mount -o loop btrfs one
		mkdir -m 700 one/cache
		BEEUNWIND_CACHE=one/cache "$2" cache prewarm one/prog
		umount one
		cp btrfs shipped
		mount -o loop shipped two
		export BEEUNWIND_CACHE=two/cache
		"$2" cache prewarm two/prog
		touch -r two/prog times
		objcopy --update-section .note.gnu.build-id="$3" two/prog other
		[ "$(stat -c %s other)" = "$(stat -c %s two/prog)" ]
		cat other >two/prog
		touch -r times two/prog
		"$2" cache prewarm two/prog' - "$work/images" "$beectl" "$work/note" >"$work/out" 2>&1 &&
		[ "$(sed -n 's/^1 table, \([01]\) compiled now.*/\1/p' "$work/out" | xargs)" = "1 0 1" ] ||
		{ cat "$work/out"; return 1; }
}

check_clear() {
	touch "$BEEUNWIND_CACHE/keep-me"
	says 0 '^24 tables removed' cache clear && [ "$(ls -A "$BEEUNWIND_CACHE")" = keep-me ] &&
		says 0 ': 0 tables; 0 B of' cache list
}

# Eight processes fill the cache at once: all succeed, and the entries are complete.
check_parallel() {
	local i pids=() failed=0
	for i in $(seq 8); do
		"$beectl" cache prewarm -q -j 2 "$work/files" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || failed=1
	done
	[ $failed -eq 0 ] && states_are "12 current" && [ "$(find "$BEEUNWIND_CACHE" -name '.new-*')" = "" ]
}

# A limit with room for four of the twelve tables.
check_limit() {
	local entry
	entry=$(find "$BEEUNWIND_CACHE" -type f -size +0 | head -n 1)
	export BEEUNWIND_CACHE_SIZE=$((($(stat -c %s "$entry") + 4095) / 4096 * 4096 * 4))
	says 0 'The cache holds .* only; set BEEUNWIND_CACHE_SIZE' cache prewarm "$work/files" &&
		states | grep '^[2-4] current$'
}

check_no_directory() {
	mkdir -m 777 "$work/open"
	ln -s "$work/cache" "$work/link"
	BEEUNWIND_CACHE=$work/open says 1 "may be read or written by others" cache prewarm "$beectl" &&
		BEEUNWIND_CACHE=$work/link says 1 "symbolic link; set BEEUNWIND_CACHE" cache list &&
		BEEUNWIND_CACHE=$work/no/such says 1 "No such file or directory" cache prewarm "$beectl" &&
		BEEUNWIND_CACHE=$work/files/prog1 BEEUNWIND_CACHE_SIZE=many says 1 "Not a directory" cache clear &&
		grep -q "warning: BEEUNWIND_CACHE_SIZE=many is no size" "$work/out" &&
		BEEUNWIND_CACHE=$work/none says 0 "^0 tables removed" cache clear &&
		BEEUNWIND_CACHE=$work/none says 0 "none: 0 tables; " cache list && [ ! -e "$work/none" ]
}

# The default directory, which an older version has left open, is closed; no other one is touched.
check_open_default() {
	unshare -m bash -c '
		mount -t tmpfs tmpfs /var/cache && mkdir -m 755 /var/cache/beeunwind && umask 0 &&
			BEEUNWIND_CACHE="" "$1" cache prewarm -q /bin/sh &&
			[ "$(stat -c %a /var/cache/beeunwind /var/cache/beeunwind/* | xargs)" = "700 600" ]' \
		- "$beectl" && mkdir -m 755 "$work/mine" &&
		BEEUNWIND_CACHE=$work/mine says 1 "others (wanted: owner root or you, mode 0700)" cache list &&
		[ "$(stat -c %a "$work/mine")" = 755 ]
}

check_words() {
	local needed="one of list, clear and prewarm is needed"

	says 2 "$needed" cache && says 2 "$needed" cache show &&
		says 2 "prewarm needs an ELF file" cache prewarm && says 2 "list takes no file" cache list x &&
		says 2 "clear takes no file" cache clear x && says 2 "-j: only for prewarm" cache clear -j 3 &&
		says 2 "-j: only for prewarm" cache list -j 3 && says 2 "-q: only for clear and prewarm" cache list -q &&
		says 2 "unknown option" cache list --foo && says 2 "number from 1 to" cache prewarm -j 0 x
}

# One heading, whatever the entries have.
check_heading() {
	"$beectl" cache prewarm -q "$work/files/prog1" "$work/files/prog2" "$work/files/prog3" || return
	local file
	for file in "$work/cache"/*; do
		: >"$file"
	done
	says 0 'damaged' cache list && [ "$(grep -c 'last used' "$work/out")" -eq 1 ] || { cat "$work/out"; return 1; }
}

ktap_plan 14
ktap_run "beectl cache prewarm makes tables, and none twice" check_prewarm
ktap_run "beectl cache prewarm --json counts tables" check_json
ktap_run "beectl cache prewarm names files without a table" check_failures
ktap_run "a damaged table in the cache is made again" check_damaged
ktap_run "tables in the cache that another beectl has made are not used" check_generation
ktap_run "beectl cache clear leaves files that are no tables" check_clear
ktap_run "eight processes fill the cache at once" check_parallel
ktap_run "the cache keeps BEEUNWIND_CACHE_SIZE" check_limit
ktap_run "beectl cache list has one heading for damaged entries" check_heading
ktap_run "beectl cache names what is wrong with the cache's directory" check_no_directory
if unshare -m mount -t tmpfs tmpfs /var/cache 2>/dev/null; then
	ktap_run "nobody else can read the cache's directory" check_open_default
else
	ktap_skip "nobody else can read the cache's directory" "nothing can be mounted here"
fi
ktap_run "beectl cache refuses unknown words" check_words
unset BEEUNWIND_CACHE_SIZE
shipped="tables in a btrfs that was copied whole serve its files in another root, and none of another build-id"
why=$(make_images)
if [ -n "$why" ]; then
	ktap_skip "equal files on two file systems have a table each" "$why"
	ktap_skip "$shipped" "$why"
else
	ktap_run "equal files on two file systems have a table each" check_images
	if grep -qw btrfs /proc/filesystems; then
		with mkfs.btrfs "$shipped" check_shipped
	else
		ktap_skip "$shipped" "no btrfs in this kernel"
	fi
fi
ktap_finish
