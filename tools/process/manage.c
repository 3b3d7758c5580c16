// SPDX-License-Identifier: GPL-2.0
/*
 * Have processes managed by the module, which looks at their mappings itself and
 * follows them; and give it the tables that one of them needs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "io.h"
#include "jit_jobs.h"
#include "manage.h"
#include "order.h"
#include "text.h"

/* PF_KTHREAD of include/linux/sched.h, in the flags of /proc/PID/stat */
#define STAT_PF_KTHREAD	0x00200000

/* How long manage_all() tries processes again, and how often, ms. */
#define MANAGE_ALL_MS	2000
#define MANAGE_AGAIN_MS	10

/**
 * manage_process_name() - the name of a process for people
 * @pid: the process
 * @name: filled; "?" if there is no such process
 * @size: bytes of @name
 */
void manage_process_name(pid_t pid, char *name, size_t size)
{
	char path[64], *comm;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	comm = io_read_all(path, NULL);
	if (comm)
		comm[strcspn(comm, "\n")] = '\0';
	snprintf(name, size, "%s", comm ?: "?");
	free(comm);
}

/**
 * struct stat_fields - what /proc/PID/stat says of a process
 * @state: R, S, Z...
 * @flags: PF_*
 * @stack: where the stack of the first thread began; 0 if beectl may not know
 *
 * To read this file never waits for the process.  To open auxv or maps waits while the process executes a program.
 */
struct stat_fields {
	char			state;
	unsigned int		flags;
	unsigned long long	stack;
};

/* The name before the fields may contain anything.  proc_pid_stat(5) has their numbers: 3, 9 and 28. */
static int stat_read(pid_t pid, struct stat_fields *stat)
{
	char path[64], *text, *rest;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	text = io_read_all(path, NULL);
	if (!text)
		return -errno;
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest, ") %c %*s %*s %*s %*s %*s %u"
			    " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
			    &stat->state, &stat->flags, &stat->stack) != 3)
		ret = -EINVAL;
	free(text);
	return ret;
}

/* A thread of process @pid that has not ended, other than the first; 0 if there is none. */
static pid_t thread_find_other(pid_t pid)
{
	struct stat_fields stat;
	struct dirent *entry;
	pid_t found = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && tid != pid && !stat_read(tid, &stat) && stat.state != 'Z' &&
		    stat.state != 'X')
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

/**
 * manage_check() - whether a process has user stacks that tables help to unwind
 * @pid: a process or thread
 * @error: filled if not
 *
 * Return: @pid; if that thread has ended, another of the same process; or -1.
 */
pid_t manage_check(pid_t pid, struct bee_error *error)
{
	struct stat_fields stat = { 0 };
	int ret = stat_read(pid, &stat);

	if (ret == -ESRCH || ret == -ENOENT)
		return error_set(error, ESRCH, "no such process");
	if (ret == -EACCES || ret == -EPERM)
		return error_set(error, -ret, "its mappings may not be read: needs root or "
				 "CAP_SYS_PTRACE");
	if (ret)
		return error_set(error, -ret, "reading its mappings: %s", strerror(-ret));
	if (stat.flags & STAT_PF_KTHREAD)
		return error_set(error, EINVAL, "a kernel thread has no user stack");
	if (stat.state == 'Z' || stat.state == 'X') {
		pid = thread_find_other(pid);
		if (!pid || stat_read(pid, &stat))
			return error_set(error, ESRCH, "a zombie: the process has ended already");
	}
	/* STACK_TOP of arch/x86/include/asm/processor.h: such a stack is below 4 GiB, and no other one. */
	if (stat.stack && stat.stack < 1ull << 32)
		return error_set(error, EINVAL,
				 "a 32-bit process; only 64-bit ones can have tables");
	return pid;
}

static void manage_add_problem(struct manage_result *result, const char *path, const char *why)
{
	result->problem = alloc_room(result->problem, result->nproblems, &result->room,
				     sizeof(*result->problem));
	result->problem[result->nproblems++] = (struct manage_problem){
		.path = alloc_text(path), .why = alloc_text(why),
	};
}

static void manage_done(void *arg, const struct table_want *want, const struct table_result *made)
{
	struct manage_result *result = arg;

	result->text += made->text;
	result->wrong += made->wrong;
	if (made->source == TABLE_COMPILED) {
		result->compiled++;
	} else if (made->source == TABLE_CACHED) {
		result->cached++;
	} else if (made->source == TABLE_STORED) {
		/* Another beectl was faster; manage_count() counts it. */
	} else if (!table_jobs_note_refusal(want, made, &result->error)) {
		manage_add_problem(result, want->name, made->error.text);
	}
}

static void manage_jit_done(void *arg, pid_t pid, const struct jit_result *jit)
{
	struct manage_result *result = arg;

	(void)pid;
	result->jit += jit->tables;
	result->remapped += jit->remapped;
	result->compiled += jit->tables + jit->compiled;
	result->cached += jit->cached;
	if (jit->error.text[0])
		manage_add_problem(result, jit->name[0] ? jit->name : "[jit]", jit->error.text);
}

/* Tables of code that the process has in memory; no child is made for one that has none. */
static int manage_jit(const struct table_maker *maker, const struct table_look *look, pid_t pid,
		      struct manage_result *result)
{
	const struct jit_jobs jobs = {
		.maker = maker, .jobs = 1, .pid = &pid, .count = 1, .arg = result,
		.done = manage_jit_done,
	};

	if (maker->no_jit || !look->procs.count || !jit_jobs_concern(&look->procs.proc[0]))
		return 0;
	return jit_jobs_run(&jobs);
}

/* As manage_count(), of what the module said just now. */
static int look_count(const struct table_look *look, struct manage_result *result)
{
	const struct netlink_file *file = look->files.file;
	const struct ranges *ranges;
	size_t i;

	if (look->procs.count)
		result->ranges = look->procs.proc[0].ranges.count;
	if (!result->ranges)
		return error_set(&result->error, ESRCH,
				 "it has no executable memory: it is about to end");
	ranges = &look->procs.proc[0].ranges;
	for (i = 0; i < look->files.count; i++)
		if (file[i].loaded && ranges_have_file(ranges, file[i].id)) {
			result->tables++;
			result->bytes += file[i].bytes;
		}
	if (result->tables > result->compiled + result->cached)
		result->stored = result->tables - result->compiled - result->cached;
	return 0;
}

/**
 * manage_count() - count the ranges of a process, their tables, and the memory of these
 * @nl: the module
 * @pid: a managed process
 * @result: ranges, tables, bytes and stored are set; @compiled and @cached are known
 *
 * Return: 0, or -1 with @result->error filled.
 */
int manage_count(struct netlink *nl, pid_t pid, struct manage_result *result)
{
	struct table_look look;
	int ret;

	ret = table_jobs_look(nl, pid, &look, &result->error) ?: look_count(&look, result);
	table_jobs_look_free(&look);
	return ret;
}

/**
 * manage_begin() - have a process managed, without its tables
 * @nl: the module
 * @pid: a process or thread
 * @error: filled on failure
 *
 * Return: @pid, or another thread of the same process; or -1.
 */
pid_t manage_begin(struct netlink *nl, pid_t pid, struct bee_error *error)
{
	struct netlink_proc proc = { 0 };

	pid = manage_check(pid, error);
	if (pid < 0)
		return -1;
	proc.pid = pid;
	return netlink_proc_add(nl, &proc, error) ? -1 : pid;
}

/**
 * manage_process() - have a process managed, with its tables
 * @maker: how tables are made; its done() is not used
 * @pid: a process or thread
 * @result: filled in any case; manage_result_free() releases it
 *
 * Return: 0, or -1 with @result->error filled.
 */
int manage_process(const struct table_maker *maker, pid_t pid, struct manage_result *result)
{
	struct table_maker counting = *maker;
	struct table_wants wants = { 0 };
	struct table_look look;
	int ret;

	memset(result, 0, sizeof(*result));
	manage_process_name(pid, result->name, sizeof(result->name));
	pid = manage_begin(maker->nl, pid, &result->error);
	if (pid < 0)
		return -1;
	counting.arg = result;
	counting.done = manage_done;
	ret = table_jobs_look(maker->nl, pid, &look, &result->error);
	if (!ret) {
		table_jobs_select(&look.files, &look.procs, &wants);
		if ((wants.count && table_jobs_run(&counting, &wants)) ||
		    manage_jit(maker, &look, pid, result))
			ret = error_set(&result->error, errno, "cannot start a process: %s",
					strerror(errno));
	}
	/* If there was nothing to do, what the module said at first is what there is. */
	if (!ret && !result->error.code)
		ret = wants.count || result->jit || result->remapped ?
			      manage_count(maker->nl, pid, result) : look_count(&look, result);
	table_jobs_look_free(&look);
	table_jobs_free(&wants);
	return ret || result->error.code ? -1 : 0;
}

/** manage_result_free() - release the problems of a result */
void manage_result_free(struct manage_result *result)
{
	size_t i;

	for (i = 0; i < result->nproblems; i++) {
		free(result->problem[i].path);
		free(result->problem[i].why);
	}
	free(result->problem);
	result->problem = NULL;
	result->nproblems = result->room = 0;
}

/*
 * Have the module manage process @pid, and count in @result what became of it.
 * Return: true if the process is busy and @again is set: the caller is to try it again.
 */
static bool manage_one_of_all(struct netlink *nl, pid_t pid, bool again,
			      struct manage_all_result *result)
{
	struct netlink_proc proc = { .pid = pid };
	struct bee_error why;

	if (!netlink_proc_add_nowait(nl, &proc, &why)) {
		result->managed++;
		return false;
	}
	if (why.code == EBUSY && again)
		return true;
	/* There is nothing to manage: a kernel thread, a zombie, a 32-bit process, or it has ended. */
	if (why.code == ESRCH || why.code == ENOENT || why.code == EINVAL || why.code == EOPNOTSUPP)
		return false;
	if (!result->refused++) {
		result->pid = pid;
		result->why = why;
	}
	return false;
}

/* struct pids - @count ids of processes, with room for @room */
struct pids {
	pid_t	*pid;
	size_t	 count;
	size_t	 room;
};

static void pids_add(struct pids *pids, pid_t pid)
{
	pids->pid = alloc_room(pids->pid, pids->count, &pids->room, sizeof(*pids->pid));
	pids->pid[pids->count++] = pid;
}

static int compare_pids(const void *a, const void *b)
{
	return order(*(const pid_t *)a, *(const pid_t *)b);
}

/*
 * Read /proc, and have the module manage the processes that are not in @seen; they are added there, and to @busy
 * those that are to be tried again.
 * Return: 0; or -1, if /proc cannot be read.
 */
static int manage_pass(struct netlink *nl, struct pids *seen, struct pids *busy,
		       struct manage_all_result *result)
{
	DIR *dir = opendir("/proc");
	size_t before = seen->count;
	struct dirent *entry;
	pid_t pid;

	if (!dir)
		return -1;
	if (before)
		qsort(seen->pid, before, sizeof(pid), compare_pids);
	while ((entry = readdir(dir))) {
		if (text_parse_pid(entry->d_name, &pid) ||
		    (before && bsearch(&pid, seen->pid, before, sizeof(pid), compare_pids)))
			continue;
		pids_add(seen, pid);
		if (manage_one_of_all(nl, pid, true, result))
			pids_add(busy, pid);
	}
	closedir(dir);
	return 0;
}

/*
 * Ask the module which processes it manages, and add these to @seen, so that manage_pass() leaves them out, and to
 * the number in @result.  Return: 0; or -1 with @error filled.
 */
static int manage_skip_managed(struct netlink *nl, struct pids *seen, struct manage_all_result *result,
			       struct bee_error *error)
{
	struct netlink_procs procs;
	int ret = netlink_procs_get_counts(nl, &procs, error);
	size_t i;

	for (i = 0; !ret && i < procs.count; i++)
		pids_add(seen, procs.proc[i].pid);
	result->managed = seen->count;
	netlink_procs_free(&procs);
	return ret;
}

/**
 * manage_all() - have the module look at and follow all processes that run now
 * @nl: the module
 * @again: also at those that it follows already, which takes their tables of code in memory away: for a caller
 *	that lays these anew
 * @result: filled
 * @error: filled on failure
 *
 * A process that is changing its mappings, or keeps them locked on purpose, is tried again, with all
 * others that do so, until MANAGE_ALL_MS have passed.
 *
 * The module follows what a managed process forks.  A process that this function has not reached yet is not
 * managed, and can fork one with a lower id, which this function has passed: so it reads /proc twice.
 *
 * Return: 0; or -1, if /proc cannot be read or the module does not answer.
 */
int manage_all(struct netlink *nl, bool again, struct manage_all_result *result, struct bee_error *error)
{
	int64_t end = clock_ms() + MANAGE_ALL_MS;
	struct pids seen = { 0 }, busy = { 0 };
	size_t i, left;
	int ret = 0;

	*result = (struct manage_all_result){ 0 };
	if (!again)
		ret = manage_skip_managed(nl, &seen, result, error);
	if (!ret && (manage_pass(nl, &seen, &busy, result) || manage_pass(nl, &seen, &busy, result)))
		ret = error_set(error, errno, "/proc: %s", strerror(errno));
	for (; !ret && busy.count; busy.count = left) {
		bool patient = clock_ms() < end;

		usleep(MANAGE_AGAIN_MS * 1000);
		for (i = left = 0; i < busy.count; i++)
			if (manage_one_of_all(nl, busy.pid[i], patient, result))
				busy.pid[left++] = busy.pid[i];
	}
	free(seen.pid);
	free(busy.pid);
	return ret;
}

/**
 * manage_all_with_tables() - as manage_all(), and give the module the tables of all these processes
 * @maker: the module, and how tables are made; its done() is called for each file
 * @again: as for manage_all()
 * @jit_done: called with what has become of the code in memory of each process that has some, and the arg of @maker;
 *	NULL: nobody wants to know
 * @result: filled
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int manage_all_with_tables(const struct table_maker *maker, bool again, jit_done_fn *jit_done,
			   struct manage_all_result *result, struct bee_error *error)
{
	struct table_wants wants = { 0 };
	int ret = manage_all(maker->nl, again, result, error) ?: table_jobs_find(maker->nl, 0, &wants, error);

	if (!ret && table_jobs_run(maker, &wants))
		ret = error_set(error, errno, "cannot start a process: %s", strerror(errno));
	if (!ret)
		ret = jit_jobs_run_all(maker, jit_done, maker->arg, error);
	table_jobs_free(&wants);
	return ret;
}

/*
 * Ask the module which processes it manages, have it forget these, and add their number to @count.
 * Return: 1 if it manages none; 0 if it did, and the caller is to ask again; or -1 with @error filled.
 */
static int forget_pass(struct netlink *nl, size_t *count, struct bee_error *error)
{
	struct netlink_procs procs;
	struct bee_error why;
	size_t i;
	int ret = netlink_procs_get_counts(nl, &procs, error);

	if (!ret && !procs.count)
		ret = 1;
	for (i = 0; !ret && i < procs.count; i++) {
		if (!netlink_proc_forget(nl, procs.proc[i].cookie, &why)) {
			++*count;
		} else if (why.code != ESRCH && why.code != ENOENT) {
			*error = why;
			ret = -1;
		}
	}
	netlink_procs_free(&procs);
	return ret;
}

/**
 * manage_forget_all() - have the module forget all processes
 * @nl: the module
 * @count: filled: how many there were
 * @error: filled on failure
 *
 * A process that is still managed can fork others, which are not in the list then: so the module is asked again,
 * until it has none.
 *
 * Return: 0; or -1, also if there are still some after MANAGE_ALL_MS.
 */
int manage_forget_all(struct netlink *nl, size_t *count, struct bee_error *error)
{
	int64_t end = clock_ms() + MANAGE_ALL_MS;
	int ret;

	*count = 0;
	while (!(ret = forget_pass(nl, count, error)))
		if (clock_ms() > end)
			return error_set(error, EAGAIN, "%zu processes unloaded, but others start as fast; try again",
					 *count);
	return ret < 0 ? -1 : 0;
}
