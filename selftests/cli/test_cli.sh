#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Messages and exit statuses of beectl, where no module is needed.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"

# says STATUS STDOUT|STDERR PATTERN ARGUMENT...: beectl exits with STATUS and prints PATTERN on that
# stream, nothing on the other
says() {
	local status=$1 stream=$2 pattern=$3 got
	shift 3
	"$beectl" "$@" >"$work/stdout" 2>"$work/stderr"
	got=$?
	cat "$work/stdout" "$work/stderr"
	[ "$got" -eq "$status" ] || { echo "exit status $got, not $status"; return 1; }
	grep -q -e "$pattern" "$work/$stream" || { echo "no '$pattern'"; return 1; }
	if [ "$stream" = stdout ]; then
		[ ! -s "$work/stderr" ]
	else
		[ ! -s "$work/stdout" ]
	fi
}

# complains STATUS TEXT ARGUMENT...: beectl prints exactly TEXT, one line, on stderr
complains() {
	local status=$1 line=$2
	shift 2
	says "$status" stderr . "$@" && [ "$(cat "$work/stderr")" = "$line" ]
}

check_help_of_all() {
	local command names
	names=$("$beectl" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vx help)
	[ "$(wc -w <<<"$names")" = "$(ls "$tree"/tools/beectl/cmd_*.c | wc -l)" ] || { echo "$names"; return 1; }
	for command in $names; do
		says 0 stdout "^Usage: beectl $command" help "$command" &&
			says 0 stdout "^Usage: beectl $command" "$command" --help &&
			grep -q '^Options:' "$work/stdout" || return
		# It fits a screen.
		[ "$(wc -l <"$work/stdout")" -le 50 ] || { wc -l "$work/stdout"; return 1; }
	done
	for command in compile dump verify; do
		"$beectl" "$command" --help | grep -q '^Example' || return
	done
}

# compile_into DIRECTORY ARGUMENT...: compiles into a new directory, lists it, sets status
compile_into() {
	local into=$work/$1
	shift
	mkdir "$into" && "$beectl" compile "$@" -o "$into" >"$work/stdout" 2>"$work/stderr"
	status=$?
	ls "$into"
}

# Several files at once give the same tables as one by one, also if some of them are bad.
check_several() {
	local status in=$work/in lib

	lib=$(stock_files | head -n1)
	mkdir -p "$in/below" && cp "$beectl" "$in/below/tool" && cp "$lib" "$in/one.so" &&
		ln "$in/one.so" "$in/two.so" && ln -s one.so "$in/three.so" && echo text >"$in/text" &&
		head -c 5000 "$lib" >"$in/short.so" || return
	"$beectl" compile -q "$beectl" -o "$work/tool.beet" &&
		"$beectl" compile -q "$lib" -o "$work/one.so.beet" || return

	compile_into found "$in" >"$work/names"
	cat "$work/stderr"
	[ "$status" -eq 0 ] && [ "$(tr '\n' ' ' <"$work/names")" = "one.so.beet tool.beet " ] &&
		cmp "$work/found/tool.beet" "$work/tool.beet" &&
		cmp "$work/found/one.so.beet" "$work/one.so.beet" &&
		[ "$(wc -l <"$work/stdout")" -eq 2 ] &&
		[ "$(cat "$work/stderr")" = "beectl: compile: $in/short.so: truncated: a segment lies past the end of the file" ] ||
		return

	compile_into named -q -j 1 "$in/short.so" "$in/three.so" "$in/none" "$in" >"$work/names"
	cat "$work/stderr"
	[ "$status" -eq 1 ] && [ "$(tr '\n' ' ' <"$work/names")" = "three.so.beet tool.beet " ] &&
		[ ! -s "$work/stdout" ] && [ "$(wc -l <"$work/stderr")" -eq 2 ] &&
		grep -q 'in/none: No such file or directory$' "$work/stderr" || return

	cp "$beectl" "$in/tool"
	compile_into namesakes -j 3 "$in" >"$work/names"
	cat "$work/stderr"
	[ "$status" -eq 1 ] && [ "$(tr '\n' ' ' <"$work/names")" = "one.so.beet tool.beet " ] &&
		grep -q "in/tool: its table would have the name of that of $in/below/tool" "$work/stderr"
}

check_several_usage() {
	says 2 stderr "^beectl: compile: -o has to be an existing directory" \
		compile "$beectl" /bin/sh -o "$work/none" &&
		says 2 stderr "^beectl: compile: -o has to be an existing directory" \
			compile /bin -o "$work/none" &&
		says 2 stderr "^beectl: compile: an ELF file is needed" compile -o "$work/none" &&
		[ ! -e "$work/none" ]
}

# A failed write leaves the old table and no temporary file.
check_atomic() {
	mkdir "$work/dir" && echo old >"$work/dir/table" || return
	complains 1 "beectl: compile: /etc/passwd: not an ELF file" \
		compile /etc/passwd -o "$work/dir/table" || return
	[ "$(cat "$work/dir/table")" = old ] || return
	says 0 stdout '^[^ ]*/table: [0-9]* rows, [0-9]* rules, [0-9]* bytes' \
		compile "$beectl" -o "$work/dir/table" || return
	[ "$(ls "$work/dir")" = table ] && [ "$(head -c 4 "$work/dir/table")" = BEET ] || return
	[ "$(stat -c %a "$work/dir/table")" = "$(printf '%o' $((0666 & ~$(umask))))" ]
}

# A worker that is killed leaves no file; here by SIGXFSZ, as "ulimit -f" is 1 KiB.
check_killed() {
	mkdir "$work/killed" || return
	(ulimit -f 1 && "$beectl" compile "$beectl" -o "$work/killed/table" 2>&1) | tee "$work/said"
	[ "$(cat "$work/said")" = "beectl: compile: $beectl: killed by signal 25 (File size limit exceeded)" ] &&
		[ -z "$(ls "$work/killed")" ]
}

check_refused_table() {
	local option
	"$beectl" compile -q "$beectl" -o "$work/table" || return
	for option in --unpacked --cfi-only; do
		complains 1 "beectl: dump: $work/table: is a table; $option needs the ELF file" \
			dump --rows $option "$work/table" || return
	done
	truncate -s -1 "$work/table" || return
	complains 1 "beectl: dump: $work/table: refused: truncated, or longer than its header says at offset 8" \
		dump "$work/table" || return
	printf 'BEET' >"$work/short"
	complains 1 "beectl: dump: $work/short: refused: shorter than a table header at offset 4" \
		dump "$work/short"
}

# Escape sequences in names of files do not reach the terminal.
check_names() {
	local name=$work/$'name\e[31m'
	complains 1 "beectl: dump: $work/name\\033[31m: No such file or directory" dump "$name" || return
	printf 'BEET' >"$name"
	complains 1 "beectl: dump: $work/name\\033[31m: refused: shorter than a table header at offset 4" \
		dump "$name"
}

check_full_disk() {
	! "$beectl" dump --rows "$beectl" >/dev/full 2>"$work/stderr" && grep -q 'cannot write' "$work/stderr"
}

# If a standard stream is closed, no file that is opened later gets its descriptor.
check_closed_streams() {
	"$beectl" dump /dev/fd/0 <&- 2>"$work/stderr"
	grep 'not an ELF file\|not a regular file' "$work/stderr" || { cat "$work/stderr"; return 1; }
	"$beectl" dump --rows "$beectl" >&- 2>"$work/stderr"
	[ $? -eq 1 ] && grep 'cannot write to standard output' "$work/stderr"
}

# beectl-draw.so is beside the program, and finds all functions there that it uses; the other commands do without it.
check_library() {
	local alone=$work/alone/beectl beectl=$beectl
	mkdir "$work/alone" && cp "$beectl" "$alone" || return
	LD_BIND_NOW=1 says 0 stdout "^Usage: beectl flame" flame --help && beectl=$alone &&
		says 0 stdout "^Usage: beectl load" load --help &&
		says 1 stderr "^beectl: flame: .*/lib/beeunwind/beectl-draw.so: " flame --help
}

# Bad arguments are refused before beectl changes anything or asks the module.
check_words() {
	complains 2 'beectl: config: foo: no such setting; see "beectl config --help"' config foo bar &&
		complains 2 'beectl: config: budget: needs a value; see "beectl config --help"' \
			config hook on budget &&
		complains 2 'beectl: config: 3x: not a size, as 512M or 2G, of 1M at least; see "beectl config --help"' \
			config hook on budget 3x &&
		complains 2 'beectl: config: 512: not a size, as 512M or 2G, of 1M at least; see "beectl config --help"' \
			config budget 512 &&
		complains 2 'beectl: config: --json: only to show the settings; see "beectl config --help"' \
			config --json budget 1G &&
		complains 2 'beectl: config: none: not on or off; see "beectl config --help"' \
			config hook none &&
		complains 2 'beectl: status: abc: not a process id; see "beectl status --help"' status abc &&
		complains 2 'beectl: status: unknown option -p; see "beectl status --help"' status -p 4711 &&
		complains 2 'beectl: status: --since: only without PID, --files, --processes, --tables and --users; see "beectl status --help"' \
			status --files --since "$work/none" &&
		complains 2 'beectl: status: --tables: which files?; see "beectl status --help"' \
			status --tables &&
		complains 2 'beectl: status: --tables: without --files, --processes and --users; see "beectl status --help"' \
			status --tables --files "$beectl" &&
		complains 2 'beectl: load: x: not a process id; see "beectl load --help"' load --json 1 x &&
		complains 2 'beectl: unload: 12: tables are of files, for all processes that map them, so there is nothing to unload of one process; see "beectl unload --help"' \
			unload x 12 &&
		complains 2 'beectl: unload: a file or --all is needed; see "beectl unload --help"' unload -q &&
		complains 2 'beectl: load: --all or process ids, not both; see "beectl load --help"' \
			load --all 1 &&
		complains 2 'beectl: unload: --all or files, not both; see "beectl unload --help"' \
			unload --all "$beectl" &&
		complains 2 'beectl: watch: takes no arguments; it watches all processes; see "beectl watch --help"' \
			watch 1
}

# ended_by SIGNAL COMMAND...: start "beectl watch" by that command, and wait for its end by the signal
ended_by() {
	local signal=$1 pid
	shift
	rm -f "$work/stderr"
	"$@" "$beectl" watch >"$work/stdout" 2>"$work/stderr" &
	pid=$!
	until grep -qs waiting "$work/stderr"; do
		kill -0 "$pid" || return 1
		sleep 0.1
	done
	cat "/proc/$pid/status" >"$work/status"
	kill "-$signal" "$pid"
	wait "$pid" || { cat "$work/stderr"; return 1; }
}

# It waits for the module.  The shell has what it starts by "&" ignore SIGINT.
check_watch_signals() {
	ended_by INT env --default-signal=INT,HUP && ended_by HUP env --default-signal=INT,HUP &&
		ended_by TERM env --ignore-signal=HUP && grep '^SigIgn:.*[37bf]$' "$work/status"
}

# Only if the kernel does not know the module is that the reason.
check_no_netlink() {
	cat >"$work/send.c" <<-END
		#include <errno.h>
		#include <sys/socket.h>
		ssize_t sendmsg(int s, const struct msghdr *m, int f) { errno = ENOMEM; return -1; }
	END
	gcc -shared -fPIC -o "$work/send.so" "$work/send.c" || return
	# A beectl with ASan wants its library to come first.
	! ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$work/send.so "$beectl" status >"$work/stderr" 2>&1 &&
		grep '^beectl: status: asking the kernel for the beeunwind module: .*: Out of memory$' "$work/stderr"
}

# What is recorded must be clear before the module is asked; CMD stands after "--".
check_record_words() {
	local help='see "beectl record --help"'
	complains 125 "beectl: record: -p PID, -a, or a command after -- is needed; $help" record &&
		complains 125 "beectl: record: -p PID, -a, or a command after -- is needed; $help" record -g ls &&
		complains 125 "beectl: record: -p PID, -a, or a command after -- is needed; $help" record -p &&
		complains 125 "beectl: record: a command is needed after --; $help" record -g -- &&
		complains 125 "beectl: record: abc: not a process id; $help" record -gp 1,abc -- ls &&
		complains 125 "beectl: record: 1 2: not a process id; several are separated by commas; $help" record -p "1 2" &&
		complains 125 "beectl: record: : not a process id; $help" record --pid=1, -- ls &&
		complains 125 "beectl: record: -D and --control: only with -p or -a; $help" \
			record -D 5 -- touch "$work/recorded" &&
		says 0 stdout '^Usage: beectl record' record -F 9 --help -- ls &&
		[ ! -e "$work/recorded" ]
}

# Each line begins with its level if stderr is the file that JOURNAL_STREAM names, which journald reads.
check_journal() {
	local line="beectl: dump: /nonexistent: No such file or directory"
	touch "$work/stderr" "$work/stdout"
	JOURNAL_STREAM=$(stat -c %d:%i "$work/stderr") complains 1 "<3>$line" dump /nonexistent &&
		JOURNAL_STREAM=$(stat -c %d:%i "$work/stderr") says 2 stderr '^<3>beectl: dump: .*"beectl dump --help"$' dump &&
		JOURNAL_STREAM=$(stat -c %d:%i "$work/stdout") complains 1 "$line" dump /nonexistent
}

ktap_plan 30
ktap_run "beectl help" says 0 stdout "^Usage: beectl COMMAND" help
ktap_run "beectl help help" says 0 stdout "^Usage: beectl COMMAND" help help
ktap_run "beectl help --help" says 0 stdout "^Usage: beectl COMMAND" help --help
ktap_run "beectl --help" says 0 stdout "^Usage: beectl COMMAND" --help
ktap_run "beectl -h" says 0 stdout "^Usage: beectl COMMAND" -h
ktap_run "beectl --version" says 0 stdout "^beectl [0-9]*\.[0-9]*\.[0-9]*$" --version
ktap_run "beectl -V" says 0 stdout "^beectl [0-9]*\.[0-9]*\.[0-9]*$" -V
ktap_run "beectl without a command prints the usage" says 2 stderr "^Usage: beectl COMMAND"
ktap_run "beectl refuses an unknown command" \
	complains 2 "beectl: unknown command 'foo'; \"beectl help\" lists the commands" foo
ktap_run "beectl help refuses an unknown command" says 2 stderr "unknown command 'foo'" help foo
ktap_run "each command has --help" check_help_of_all
ktap_run "beectl dump without a file is refused" says 2 stderr "^beectl: dump: .*--help" dump
ktap_run "beectl dump refuses --unpacked without --rows" \
	says 2 stderr "^beectl: dump: --unpacked needs --rows" dump --unpacked "$beectl"
ktap_run "beectl compile without -o is refused" \
	says 2 stderr "^beectl: compile: -o is needed" compile "$beectl"
ktap_run "messages to the journal have levels" check_journal
ktap_run "beectl dump refuses a directory" complains 1 "beectl: dump: /tmp: is a directory" dump /tmp
ktap_run "beectl dump prints a summary" says 0 stdout "^build-id\|^sha256" dump "$beectl"
ktap_run "beectl compile writes all or nothing" check_atomic
if "$python" -c 'import os, sys; os.open(sys.argv[1], os.O_TMPFILE | os.O_WRONLY)' "$work"; then
	ktap_run "beectl compile leaves nothing behind when it is killed" check_killed
else
	ktap_skip "beectl compile leaves nothing behind when it is killed" "no nameless files in $work"
fi
ktap_run "beectl compile of several files" check_several
ktap_run "beectl compile of several files refuses wrong usage" check_several_usage
ktap_run "beectl dump says why a table is refused" check_refused_table
ktap_run "beectl prints no escape sequences from names" check_names
if [ -c /dev/full ]; then
	ktap_run "beectl fails if standard output is full" check_full_disk
else
	ktap_skip "beectl fails if standard output is full" "no /dev/full"
fi
with gcc "beectl says why it cannot reach the kernel" check_no_netlink
ktap_run "status, load, unload, watch and config refuse wrong words" check_words
if [ -e /sys/module/beeunwind ]; then
	ktap_skip "beectl watch leaves signals alone that are ignored" "the module is loaded"
else
	ktap_run "beectl watch leaves signals alone that are ignored" check_watch_signals
fi
ktap_run "beectl record refuses wrong words" check_record_words
ktap_run "beectl works with closed standard streams" check_closed_streams
ktap_run "beectl flame is in a library that other commands do without" check_library
ktap_finish
