// SPDX-License-Identifier: GPL-2.0
/*
 * Find or make the tables of files, and give them to the module.  What is mapped may be
 * anything that any user made, so each file is read in a child process, which may crash, be killed
 * by SIGBUS when the file shrinks, or run out of time.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "compile.h"
#include "io.h"
#include "maps.h"
#include "parallel.h"
#include "table_jobs.h"
#include "text.h"

/**
 * table_wants_add() - add a file
 * @wants: the list
 * @name: of the file, for people
 * @uid: the user for whose process its table is made
 *
 * Return: the file, whose @fd or @mapping is still to be filled; until the next one is added.
 */
struct table_want *table_wants_add(struct table_wants *wants, const char *name, uid_t uid)
{
	struct table_want *want;

	wants->want = alloc_room(wants->want, wants->count, &wants->room, sizeof(*want));
	want = &wants->want[wants->count++];
	*want = (struct table_want){
		.fd = TABLE_WANT_MAPPED, .uid = uid, .owner = child_owner_of(uid),
	};
	snprintf(want->name, sizeof(want->name), "%s", name);
	return want;
}

/**
 * table_jobs_ask() - what the module has of a mapped file, or of the vDSO
 * @nl: the module
 * @mapped: where it is mapped
 * @file: filled; all zero unless the module knows it
 *
 * Waits for no file system, so no child is needed.
 *
 * Return: 0; 1 if the module does not know it; or -1 if it cannot be found where it is mapped.
 */
int table_jobs_ask(struct netlink *nl, const struct mapped *mapped, struct netlink_file *file)
{
	bool vdso = !strcmp(mapped->path, MAPS_VDSO);
	struct bee_error ignored;
	int pin = vdso ? NETLINK_VDSO : map_file_pin(&mapped->mapping, &ignored), ret;

	*file = (struct netlink_file){ 0 };
	if (pin < 0 && !vdso)
		return -1;
	ret = netlink_file_get(nl, pin, file, &ignored) ? 1 : 0;
	if (!vdso)
		close(pin);
	return ret;
}

/**
 * table_wants_add_mapped() - add the files of mappings, each once
 * @wants: the files are added to it, but not those whose tables the module has
 * @list: the mappings; they are sorted
 * @nl: the module
 *
 * Return: the files that are not added.
 */
struct table_stored table_wants_add_mapped(struct table_wants *wants, struct mapped_list *list, struct netlink *nl)
{
	struct table_stored stored = { 0 };
	struct netlink_file file;
	struct table_want *want;
	char path[32];
	struct stat st;
	size_t i;

	mapped_sort(list);
	for (i = 0; i < list->count; i++) {
		const struct mapped *mapped = &list->at[i];
		int fd = strcmp(mapped->path, MAPS_VDSO) ? TABLE_WANT_MAPPED : NETLINK_VDSO;

		if ((!mapped->inode && fd != NETLINK_VDSO) || (i && mapped_is_same(mapped, mapped - 1)))
			continue;
		/* Of what this process cannot find, a child is to say why. */
		if (!table_jobs_ask(nl, mapped, &file) && file.loaded && !file.written) {
			stored.files++;
			stored.bytes += file.bytes;
			continue;
		}
		snprintf(path, sizeof(path), "/proc/%d", mapped->mapping.pid);
		if (stat(path, &st))
			st.st_uid = geteuid();
		want = table_wants_add(wants, mapped->path, fd == NETLINK_VDSO ? 0 : st.st_uid);
		want->mapping = mapped->mapping;
		want->fd = fd;
	}
	return stored;
}

/** table_wants_free() - release a list, and close its files; it is empty afterwards */
void table_wants_free(struct table_wants *wants)
{
	size_t i;

	for (i = 0; i < wants->count; i++)
		if (wants->want[i].fd >= 0)
			close(wants->want[i].fd);
	free(wants->want);
	*wants = (struct table_wants){ 0 };
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

/* Whether budget, memory, or the share of the user who has the file mapped are used up, which may change. */
static bool refusal_may_pass(int code)
{
	return code == ENOSPC || code == ENOMEM || code == EDQUOT;
}

/**
 * table_jobs_note_refusal() - keep the first refusal that is general
 * @result: what has become of a file
 * @error: filled if the refusal is general, unless an error is there already
 *
 * Return: whether it is general.
 */
bool table_jobs_note_refusal(const struct table_result *result, struct bee_error *error)
{
	if (!table_jobs_refusal_is_general(result->refusal))
		return false;
	if (!error->code)
		error_set(error, result->refusal, "%.128s: %.240s", result->name, result->error.text);
	return true;
}

/**
 * struct making - a file that a table is made for
 * @maker: how
 * @nl: the module, for this process
 * @want: the file
 * @uid: whose share it takes
 * @fd: open
 * @exe_fd: @fd, or NETLINK_VDSO
 * @known: what the module has of it, or where the cache is to look
 * @before: its size and times when it was opened
 * @result: what becomes of it
 */
struct making {
	const struct table_maker	*maker;
	struct netlink			*nl;
	const struct table_want		*want;
	uid_t				 uid;
	int				 fd;
	int				 exe_fd;
	struct identity_known		 known;
	struct stat			 before;
	struct table_result		 result;
};

/* Give the module a table, unless the file has changed so that it may be that of other contents. */
static void making_add(struct making *making, int table)
{
	struct table_result *result = &making->result;
	const struct stat *before = &making->before;
	struct bee_error error;
	struct stat st;

	if (fstat(making->fd, &st) || st.st_size != before->st_size ||
	    st.st_mtim.tv_sec != before->st_mtim.tv_sec || st.st_mtim.tv_nsec != before->st_mtim.tv_nsec) {
		result->source = TABLE_NONE;
		result->may_pass = true;
		error_set(&result->error, ESTALE, "it was changed while its table was made");
	} else if (netlink_table_add(making->nl, table, making->exe_fd, making->uid, &result->id,
				     &error)) {
		result->source = TABLE_NONE;
		result->refusal = error.code;
		result->may_pass = refusal_may_pass(error.code);
		error_set(&result->error, error.code, "its table was refused: %.300s",
			  text_skip(error.text, "table: "));
	}
}

/*
 * Load the table that is in the cache, unread: the module checks it.
 * Return: false if there is none or the module finds it damaged; the result is then as before.
 */
static bool making_take_cached(struct making *making)
{
	const struct table_result before = making->result;
	struct table_result *result = &making->result;
	int table, copy;

	table = table_file_open(making->maker->cache, making->fd, &making->known, &result->bytes);
	copy = table < 0 ? -1 : io_memfd_copy("beeunwind-table", table, result->bytes);
	if (table >= 0)
		close(table);
	if (copy >= 0) {
		result->source = TABLE_CACHED;
		making_add(making, copy);
		close(copy);
	}
	if (copy >= 0 && (result->source != TABLE_NONE || table_jobs_refusal_is_general(result->refusal) ||
			  refusal_may_pass(result->refusal)))
		return true;
	making->result = before;
	return false;
}

/* Compile the table, and load it. */
static void making_compile(struct making *making)
{
	const struct table_maker *maker = making->maker;
	struct table_result *result = &making->result;
	struct lossy_report report = { 0 };
	struct table_file table;
	int fd;

	result->source = table_file_get(maker->cache, making->fd, result->name, &making->known,
					&maker->lossy, &report, &table, &result->error);
	if (result->source != TABLE_NONE) {
		result->bytes = table.table.size;
		result->text = report.text;
		result->wrong = report.wrong;
		fd = io_memfd("beeunwind-table", table.blob, table.table.size);
		if (fd < 0) {
			result->source = TABLE_NONE;
			result->may_pass = true;
			error_set(&result->error, errno, "no memory for its table: %s", strerror(errno));
		} else {
			making_add(making, fd);
			close(fd);
		}
	} else {
		/* With a code it could not be read or kept, or has changed. */
		result->may_pass = result->error.code;
	}
	table_file_close(&table);
}

/*
 * Ask the module for the file.  One without a table is noted there as one that has none: so it is not news
 * again meanwhile, nor if this process dies of it; and on overlayfs the module then says which inode of the
 * layer below it is.
 * Return: 0 or -1.
 */
static int making_ask(struct making *making)
{
	struct table_result *result = &making->result;
	struct netlink_file file;
	struct bee_error error;
	int ret = netlink_file_get(making->nl, making->exe_fd, &file, &error);

	if ((!ret && !file.loaded) || (ret && error.code == ENOENT))
		ret = netlink_table_add(making->nl, NETLINK_NO_TABLE, making->exe_fd, making->uid,
					&result->id, &error) ?:
		      netlink_file_get(making->nl, making->exe_fd, &file, &error);
	if (ret) {
		result->refusal = error.code;
		result->error = error;
		return -1;
	}
	result->id = file.id;
	if (file.loaded && !file.written) {
		result->source = TABLE_STORED;
		result->bytes = file.bytes;
	}
	making->known = (struct identity_known){ .vdso = making->exe_fd == NETLINK_VDSO,
						 .device = file.device, .inode = file.inode };
	return 0;
}

/* Whether the vDSO is at a mapping: it is no file, but news as files are. */
static bool mapping_is_vdso(const struct mapping *mapping)
{
	struct mapped_list list = { 0 };
	struct bee_error ignored;
	bool is = false;
	size_t i;

	if (!mapped_add(&list, mapping->pid, &ignored))
		for (i = 0; i < list.count; i++)
			is |= list.at[i].mapping.start == mapping->start && !strcmp(list.at[i].path, MAPS_VDSO);
	mapped_free(&list);
	return is;
}

/* Open the file.  Return: 0 or -1. */
static int making_open(struct making *making)
{
	const struct table_want *want = making->want;
	struct table_result *result = &making->result;

	making->fd = want->fd;
	if (want->fd == TABLE_WANT_MAPPED)
		making->fd = map_file_open(&want->mapping, result->name, sizeof(result->name), &result->error);
	/* Another file of that name does no harm: the table is that of what is opened. */
	if (making->fd < 0 && want->fd == TABLE_WANT_MAPPED && result->error.code == ENOENT && *want->name == '/') {
		making->fd = io_open_regular(want->name);
		snprintf(result->name, sizeof(result->name), "%s", want->name);
	}
	making->exe_fd = making->fd;
	if (want->fd == NETLINK_VDSO || (making->fd < 0 && result->error.code == ENOENT &&
					 mapping_is_vdso(&want->mapping))) {
		making->exe_fd = NETLINK_VDSO;
		making->fd = map_file_open_vdso(&result->error);
		snprintf(result->name, sizeof(result->name), "%s", MAPS_VDSO);
	}
	if (making->fd < 0)
		return -1;
	if (fstat(making->fd, &making->before))
		return error_set(&result->error, errno, "%s", strerror(errno));
	making->uid = want->uid == TABLE_WANT_OWNER ? making->before.st_uid : want->uid;
	result->opened = true;
	return 0;
}

/* What a terminal or a supervisor sends to the process group is for the parent. */
static void child_signals(void)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
}

/**
 * table_jobs_limit() - limit what files may cost this process
 *
 * The kernel kills this process by SIGXCPU when it has used TABLE_JOBS_SECONDS more of CPU time than now,
 * and by SIGALRM when TABLE_JOBS_PATIENCE seconds have passed.  It gets no more than TABLE_JOBS_MEMORY
 * bytes.
 */
void table_jobs_limit(void)
{
	struct rlimit cpu;

	getrlimit(RLIMIT_CPU, &cpu);
	cpu.rlim_cur = clock() / CLOCKS_PER_SEC + TABLE_JOBS_SECONDS;
	if (cpu.rlim_cur > cpu.rlim_max)
		cpu.rlim_cur = cpu.rlim_max;
	setrlimit(RLIMIT_CPU, &cpu);
	child_limit_memory(TABLE_JOBS_MEMORY);
	alarm(TABLE_JOBS_PATIENCE);
}

/* In a child, which has of open descriptors only @keep and @out from now on. */
static void making_begin(struct making *making, FILE *out, const int *keep, size_t count)
{
	snprintf(making->result.name, sizeof(making->result.name), "%s", making->want->name);
	child_signals();
	child_let_go(out, keep, count);
	table_jobs_limit();
}

/* Wait until the parent says that it is this file's turn; -1: there is no such parent. */
static bool gate_wait(int gate)
{
	eventfd_t go;
	bool goes;

	if (gate < 0)
		return true;
	alarm(0);
	goes = !eventfd_read(gate, &go);
	alarm(TABLE_JOBS_PATIENCE);
	return goes;
}

/**
 * table_jobs_make() - find or make the table of a file, and give it to the module
 * @maker: how
 * @want: the file
 * @gate: for a file that is news: an eventfd to be read before it is compiled; else -1
 * @out: takes a struct table_result; and one before if there is a @gate, as soon as the module has been asked
 *
 * For a child of its own, which table_jobs_limit() ends if the file takes too long.
 */
void table_jobs_make(const struct table_maker *maker, struct table_want *want, int gate, FILE *out)
{
	const int keep[] = { cache_fd(maker->cache), want->fd, gate };
	struct making making = { .maker = maker, .want = want, .fd = -1 };
	struct table_result *result = &making.result;
	struct bee_error ignored;

	making_begin(&making, out, keep, 3);
	making.nl = netlink_clone(maker->nl, &result->error);
	if (!making.nl)
		result->refusal = result->error.code;
	alarm(TABLE_JOBS_OPEN);
	if (making.nl && !making_open(&making) && !making_ask(&making) &&
	    result->source == TABLE_NONE) {
		alarm(TABLE_JOBS_PATIENCE);
		if (gate >= 0) {
			fwrite(result, sizeof(*result), 1, out);
			fflush(out);
		}
		/* Tables in the cache leave nothing out. */
		if (lossy_is_exact(&maker->lossy) && !maker->lossy.cfi_only && making_take_cached(&making))
			;
		else if (want->cached_only)
			result->left = true;
		else if (gate_wait(gate))
			making_compile(&making);
		/* Let the file be news when it is sampled.  A caller with a gate makes the table after that. */
		if (gate < 0 && (result->left || result->may_pass))
			netlink_table_del(making.nl, result->id, &ignored);
	}
	fwrite(result, sizeof(*result), 1, out);
}

/**
 * table_jobs_waits() - whether a child waits at its gate, or will
 * @data: what it has written
 * @size: bytes of @data
 * @result: filled if so, with the file's name and id
 */
bool table_jobs_waits(const void *data, size_t size, struct table_result *result)
{
	if (size < sizeof(*result) || size >= 2 * sizeof(*result))
		return false;
	memcpy(result, data, sizeof(*result));
	return true;
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
	struct table_result result = { .source = TABLE_NONE };

	if (size >= sizeof(result))
		memcpy(&result, (const char *)data + (size / sizeof(result) - 1) * sizeof(result),
		       sizeof(result));
	if (died || size < sizeof(result)) {
		result.source = TABLE_NONE;
		error_set(&result.error, 0, "the process that compiles it %s%s", died ? "was " : "has failed",
			  died ?: "");
	}
	return result;
}

/* struct table_jobs_args - arguments of table_jobs_run() */
struct table_jobs_args {
	const struct table_maker	*maker;
	const struct table_wants	*wants;
};

/* A child_work_fn */
static void explain_work(void *arg, size_t index, FILE *out)
{
	const struct table_jobs_args *make = arg;
	struct making making = { .want = &make->wants->want[index], .fd = -1 };
	struct table_result *result = &making.result;
	struct compile_result compiled;

	making_begin(&making, out, NULL, 0);
	alarm(TABLE_JOBS_OPEN);
	if (!making_open(&making) && !compile_elf(making.fd, NULL, &compiled, &result->error))
		result->source = TABLE_COMPILED;
	fwrite(result, sizeof(*result), 1, out);
}

/* A child_work_fn */
static void make_work(void *arg, size_t index, FILE *out)
{
	const struct table_jobs_args *make = arg;

	table_jobs_make(make->maker, &make->wants->want[index], -1, out);
}

static void make_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct table_result result = table_jobs_result(data, size, died);
	const struct table_jobs_args *make = arg;

	if (!result.name[0])
		memcpy(result.name, make->wants->want[index].name, sizeof(result.name));
	make->maker->done(make->maker->arg, &make->wants->want[index], &result);
}

static uid_t make_owner(const void *arg, size_t index)
{
	const struct table_jobs_args *make = arg;

	return make->wants->want[index].owner;
}

static void make_progress(void *arg, size_t ready, size_t index)
{
	const struct table_jobs_args *make = arg;

	make->maker->progress(ready, make->wants->count, make->wants->want[index].name);
}

/* Have @work done on each file, in a child of its own.  Return: 0; or -1 and errno, if no child could be made. */
static int jobs_run(const struct table_maker *maker, const struct table_wants *wants, child_work_fn work)
{
	struct table_jobs_args make = { .maker = maker, .wants = wants };
	const struct parallel parallel = {
		.count = wants->count, .jobs = maker->jobs, .arg = &make, .work = work,
		.owner = make_owner, .patience = TABLE_JOBS_IDLE, .done = make_done,
		.progress = maker->progress ? make_progress : NULL,
	};

	return wants->count ? parallel_run(&parallel) : 0;
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
	if (wants->count)
		cache_measure(maker->cache);
	return jobs_run(maker, wants, make_work);
}

/**
 * table_jobs_explain() - find out why files can have no table
 * @maker: its done() is called for each file, with TABLE_COMPILED if the file can have a table; the module and the
 *	cache are not used
 * @wants: the files, each of which gets TABLE_JOBS_OPEN seconds
 *
 * Return: 0; or -1 and errno, if no child could be made.
 */
int table_jobs_explain(const struct table_maker *maker, const struct table_wants *wants)
{
	return jobs_run(maker, wants, explain_work);
}
