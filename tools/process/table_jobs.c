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
#include <sys/stat.h>
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
		.missed = file->missed,
	};
	snprintf(want->name, sizeof(want->name), "%s", file->name);
	if (pin)
		want->pin = map_file_pin(&want->mapping);
}

/* Whether the module has the table of a file that is open as @pin. */
static bool pin_is_loaded(struct netlink *nl, const struct mapping *mapping, int pin)
{
	struct netlink_file file = { 0 };
	struct bee_error error;
	int fd = map_file_open(mapping, pin, &error);

	if (fd < 0)
		return false;
	if (netlink_file_get(nl, fd, &file, &error))
		file.loaded = false;
	close(fd);
	return file.loaded;
}

/**
 * table_jobs_map_want() - what to do for a new mapping, without asking for all files
 * @nl: the module
 * @mapping: where; pid, start and end are enough
 * @want: filled; its pin is -ENOENT for anonymous memory, for the vDSO, and for a file that has a
 *	table
 *
 * Return: false if it cannot be told, for want of privileges.
 */
bool table_jobs_map_want(struct netlink *nl, const struct mapping *mapping,
			 struct table_want *want)
{
	char link[32];
	struct stat st;
	ssize_t length;

	*want = (struct table_want){ .mapping = *mapping };
	want->mapping.path = "";
	want->pin = map_file_pin(&want->mapping);
	if (want->pin < 0 || fstat(want->pin, &st))
		return want->pin == -ENOENT;
	if (pin_is_loaded(nl, &want->mapping, want->pin)) {
		close(want->pin);
		want->pin = -ENOENT;
		return true;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", want->pin);
	length = readlink(link, want->name, sizeof(want->name) - 1);
	want->name[length < 0 ? 0 : length] = '\0';
	want->mapping.size = st.st_size;
	return true;
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

/**
 * table_jobs_note_refusal() - keep the first refusal that is general
 * @want: a file
 * @result: what has become of it
 * @error: filled if the refusal is general, unless an error is there already
 *
 * Return: whether it is general.
 */
bool table_jobs_note_refusal(const struct table_want *want, const struct table_result *result,
			     struct bee_error *error)
{
	if (!table_jobs_refusal_is_general(result->refusal))
		return false;
	if (!error->code)
		error_set(error, result->refusal, "%.128s: %.240s", want->name, result->error.text);
	return true;
}

/*
 * Whether an open file is the wanted one.  A file that is unmapped everywhere and mapped again gets
 * a new id, so compare device and inode too.
 */
static bool want_is_file(const struct table_want *want, const struct netlink_file *file)
{
	return !want->id || file->id == want->id ||
	       (file->device == want->device && file->inode == want->mapping.inode &&
		file->size == want->mapping.size);
}

/**
 * struct make_file - the file that a table is made for
 * @fd: open; -1: none
 * @exe_fd: @fd, or NETLINK_VDSO
 * @known: what the module has of it
 */
struct make_file {
	int			fd;
	int			exe_fd;
	struct netlink_file	known;
};

/* Open a file and ask the module for it.  Return: whether it is the wanted one. */
static bool file_try(struct netlink *nl, struct table_want *want, int pin, struct make_file *file,
		     struct table_result *result)
{
	file->fd = map_file_open(&want->mapping, pin, &result->error);
	if (file->fd < 0)
		return false;
	file->exe_fd = strcmp(want->name, MAP_FILE_VDSO) ? file->fd : NETLINK_VDSO;
	if (netlink_file_get(nl, file->exe_fd, &file->known, &result->error)) {
		result->refusal = result->error.code;
	} else if (want_is_file(want, &file->known)) {
		return true;
	} else {
		error_set(&result->error, ESTALE, "no longer mapped, and another file has its name%s",
			  want->pin == -EPERM || want->pin == -EACCES ?
			  "; to open what is mapped needs CAP_SYS_ADMIN or "
			  "CAP_CHECKPOINT_RESTORE" : "");
	}
	close(file->fd);
	file->fd = -1;
	return false;
}

/*
 * Find the wanted file: at its mapping or, if another file is there by now or nothing, by its name.
 * What is not the wanted file is not touched: if it needs a table, the module has announced it.
 */
static bool file_find(struct netlink *nl, struct table_want *want, struct make_file *file,
		      struct table_result *result)
{
	want->mapping.path = want->name;
	if (want->pin < 0)
		want->pin = map_file_pin(&want->mapping);
	if (file_try(nl, want, want->pin, file, result))
		return true;
	return want->pin >= 0 && want->id && !result->refusal &&
	       file_try(nl, want, -ENOENT, file, result);
}

/* Whether the contents have changed since @before, so that a table may be that of other contents. */
static bool file_has_changed(int fd, const struct stat *before)
{
	struct stat st;

	return fstat(fd, &st) || st.st_size != before->st_size ||
	       st.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

/*
 * Load a table.  It belongs to the file that was opened, whoever wanted it and whatever is mapped
 * where by now: so the module takes it for that file, and it stays.
 */
static void result_add(struct netlink *nl, const struct make_file *file, const struct stat *before,
		       int fd, struct table_result *result)
{
	struct bee_error error;
	uint32_t id;

	if (file_has_changed(file->fd, before)) {
		result->source = TABLE_NONE;
		result->opened = false;
		error_set(&result->error, ESTALE, "it was changed while its table was made");
	} else if (netlink_table_add(nl, fd, file->exe_fd, &id, &error)) {
		result->source = TABLE_NONE;
		result->refusal = error.code;
		error_set(&result->error, error.code, "its table was refused: %.300s", error.text);
	}
}

/* As result_add(), with a copy of the table in memory: the module reads from no other place. */
static void result_add_table(struct netlink *nl, const struct make_file *file,
			     const struct stat *before, const struct table_file *table,
			     struct table_result *result)
{
	int fd = io_memfd("beeunwind-table", table->blob, table->table.size);

	if (fd < 0) {
		result->source = TABLE_NONE;
		error_set(&result->error, errno, "no memory for its table: %s", strerror(errno));
		return;
	}
	result_add(nl, file, before, fd, result);
	close(fd);
}

/* Give the file an empty table.  If the module refuses that, it will announce the file again. */
static void make_mark(struct netlink *nl, const struct make_file *file, const struct stat *before)
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
	result_add(nl, file, before, fd, &ignored);
	close(fd);
}

static void make_table(const struct table_maker *maker, const struct table_want *want,
		       struct netlink *nl, const struct make_file *file,
		       struct table_result *result)
{
	bool vdso = file->exe_fd == NETLINK_VDSO;
	struct lossy_report report = { 0 };
	struct table_file table;
	struct stat before;

	if (fstat(file->fd, &before)) {
		error_set(&result->error, errno, "%s", strerror(errno));
		return;
	}
	if (want->cached_only) {
		result->left = !lossy_is_exact(&maker->lossy) ||
			       !table_file_find(maker->cache, file->fd, vdso, &table);
		if (result->left)
			return;
		result->source = TABLE_CACHED;
	} else {
		result->source = table_file_get(maker->cache, file->fd, want->name, vdso,
						&maker->lossy, &report, &table, &result->error);
	}
	if (result->source != TABLE_NONE) {
		result->bytes = table.table.size;
		result->text = report.text;
		result->wrong = report.wrong;
		result_add_table(nl, file, &before, &table, result);
	} else if (maker->mark) {
		make_mark(nl, file, &before);
	}
	table_file_close(&table);
}

/**
 * table_jobs_make() - find or make the table of a file, and give it to the module
 * @maker: how
 * @want: the file
 * @out: takes the struct table_result
 *
 * For a child of its own, which SIGALRM ends if the file takes too long.
 */
void table_jobs_make(const struct table_maker *maker, struct table_want *want, FILE *out)
{
	struct table_result result = { .source = TABLE_NONE };
	struct make_file file = { .fd = -1 };
	struct netlink *nl;

	/* What a terminal or a supervisor sends to the process group is for the parent. */
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	alarm(MAKE_SECONDS);
	nl = netlink_clone(maker->nl, &result.error);
	if (!nl) {
		result.refusal = result.error.code;
	} else if (file_find(nl, want, &file, &result)) {
		result.error = (struct bee_error){ 0 };
		result.opened = true;
		if (file.known.loaded) {
			result.source = TABLE_STORED;
			result.bytes = file.known.bytes;
		} else {
			make_table(maker, want, nl, &file, &result);
		}
		close(file.fd);
	}
	netlink_close(nl);
	fwrite(&result, sizeof(result), 1, out);
}

/**
 * table_jobs_result() - what a child has written
 * @data: by table_jobs_make()
 * @size: bytes of @data
 * @died: how the child ended if not as it should, or NULL
 *
 * Return: the result.
 */
struct table_result table_jobs_result(const void *data, size_t size, const char *died)
{
	struct table_result result = { .source = TABLE_NONE, .opened = true };

	if (!died && size == sizeof(result))
		memcpy(&result, data, sizeof(result));
	else
		error_set(&result.error, 0, "the process that compiled it has failed%s%s",
			  died ? ": " : "", died ?: "");
	return result;
}

/* struct make - a run of table_jobs_run() */
struct make {
	const struct table_maker *maker;
	const struct table_wants *wants;
};

/* A child_work_fn */
static void make_work(void *arg, size_t index, FILE *out)
{
	const struct make *make = arg;

	table_jobs_make(make->maker, &make->wants->want[index], out);
}

static void make_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct table_result result = table_jobs_result(data, size, died);
	const struct make *make = arg;

	make->maker->done(make->maker->arg, &make->wants->want[index], &result);
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
