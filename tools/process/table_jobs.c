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
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "compile.h"
#include "io.h"
#include "layers.h"
#include "parallel.h"
#include "table_jobs.h"
#include "text.h"

/* To look one file up in the cache takes less than a millisecond, if its file system answers. */
#define FIND_SECONDS	2

/* So many processes that have a file mapped are looked at for it, beside the one that was announced. */
#define FIND_USERS	32

/**
 * table_jobs_add() - add a file
 * @wants: the list
 * @file: the file, with the place where it is mapped
 */
void table_jobs_add(struct table_wants *wants, const struct netlink_file *file)
{
	struct table_want *want;
	uid_t user = file->uid == NETLINK_NO_UID ? child_owner(file->pid) : child_owner_of(file->uid);

	wants->want = alloc_room(wants->want, wants->count, &wants->room, sizeof(*want));
	want = &wants->want[wants->count++];
	*want = (struct table_want){
		.id = file->id,
		.device = file->device,
		.mapping = { .pid = file->pid, .start = file->start, .end = file->end,
			     .size = file->size, .inode = file->inode, .user = user },
		.pin = -ENOENT,
		.missed = file->missed,
	};
	snprintf(want->name, sizeof(want->name), "%s", file->name);
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
	want->mapping.user = child_owner(mapping->pid);
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
		file.uid = NETLINK_NO_UID;
		file.start = found->start;
		file.end = found->end;
		table_jobs_add(wants, &file);
	}
	free(places);
}

/**
 * table_jobs_look() - ask for files and processes
 * @nl: the module
 * @pid: only this process; 0: all that are managed
 * @look: filled; table_jobs_look_free() releases it, after an error as well
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int table_jobs_look(struct netlink *nl, pid_t pid, struct table_look *look,
		    struct bee_error *error)
{
	*look = (struct table_look){ 0 };
	return netlink_procs_get(nl, pid, &look->procs, error) ?:
	       netlink_files_get(nl, &look->files, error);
}

/** table_jobs_look_free() - release the memory of a look, which is empty afterwards */
void table_jobs_look_free(struct table_look *look)
{
	netlink_files_free(&look->files);
	netlink_procs_free(&look->procs);
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
	struct table_look look;
	int ret = table_jobs_look(nl, pid, &look, error);

	if (!ret)
		table_jobs_select(&look.files, &look.procs, wants);
	table_jobs_look_free(&look);
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
 * table_jobs_refusal_may_pass() - whether the module has no room for a table: later it may have
 * @code: from struct table_result
 *
 * Return: true if budget, memory, or the share of the user who has the file mapped are used up.
 */
bool table_jobs_refusal_may_pass(int code)
{
	return code == ENOSPC || code == ENOMEM || code == EDQUOT;
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

/* What the module knows of a file, for the cache. */
static struct identity_known make_file_known(const struct make_file *file)
{
	return (struct identity_known){ .vdso = file->exe_fd == NETLINK_VDSO,
					.device = file->known.device,
					.inode = file->known.inode };
}

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

/**
 * struct layer_try - arguments of file_try()
 * @nl: the module
 * @want: the wanted file
 * @file: filled
 * @result: of the last file
 */
struct layer_try {
	struct netlink		*nl;
	struct table_want	*want;
	struct make_file	*file;
	struct table_result	 result;
};

/* For layers_search(): whether a file of a layer is the wanted one. */
static bool layer_try(void *arg, int pin)
{
	struct layer_try *try = arg;

	return file_try(try->nl, try->want, pin, try->file, &try->result);
}

/*
 * Look for the file where processes have it mapped other than the one that was announced.  A process that
 * keeps its mmap_lock ends this child by its alarm, so each child begins with another process.
 */
static bool users_try(struct netlink *nl, struct table_want *want, struct make_file *file,
		      struct table_result *result)
{
	struct netlink_procs procs;
	struct bee_error error;
	bool found = false;
	size_t i;

	if (netlink_procs_get_users(nl, want->id, &procs, &error))
		procs.count = 0;
	for (i = 0; i < procs.count && i < FIND_USERS && !found; i++) {
		const struct netlink_proc *proc = &procs.proc[(getpid() + i) % procs.count];
		struct mapping mapping = { .pid = proc->pid };
		int pin;

		if (!proc->pid || !proc->ranges.count || proc->pid == want->mapping.pid)
			continue;
		mapping.start = proc->ranges.range[0].start;
		mapping.end = proc->ranges.range[0].end;
		pin = map_file_pin(&mapping);
		if (pin < 0)
			continue;
		found = file_try(nl, want, pin, file, result);
		close(pin);
	}
	netlink_procs_free(&procs);
	return found;
}

/*
 * Find the wanted file: at its mapping or, if another file is there by now or nothing, by its name;
 * if that is the name of the copy which an overlayfs has made of it, in the layers below; and else where
 * other processes have it mapped.
 * What is not the wanted file is not touched: if it needs a table, the module has announced it.
 */
static bool file_find(struct netlink *nl, struct table_want *want, struct make_file *file,
		      struct table_result *result)
{
	struct layer_try try = { .nl = nl, .want = want, .file = file };

	want->mapping.path = want->name;
	if (want->pin < 0 && want->pin != -ETIMEDOUT)
		want->pin = map_file_pin(&want->mapping);
	if (file_try(nl, want, want->pin, file, result))
		return true;
	if (!want->id || result->refusal)
		return false;
	if (want->pin >= 0 && file_try(nl, want, -ENOENT, file, result))
		return true;
	return !result->refusal && (layers_search(&want->mapping, layer_try, &try) ||
				    users_try(nl, want, file, result));
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
 * Load a table.  It belongs to the file that was opened, even if that is not what is mapped at the
 * wanted place by now: the module gets the descriptor of this file.
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
		error_set(&result->error, error.code, "its table was refused: %.300s",
			  text_skip(error.text, "table: "));
	}
}

/* As result_add(), with a copy of the table: the module reads tables only from memory. */
static void result_add_table(struct netlink *nl, const struct make_file *file,
			     const struct stat *before, const struct table_file *table,
			     struct table_result *result)
{
	int fd = io_memfd("beeunwind-table", table->blob, table->table.size);

	if (fd < 0) {
		result->source = TABLE_NONE;
		result->opened = false;
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

/*
 * Load the table that is in the cache, unread: the module checks it.
 * Return: false if there is none or the module finds it damaged; @result is then as before.
 */
static bool make_from_cache(const struct table_maker *maker, struct netlink *nl,
			    const struct make_file *file, const struct stat *before,
			    struct table_result *result)
{
	struct table_result found = { .source = TABLE_CACHED, .opened = true };
	struct identity_known known = make_file_known(file);
	int table, copy;

	table = table_file_open(maker->cache, file->fd, &known, &found.bytes);
	if (table < 0)
		return false;
	copy = io_memfd_copy("beeunwind-table", table, found.bytes);
	close(table);
	if (copy < 0)
		return false;
	result_add(nl, file, before, copy, &found);
	close(copy);
	if (found.source == TABLE_NONE && !table_jobs_refusal_is_general(found.refusal) &&
	    !table_jobs_refusal_may_pass(found.refusal))
		return false;
	*result = found;
	return true;
}

/* Whether a table from the cache will do: those leave nothing out. */
static bool maker_takes_cached(const struct table_maker *maker)
{
	return lossy_is_exact(&maker->lossy) && !maker->lossy.cfi_only;
}

static void make_table(const struct table_maker *maker, const struct table_want *want,
		       struct netlink *nl, const struct make_file *file,
		       struct table_result *result)
{
	struct identity_known known = make_file_known(file);
	struct lossy_report report = { 0 };
	struct table_file table;
	struct stat before;

	if (fstat(file->fd, &before)) {
		error_set(&result->error, errno, "%s", strerror(errno));
		return;
	}
	if (maker_takes_cached(maker) && make_from_cache(maker, nl, file, &before, result))
		return;
	if (want->cached_only) {
		result->left = !maker_takes_cached(maker) ||
			       !table_file_find(maker->cache, file->fd, &known, &table);
		if (result->left)
			return;
		result->source = TABLE_CACHED;
	} else {
		result->source = table_file_get(maker->cache, file->fd, want->name, &known,
						&maker->lossy, &report, &table, &result->error);
	}
	if (result->source != TABLE_NONE) {
		if (!table.kept)
			result->cost = clock() / (CLOCKS_PER_SEC / 1000);
		result->bytes = table.table.size;
		result->text = report.text;
		result->wrong = report.wrong;
		result_add_table(nl, file, &before, &table, result);
	} else if (result->error.code) {
		/* It could not be read or kept, or has changed. */
		result->opened = false;
	} else if (maker->mark) {
		make_mark(nl, file, &before);
	}
	table_file_close(&table);
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

/**
 * table_jobs_make_one() - find or make the table of a file, and give it to the module
 * @maker: how; its connection is not used
 * @nl: the module
 * @want: the file
 * @opened: gets one byte when the file has been opened; or NULL
 *
 * For a child, as the file may be anything that any user made, after table_jobs_limit().  An alarm that is
 * set stays; it comes earlier if the file cannot be opened in TABLE_JOBS_OPEN seconds.
 *
 * Return: what has become of it.
 */
struct table_result table_jobs_make_one(const struct table_maker *maker, struct netlink *nl,
					struct table_want *want, FILE *opened)
{
	struct table_result result = { .source = TABLE_NONE };
	struct make_file file = { .fd = -1 };
	unsigned int left = alarm(0);

	alarm(left && left < TABLE_JOBS_OPEN ? left : TABLE_JOBS_OPEN);
	if (!file_find(nl, want, &file, &result)) {
		alarm(left);
		return result;
	}
	alarm(left);
	if (opened) {
		putc('o', opened);
		fflush(opened);
	}
	result.error = (struct bee_error){ 0 };
	result.opened = true;
	if (file.known.loaded) {
		result.source = TABLE_STORED;
		result.bytes = file.known.bytes;
	} else {
		make_table(maker, want, nl, &file, &result);
	}
	close(file.fd);
	return result;
}

/**
 * table_jobs_make() - find or make the table of a file, and give it to the module
 * @maker: how
 * @want: the file
 * @out: takes a byte when the file has been opened, and then the struct table_result
 *
 * For a child of its own, which table_jobs_limit() ends if the file takes too long.
 */
void table_jobs_make(const struct table_maker *maker, struct table_want *want, FILE *out)
{
	const int keep[] = { cache_fd(maker->cache), want->pin };
	struct table_result result = { .source = TABLE_NONE };
	struct netlink *nl;

	child_signals();
	child_let_go(out, keep, 2);
	table_jobs_limit();
	nl = netlink_clone(maker->nl, &result.error);
	if (nl)
		result = table_jobs_make_one(maker, nl, want, out);
	else
		result.refusal = result.error.code;
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
	struct table_result result = { .source = TABLE_NONE, .opened = size };

	if (!died && size >= sizeof(result))
		memcpy(&result, (const char *)data + size - sizeof(result), sizeof(result));
	else
		error_set(&result.error, 0, "the process that compiles it %s%s", died ? "was " : "has failed",
			  died ?: "");
	return result;
}

/* A file that needs no child of its own, as its table was in the cache or in the module. */
struct found {
	size_t			index;
	struct table_result	result;
};

/**
 * struct make - a run of table_jobs_run()
 * @maker: how
 * @wants: the files
 * @found: files whose tables find_all() has loaded, in the order of @wants
 * @nfound: number of them
 * @told: how many of @found maker->done() was called for
 * @rest: indices of the other files
 * @nrest: number of them
 */
struct make {
	const struct table_maker	*maker;
	const struct table_wants	*wants;
	struct found			*found;
	size_t				 nfound;
	size_t				 told;
	size_t				*rest;
	size_t				 nrest;
};

/* Load the table of a file if it is in the cache.  Return: true if the module has a table now. */
static bool find_one(const struct table_maker *maker, struct netlink *nl,
		     const struct table_want *wanted, struct table_result *result)
{
	struct make_file file = { .fd = -1 };
	struct table_want want = *wanted;
	struct stat before;
	bool done = false;

	if (file_find(nl, &want, &file, result)) {
		*result = (struct table_result){ .source = TABLE_STORED, .opened = true,
						 .bytes = file.known.bytes };
		done = file.known.loaded ||
		       (!fstat(file.fd, &before) &&
			make_from_cache(maker, nl, &file, &before, result));
		close(file.fd);
	}
	if (want.pin >= 0 && want.pin != wanted->pin)
		close(want.pin);
	return done;
}

/* Keep what find_work() needs: the cache and all pins. */
static void find_let_go(const struct make *make, FILE *out)
{
	int *keep = alloc_array(NULL, make->wants->count + 1, sizeof(*keep));
	size_t i;

	for (i = 0; i < make->wants->count; i++)
		keep[i] = make->wants->want[i].pin;
	keep[i] = cache_fd(make->maker->cache);
	child_let_go(out, keep, i + 1);
	free(keep);
}

/*
 * A child_work_fn, for all files: writes a struct found for each whose table it has loaded.  If a
 * file ends the child, or keeps it, make_work() is called for this file and the following ones.
 */
static void find_work(void *arg, size_t index, FILE *out)
{
	const struct make *make = arg;
	struct bee_error error;
	struct netlink *nl;
	size_t i;

	child_signals();
	find_let_go(make, out);
	child_limit_memory(TABLE_JOBS_MEMORY);
	nl = netlink_clone(make->maker->nl, &error);
	for (i = index; nl && i < make->wants->count; i++) {
		struct found found = { .index = i };

		alarm(FIND_SECONDS);
		if (find_one(make->maker, nl, &make->wants->want[i], &found.result)) {
			fwrite(&found, sizeof(found), 1, out);
			fflush(out);
		}
	}
	netlink_close(nl);
}

static void find_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct make *make = arg;

	/* What a child that has died had loaded by then is loaded. */
	(void)index;
	(void)died;
	make->nfound = size / sizeof(*make->found);
	make->found = alloc_array(NULL, make->nfound, sizeof(*make->found));
	if (make->nfound)
		memcpy(make->found, data, make->nfound * sizeof(*make->found));
}

/*
 * Load what is in the cache, in one child for all files.  In a child, because a file may be on a
 * FUSE file system of any user, which does not answer.
 */
static void find_all(struct make *make)
{
	const struct parallel parallel = { .count = 1, .jobs = 1, .arg = make, .work = find_work,
					   .patience = 2 * FIND_SECONDS, .done = find_done };
	size_t i, k = 0;

	/* Without a child make_work() will find them. */
	if (maker_takes_cached(make->maker))
		(void)!parallel_run(&parallel);
	make->rest = alloc_array(NULL, make->wants->count, sizeof(*make->rest));
	for (i = 0; i < make->wants->count; i++) {
		if (k < make->nfound && make->found[k].index == i)
			k++;
		else
			make->rest[make->nrest++] = i;
	}
}

/* Call maker->done() for the files of @found before file @index. */
static void make_tell(struct make *make, size_t index)
{
	const struct table_maker *maker = make->maker;

	for (; make->told < make->nfound && make->found[make->told].index < index; make->told++)
		maker->done(maker->arg, &make->wants->want[make->found[make->told].index],
			    &make->found[make->told].result);
}

/* A child_work_fn */
static void make_work(void *arg, size_t index, FILE *out)
{
	const struct make *make = arg;

	table_jobs_make(make->maker, &make->wants->want[make->rest[index]], out);
}

static void make_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct table_result result = table_jobs_result(data, size, died);
	struct make *make = arg;

	make_tell(make, make->rest[index]);
	make->maker->done(make->maker->arg, &make->wants->want[make->rest[index]], &result);
}

static uid_t make_owner(const void *arg, size_t index)
{
	const struct make *make = arg;

	return make->wants->want[make->rest[index]].mapping.user;
}

static void make_progress(void *arg, size_t ready, size_t index)
{
	const struct make *make = arg;

	make->maker->progress(make->nfound + ready, make->wants->count,
			      make->wants->want[make->rest[index]].name);
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
	struct parallel parallel = {
		.jobs = maker->jobs, .arg = &make, .work = make_work, .owner = make_owner,
		.patience = TABLE_JOBS_IDLE, .done = make_done, .progress = maker->progress ? make_progress : NULL,
	};
	int ret = 0;

	if (!wants->count)
		return 0;
	find_all(&make);
	parallel.count = make.nrest;
	if (make.nrest) {
		cache_measure(maker->cache);
		ret = parallel_run(&parallel);
	}
	make_tell(&make, wants->count);
	free(make.rest);
	free(make.found);
	return ret;
}
