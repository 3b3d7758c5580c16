// SPDX-License-Identifier: GPL-2.0
/* What the programs that test the loaded module share. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compile.h"
#include "guest.h"

/** guest_die() - end the test */
void guest_die(const char *what, const char *why)
{
	printf("Bail out! %s: %s\n", what, why);
	exit(1);
}

/** guest_open() - connect to the module, or end the test */
void guest_open(struct guest *g)
{
	g->nl = bee_nl_open(&g->error);
	if (!g->nl)
		guest_die("netlink", g->error.text);
}

/** guest_table_fd() - the table of an ELF file, in a memfd */
int guest_table_fd(const char *elf)
{
	struct compile_result result;
	int fd = memfd_create("table", MFD_CLOEXEC), in = open(elf, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || in < 0)
		guest_die(elf, strerror(errno));
	if (compile_elf(in, &result))
		guest_die(elf, result.message);
	if (write(fd, result.blob, result.size) != (ssize_t)result.size)
		guest_die(elf, "short write");
	compile_result_free(&result);
	close(in);
	return fd;
}

/** guest_add_table() - compile an ELF file and give its table to the module */
uint32_t guest_add_table(struct guest *g, const char *elf)
{
	int fd = guest_table_fd(elf), exe = open(elf, O_RDONLY | O_CLOEXEC);
	uint32_t id = 0;

	if (bee_nl_table_add(g->nl, fd, exe, elf, &id, &g->error))
		guest_die("table-add", g->error.text);
	close(fd);
	close(exe);
	return id;
}

/** guest_get_proc() - a process's ranges; all zero if it is not managed */
void guest_get_proc(struct guest *g, pid_t pid, struct bee_nl_proc *proc)
{
	struct bee_nl_procs procs = {};

	memset(proc, 0, sizeof(*proc));
	proc->pid = pid;
	if (bee_nl_procs_get(g->nl, pid, &procs, &g->error))
		guest_die("proc-get", g->error.text);
	if (procs.count > 1)
		guest_die("proc-get", "more than one address space for one pid");
	if (procs.count) {
		*proc = procs.proc[0];
		memset(&procs.proc[0].ranges, 0, sizeof(procs.proc[0].ranges));
		proc->pid = pid;
	}
	bee_nl_procs_free(&procs);
}

/** guest_update() - send one diff, as it is */
int guest_update(struct guest *g, struct bee_nl_proc *proc, struct range *del, size_t ndel,
		 struct range *add, size_t nadd)
{
	struct range_diff diff = {
		.del = { .range = del, .count = ndel, .room = ndel },
		.add = { .range = add, .count = nadd, .room = nadd },
	};

	memset(&g->error, 0, sizeof(g->error));
	return bee_nl_proc_update(g->nl, proc, &diff, &g->error);
}

/** guest_info() - the module's sums */
void guest_info(struct guest *g, struct bee_nl_info *info)
{
	if (bee_nl_info_get(g->nl, info, &g->error))
		guest_die("info-get", g->error.text);
}

/**
 * guest_settles() - wait until the sums are back at @start
 *
 * Memory is given back after a grace period; a minute is for ever here.
 */
bool guest_settles(struct guest *g, const struct bee_nl_info *start)
{
	const struct timespec tick = { .tv_nsec = 50000000 };
	struct bee_nl_info now;
	int i;

	for (i = 0; i < 1200; i++) {
		guest_info(g, &now);
		if (now.procs == start->procs && now.ranges == start->ranges &&
		    now.tables == start->tables && now.table_bytes == start->table_bytes &&
		    now.range_bytes == start->range_bytes)
			return true;
		nanosleep(&tick, NULL);
	}
	printf("# procs %u ranges %u tables %u table-bytes %lu range-bytes %lu; at the start %u %u %u %lu %lu\n",
	       now.procs, now.ranges, now.tables, now.table_bytes, now.range_bytes,
	       start->procs, start->ranges, start->tables, start->table_bytes, start->range_bytes);
	return false;
}

/** guest_spawn() - a child that runs @body and then waits to be killed */
pid_t guest_spawn(void (*body)(void *), void *arg)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		guest_die("pipe", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		guest_die("fork", strerror(errno));
	if (!pid) {
		if (body)
			body(arg);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		guest_die("child", "died early");
	close(ready[0]);
	return pid;
}

/** guest_reap() - kill a child and wait for its end */
void guest_reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
