#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A process that holds its mmap_lock for ever keeps beectl watch neither from work nor from its end; a file
# that cannot be read keeps neither beectl flame nor beectl load from its end.
# once: 1
# timeout: 900
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/watch.sh
. "$(dirname "$0")/watch.sh"

guest_cache
mkdir -m 700 "$WORK/mnt"

modprobe -q -d "$BEE_KERNEL_FILES" fuse
[ -e /dev/fuse ] || ktap_skip_all "no FUSE in this kernel"

# Who reads memory through /proc/PID/mem holds mmap_lock until the page is there, for reading; munmap()
# waits for it, for writing; and from then on everybody else does.
cat >"$WORK/stuck.c" <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* CPU time of the process, in seconds. */
static double now(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void *look(void *map)
{
	char byte;

	return pread(open("/proc/self/mem", O_RDONLY), &byte, 1, (uintptr_t)map) == 1 ? map : NULL;
}

int main(int argc, char **argv)
{
	char *map = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(argv[argc - 1], O_RDONLY), 0);
	pthread_t thread;

	if (map == (char *)MAP_FAILED || pthread_create(&thread, NULL, look, map))
		return 1;
	for (double until = now() + 0.3; now() < until;)
		;
	for (;;) {
		usleep(200000);
		munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	}
}
END
gcc -pthread -o "$WORK/stuck" "$WORK/stuck.c" || exit 1

# Its first thread waits in mmap() or munmap() for mmap_lock, and not only for a CPU.  With PREEMPT_RT wchan only
# says that it waits for a lock.
is_stuck() {
	grep -q "^State:.D" "/proc/$stuck/status" && grep -q 'mmap\|munmap' "/proc/$stuck/stack"
}

says() {
	grep -q -- "$1" "$told"
}

has_table() {
	"$BEECTL" status --files | grep "$1" | grep -qv " no table "
}

# Mount a file system on $WORK/mnt whose files nobody can read to the end.
fuse_start() {
	"$TREE/selftests/lib/stuck_fuse.py" "$WORK/mnt" >"$WORK/fuse" 2>&1 &
	server=$!
	guest_wait grep -q ready "$WORK/fuse" || { cat "$WORK/fuse"; return 1; }
}

fuse_end() {
	kill -9 "$server"
	umount -l "$WORK/mnt"
}

# While watch is stopped, a process is sampled and then holds its mmap_lock, and a bystander is sampled.  So the first
# news that watch reads then is of files of the process, and who opens these waits for it.  When watch ends, what it has
# started goes on waiting, and does not keep the connection by which watch listens.
watch_goes_on() {
	local watch bystander perf status=1
	fuse_start || return 1
	watch_start && watch_follows || { fuse_end; return 1; }
	watch=$(watch_pid)
	perf record -q -N -B -e cpu-clock -F 199 -g -a -o "$WORK/perf.data" &
	perf=$!
	watch_rests
	kill -STOP "$watch"
	cp /bin/dash "$WORK/bystander"
	"$WORK/stuck" "$WORK/mnt/file" &
	stuck=$!
	if guest_wait is_stuck; then
		"$WORK/bystander" -c 'while :; do :; done' &
		bystander=$!
		sleep 1
		kill -CONT "$watch"
		guest_wait has_table "$WORK/bystander" && guest_wait is_stuck && [ "$(guest_status listeners)" = true ] &&
			status=0
	else
		cat "/proc/$stuck/stack"
		kill -CONT "$watch"
	fi
	watch_stop || { kill -9 "$watch"; status=1; }
	[ "$(guest_status listeners)" = false ] || status=1
	[ "$status" -eq 0 ] || { cat "$told"; "$BEECTL" status --files; }
	kill -9 "$perf" ${bystander:+"$bystander"} "$stuck"
	fuse_end
	return "$status"
}

cat >"$WORK/map" <<'END'
#!/usr/bin/python3
import mmap, os, signal, sys
map = mmap.mmap(os.open(sys.argv[1], os.O_RDONLY), 65536, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
signal.pause()
END
chmod +x "$WORK/map"

# Its table is asked for while perf records, and never made: who makes it reads the file and cannot be
# killed.
flame_ends() {
	local mapper status
	fuse_start || return 1
	# shellcheck disable=SC2016  # for the inner shell
	"$BEECTL" flame -N -B -e cpu-clock -F 99 -a -o "$WORK/out.folded" -- sh -c '
		"$0/map" "$0/mnt/file" &
		echo $! >"$0/mapper"
		until grep -q read "$0/fuse"; do sleep 0.1; done' "$WORK" 2>"$told"
	status=$?
	grep -q read "$WORK/fuse" && [ "$status" -eq 0 ] && [ -s "$WORK/out.folded" ] || status=1
	[ "$status" -eq 0 ] || cat "$told" "$WORK/fuse"
	mapper=$(cat "$WORK/mapper")
	kill -9 "$mapper"
	fuse_end
	return "$status"
}

# Two of its children wait for the file: the one that looks into the cache, and the one that makes the table.
# They do not keep the pipe that is its output.
load_ends() {
	local mapper status
	fuse_start || return 1
	"$WORK/map" "$WORK/mnt/file" &
	mapper=$!
	guest_wait grep -q "$WORK/mnt/file" "/proc/$mapper/maps" || return 1
	# shellcheck disable=SC2016  # for the inner shell
	bash -o pipefail -c '"$0" load --all 2>&1 | cat' "$BEECTL" >"$told"
	status=$?
	grep -q read "$WORK/fuse" && [ "$status" -eq 0 ] && has_table python3 &&
		says "mnt/file: .*did nothing for 60 seconds" || status=1
	[ "$status" -eq 0 ] || cat "$told" "$WORK/fuse"
	kill -9 "$mapper"
	fuse_end
	return "$status"
}

guest_insmod || exit 1
ktap_plan 3
ktap_run "watch makes tables beside a process that holds its mmap_lock, and ends" watch_goes_on
ktap_run "flame ends though a mapped file cannot be read" flame_ends
ktap_run "load --all ends though a mapped file cannot be read" load_ends
ktap_finish
