#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Which files beectl flame reads: for a process in a container those that the process sees, and names of
# code made at run time only from files of root or of the user who runs the process.  And which it
# writes to.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"
[ "$(id -u)" -eq 0 ] || ktap_skip_all "other users' processes and files need root"

nobody=65534

# started CMD...: run CMD, which executes its last words, until it or its child $pid runs sleep
started() {
	"$@" sleep 1000 &
	started=$!
	# Nothing is left behind by a test that is interrupted.
	trap 'ended; rm -f "${map-}"' EXIT
	until pid=$started && runs_sleep || { pid=$(pgrep -P "$started") && runs_sleep; }; do
		kill -0 "$started" || return
		sleep 0.01
	done
}

runs_sleep() {
	[ "$(readlink "/proc/$pid/exe")" = "$(realpath "$(command -v sleep)")" ]
}

ended() {
	kill -KILL "$started"
	wait "$started" 2>/dev/null
	return 0
}

# says WORDS LINE: the folded line of made.data is LINE; errors have WORDS, or there are none
says() {
	"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | diff <(echo "$2") - || { cat "$work/errors"; return 1; }
	if [ -n "$1" ]; then grep -q "$1" "$work/errors"; else diff /dev/null "$work/errors"; fi
}

# In a mount namespace another file is at the path.  When no process sees it any more, the one that all
# others see has no names for it.
check_container() {
	local status=0
	sed 's/outer/inside/' "$work/prog.c" >"$work/inside.c" &&
		gcc -O2 -fno-pie -no-pie -Wl,--build-id=none "$work/inside.c" "$work/label.s" -o "$work/inside" &&
		started unshare -m sh -c 'mount --make-rprivate / && mount --bind "$0" "$1" && shift && exec "$@"' \
			"$work/inside" "$work/prog" || return
	made "r.comm($pid, 'prog'); r.map($pid, 0x400000, 0x10000, work + '/prog', inode=$(stat -c %i "$work/inside")); r.sample($pid, [USER, $(nm "$work/inside" | sed -n 's/^0*\([0-9a-f]*\) . inside$/0x\1/p')])" &&
		says "" "prog;inside 1" || status=1
	ended
	"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | grep '^prog;\[prog]+0x' &&
		grep "inode number differs" "$work/errors" || status=1
	return "$status"
}

# In its pid namespace the process has another number.
check_container_map() {
	local status=0
	started unshare -m -p -f --kill-child sh -c 'mount --make-rprivate / && mount -t tmpfs tmpfs /tmp && echo "7000 10 within" >/tmp/perf-1.map && exec "$@"' sh || return
	made "r.comm($pid, 'prog'); r.map($pid, 0x7000, 0x1000, '//anon'); r.sample($pid, [USER, 0x7004])" &&
		says "" "prog;within_[j] 1" || status=1
	ended
	return "$status"
}

# Names of code made at run time: those of root, and of whoever runs the process.
check_owner() {
	local status=0
	started
	map=/tmp/perf-$pid.map
	echo "7000 10 code" >"$map"
	made "r.comm($pid, 'prog'); r.map($pid, 0x7000, 0x1000, '//anon'); r.sample($pid, [USER, 0x7004])" &&
		says "" "prog;code_[j] 1" && chown "$nobody" "$map" && says "somebody else" "prog;[jit]+0x7004 1" || status=1
	ended
	says "the process has ended" "prog;[jit]+0x7004 1" || status=1
	rm "$map"
	started setpriv --reuid="$nobody" --clear-groups
	map=/tmp/perf-$pid.map
	echo "7000 10 code" >"$map"
	chown "$nobody" "$map"
	made "r.comm($pid, 'prog'); r.map($pid, 0x7000, 0x1000, '//anon'); r.sample($pid, [USER, 0x7004])" &&
		says "" "prog;code_[j] 1" || status=1
	# One that had the number before has ended.
	made "r.comm($pid, 'prog'); r.map($pid, 0x7000, 0x1000, '//anon'); r.sample($pid, [USER, 0x7004]); r.exit($pid)" &&
		says "the process has ended" "prog;[jit]+0x7004 1" &&
		"$beectl" flame "$work/made.data" --raw 2>/dev/null >"$work/made.raw" &&
		"$beectl" flame "$work/made.raw" --format folded 2>"$work/errors" | diff - <(echo "prog;[jit]+0x7004 1") &&
		grep "the process has ended" "$work/errors" || status=1
	# And this is the one that has it now.
	made "r.comm($pid, 'old'); r.map($pid, 0x7000, 0x1000, '//anon'); r.exit($pid); r.fork(1, $pid); r.comm($pid, 'prog'); r.map($pid, 0x7000, 0x1000, '//anon'); r.sample($pid, [USER, 0x7004])" &&
		says "" "prog;code_[j] 1" || status=1
	ended
	rm "$map"
	return "$status"
}

# A file that is replaced stays its owner's.
check_output_owner() {
	echo "a;b 1" >"$work/stacks"
	touch "$work/mine.folded" && chmod 600 "$work/mine.folded" && chown "$nobody:$nobody" "$work/mine.folded" &&
		"$beectl" flame "$work/stacks" -o "$work/mine.folded" &&
		[ "$(stat -c '%u %g %a' "$work/mine.folded"; cat "$work/mine.folded")" = "$nobody $nobody 600
a;b 1" ]
}

# refuses FILE: neither is it written nor anything recorded for it
refuses() {
	"$beectl" flame "$work/stacks" -o "$1" 2>"$work/errors"
	[ $? -eq 1 ] && grep "^beectl: flame: $1: it is another user's" "$work/errors" || { cat "$work/errors"; return 1; }
	"$beectl" flame -o "$1" -- touch "$work/ran" 2>"$work/errors"
	[ $? -eq 1 ] && grep -q "another user's" "$work/errors" && [ ! -e "$work/ran" ]
}

# Where everybody may make files, those of others do not get what is written, nor lead elsewhere.
check_output_open() {
	local open=$work/open
	mkdir -m 1777 "$open" && echo "a;b 1" >"$work/stacks" && echo old >"$work/target" && echo old >"$open/theirs.folded" &&
		ln -s "$work/target" "$open/link.folded" && mkfifo "$open/pipe.folded" && ln -s "$open/link.folded" "$work/chain.folded" &&
		chown -h "$nobody" "$open/theirs.folded" "$open/link.folded" "$open/pipe.folded" || return
	refuses "$open/theirs.folded" && refuses "$open/link.folded" && refuses "$open/pipe.folded" && refuses "$work/chain.folded" &&
		[ "$(cat "$open/theirs.folded" "$work/target"; stat -c %u "$work/target")" = "old
old
0" ] || return
	chmod 777 "$open" && refuses "$open/theirs.folded" || return
	# But one's own, and all where others make no files.
	ln -s ../target "$open/mine.folded" && "$beectl" flame "$work/stacks" -o "$open/mine.folded" && [ -L "$open/mine.folded" ] &&
		diff "$work/stacks" "$work/target" && chmod 755 "$open" && echo old >"$work/target" &&
		"$beectl" flame "$work/stacks" -o "$open/link.folded" && diff "$work/stacks" "$work/target"
}

ktap_plan 5
if unshare -m true 2>"$work/errors"; then
	ktap_run "flame names functions of a file in a container" check_container
else
	ktap_skip "flame names functions of a file in a container" "this user may not make a mount namespace"
fi
if unshare -m -p -f true 2>"$work/errors"; then
	ktap_run "flame names code made at run time in a container" check_container_map
else
	ktap_skip "flame names code made at run time in a container" "this user may not make a pid namespace"
fi
ktap_run "names of code made at run time are taken from the process's user only" check_owner
ktap_run "an output file that is written again keeps its owner" check_output_owner
ktap_run "flame does not write to others' files where everybody may make files" check_output_open
ktap_finish
