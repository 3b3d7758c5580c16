#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks of PostgreSQL through the code of its LLVM JIT: how many are whole without and with tables of
# it, and whether gdb finds the same frames.
# once: 1
# timeout: 900
# cpus: 2
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/jit.sh
. "$(dirname "$0")/jit.sh"

pg=$(printf "%s\n" /usr/lib/postgresql/*/bin | tail -n 1)
# Everything is compiled, and with jit_debugging_support told to debuggers.
settings="-c jit=on -c jit_above_cost=0 -c jit_optimize_above_cost=0 -c jit_inline_above_cost=-1
-c max_parallel_workers_per_gather=0"
calls=20	# of stat() between two locks
guest_cache

as_postgres() {
	setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
}

# session COMMAND...: psql in a session of its own
session() {
	as_postgres psql -X -h "$WORK/pg" -U postgres -At postgres "$@"
}

# is_at NAME WHAT: the session of that name waits for, or is in, WHAT
is_at() {
	session -c "select pid from pg_stat_activity
where application_name = '$1' and state = 'active' and coalesce(wait_event, 'cpu') = '$2'" >"$WORK/$1.pid" &&
		[ -s "$WORK/$1.pid" ]
}

start() {
	install -d -o postgres "$WORK/pg" && chmod 711 "$WORK" || return 1
	as_postgres "$pg/initdb" -D "$WORK/pg/db" -A trust --no-sync >"$WORK/said" 2>&1 &&
		as_postgres "$pg/pg_ctl" -D "$WORK/pg/db" -w -t 300 -o "-k $WORK/pg -h ''" \
			-l "$WORK/pg/log" start >>"$WORK/said" && return 0
	cat "$WORK/said"
	return 1
}

# works NAME SETTINGS: a query that takes very long
works() {
	PGAPPNAME=$1 PGOPTIONS="$settings $2" session -c "
select sum(case when (i * 7 + 3) % 11 > 4 then i * 3.5 else sqrt(i) end)
from generate_series(1, 30000) i, generate_series(1, 30000) k where (i + k) % 3 <> 1" >"$WORK/$1.out" 2>&1 &
}

# ended NAME: that query
ended() {
	session -c "select pg_terminate_backend($(cat "$WORK/$1.pid"))" >"$WORK/said"
}

compiled() {
	is_at "$1" cpu && runs_code "$(cat "$WORK/$1.pid")"
}

# shares: of all stacks through compiled code at most half are whole as long as it has no table
shares() {
	local pid status=0

	works told "-c jit_debugging_support=on"
	guest_wait compiled told || { cat "$WORK/told.out"; return 1; }
	pid=$(cat "$WORK/told.pid")
	"$BEECTL" load --cfi-only --no-jit "$pid" && "$BEECTL" config hook off && judged "$pid" plain && share plain 0 50 || status=1
	"$BEECTL" config hook on && judged "$pid" files && share files 0 50 || status=1
	"$BEECTL" load --cfi-only -v "$pid" && judged "$pid" code && share code 99 100 || status=1
	ended told
	wait
	return "$status"
}

# untold: without jit_debugging_support there is nothing to be found
untold() {
	local pid status=0

	works untold "-c jit_debugging_support=off"
	guest_wait compiled untold || { cat "$WORK/untold.out"; return 1; }
	pid=$(cat "$WORK/untold.pid")
	"$BEECTL" load --cfi-only -v "$pid" && judged "$pid" untold && share untold 0 50 || status=1
	ended untold
	wait
	return "$status"
}

# locks COMMAND: the session that holds both locks
locks() {
	echo "$1;" >&9
}

# both NAME LOCK: record the next calls of stat(), and have gdb stop at each; LOCK is released when both
# wait for them
both() {
	local pid recorder gdb

	pid=$(cat "$WORK/stats.pid")
	rm -f "$WORK/attached"
	perf record -q -N -B -e raw_syscalls:sys_enter --filter 'id == 262' -c 1 -g -p "$pid" \
		-o "$WORK/$1.data" &
	recorder=$!
	guest_wait test -s "$WORK/$1.data" || return 1
	gdb -q -nx -batch -ex "python arguments = $pid, $calls, '$WORK/attached', '$WORK/$1.gdb'" \
		-x "$TREE/selftests/kmod/pg_gdb.py" >"$WORK/$1.said" 2>&1 &
	gdb=$!
	# It reads the symbols of all libraries before, which takes long in an emulated machine.
	until [ -e "$WORK/attached" ]; do
		kill -0 "$gdb" 2>/dev/null || { cat "$WORK/$1.said"; return 1; }
		sleep 0.1
	done
	locks "select pg_advisory_unlock($2)"
	wait "$gdb" || { cat "$WORK/$1.said"; return 1; }
	guest_wait is_at stats advisory || return 1
	kill -INT "$recorder"
	wait "$recorder"
	return 0
}

# compared equal|cut: all stacks of that recording have gdb's frames, or their beginning
compared() {
	local status=0

	PYTHONPATH=$TREE/selftests/lib PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$WORK/$1.gdb" \
		"$WORK/$1.data" "$1" "$calls" <<-'END' >"$WORK/compared" || status=1
	import sys
	import stacks
	gdb = [line.split() for line in open(sys.argv[1])]
	perf = [[f"{ip:x}" for ip in sample.user] for sample in stacks.PerfData(sys.argv[2]).samples()]
	same = sum(a == b for a, b in zip(gdb, perf))
	cut = sum(len(b) < len(a) and a[:len(b)] == b for a, b in zip(gdb, perf))
	print(f"{len(gdb)} stacks of gdb, {len(set(map(tuple, gdb)))} different ones, {len(perf)} of perf:",
	      f"{same} equal, {cut} cut short")
	if same + cut < len(gdb):
	    print(*gdb[0], "\n", *perf[0])
	wanted = {"equal": same, "cut": cut}[sys.argv[3]]
	sys.exit(not len(gdb) == len(perf) == wanted == int(sys.argv[4]))
	END
	tee -a "$WORK/figures" <"$WORK/compared"
	return "$status"
}

# agreed: gdb reads the same CFI, and has the same frames
agreed() {
	local status=1

	mkfifo "$WORK/commands"
	session <"$WORK/commands" >"$WORK/holder.out" 2>&1 &
	exec 9>"$WORK/commands"
	locks "select pg_advisory_lock(1), pg_advisory_lock(2), pg_advisory_lock(3)"
	holds() { [ "$(session -c "select count(*) from pg_locks where locktype = 'advisory' and granted")" = 3 ]; }
	guest_wait holds || return 1
	# Two calls for each row, in two pieces of code; the first locks when both are compiled.
	PGAPPNAME=stats PGOPTIONS="$settings -c jit_debugging_support=on" session -c "
select sum((pg_stat_file('PG_VERSION')).size) from generate_series(1, $((calls + 1))) i
where case when i % $((calls / 2)) = 1 then (pg_advisory_lock_shared(i / $((calls / 2)) + 1) is null)::int
	else 0 end + (pg_stat_file('PG_VERSION')).size > 0" >"$WORK/stats.out" 2>&1 &
	if guest_wait is_at stats advisory; then
		"$BEECTL" load --cfi-only --no-jit "$(cat "$WORK/stats.pid")" && both cut 1 &&
			"$BEECTL" load --cfi-only -v "$(cat "$WORK/stats.pid")" && both equal 2 &&
			compared cut && compared equal && status=0
	fi
	locks "select pg_advisory_unlock_all()"
	exec 9>&-
	wait
	cat "$WORK/stats.out"
	return "$status"
}

stop() {
	as_postgres "$pg/pg_ctl" -D "$WORK/pg/db" -m immediate stop
}

[ -e "$pg/../lib/llvmjit.so" ] || ktap_skip_all "postgresql is not installed, or has no llvmjit.so"
[ -n "${BEE_LONG:-}" ] || ktap_skip_all "PostgreSQL with JIT takes minutes: with BEE_LONG=1, as in make check-all"
guest_insmod || exit 1
ktap_plan 4
ktap_run "the server of PostgreSQL starts" start
ktap_run "99 % of PostgreSQL's stacks through JIT code are complete with tables, half or less without" shares
ktap_run "without jit_debugging_support half or less of PostgreSQL's stacks are complete" untold
if command -v gdb >/dev/null; then
	ktap_run "stacks of PostgreSQL through JIT code have gdb's frames" agreed
else
	ktap_skip "stacks of PostgreSQL through JIT code have gdb's frames" "gdb is not installed"
fi
[ ! -e "$WORK/figures" ] || ktap_diag "$(cat "$WORK/figures")"
stop >/dev/null
ktap_finish
