#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two programs that look alike to the kernel (device, inode number, generation, size, mtime, ctime)
# are two files, each with its own table; one program is one file, however it is mounted.
# once: 1
# timeout: 600
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

one=$TESTS/twin64 two=$TESTS/twin448

# missing COMMAND MODULE...: print what is missing of these, if anything is.
missing() {
	command -v "$1" >/dev/null || echo "$1 is not installed"
	for module in "${@:2}"; do
		modprobe -d "$BEE_KERNEL_FILES" "$module" 2>/dev/null || echo "this kernel has no $module"
	done
}

# ids [-t] PATH...: file_ids, into $WORK/ids.
ids() {
	"$TESTS/file_ids" "$@" >"$WORK/ids" || return 1
	cat "$WORK/ids"
}

# same PATH...: all are one file.  others PATH...: each is another.
same() {
	ids "$@" && [ "$(cut -d' ' -f1 "$WORK/ids" | sort -u | wc -l)" -eq 1 ] && ! grep -q '^0' "$WORK/ids"
}

others() {
	ids "$@" && [ "$(cut -d' ' -f1 "$WORK/ids" | sort -u | wc -l)" -eq $# ] && ! grep -q '^0' "$WORK/ids"
}

# tables "1 0" PATH PATH: mapped after each other, in processes of their own, one has a table.
tables() {
	local want=$1 got='' path

	for path in "${@:2}"; do
		ids "$path" || return 1
		got+=" $(cut -d' ' -f2 "$WORK/ids")"
	done
	[ "$got" = " $want" ]
}

# Recorded one after the other, so that each would meet the table of the one before.
record() {
	local path

	for path in "$@"; do
		"$BEECTL" run -- "$path" || return 1
	done
}

# whole PATH...: what was sampled in a program is more than 40 frames deep and complete, but for 3 %
# at its start and end.
whole() {
	perf record -q -N -B -e cpu-clock -F 499 -g -o "$WORK/perf.data" -- \
		bash -c 'record "$@"' - "$@" || return 1
	for path in "$@"; do
		PYTHONPATH=$TREE/selftests/lib /usr/bin/python3 - "$WORK/perf.data" "$path" <<-'END' || return 1
		import sys
		import stacks
		data, path = stacks.PerfData(sys.argv[1]), sys.argv[2]
		verdict, count, good = stacks.Judge(), 0, 0
		for sample in data.samples():
		    if not sample.user or sample.comm != path.split("/")[-1][:15]:
		        continue
		    top = stacks.outermost(sample, sample.user[:1])
		    if not top or top[0] != path:
		        continue
		    place = stacks.outermost(sample, sample.user)
		    count += 1
		    good += bool(len(sample.user) > 40 and place and verdict.is_start(place))
		print(path, "samples", count, "whole", good)
		sys.exit(count < 50 or good < count * 0.97)
		END
	done
}
export -f record
export BEECTL

test_btrfs() {
	local dir=$WORK/btrfs

	truncate -s 256M "$WORK/btrfs.img"
	mkdir "$dir" && mkfs.btrfs -q "$WORK/btrfs.img" && mount -o loop "$WORK/btrfs.img" "$dir" &&
		btrfs -q subvolume create "$dir/a" && btrfs -q subvolume create "$dir/b" && sync &&
		"$TREE/selftests/kmod/make_twins.py" "$one" "$two" "$dir/a/one" "$dir/b/two"
}

test_btrfs_remount() {
	umount "$WORK/btrfs" && mount -o loop "$WORK/btrfs.img" "$WORK/btrfs"
}

test_snapshot() {
	btrfs -q subvolume snapshot "$WORK/btrfs/a" "$WORK/btrfs/snap" &&
		same "$WORK/btrfs/a/one" "$WORK/btrfs/snap/one"
}

test_snapshot_changed() {
	printf x | dd of="$WORK/btrfs/snap/one" bs=1 seek=9000 conv=notrunc status=none &&
		others "$WORK/btrfs/a/one" "$WORK/btrfs/snap/one"
}

# overlay NAME LOWER: mounted on $WORK/NAME.
overlay() {
	mkdir "$WORK/$1" "$WORK/$1-upper" "$WORK/$1-work" &&
		mount -t overlay -o "lowerdir=$2,upperdir=$WORK/$1-upper,workdir=$WORK/$1-work" overlay "$WORK/$1"
}

test_overlay() {
	overlay over-a "$WORK/btrfs/a" && overlay over-b "$WORK/btrfs/b" && overlay over-c "$WORK/btrfs/a" &&
		others "$WORK/over-a/one" "$WORK/over-b/two" &&
		same "$WORK/over-a/one" "$WORK/over-c/one" "$WORK/btrfs/a/one"
}

test_bind() {
	mkdir "$WORK/bind" && mount --bind "$WORK/btrfs/a" "$WORK/bind" &&
		same "$WORK/btrfs/a/one" "$WORK/bind/one"
}

# Two images in which the files have the same inode number, as squashfs numbers them in order.
make_squashfs() {
	mkdir "$WORK/tree1" "$WORK/tree2" "$WORK/squash" &&
		"$TREE/selftests/kmod/make_twins.py" "$one" "$two" "$WORK/tree1/prog" "$WORK/tree2/prog" \
			>/dev/null
	mksquashfs "$WORK/tree1" "$WORK/image1" -quiet -no-progress &&
		mksquashfs "$WORK/tree2" "$WORK/image2" -quiet -no-progress
}

# show IMAGE: mount it on the same device as the one before.
show() {
	! mountpoint -q "$WORK/squash" || umount "$WORK/squash" || return 1
	losetup -d "$loop" 2>/dev/null
	losetup "$loop" "$1" && mount -t squashfs -o ro "$loop" "$WORK/squash"
}

test_squashfs() {
	loop=$(losetup -f)
	show "$WORK/image1" && looks=$(stat -c '%d %i %s %Y %Z' "$WORK/squash/prog") &&
		ids -t "$WORK/squash/prog" && show "$WORK/image2" &&
		[ "$(stat -c '%d %i %s %Y %Z' "$WORK/squash/prog")" = "$looks" ] &&
		tables 0 "$WORK/squash/prog"
}

test_squashfs_again() {
	loop=$(losetup -f)
	show "$WORK/image1" && ids -t "$WORK/squash/prog" && show "$WORK/image1" &&
		tables 1 "$WORK/squash/prog"
}

test_tmpfs() {
	mkdir "$WORK/tmp1" "$WORK/tmp2" && mount -t tmpfs tmpfs "$WORK/tmp1" && mount -t tmpfs tmpfs "$WORK/tmp2" &&
		"$TREE/selftests/kmod/make_twins.py" "$one" "$two" "$WORK/tmp1/one" "$WORK/tmp2/two" &&
		others "$WORK/tmp1/one" "$WORK/tmp2/two"
}

unmount_all() {
	local dir

	for dir in over-a over-b over-c bind squash tmp1 tmp2 btrfs; do
		! mountpoint -q "$WORK/$dir" || umount "$WORK/$dir"
	done
	losetup -D
	guest_exit
}
trap unmount_all EXIT

# shellcheck disable=SC2119
guest_insmod || exit 1
ktap_plan 14
a=$WORK/btrfs/a/one b=$WORK/btrfs/b/two
why=$(missing mkfs.btrfs btrfs loop)
# run_if NAME COMMAND...: unless something is missing.
run_if() {
	if [ -n "$why" ]; then
		ktap_skip "$1" "$why"
	else
		ktap_run "$@"
	fi
}
run_if "btrfs: two subvolumes with two programs that look alike" test_btrfs
run_if "btrfs: they are two files" others "$a" "$b"
run_if "btrfs: one has a table" ids -t "$a"
run_if "btrfs: only that one" tables "0 1 0" "$b" "$a" "$b"
run_if "btrfs: unmounted and mounted again" test_btrfs_remount
run_if "btrfs: still only that one" tables "0 1 0" "$b" "$a" "$b"
run_if "btrfs: the stacks of both are whole" whole "$a" "$b"
run_if "btrfs: a bind mount has the same file" test_bind
run_if "btrfs: a snapshot has the same file" test_snapshot
run_if "btrfs: until it is changed" test_snapshot_changed
why=${why:-$(missing mount overlay)}
run_if "overlayfs: files are those of the subvolume below" test_overlay
why=$(missing mksquashfs squashfs loop)
[ -n "$why" ] || make_squashfs
run_if "squashfs: another image on the same device has another file" test_squashfs
run_if "squashfs: the same image mounted again has the same file" test_squashfs_again
ktap_run "tmpfs: files of two are two" test_tmpfs
ktap_finish
