// SPDX-License-Identifier: GPL-2.0
/*
 * Give the module tables of code that JIT compilers have in the memory of processes.
 *
 * The process changes its memory meanwhile, and may have filled it in order to do harm.  So a child
 * reads it, with limits on its time and on the bytes it reads.  A table is used only if a second
 * reading finds the same, and if the process has not changed its mappings since before the first
 * one: the module compares the generation.  Otherwise the child starts again.
 *
 * Code in memory that stays writable gets no table: nobody would hear that it is written over.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "clock.h"
#include "elf.h"
#include "io.h"
#include "jit_jobs.h"
#include "jit_table.h"
#include "map_file.h"
#include "maps.h"
#include "order.h"
#include "parallel.h"
#include "remap_job.h"

/* Limits for one look at a process, with all attempts; beside the time that tables of files take. */
#define JIT_SECONDS	30
#define JIT_TRIES	5
#define JIT_BYTES	(256ull << 20)
#define JIT_FILES	4096

#define PAGE_MASK_64	(~0xfffull)

/**
 * struct jit_load - one attempt
 * @nl: the module
 * @pid: the process
 * @proc: its ranges, before the code was looked at
 * @files: what these refer to
 * @maps: what it has mapped, read after its ranges
 * @memory: the process's
 * @again: bytes of it that a second reading of the objects takes
 * @end: when tables of files have to be ready, CLOCK_MONOTONIC, ms
 * @descriptor: addresses of the variables by which JIT compilers tell of code
 * @ndescriptors: number of them
 * @room: for so many
 * @diff: for the module; in @add ranges with new tables
 * @bytes: size of these tables
 * @result: of the process
 */
struct jit_load {
	struct netlink		*nl;
	pid_t			 pid;
	struct netlink_proc	*proc;
	const struct netlink_files *files;
	struct maps		 maps;
	struct memory		 memory;
	u64			 again;
	int64_t			 end;
	uint64_t		*descriptor;
	size_t			 ndescriptors;
	size_t			 room;
	struct range_diff	 diff;
	uint64_t		 bytes;
	struct jit_result	*result;
};

/* Whether a range is memory without a file.  Its table, if it has one, was made of that memory. */
static bool range_is_memory(const struct jit_load *load, const struct range *range)
{
	const struct netlink_file *file;

	if (!range->file)
		return true;
	file = netlink_files_find(load->files, range->file);
	return file && file->owner;
}

/* From the address of a variable in a file to that in memory; @range: of the file's text. */
static bool object_address(const struct elf_file *elf, const struct range *range, u64 vaddr,
			   u64 *address)
{
	size_t i;

	for (i = 0; i < elf->ntext; i++) {
		const struct elf_segment *text = &elf->text[i];

		if (range->offset < (text->offset & PAGE_MASK_64) ||
		    range->offset >= text->offset + text->size)
			continue;
		*address = range->start - range->offset + text->offset - text->vaddr + vaddr;
		return true;
	}
	return false;
}

/* Look for the descriptor in a mapped file.  What is no ELF file, or cannot be opened, has none. */
static void load_look_into(struct jit_load *load, const struct range *range)
{
	struct mapping mapping = {
		.pid = load->pid, .start = range->start, .end = range->end, .path = "",
	};
	const struct netlink_file *file = netlink_files_find(load->files, range->file);
	struct elf_file elf = {};
	struct bee_error ignored;
	const char *slash;
	u64 vaddr, address;
	int pin, fd;

	pin = map_file_pin(&mapping);
	fd = pin < 0 ? -1 : map_file_open(&mapping, pin, &ignored);
	if (pin >= 0)
		close(pin);
	if (fd < 0)
		return;
	if (!elf_identify(&elf, fd, &ignored) && elf_find_object(&elf, JIT_DESCRIPTOR, &vaddr) &&
	    object_address(&elf, range, vaddr, &address)) {
		load->descriptor = alloc_room(load->descriptor, load->ndescriptors, &load->room,
					      sizeof(*load->descriptor));
		load->descriptor[load->ndescriptors++] = address;
		slash = file ? strrchr(file->name, '/') : NULL;
		if (!load->result->name[0])
			snprintf(load->result->name, sizeof(load->result->name), "[jit] %.100s",
				 slash ? slash + 1 : "");
	}
	elf_close(&elf);
	close(fd);
}

/* A range, to sort ranges by their files. */
struct file_range {
	uint32_t	file;
	uint32_t	index;
};

static int file_range_compare(const void *a, const void *b)
{
	const struct file_range *x = a, *y = b;

	return order(x->file, y->file) ?: order(x->index, y->index);
}

/* Which range is the first of its file: an array, for free(). */
static bool *ranges_first_of_file(const struct ranges *ranges)
{
	struct file_range *sorted = alloc_zero(ranges->count + 1, sizeof(*sorted));
	bool *first = alloc_zero(ranges->count + 1, sizeof(*first));
	size_t i;

	for (i = 0; i < ranges->count; i++)
		sorted[i] = (struct file_range){ ranges->range[i].file, i };
	qsort(sorted, ranges->count, sizeof(*sorted), file_range_compare);
	for (i = 0; i < ranges->count; i++)
		first[sorted[i].index] = !i || sorted[i].file != sorted[i - 1].file;
	free(sorted);
	return first;
}

/* Looks at one range of each file: others would lead to the same variable. */
static void load_find_descriptors(struct jit_load *load)
{
	const struct ranges *ranges = &load->proc->ranges;
	bool *first = ranges_first_of_file(ranges);
	size_t i, files = 0;

	for (i = 0; i < ranges->count && files < JIT_FILES; i++) {
		if (!first[i] || range_is_memory(load, &ranges->range[i]))
			continue;
		load_look_into(load, &ranges->range[i]);
		files++;
	}
	free(first);
}

static int load_read(struct jit_load *load, struct jit_objects *objects)
{
	u64 before = load->memory.left;
	size_t i;

	for (i = 0; i < load->ndescriptors; i++)
		if (jit_objects_read(&load->memory, load->descriptor[i], objects,
				     &load->result->error))
			return -1;
	/* jit_objects_read() takes a limit that is used up to the last byte for exceeded: hence one more. */
	load->again = before - load->memory.left + 1;
	return 0;
}

/* Give the module the table of one range, unless it has the same already. */
static int load_add_table(struct jit_load *load, const struct range *range,
			  const struct compile_result *table)
{
	struct range laid = { .start = range->start, .end = range->end, .offset = range->start };
	const struct netlink_file *file = netlink_files_find(load->files, range->file);
	const struct bee_table_header *header = table->table.header;
	int fd, ret;

	if (file && file->loaded && file->identity_len == header->id_len &&
	    !memcmp(file->identity, header->id, header->id_len))
		return 0;
	fd = io_memfd("beeunwind-table", table->blob, table->size);
	if (fd < 0)
		return error_set(&load->result->error, errno, "no memory for a table: %s",
				 strerror(errno));
	ret = netlink_table_new(load->nl, fd, load->pid, load->result->name, &laid.file,
				&load->result->error);
	close(fd);
	if (ret)
		return -1;
	ranges_append(&load->diff.del, range);
	ranges_append(&load->diff.add, &laid);
	load->bytes += table->size;
	return 0;
}

/* No object has FDEs for this range: if it has a table, that goes. */
static void load_drop_table(struct jit_load *load, const struct range *range)
{
	const struct netlink_file *file = netlink_files_find(load->files, range->file);
	struct range bare = { .start = range->start, .end = range->end };

	if (!file || !file->loaded)
		return;
	ranges_append(&load->diff.del, range);
	ranges_append(&load->diff.add, &bare);
}

/* Whether somebody has removed the table of a range: then it is to have none. */
static bool range_is_banned(const struct jit_load *load, const struct range *range)
{
	const struct netlink_file *file = netlink_files_find(load->files, range->file);

	return file && !file->loaded;
}

static int load_make_tables(struct jit_load *load, const struct jit_objects *objects)
{
	const struct ranges *ranges = &load->proc->ranges;
	struct compile_result table;
	struct bee_error why;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < ranges->count; i++) {
		const struct range *range = &ranges->range[i];

		if (!range_is_memory(load, range) || range_is_banned(load, range))
			continue;
		if (!jit_objects_cover(objects, range->start, range->end)) {
			load_drop_table(load, range);
			continue;
		}
		if (maps_are_writable(&load->maps, range->start, range->end)) {
			error_set(&load->result->error, 0, "its code stays writable, and may change unnoticed");
			continue;
		}
		if (!jit_table_make(&load->memory, objects, range->start, range->end, &table, &why))
			ret = load_add_table(load, range, &table);
		else
			load->result->error = why;
		compile_result_free(&table);
	}
	return ret;
}

/* Remove tables that were not laid: otherwise they would stay until the process ends. */
static void load_drop_tables(struct jit_load *load)
{
	struct bee_error ignored;
	size_t i;

	for (i = 0; i < load->diff.add.count; i++)
		if (load->diff.add.range[i].file)
			netlink_table_del(load->nl, load->diff.add.range[i].file, true, &ignored);
}

static void load_count(const struct jit_load *load)
{
	size_t i;

	for (i = 0; i < load->diff.add.count; i++) {
		load->result->tables += load->diff.add.range[i].file != 0;
		load->result->removed += !load->diff.add.range[i].file;
	}
	load->result->bytes += load->bytes;
}

/* Return: 0, -1 with the result's error, or 1: start again. */
static int load_lay(struct jit_load *load, const struct jit_objects *objects)
{
	struct jit_objects again = {};
	int ret;

	/* Set apart the bytes that the second reading takes. */
	if (load->again > load->memory.left) {
		load->memory.left = 0;
		return 1;
	}
	load->memory.left -= load->again;
	ret = load_make_tables(load, objects);
	load->memory.left += load->again;
	if (!ret && load->diff.add.count) {
		if (load_read(load, &again) || !jit_objects_are_same(objects, &again))
			ret = 1;
		else
			ret = netlink_proc_update(load->nl, load->proc, &load->diff,
						  &load->result->error);
	}
	if (ret < 0 && load->result->error.code == ESTALE) {
		load->result->error = (struct bee_error){};
		ret = 1;
	}
	if (ret)
		load_drop_tables(load);
	else
		load_count(load);
	jit_objects_free(&again);
	return ret;
}

static bool load_has_memory(const struct jit_load *load)
{
	size_t i;

	for (i = 0; i < load->proc->ranges.count; i++)
		if (range_is_memory(load, &load->proc->ranges.range[i]))
			return true;
	return false;
}

/* As load_lay(). */
static int load_try_objects(struct jit_load *load)
{
	struct jit_objects objects = {};
	int ret = 0;

	load_find_descriptors(load);
	if (!load->ndescriptors)
		return 0;
	/* The list is not locked: while the process changes it, it cannot be followed. */
	if (load_read(load, &objects))
		ret = 1;
	load->result->objects = objects.count;
	if (!ret) {
		jit_objects_settle(&objects);
		ret = load_lay(load, &objects);
	}
	jit_objects_free(&objects);
	return ret;
}

/* As load_lay(). */
static int load_try(struct jit_load *load, const struct table_maker *maker)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/mem", load->pid);
	load->memory.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (load->memory.fd < 0)
		return error_set(&load->result->error, errno, "its memory cannot be read: %s",
				 strerror(errno));
	ret = maps_read_process(load->pid, &load->maps, &load->result->error);
	if (!ret)
		ret = remap_job_lay(maker, load->nl, load->proc, &load->maps, &load->memory,
				    load->end, load->result);
	if (!ret && load_has_memory(load))
		ret = load_try_objects(load);
	close(load->memory.fd);
	return ret;
}

/*
 * Look at the ranges of a process and at its code.  @fresh: what attempts have in common, with the bytes that
 * are left for all of them.  Return: as load_lay().
 */
static int load_begin(struct jit_load *fresh, const struct table_maker *maker)
{
	struct jit_load load = *fresh;
	struct table_look look;
	int ret = table_jobs_look(load.nl, load.pid, &look, &load.result->error);

	if (!ret && look.procs.count) {
		load.files = &look.files;
		load.proc = &look.procs.proc[0];
		load.proc->pid = load.pid;
		if (load_has_memory(&load))
			ret = load_try(&load, maker);
	}
	fresh->memory.left = load.memory.left;
	ranges_free(&load.diff.del);
	ranges_free(&load.diff.add);
	maps_free(&load.maps);
	free(load.descriptor);
	table_jobs_look_free(&look);
	return ret;
}

/**
 * jit_jobs_look() - look at the code that a process has in memory, and lay tables over it
 * @maker: the module, and how tables of files are made
 * @pid: the process
 * @out: takes a struct jit_result
 *
 * For a child of its own, which SIGALRM ends if the process takes too long.
 */
void jit_jobs_look(const struct table_maker *maker, pid_t pid, FILE *out)
{
	struct jit_result result = {};
	struct jit_load load = {
		.pid = pid, .result = &result, .memory.left = JIT_BYTES,
		.end = clock_ms() + TABLE_JOBS_PATIENCE * 1000,
	};
	const int cache = cache_fd(maker->cache);
	int try, ret = 1;

	signal(SIGALRM, SIG_DFL);
	child_let_go(out, &cache, 1);
	table_jobs_limit();
	alarm(JIT_SECONDS);
	load.nl = netlink_clone(maker->nl, &result.error);
	for (try = 0; load.nl && ret > 0 && try < JIT_TRIES && load.memory.left; try++) {
		result.error = (struct bee_error){};
		ret = load_begin(&load, maker);
	}
	if (load.nl && ret > 0 && !load.memory.left)
		error_set(&result.error, 0, MEMORY_USED_UP);
	else if (load.nl && ret > 0 && !result.error.text[0])
		error_set(&result.error, EAGAIN, "it changes its code too often");
	netlink_close(load.nl);
	fwrite(&result, sizeof(result), 1, out);
}

/* A child_work_fn */
static void jit_work(void *arg, size_t index, FILE *out)
{
	const struct jit_jobs *jobs = arg;

	jit_jobs_look(jobs->maker, jobs->pid[index], out);
}

/**
 * jit_jobs_result() - what a child has written
 * @data: by jit_jobs_look()
 * @size: bytes of @data
 * @died: how the child ended if not as it should, or NULL
 *
 * Return: the result.
 */
struct jit_result jit_jobs_result(const void *data, size_t size, const char *died)
{
	struct jit_result result = {};

	if (!died && size == sizeof(result))
		memcpy(&result, data, sizeof(result));
	else
		error_set(&result.error, 0, "the process that looks for its JIT code %s%s",
			  died ? "was " : "has failed", died ?: "");
	return result;
}

static void jit_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct jit_result result = jit_jobs_result(data, size, died);
	const struct jit_jobs *jobs = arg;

	if (jobs->done)
		jobs->done(jobs->arg, jobs->pid[index], &result);
}

static uid_t jit_owner(const void *arg, size_t index)
{
	const struct jit_jobs *jobs = arg;

	return child_owner(jobs->pid[index]);
}

/**
 * jit_jobs_run() - give the module tables of the JIT code of processes
 * @jobs: which
 *
 * Return: 0; or -1 and errno, if no child could be made.
 */
int jit_jobs_run(const struct jit_jobs *jobs)
{
	const struct parallel parallel = {
		.count = jobs->count, .jobs = jobs->jobs, .arg = (void *)jobs, .work = jit_work,
		.owner = jit_owner, .patience = TABLE_JOBS_IDLE, .done = jit_done,
	};

	return jobs->count ? parallel_run(&parallel) : 0;
}

/**
 * jit_jobs_run_all() - give the module tables of the JIT code of all managed processes
 * @maker: the module, and how tables of files are made.  If its no_jit is set this does nothing.
 * @done: called with the result of each process that has executable memory without a file; NULL: nobody wants to know
 * @arg: for @done
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int jit_jobs_run_all(const struct table_maker *maker, jit_done_fn *done, void *arg, struct bee_error *error)
{
	struct jit_jobs jobs = { .maker = maker, .jobs = maker->jobs, .arg = arg, .done = done };
	struct netlink_procs procs;
	pid_t *pid;
	size_t i;
	int ret;

	if (maker->no_jit)
		return 0;
	ret = netlink_procs_get(maker->nl, 0, &procs, error);
	pid = alloc_array(NULL, procs.count + 1, sizeof(*pid));
	for (i = 0; i < procs.count; i++)
		if (procs.proc[i].pid && jit_jobs_concern(&procs.proc[i]))
			pid[jobs.count++] = procs.proc[i].pid;
	netlink_procs_free(&procs);
	jobs.pid = pid;
	if (!ret && jit_jobs_run(&jobs))
		ret = error_set(error, errno, "cannot start a process: %s", strerror(errno));
	free(pid);
	return ret;
}
