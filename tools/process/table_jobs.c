// SPDX-License-Identifier: GPL-2.0
/*
 * Find or make the tables of mapped files, and give them to the module.  What is
 * mapped may be anything that any user made, so each file is read in a child process,
 * which may crash, be killed by SIGBUS when the file shrinks, or run out of time.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "compile.h"
#include "io.h"
#include "parallel.h"
#include "table_jobs.h"

/* Time limit for one file; the largest take some seconds. */
#define MAKE_SECONDS	120

/**
 * table_jobs_add() - add a file
 * @wants: the list
 * @file: the file, with the place where it is mapped
 * @pin: hold on to it now, because its process may end before it is opened
 */
void table_jobs_add(struct table_wants *wants, const struct netlink_file *file, bool pin)
{
	struct table_want *want;

	wants->want = alloc_room(wants->want, wants->count, &wants->room, sizeof(*want));
	want = &wants->want[wants->count++];
	*want = (struct table_want){
		.id = file->id,
		.device = file->device,
		.mapping = { .pid = file->pid, .start = file->start, .end = file->end,
			     .size = file->size, .inode = file->inode },
		.pin = -ENOENT,
	};
	snprintf(want->name, sizeof(want->name), "%s", file->name);
	if (pin)
		want->pin = map_file_pin(&want->mapping);
}

/** table_jobs_free() - release a list and its pins; it is empty afterwards */
void table_jobs_free(struct table_wants *wants)
{
	size_t i;

	for (i = 0; i < wants->count; i++)
		if (wants->want[i].pin >= 0)
			close(wants->want[i].pin);
	free(wants->want);
	*wants = (struct table_wants){ 0 };
}

/* Where a file is mapped. */
struct place {
	uint32_t	file;
	uint32_t	pid;
	uint64_t	start;
	uint64_t	end;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->file < y->file ? -1 : x->file > y->file;
}

/**
 * table_jobs_select() - the files without a table that are mapped somewhere
 * @files: the module's files
 * @procs: processes and their ranges
 * @wants: the files are added to it, each with one of its mappings; any will do
 */
void table_jobs_select(const struct netlink_files *files, const struct netlink_procs *procs,
		       struct table_wants *wants)
{
	struct place *places = NULL;
	size_t i, k, n = 0, room = 0;

	for (i = 0; i < procs->count; i++)
		for (k = 0; k < procs->proc[i].ranges.count; k++) {
			const struct range *r = &procs->proc[i].ranges.range[k];

			if (!r->file || !procs->proc[i].pid)
				continue;
			places = alloc_room(places, n, &room, sizeof(*places));
			places[n++] = (struct place){ .file = r->file, .pid = procs->proc[i].pid,
						      .start = r->start, .end = r->end };
		}
	if (!n)
		return;
	qsort(places, n, sizeof(*places), compare_places);
	for (i = 0; i < files->count; i++) {
		struct netlink_file file = files->file[i];
		struct place key = { .file = file.id };
		const struct place *found;

		found = bsearch(&key, places, n, sizeof(*places), compare_places);
		if (file.loaded || !found)
			continue;
		file.pid = found->pid;
		file.start = found->start;
		file.end = found->end;
		table_jobs_add(wants, &file, false);
	}
	free(places);
}

/**
 * table_jobs_find() - all mapped files without a table
 * @nl: the module
 * @pid: mapped by this process; 0: by any that is managed
 * @wants: they are added to it
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int table_jobs_find(struct netlink *nl, pid_t pid, struct table_wants *wants,
		    struct bee_error *error)
{
	struct netlink_files files = { 0 };
	struct netlink_procs procs = { 0 };
	int ret;

	ret = netlink_procs_get(nl, pid, &procs, error) ?: netlink_files_get(nl, &files, error);
	if (!ret)
		table_jobs_select(&files, &procs, wants);
	netlink_files_free(&files);
	netlink_procs_free(&procs);
	return ret;
}

/**
 * table_jobs_refusal_is_general() - whether the module would refuse other files' tables as well
 * @code: from struct table_result
 *
 * Return: true if the code says something of us or of the module, not of the table.
 */
bool table_jobs_refusal_is_general(int code)
{
	return code == EPERM || code == ENOSPC || code == ENOMEM || code == BEE_ERROR_NO_MODULE ||
	       code == EIO || code == EPROTO;
}

/*
 * Whether the file that the module has under @id is the one that was wanted.  A file that is
 * unmapped everywhere and mapped again gets a new id, so compare device and inode too.
 */
static bool want_is_met(struct netlink *nl, const struct table_want *want, uint32_t id)
{
	const struct netlink_file *file;
	struct netlink_files files;
	struct bee_error error;
	bool met;

	if (id == want->id)
		return true;
	file = netlink_files_get(nl, &files, &error) ? NULL : netlink_files_find(&files, id);
	met = file && file->device == want->device && file->inode == want->mapping.inode;
	netlink_files_free(&files);
	return met;
}

/*
 * Load a table.  The module gets the file that was opened as @exe_fd, which need not be the one
 * that was wanted: the mapping or the name may have changed.  So compare what the module found.
 */
static void result_add(const struct table_maker *maker, const struct table_want *want, int exe_fd,
		       int fd, struct table_result *result)
{
	struct bee_error error;
	struct netlink *nl = netlink_clone(maker->nl, &error);
	uint32_t id;

	if (!nl || netlink_table_add(nl, fd, exe_fd, &id, &error)) {
		result->source = TABLE_NONE;
		result->refusal = error.code;
		error_set(&result->error, error.code, "its table was refused: %.300s", error.text);
	} else if (!want_is_met(nl, want, id)) {
		result->source = TABLE_NONE;
		result->opened = false;
		error_set(&result->error, ESTALE, "replaced or changed since it was mapped%s",
			  want->pin == -EPERM || want->pin == -EACCES ?
			  ", and to open what is mapped needs CAP_SYS_ADMIN or "
			  "CAP_CHECKPOINT_RESTORE" : "");
		netlink_table_del(nl, id, false, &error);
	}
	netlink_close(nl);
}

/* Give the file an empty table.  If the module refuses that, it will announce the file again. */
static void make_mark(const struct table_maker *maker, const struct table_want *want, int exe_fd)
{
	struct table_result ignored = { .source = TABLE_COMPILED };
	struct compile_result empty;
	struct bee_error error;
	int fd = -1;

	if (!compile_empty(&empty, &error))
		fd = io_memfd("beeunwind-table", empty.blob, empty.size);
	compile_result_free(&empty);
	if (fd < 0)
		return;
	result_add(maker, want, exe_fd, fd, &ignored);
	close(fd);
}

/* struct make - a run of table_jobs_run() */
struct make {
	const struct table_maker *maker;
	const struct table_wants *wants;
};

/* In a child of its own, which SIGALRM ends if a file takes too long. */
static void make_work(void *arg, size_t index, FILE *out)
{
	const struct make *make = arg;
	const struct table_maker *maker = make->maker;
	struct table_want *want = &make->wants->want[index];
	struct table_result result = { .source = TABLE_NONE };
	bool vdso = !strcmp(want->name, MAP_FILE_VDSO);
	struct lossy_report report;
	struct table_file file;
	int fd;

	signal(SIGALRM, SIG_DFL);
	alarm(MAKE_SECONDS);
	want->mapping.path = want->name;
	if (want->pin < 0)
		want->pin = map_file_pin(&want->mapping);
	fd = map_file_open(&want->mapping, want->pin, &result.error);
	if (fd >= 0) {
		result.opened = true;
		result.source = table_file_get(maker->cache, fd, want->name, vdso, &maker->lossy,
					       &report, &file, &result.error);
		if (result.source != TABLE_NONE) {
			result.bytes = file.table.size;
			result.text = report.text;
			result.wrong = report.wrong;
			result_add(maker, want, vdso ? NETLINK_VDSO : fd, file.fd, &result);
		} else if (maker->mark) {
			make_mark(maker, want, vdso ? NETLINK_VDSO : fd);
		}
		table_file_close(&file);
		close(fd);
	}
	fwrite(&result, sizeof(result), 1, out);
}

static void make_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct table_result none = { .source = TABLE_NONE, .opened = true };
	const struct make *make = arg;
	bool complete = !died && size == sizeof(none);

	if (!complete)
		error_set(&none.error, 0, "compiling it ended without a result%s%s",
			  died ? ": " : "", died ?: "");
	make->maker->done(make->maker->arg, &make->wants->want[index], complete ? data : &none);
}

static void make_progress(void *arg, size_t ready, size_t index)
{
	const struct make *make = arg;

	make->maker->progress(ready, make->wants->count, make->wants->want[index].name);
}

/**
 * table_jobs_run() - find or make the tables of files, and give them to the module
 * @maker: how
 * @wants: the files
 *
 * Return: 0; or -1 and errno, if no child could be made.
 */
int table_jobs_run(const struct table_maker *maker, const struct table_wants *wants)
{
	struct make make = { .maker = maker, .wants = wants };
	const struct parallel parallel = {
		.count = wants->count, .jobs = maker->jobs, .arg = &make, .work = make_work,
		.done = make_done, .progress = maker->progress ? make_progress : NULL,
	};

	if (!wants->count)
		return 0;
	cache_measure(maker->cache);
	return parallel_run(&parallel);
}
