// SPDX-License-Identifier: GPL-2.0
/*
 * Have a process managed by the module, which looks at its mappings itself and
 * follows them; and give it the tables that it has not got.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "io.h"
#include "manage.h"

#define STAT_PF_KTHREAD	0x00200000

/* The start of every 32-bit ELF file: EI_MAG0..3, EI_CLASS. */
static const char elf32_ident[] = { 0x7f, 'E', 'L', 'F', 1 };

/**
 * struct load - one process being loaded
 * @maker: how tables are made
 * @pid: the process
 * @result: for the caller
 */
struct load {
	const struct table_maker	*maker;
	pid_t				 pid;
	struct proc_result		*result;
};

__attribute__((format(printf, 3, 4)))
static int load_fail(struct load *load, int code, const char *format, ...)
{
	struct bee_error *error = &load->result->error;
	va_list args;

	error->code = code;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -1;
}

static int load_fail_errno(struct load *load, int code)
{
	if (code == ESRCH || code == ENOENT)
		return load_fail(load, ESRCH, "no such process");
	if (code == EACCES || code == EPERM)
		return load_fail(load, code, "its mappings may not be read: needs root or "
				 "CAP_SYS_PTRACE");
	return load_fail(load, code, "reading its mappings: %s", strerror(code));
}

/**
 * proc_name() - the name of a process for people
 * @pid: the process
 * @name: filled; "?" if there is no such process
 * @size: bytes of @name
 */
void proc_name(pid_t pid, char *name, size_t size)
{
	char path[64], *comm;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	comm = io_read_all(path, NULL);
	if (comm)
		comm[strcspn(comm, "\n")] = '\0';
	snprintf(name, size, "%s", comm ?: "?");
	free(comm);
}

/* State and flags from /proc/PID/stat; the name before them may contain anything. */
static int stat_read(pid_t pid, char *state, unsigned int *flags)
{
	char path[64], *text, *rest;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	text = io_read_all(path, NULL);
	if (!text)
		return -errno;
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest, ") %c %*d %*d %*d %*d %*d %u", state, flags) != 2)
		ret = -EINVAL;
	free(text);
	return ret;
}

/* A thread that runs on though the first has ended, or 0. */
static pid_t thread_find_other(pid_t pid)
{
	char path[64], state;
	struct dirent *entry;
	unsigned int flags;
	pid_t found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && tid != pid && !stat_read(tid, &state, &flags) && state != 'Z' &&
		    state != 'X')
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool exe_is_32bit(pid_t pid)
{
	char path[64], ident[sizeof(elf32_ident)];
	bool is_32bit;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_32bit = read(fd, ident, sizeof(ident)) == sizeof(ident) &&
		   !memcmp(ident, elf32_ident, sizeof(ident));
	close(fd);
	return is_32bit;
}

/* Is there anything to unwind at all? */
static int load_check(struct load *load)
{
	unsigned int flags;
	char state;
	int ret;

	ret = stat_read(load->pid, &state, &flags);
	if (ret)
		return load_fail_errno(load, -ret);
	if (flags & STAT_PF_KTHREAD)
		return load_fail(load, EINVAL, "a kernel thread has no user stack");
	if (state == 'Z' || state == 'X')
		load->pid = thread_find_other(load->pid);
	if (!load->pid)
		return load_fail(load, ESRCH, "a zombie: the process has ended already");
	if (exe_is_32bit(load->pid))
		return load_fail(load, EINVAL,
				 "a 32-bit process; only 64-bit ones can have tables");
	return 0;
}

static void load_note_problem(struct load *load, const char *path, const char *why)
{
	struct proc_result *result = load->result;
	struct proc_problem *problem;

	result->problem = alloc_room(result->problem, result->nproblems, &result->room,
				     sizeof(*problem));
	problem = &result->problem[result->nproblems];
	problem->path = strdup(path);
	problem->why = strdup(why);
	if (problem->path && problem->why)
		result->nproblems++;
}

/* Of what has become of a file; the tables themselves are counted in the end. */
static void load_done(void *arg, const struct table_want *want, const struct table_result *made)
{
	struct load *load = arg;

	load->result->text += made->text;
	load->result->wrong += made->wrong;
	if (made->source == TABLE_COMPILED)
		load->result->compiled++;
	else if (made->source == TABLE_CACHED)
		load->result->cached++;
	else if (!table_refusal_is_general(made->refusal))
		load_note_problem(load, want->name, made->error.text);
	else if (!load->result->error.code)
		load_fail(load, made->refusal, "%.128s: %.240s", want->name,
			  made->error.text);
}

static void load_progress(void *arg, size_t ready, size_t count, const char *name)
{
	const struct load *load = arg;

	load->maker->progress(load->maker->arg, ready, count, name);
}

static int load_tables(struct load *load)
{
	struct table_maker maker = *load->maker;
	struct table_wants wants = { 0 };
	int ret;

	maker.arg = load;
	maker.done = load_done;
	maker.progress = load->maker->progress ? load_progress : NULL;
	ret = table_wants_find(maker.nl, load->pid, &wants, &load->result->error);
	if (!ret && tables_make(&maker, &wants))
		ret = load_fail(load, errno, "cannot start a process: %s", strerror(errno));
	table_wants_free(&wants);
	return load->result->error.code ? -1 : ret;
}

static bool ranges_have(const struct ranges *ranges, uint32_t file)
{
	size_t i;

	for (i = 0; i < ranges->count; i++)
		if (ranges->range[i].file == file)
			return true;
	return false;
}

/* What the process has now. */
static int load_count(struct load *load)
{
	struct proc_result *result = load->result;
	struct netlink_files tables = { 0 };
	struct netlink_procs procs;
	size_t i;
	int ret;

	ret = netlink_procs_get(load->maker->nl, load->pid, &procs, &result->error);
	if (!ret)
		ret = netlink_files_get(load->maker->nl, &tables, &result->error);
	if (!ret && (!procs.count || !procs.proc[0].ranges.count))
		ret = load_fail(load, ESRCH, "it has no executable memory: it is about to end");
	for (i = 0; !ret && i < tables.count; i++) {
		if (!tables.table[i].loaded ||
		    !ranges_have(&procs.proc[0].ranges, tables.table[i].id))
			continue;
		result->tables++;
		result->bytes += tables.table[i].bytes;
	}
	if (!ret) {
		result->mappings = procs.proc[0].ranges.count;
		if (result->tables > result->compiled + result->cached)
			result->stored = result->tables - result->compiled - result->cached;
	}
	netlink_files_free(&tables);
	netlink_procs_free(&procs);
	return ret;
}

static int load_manage(struct load *load)
{
	struct netlink_proc proc = { .pid = load->pid };

	if (netlink_proc_add(load->maker->nl, &proc, &load->result->error) ||
	    load_tables(load))
		return -1;
	return load_count(load);
}

/**
 * proc_load() - have a process managed, with its tables
 * @maker: how tables are made; its done() is not used
 * @pid: a process or thread
 * @result: filled in any case; proc_result_free() releases it
 *
 * Return: 0, or -1 with @result->error filled.
 */
int proc_load(const struct table_maker *maker, pid_t pid, struct proc_result *result)
{
	struct load load = { .maker = maker, .pid = pid, .result = result };
	int ret;

	memset(result, 0, sizeof(*result));
	proc_name(pid, result->name, sizeof(result->name));
	ret = load_check(&load);
	return ret ?: load_manage(&load);
}

void proc_result_free(struct proc_result *result)
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
