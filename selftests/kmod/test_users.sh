#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs users_test against the loaded module, and then shows and removes the table of a file that
# processes use by beectl, while beectl watch runs.
# once: 1
# timeout: 1200
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

# users WORD: print pid and number of ranges of all that use that file, one in a line
users() {
	"$BEECTL" status --json --tables "$1" >"$WORK/json" && /usr/bin/python3 -c '
import json, sys
for table in json.load(open(sys.argv[1]))["tables"]:
    for process in table["processes"]:
        print(process["pid"], len(process["ranges"]))' "$WORK/json"
}

# The shell and what it starts are managed; only the two have this program.  Not in ktap_run's
# subshell, which would be another process than $$ and keep the variables to itself.
start_both() {
	cp /bin/dash "$WORK/napper" && mkfifo "$WORK/fifo" && "$BEECTL" load -q $$ || return 1
	"$WORK/napper" -c 'read -r word' <>"$WORK/fifo" &
	one=$!
	"$WORK/napper" -c 'read -r word' <>"$WORK/fifo" &
	two=$!
}

named() {
	guest_wait is_used_by_both && "$BEECTL" load -q "$one" || return 1
	"$BEECTL" status --tables "$WORK/napper" >"$WORK/out" || return 1
	grep "napper: [1-9][0-9]* rows, .*, 2 processes$" "$WORK/out" &&
		grep "^ *$one  [0-9a-f]*-[0-9a-f]*  *0x[0-9a-f]*  napper$" "$WORK/out" &&
		grep "^ *$two  [0-9a-f]*-[0-9a-f]*  *0x[0-9a-f]*  napper$" "$WORK/out" ||
		{ cat "$WORK/out"; return 1; }
}

is_used_by_both() {
	[ "$(users "$WORK/napper" | sort)" = "$(printf '%s 1\n' "$one" "$two" | sort)" ]
}

# By the name under which the module knows it, when another file has its path.
by_name() {
	mv "$WORK/napper" "$WORK/moved" && cp /bin/true "$WORK/napper" &&
		[ "$(users "$WORK/napper" | wc -l)" -eq 2 ] && [ "$(users "$WORK/moved" | wc -l)" -eq 2 ]
}

# loaded: whether the file has a table
loaded() {
	"$BEECTL" status --json --tables "$WORK/moved" | grep -q '"loaded": *true'
}

# watch has made a table of it, if need be; it is removed, its users are sampled, and it stays away.
killed() {
	guest_wait grep -q following "$WORK/watch" && loaded || return 1
	"$BEECTL" unload --tables "$WORK/moved" >"$WORK/out" || return 1
	grep "napper: table removed, 2 processes$" "$WORK/out" && grep "^ *$one " "$WORK/out" &&
		grep "^ *$two " "$WORK/out" || { cat "$WORK/out"; return 1; }
	guest_wait grep "napper: table removed by request, not made again; 2 processes used it" \
		"$WORK/watch" || { cat "$WORK/watch"; return 1; }
	! loaded
}

# missed: walks that wanted a row of it while it had no table
missed() {
	"$BEECTL" status --files --json | /usr/bin/python3 -c '
import json, sys
print(sum(f["missed"] for f in json.load(sys.stdin)["files"] if f["path"].endswith("/napper")))'
}

# made PROGRAM: whether watch has made its table
made() {
	grep -q "/$1: \(cached\|compiled\)" "$WORK/watch"
}

# sampled PROGRAM OTHER: run it under perf, so that its file is announced; and a new program OTHER, until watch
# has made the table of that: the other announcement came before.
sampled() {
	local program
	cp /bin/dash "$WORK/$2" || return 1
	for program in "$1" "$2"; do
		perf record -q -N -B -g -e cpu-clock -F 999 -o "$WORK/data" -- "$WORK/$program" -c \
			'i=0; while [ "$i" -lt 50000 ]; do i=$((i + 1)); done' || return 1
	done
	guest_wait made "$2"
}

stays_away() {
	sampled moved other && [ "$(missed)" -gt 0 ] && ! loaded && ! made napper ||
		{ cat "$WORK/watch"; return 1; }
}

forgotten() {
	! "$BEECTL" status --tables "$1" 2>/dev/null
}

# When the last process that has the file mapped ends the module forgets the file.  The next process to map
# it does so under another name, and the file gets another id.
stays_away_anew() {
	kill "$one" "$two"
	guest_wait forgotten "$WORK/moved" && sampled moved second && ! loaded && ! made moved ||
		{ cat "$WORK/watch"; return 1; }
}

unmapped() {
	[ -z "$(users "$1")" ]
}

# No process has the file mapped when its table is removed, so the module forgets the file with the table.
# When the program is started again the file has a new id, and watch makes no table all the same.
stays_away_unmapped() {
	cp /bin/dash "$WORK/lonely" && sampled lonely third && guest_wait made lonely &&
		guest_wait unmapped "$WORK/lonely" && "$BEECTL" unload --tables "$WORK/lonely" &&
		guest_wait grep "lonely: table removed by request, not made again; 0 processes" \
			"$WORK/watch" &&
		sampled lonely fourth && ! table_is "$WORK/lonely" || { cat "$WORK/watch"; return 1; }
}

not_there() {
	! "$BEECTL" unload --tables "$WORK/moved" 2>"$WORK/err" && grep "has no table" "$WORK/err" &&
		! "$BEECTL" status --tables "$WORK/nothing" 2>"$WORK/err" &&
		grep "knows no such file" "$WORK/err"
}

# user UID: whether status has that user, with memory, in JSON and as text
user() {
	"$BEECTL" status --json --users >"$WORK/json" && "$BEECTL" status --users >"$WORK/out" &&
		grep -q '^ *uid  *memory  *at most  *refused$' "$WORK/out" &&
		grep -q "^ *$1  *[1-9][0-9.]* [KMG]*i*B  *[1-9][0-9.]* [KMG]*i*B  *[0-9]*$" "$WORK/out" &&
		/usr/bin/python3 -c '
import json, sys
with open(sys.argv[1]) as file:
    users = {user["uid"]: user for user in json.load(file)["users"]}
user = users[int(sys.argv[2])]
sys.exit(not 0 < user["bytes"] <= user["most"])' "$WORK/json" "$1"
}

no_user() {
	! user "$1" && ! grep "^ *$1 " "$WORK/out"
}

# Of a user whose process is managed, beside root, and no longer when that has ended.
memory_of_users() {
	local pid status=1
	setpriv --reuid 1234 --regid 1234 --clear-groups sleep infinity &
	pid=$!
	guest_wait grep -q sleep "/proc/$pid/maps" && "$BEECTL" load -q "$pid" && user 0 && user 1234 &&
		status=0
	kill "$pid"
	wait "$pid"
	guest_wait no_user 1234 && user 0 || status=1
	[ "$status" -eq 0 ] || cat "$WORK/out" "$WORK/json"
	return "$status"
}

# as_user COMMAND...: COMMAND, which ends with beectl record or run, starts a program as user 1234, whose share has
# no room for the program's table.  beectl has to say that, once, and so has status; when the share is raised,
# beectl has to load the table.
as_user() {
	local pid status=1
	"$@" setpriv --reuid 1234 --regid 1234 --clear-groups "$WORK/python" -c 'while True: pass' \
		2>"$WORK/err" &
	pid=$!
	guest_wait_long grep "warning: .*/python: .*over the share of the user .* see beectl status --users" \
		"$WORK/err" && "$BEECTL" status >"$WORK/out" &&
		grep "^refused: .* memory to .*user.* 1234, whose shares* wa.* used up; see beectl status --users" \
			"$WORK/out" && [ "$(grep -c "over the share" "$WORK/err")" -eq 1 ] &&
		"$BEECTL" config budget 256M share 100 >"$WORK/out" &&
		guest_wait_long table_is "$WORK/python" && status=0
	pkill -u 1234 -x python
	wait "$pid"
	[ "$status" -eq 0 ] || cat "$WORK/err" "$WORK/out"
	return "$status"
}

share_is_used_up() {
	local status=0
	chmod 711 "$WORK" && rm -f "$WORK/python" && cp /usr/bin/python3 "$WORK/python" &&
		"$BEECTL" config budget 1M share 5 >"$WORK/out" || return 1
	as_user "$@" || status=1
	"$BEECTL" config budget 256M share 100 >"$WORK/out" || status=1
	return "$status"
}

guest_insmod || exit 1
ktap_plan 11
ktap_run "users_test" guest_nested "$TESTS/users_test"
start_both || exit 1
ktap_run "status --tables names who uses a table" named
ktap_run "by its name, when its path is another file's" by_name
ktap_run "status --users: what users have" memory_of_users
ktap_run "record says that the share of a user is used up, and so does status" share_is_used_up \
	"$BEECTL" record -q -o "$WORK/data" --
ktap_run "run says it" share_is_used_up perf record -q -N -B -g -e cpu-clock -F 999 -o "$WORK/data" -- \
	"$BEECTL" run --
"$BEECTL" watch >"$WORK/watch" &
ktap_run "unload --tables removes it, and says whom that affects" killed
ktap_run "watch does not make it again" stays_away
ktap_run "files without a table, and files that are not known" not_there
ktap_run "watch makes none when all who used it have ended and it is started anew" stays_away_anew
ktap_run "nor where it was removed while nobody had the file mapped" stays_away_unmapped
ktap_finish
