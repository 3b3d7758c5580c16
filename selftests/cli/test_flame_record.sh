#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame while it records, with a script in the place of perf: checkpoints, and processes that are
# killed.
# slow: 1
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need pgrep

export PYTHONPATH=$tree/selftests/lib PYTHONDONTWRITEBYTECODE=1 WORK=$work
mkdir "$work/bin"
cat >"$work/bin/perf" <<END2
#!$python
import os, signal, time
from perfdata import *

work = os.environ["WORK"]
r = Recording()

def log(word):
    with open(work + "/log", "a", encoding="utf-8") as file:
        file.write(word + "\n")

def send():
    """what has been recorded since, and that a round has ended"""
    r.round()
    os.write(1, b"".join(r.records))
    r.records.clear()

def until(name):
    """go on until a file is there, or nobody reads any more"""
    while not os.path.exists(f"{work}/{name}"):
        send()
        time.sleep(.02)

def begin():
    os.write(1, r.pipe_header())
    r.comm(7, "prog")

signal.signal(signal.SIGINT, lambda *_: log("SIGINT"))
with open(work + "/perf", "w", encoding="utf-8") as file:
    file.write(str(os.getpid()))
exec(os.environ["DOES"])
END2
chmod +x "$work/bin/perf"

# started DOES OPTION...: have flame record what perf's script DOES; $pid is its process
started() {
	rm -f "$work/log" "$work/go" "$work/out.folded"
	: >"$work/log"
	DOES=$1 PATH=$work/bin:$PATH "$beectl" flame -o "$work/out.folded" "${@:2}" -a -- true 2>"$work/errors" &
	pid=$!
}

# until_true COMMAND...: until it succeeds; not longer than flame runs
until_true() {
	until "$@"; do
		kill -0 "$pid" || { cat "$work/errors" "$work/log"; return 1; }
		sleep 0.02
	done
}

# What was read until then is shown.
check_recorder_killed() {
	started 'begin(); r.sample(7, [USER, 0x900000]); send(); log("recorded"); until("go"); log("ended")'
	until_true grep -q recorded "$work/log" && kill -KILL "$(pgrep -P "$pid")" && touch "$work/go" && wait "$pid" ||
		{ cat "$work/errors"; return 1; }
	cat "$work/errors"
	grep -q "ended" "$work/log" && grep -q "the recording process was killed by signal 9 (Killed)" "$work/errors" &&
		[ "$(cat "$work/out.folded")" = "prog;[unknown] 1" ]
}

# ended DOES [-- CMD]: print how flame sums up what perf has recorded until it ends
ended() {
	DOES="begin(); r.sample(7, [USER, 0x900000]); send(); $1" PATH=$work/bin:$PATH \
		"$beectl" flame --json -a "${@:2}" 2>"$work/errors"
}

# A recording that ends within is not taken for a whole one; but if perf has started the command it ends as that
# did.
check_perf_killed() {
	local cut='"unfinished": *true' whole='"unfinished": *false'
	ended 'os.kill(os.getpid(), 9)' | grep "$cut" &&
		grep "warning: perf: killed by signal 9 (Killed), so the recording ends too early" "$work/errors" &&
		ended 'os.kill(os.getpid(), 15)' | grep "$whole" && ended 'os._exit(1)' | grep "$cut" &&
		ended 'os._exit(0)' | grep "$whole" && ended 'os._exit(3)' -- false | grep "$whole" &&
		ended 'os.kill(os.getpid(), 11)' -- false | grep "$whole" && ! grep "too early" "$work/errors"
}

# Before there is a sample no checkpoint is due, and nothing is said; for twice as long as one takes.
check_no_samples() {
	started 'begin(); [(send(), time.sleep(.1)) for _ in range(25)]; log("waited"); r.sample(7, [USER, 0x900000]); until("out.folded")' \
		--checkpoint 1
	wait "$pid" || { cat "$work/errors"; return 1; }
	cat "$work/errors" "$work/log"
	[ "$(cat "$work/log")" = waited ] && [ "$(cat "$work/out.folded")" = "prog;[unknown] 1" ] &&
		! grep -q "no samples\?" "$work/errors"
}

# The process that writes a checkpoint waits for kallsyms.  It neither passes signals on to perf nor keeps
# perf's pipe open.
check_writer() {
	local writer
	mkfifo "$work/kallsyms" || return
	started 'begin(); r.sample(7, [KERNEL, 0xffffffff81000010]); exec("try: until(\"never\")\nexcept BrokenPipeError: log(\"closed\")")' \
		--checkpoint 1 --kallsyms "$work/kallsyms"
	waits() {
		writer=$(pgrep -n -P "$pid" -x beectl) && [ "$(pgrep -c -P "$pid")" = 2 ] && pgrep -P "$writer" -x beectl >/dev/null
	}
	until_true waits && kill -INT "$writer" && kill -KILL "$pid" || return
	wait "$pid"
	while [ ! -s "$work/log" ] && kill -0 "$(cat "$work/perf")"; do sleep 0.02; done
	kill -KILL "$writer"
	[ "$(cat "$work/log")" = closed ] || { cat "$work/log"; return 1; }
}

# While flame records somebody makes a directory of the output's name.  flame cannot replace that, and writes the
# output beside it.
check_output_taken() {
	local status=0
	started 'begin(); r.sample(7, [USER, 0x900000]); send(); os.mkdir(work + "/out.folded")'
	wait "$pid" || status=$?
	cat "$work/errors"
	rmdir "$work/out.folded" && [ "$status" -eq 1 ] && [ "$(cat "$work/out.folded.$pid")" = "prog;[unknown] 1" ] &&
		grep -q "/out.folded: Is a directory" "$work/errors" && grep -q "/out.folded.$pid: it is there instead" "$work/errors"
}

# first ARGUMENT...: what "beectl flame" leaves in an empty directory, and says
first() {
	rm -rf "$work/empty" && mkdir "$work/empty" && cd "$work/empty" &&
		DOES='os.write(2, b"[ perf record: Woken up 1 times to write data ]\n[ perf record: Captured and wrote 0.000 MB - ]\nWARNING: of perf\n"); begin(); r.sample(7, [USER, 0x900000]); send()' \
			PATH=$work/bin:$PATH "$beectl" flame "$@" >"$work/output" 2>"$work/errors"
}

# Without -o there is a picture afterwards, and one line says so; perf's chat is left out, not what else it says.
check_first() {
	(first -a) || { cat "$work/errors"; return 1; }
	cat "$work/errors"
	[ ! -s "$work/output" ] && grep -q '^<svg' "$work/empty/flame.svg" && ! grep "perf record:" "$work/errors" &&
		[ "$(grep -c "WARNING: of perf" "$work/errors")" -eq 1 ] &&
		tail -n1 "$work/errors" | grep -x "beectl: flame: wrote flame.svg: event 0: 1 sample, counted as 1 event 0, 0.0% of the stacks complete" || return
	(first -v -a) && grep -q "Captured and wrote" "$work/errors" || return
	(first --format summary -a) && grep -q "by themselves$" "$work/output" && [ ! -e "$work/empty/flame.svg" ]
}

# A new file is for the user who has called sudo.
check_sudo() {
	(SUDO_UID=12345 SUDO_GID=54321 first -a) || { cat "$work/errors"; return 1; }
	[ "$(stat -c %u:%g:%a "$work/empty/flame.svg")" = 12345:54321:600 ] &&
		(unset SUDO_UID SUDO_GID && first -a) && [ "$(stat -c %u "$work/empty/flame.svg")" = 0 ] || return
	chown 1:1 "$work/empty/flame.svg" && cd "$work/empty" && DOES='begin(); r.sample(7, [USER, 0x900000]); send()' \
		PATH=$work/bin:$PATH SUDO_UID=12345 SUDO_GID=54321 "$beectl" flame -a 2>/dev/null && [ "$(stat -c %u:%g flame.svg)" = 1:1 ]
}

# perf's command line in a recording of "beectl record" says nothing of what was recorded.
check_title() {
	"$python" - "$work" <<-'END' && "$beectl" flame "$work/made.data" 2>/dev/null | head -n1 | grep -x "prog" || return
		import sys
		from perfdata import *
		r = Recording()
		r.cmdline = ["/usr/bin/perf", "record", "--control=fd:9,9", "-p", "7", "-g"]
		r.comm(8, "other")
		r.comm(7, "sh")
		r.comm(7, "prog")
		r.comm(9, "last")
		r.sample(7, [USER, 0x900000])
		r.write(sys.argv[1] + "/made.data")
		r.cmdline = ["/usr/bin/perf", "record", "-p", "7", "-g"]
		r.write(sys.argv[1] + "/others.data")
		r.cmdline = ["/usr/bin/perf", "record", "python3", "-c", "a\n\tb"]
		r.write(sys.argv[1] + "/lines.data")
	END
	"$beectl" flame "$work/others.data" 2>/dev/null | head -n1 | grep -x "/usr/bin/perf record -p 7 -g" &&
		"$beectl" flame -o "$work/lines.svg" "$work/lines.data" 2>/dev/null &&
		grep '>/usr/bin/perf record python3 -c a  b<' "$work/lines.svg"
}

ktap_plan 8
ktap_run "flame shows what was read when its recording process is killed" check_recorder_killed
ktap_run "flame says that a recording ends too early when perf is killed" check_perf_killed
ktap_run "flame writes no checkpoint without samples" check_no_samples
ktap_run "a checkpoint that takes long is whole when beectl is killed" check_writer
ktap_run "flame writes beside its output's name if a directory has taken the name" check_output_taken
ktap_run "flame without -o writes a picture, and says so in one line" check_first
if [ "$(id -u)" -eq 0 ]; then
	ktap_run "what flame writes belongs to the user who has called sudo" check_sudo
else
	ktap_skip "what flame writes belongs to the user who has called sudo" \
		"only root can run flame under sudo"
fi
ktap_run "a recording of beectl record is titled by its program's name" check_title
ktap_finish
