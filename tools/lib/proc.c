// SPDX-License-Identifier: GPL-2.0
/*
 * Have a process managed by the module, which looks at its mappings itself and
 * follows them; and give it the tables that it has not got.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "proc.h"

#define STAT_PF_KTHREAD	0x00200000

/* The start of every 32-bit ELF file: EI_MAG0..3, EI_CLASS. */
static const char elf32_ident[] = { 0x7f, 'E', 'L', 'F', 1 };

/**
 * struct load - one process being loaded
 * @nl: the module
 * @tables: where tables come from
 * @pid: the process
 * @file: distinct files that it has mapped
 * @nfiles: number of them
 * @result: for the caller
 */
struct load {
	struct bee_nl			 *nl;
	struct tables			 *tables;
	pid_t				  pid;
	const struct mapped_file	**file;
	size_t				  nfiles;
	struct proc_result		 *result;
};

__attribute__((format(printf, 3, 4)))
static int load_fail(struct load *load, int code, const char *format, ...)
{
	struct bee_nl_error *error = &load->result->error;
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
		return load_fail(load, ESRCH, "a zombie: the process has ended already");
	if (exe_is_32bit(load->pid))
		return load_fail(load, EINVAL,
				 "a 32-bit process; only 64-bit ones can have tables");
	return 0;
}

static void load_note_file(struct load *load, const struct mapped_file *file)
{
	size_t i;

	for (i = 0; i < load->nfiles; i++)
		if (load->file[i] == file)
			return;
	load->file[load->nfiles++] = file;
}

static int load_files(struct load *load, const struct ranges *ranges)
{
	size_t i;

	load->result->mappings = ranges->count;
	load->file = calloc(ranges->count + 1, sizeof(*load->file));
	if (!load->file)
		return load_fail(load, ENOMEM, "%s", strerror(ENOMEM));
	for (i = 0; i < ranges->count; i++) {
		const struct range *range = &ranges->range[i];
		const struct mapped_file *file;

		if (!range->file)
			continue;
		file = tables_get(load->tables, load->pid, range, &load->result->error);
		if (!file)
			return -1;
		load_note_file(load, file);
	}
	return 0;
}

static int load_manage(struct load *load)
{
	struct bee_nl_proc proc = { .pid = load->pid };
	struct bee_nl_error *error = &load->result->error;
	struct bee_nl_procs procs;
	int ret;

	if (bee_nl_proc_add(load->nl, &proc, error))
		return -1;
	if (bee_nl_procs_get(load->nl, load->pid, &procs, error))
		ret = -1;
	else if (!procs.count || !procs.proc[0].ranges.count)
		ret = load_fail(load, ESRCH, "it has no executable memory: it is about to end");
	else
		ret = load_files(load, &procs.proc[0].ranges);
	bee_nl_procs_free(&procs);
	return ret;
}

/* A file that this process is not the first to use was in the module already. */
static void result_count(struct load *load)
{
	struct proc_result *result = load->result;
	size_t i;

	for (i = 0; i < load->nfiles; i++) {
		const struct mapped_file *file = load->file[i];

		if (file->source == TABLE_NONE)
			continue;
		result->tables++;
		if (file->pid != load->pid || file->source == TABLE_STORED)
			result->stored++;
		else if (file->source == TABLE_CACHED)
			result->cached++;
		else
			result->compiled++;
	}
	if (result->cached || result->compiled)
		tables_update_sizes(load->tables);
	for (i = 0; i < load->nfiles; i++)
		if (load->file[i]->source != TABLE_NONE)
			result->bytes += load->file[i]->bytes;
}

static void result_problems(struct load *load)
{
	struct proc_result *result = load->result;
	size_t i;

	result->problem = calloc(load->nfiles + 1, sizeof(*result->problem));
	for (i = 0; result->problem && i < load->nfiles; i++) {
		const struct mapped_file *file = load->file[i];
		struct proc_problem *problem = &result->problem[result->nproblems];

		if (file->source != TABLE_NONE)
			continue;
		problem->path = strdup(file->path);
		problem->why = strdup(file->why);
		if (problem->path && problem->why)
			result->nproblems++;
	}
}

/**
 * proc_load() - have a process managed, with its tables
 * @nl: the module
 * @tables: where tables come from
 * @pid: a process or thread
 * @result: filled in any case; proc_result_free() releases it
 *
 * Return: 0, or -1 with @result->error filled.
 */
int proc_load(struct bee_nl *nl, struct tables *tables, pid_t pid, struct proc_result *result)
{
	struct load load = { .nl = nl, .tables = tables, .pid = pid, .result = result };
	int ret;

	memset(result, 0, sizeof(*result));
	proc_name(pid, result->name, sizeof(result->name));
	ret = load_check(&load);
	if (!ret)
		ret = load_manage(&load);
	if (!ret) {
		result_count(&load);
		result_problems(&load);
	}
	free(load.file);
	return ret;
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
	result->nproblems = 0;
}
