// SPDX-License-Identifier: GPL-2.0
/*
 * Bring what the module knows about a process up to date with the process: read
 * its mappings, find a table for each, send the difference; and again, as long as
 * the mappings changed meanwhile.
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

/* Looks at the mappings, until they stay the same while ranges are sent. */
#define LOAD_ROUNDS	3

/* Attempts to send one difference while others change the process's ranges. */
#define PUSH_TRIES	16

/* Attempts to have all tables in the module at once. */
#define REFRESH_TRIES	2

#define STAT_PF_KTHREAD	0x00200000

/* The start of every 32-bit ELF file: EI_MAG0..3, EI_CLASS. */
static const char elf32_ident[] = { 0x7f, 'E', 'L', 'F', 1 };

/**
 * struct load - one process being loaded
 * @nl: the module
 * @tables: where tables come from
 * @pid: the process
 * @maps: its executable mappings
 * @want: the ranges it should have
 * @used: distinct files with a table among @want
 * @nused: number of them
 * @unused: distinct files that cannot be used, or not where they are mapped
 * @nunused: number of them
 * @result: for the caller
 */
struct load {
	struct bee_nl			 *nl;
	struct tables			 *tables;
	pid_t				  pid;
	struct maps			  maps;
	struct ranges			  want;
	const struct mapped_file	**used;
	size_t				  nused;
	const struct mapped_file	**unused;
	size_t				  nunused;
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

static int load_read_maps(struct load *load)
{
	int ret;

	maps_free(&load->maps);
	ret = maps_read(load->pid, &load->maps);
	if (ret)
		return load_fail_errno(load, -ret);
	if (!load->maps.count)
		return load_check(load) ? -1 :
		       load_fail(load, ESRCH, "it has no executable memory: it is about to end");
	return 0;
}

/* Note a file once.  Arrays have room for one per mapping. */
static void files_note(const struct mapped_file **files, size_t *count,
		       const struct mapped_file *file)
{
	size_t i;

	for (i = 0; i < *count; i++)
		if (files[i] == file)
			return;
	files[(*count)++] = file;
}

/* The range of one mapping; without a table unless all goes well. */
static int load_resolve(struct load *load, const struct mapping *m, struct range *range)
{
	struct mapped_file *file;

	*range = (struct range){ .start = m->start, .end = m->end };
	if (m->kind == MAPPING_ANON)
		return 0;
	file = tables_get(load->tables, load->pid, m, &load->result->error);
	if (!file)
		return -1;
	if (file->id && mapped_file_bias(file, m, &range->bias)) {
		range->table = file->id;
		files_note(load->used, &load->nused, file);
	} else {
		files_note(load->unused, &load->nunused, file);
	}
	return 0;
}

/*
 * What the module should know.  Memory without a table is named as well, so that
 * return addresses into it are believed.
 */
static int load_want(struct load *load)
{
	size_t i, n = load->maps.count + 1;

	load->want.count = 0;
	load->nused = load->nunused = 0;
	load->result->mappings = 0;
	free(load->used);
	free(load->unused);
	load->used = calloc(n, sizeof(*load->used));
	load->unused = calloc(n, sizeof(*load->unused));
	if (!load->used || !load->unused)
		return load_fail(load, ENOMEM, "%s", strerror(ENOMEM));
	for (i = 0; i < load->maps.count; i++) {
		const struct mapping *m = &load->maps.mapping[i];
		struct range range;

		if (m->kind == MAPPING_VSYSCALL)
			continue;
		load->result->mappings++;
		if (load_resolve(load, m, &range))
			return -1;
		if (ranges_append(&load->want, &range))
			return load_fail(load, ENOMEM, "%s", strerror(ENOMEM));
	}
	ranges_merge(&load->want);
	return 0;
}

/* Send what differs from @have, if anything. */
static int push_diff(struct load *load, struct bee_nl_proc *have)
{
	struct range_diff diff;
	int ret;

	ranges_sort(&have->ranges);
	ret = ranges_diff(&have->ranges, &load->want, &diff);
	if (ret)
		ret = load_fail(load, ENOMEM, "%s", strerror(ENOMEM));
	else if (!range_diff_is_empty(&diff))
		ret = bee_nl_proc_update(load->nl, have, &diff, &load->result->error);
	if (!ret) {
		load->result->deleted += diff.del.count;
		load->result->added += diff.add.count;
	}
	range_diff_free(&diff);
	return ret;
}

static int push_once(struct load *load)
{
	struct bee_nl_proc none = { .pid = load->pid }, *have = &none;
	struct bee_nl_procs procs;
	int ret;

	ret = bee_nl_procs_get(load->nl, load->pid, &procs, &load->result->error);
	if (!ret) {
		if (procs.count)
			have = &procs.proc[0];
		have->pid = load->pid;
		ret = push_diff(load, have);
		load->result->cookie = have->cookie;
	}
	bee_nl_procs_free(&procs);
	return ret;
}

/*
 * The module has dropped a table before a range used it, to make room for another.
 * Once or twice that is bad luck.
 */
static int load_again(struct load *load, int *refreshed)
{
	if (++*refreshed > REFRESH_TRIES)
		return load_fail(load, ENOSPC,
				 "over budget: there is no room for all of its tables at once");
	if (tables_refresh(load->tables, &load->result->error))
		return -1;
	return load_want(load);
}

/* Others may change the ranges between our look and our change (ESTALE). */
static int load_push(struct load *load)
{
	int try, refreshed = 0;

	for (try = 0; try < PUSH_TRIES; try++) {
		if (!push_once(load))
			return 0;
		if (load->result->error.code == ENOENT) {
			if (load_again(load, &refreshed))
				return -1;
		} else if (load->result->error.code != ESTALE) {
			return -1;
		}
	}
	return load_fail(load, EAGAIN, "its ranges keep changing; try again");
}

static int load_rounds(struct load *load)
{
	struct maps before = { 0 };
	int round, ret;

	ret = load_read_maps(load);
	for (round = 0; !ret && round < LOAD_ROUNDS; round++) {
		if (round && maps_are_same(&before, &load->maps))
			break;
		ret = load_want(load);
		if (!ret)
			ret = load_push(load);
		if (ret)
			break;
		maps_free(&before);
		before = load->maps;
		load->maps = (struct maps){ 0 };
		ret = load_read_maps(load);
	}
	maps_free(&before);
	return ret;
}

/* A file that this process is not the first to use was in the module already. */
static void result_count(struct load *load)
{
	struct proc_result *result = load->result;
	size_t i;

	result->tables = load->nused;
	for (i = 0; i < load->nused; i++) {
		const struct mapped_file *file = load->used[i];

		if (file->pid != load->pid || file->source == TABLE_STORED)
			result->stored++;
		else if (file->source == TABLE_CACHED)
			result->cached++;
		else
			result->compiled++;
	}
	if (result->cached || result->compiled)
		tables_update_sizes(load->tables);
	for (i = 0; i < load->nused; i++)
		result->bytes += load->used[i]->bytes;
}

static void result_problems(struct load *load)
{
	struct proc_result *result = load->result;
	size_t i;

	result->problem = calloc(load->nunused + 1, sizeof(*result->problem));
	for (i = 0; result->problem && i < load->nunused; i++) {
		const struct mapped_file *file = load->unused[i];
		struct proc_problem *problem = &result->problem[result->nproblems];

		problem->path = strdup(file->path);
		problem->why = strdup(file->id ? "mapped outside of its executable segments" :
						 file->why);
		if (problem->path && problem->why)
			result->nproblems++;
	}
}

/**
 * proc_load() - bring the ranges of a process up to date
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
		ret = load_rounds(&load);
	if (!ret) {
		result_count(&load);
		result_problems(&load);
	}
	maps_free(&load.maps);
	ranges_free(&load.want);
	free(load.used);
	free(load.unused);
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
