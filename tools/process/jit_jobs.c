// SPDX-License-Identifier: GPL-2.0
/*
 * Give the module tables of code that JIT compilers have in the memory of processes, and of text that
 * a process has remapped into memory without a file, and the code heaps of Java virtual machines.
 *
 * The process changes its memory meanwhile, and may have filled it in order to do harm.  So a child
 * reads it, with limits on its time and on the bytes it reads.  A table is used only if a second
 * reading finds the same code, registered in the same way and mapped at the same place.  Otherwise the
 * child starts again.
 *
 * Code in memory that stays writable gets no table: it may be written over at any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "elf.h"
#include "hotspot.h"
#include "io.h"
#include "jit_jobs.h"
#include "jit_table.h"
#include "maps.h"
#include "parallel.h"
#include "remapped.h"

/* Limits for one look at a process, with all attempts; beside the time that tables of files take. */
#define JIT_SECONDS	30
#define JIT_TRIES	5
#define JIT_BYTES	(256ull << 20)
#define JIT_FILES	4096

/**
 * struct jit_load - one attempt
 * @maker: how tables of files are made
 * @nl: the module
 * @pid: the process
 * @uid: its user
 * @code: its ranges so far
 * @maps: what it has mapped, read after that
 * @memory: the process's
 * @again: bytes of its memory that a second reading of the objects takes
 * @descriptor: addresses of the variables by which JIT compilers tell of code
 * @ndescriptors: entries in @descriptor
 * @room: entries of @descriptor there is memory for
 * @hotspot: addresses of the variables of a Java virtual machine; the first is 0 if there is none
 * @heaps: its code heaps; nr 0: none
 * @diff: for the module; in @add ranges with new tables
 * @made: what is counted if that is applied
 * @result: of the process
 */
struct jit_load {
	const struct table_maker *maker;
	struct netlink		*nl;
	pid_t			 pid;
	uid_t			 uid;
	struct netlink_code	 code;
	struct maps		 maps;
	struct memory		 memory;
	u64			 again;
	uint64_t		*descriptor;
	size_t			 ndescriptors;
	size_t			 room;
	u64			 hotspot[HOTSPOT_VARIABLES];
	struct bee_code_heaps	 heaps;
	struct range_diff	 diff;
	struct jit_result	 made;
	struct jit_result	*result;
};

/* Open the file of a mapping, and read its headers.  Return: a descriptor, or -1 and nothing to close. */
static int load_open(const struct jit_load *load, const struct maps_entry *entry, char *name, size_t size,
		     struct elf_file *elf)
{
	struct mapping mapping = { load->pid, entry->start, entry->end };
	struct bee_error ignored;
	int fd = map_file_open(&mapping, name, size, &ignored);

	*elf = (struct elf_file){};
	if (fd < 0 || !elf_identify(elf, fd, &ignored))
		return fd;
	elf_close(elf);
	close(fd);
	return -1;
}

/*
 * Look in a mapped file for the variables that tell of code in memory.  What is no ELF file, or cannot be opened, has
 * none.
 */
static void load_look_into(struct jit_load *load, const struct maps_entry *entry)
{
	u64 hotspot[HOTSPOT_VARIABLES];
	struct elf_file elf;
	u64 vaddr, address;
	char name[256];
	int fd = load_open(load, entry, name, sizeof(name), &elf);

	if (fd < 0)
		return;
	if (hotspot_find(&elf, entry, hotspot))
		memcpy(load->hotspot, hotspot, sizeof(hotspot));
	else if (hotspot_is_named(entry->path))
		error_set(&load->result->error, 0, "its Java virtual machine is not HotSpot: it has no gHotSpotVMStructs");
	if (elf_find_object(&elf, JIT_DESCRIPTOR, &vaddr) && maps_find_address(entry, &elf, vaddr, &address)) {
		load->descriptor = alloc_room(load->descriptor, load->ndescriptors, &load->room,
					      sizeof(*load->descriptor));
		load->descriptor[load->ndescriptors++] = address;
		if (!load->result->name[0])
			snprintf(load->result->name, sizeof(load->result->name), "[jit] %.100s",
				 basename(name));
	}
	elf_close(&elf);
	close(fd);
}

/* Whether an executable mapping of the same file is before that at @at: it would lead to the same variable. */
static bool maps_have_before(const struct maps *maps, size_t at)
{
	const struct maps_entry *entry = maps->entry;
	size_t i;

	/* Mappings of one file are near each other. */
	for (i = at; i-- > 0 && at - i < 64;)
		if (entry[i].path && entry[i].inode == entry[at].inode && entry[i].device == entry[at].device)
			return true;
	return false;
}

static void load_find_variables(struct jit_load *load)
{
	size_t i, files = 0;

	for (i = 0; i < load->maps.count && files < JIT_FILES; i++) {
		const struct maps_entry *entry = &load->maps.entry[i];

		if (!entry->path || !entry->inode || maps_have_before(&load->maps, i))
			continue;
		load_look_into(load, entry);
		files++;
	}
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

/* Whether a mapping is a part of a code heap, which needs no table. */
static bool load_has_heap_at(const struct jit_load *load, const struct maps_entry *entry)
{
	u32 i;

	for (i = 0; i < load->heaps.nr; i++)
		if (entry->start >= load->heaps.heap[i].start && entry->start < load->heaps.heap[i].end)
			return true;
	return false;
}

/* The range that the module has at exactly the place of a mapping, or NULL. */
static const struct range *load_find_range(const struct jit_load *load, const struct maps_entry *entry)
{
	const struct ranges *ranges = &load->code.ranges;
	size_t i;

	for (i = 0; i < ranges->count; i++)
		if (ranges->range[i].start == entry->start && ranges->range[i].end == entry->end)
			return &ranges->range[i];
	return NULL;
}

/*
 * Have @entry get a table, unless its range has the same already.
 * Return: 1 if it is new, 0 if it is not, -1 with the result's error.
 */
static int load_add_table(struct jit_load *load, const struct maps_entry *entry, uint64_t offset,
			  const void *blob, const struct bee_table *table, const char *name)
{
	struct range laid = { .start = entry->start, .end = entry->end, .offset = offset };
	const struct range *range = load_find_range(load, entry);
	const struct bee_table_header *header = table->header;
	struct netlink_file file;
	struct bee_error ignored;
	int fd, ret;

	load->made.laid++;
	if (range && range->offset == offset && !netlink_file_get_id(load->nl, range->file, &file, &ignored) &&
	    file.identity_len == header->id_len && !memcmp(file.identity, header->id, header->id_len)) {
		ranges_append(&load->diff.add, range);
		return 0;
	}
	fd = io_memfd("beeunwind-table", blob, table->size);
	if (fd < 0)
		return error_set(&load->result->error, errno, "no memory for a table: %s",
				 strerror(errno));
	ret = netlink_table_new(load->nl, fd, load->pid, load->uid, name, &laid.file, &load->result->error);
	close(fd);
	if (ret)
		return -1;
	ranges_append(&load->diff.add, &laid);
	load->made.bytes += table->size;
	return 1;
}

/* The table of code that the process has registered.  Return: 0 or -1. */
static int load_add_code(struct jit_load *load, const struct jit_objects *objects,
			 const struct maps_entry *entry)
{
	struct compile_result table;
	int ret = 0;

	if (entry->writable) {
		error_set(&load->result->error, 0, "its code stays writable, and may change unnoticed");
		return 0;
	}
	if (!jit_table_make(&load->memory, objects, entry->start, entry->end, &table, &load->result->error))
		ret = load_add_table(load, entry, entry->start, table.blob, &table.table,
				     load->result->name);
	load->made.tables += ret > 0;
	compile_result_free(&table);
	return ret < 0 ? -1 : 0;
}

/*
 * The table of the file whose text a process has moved to @entry.  The time that takes is not of that which
 * the look may take.  Return: 0 or -1; 0 also if it is not text of a file, or that cannot be found out.
 */
static int load_add_text(struct jit_load *load, const struct maps_entry *entry)
{
	struct remapped remapped;
	struct lossy_report report;
	struct table_file table;
	struct elf_file elf;
	unsigned int left;
	char name[256];
	int fd, ret = 0;

	if (entry->writable || !remapped_find(&load->maps, entry->start, entry->end, &remapped))
		return 0;
	fd = load_open(load, &remapped.before, name, sizeof(name), &elf);
	if (fd < 0)
		return 0;
	if (!remapped_place(&elf, &remapped)) {
		;
	} else if (!remapped_is_text(&load->memory, fd, &remapped)) {
		error_set(&load->result->error, 0, "at %#llx memory is in the place of text of %s, and has "
			  "other bytes, or cannot be read", (unsigned long long)entry->start, name);
	} else {
		left = alarm(TABLE_JOBS_PATIENCE);
		if (table_file_get(load->maker->cache, fd, name, NULL, &load->maker->lossy, &report, &table,
				   &load->result->error) != TABLE_NONE)
			ret = load_add_table(load, entry, remapped.offset, table.blob, &table.table, name);
		alarm(left);
		load->made.remapped += ret > 0;
		table_file_close(&table);
	}
	elf_close(&elf);
	close(fd);
	return ret < 0 ? -1 : 0;
}

static bool range_is(const struct range *range, const struct range *other)
{
	return range->start == other->start && range->end == other->end && range->offset == other->offset &&
	       range->file == other->file;
}

/* @load->diff.add has all ranges that are to be there: leave out those that are, and remove those that are not. */
static void load_make_diff(struct jit_load *load)
{
	struct range_diff *diff = &load->diff;
	const struct ranges *ranges = &load->code.ranges;
	size_t i, k, kept = 0;

	for (i = 0; i < ranges->count; i++) {
		for (k = 0; k < diff->add.count && !range_is(&ranges->range[i], &diff->add.range[k]); k++)
			;
		if (k == diff->add.count)
			ranges_append(&diff->del, &ranges->range[i]);
	}
	for (i = 0; i < diff->add.count; i++) {
		for (k = 0; k < ranges->count && !range_is(&ranges->range[k], &diff->add.range[i]); k++)
			;
		if (k == ranges->count)
			diff->add.range[kept++] = diff->add.range[i];
	}
	diff->add.count = kept;
	load->made.removed = diff->del.count;
}

/* Whether what has tables is still mapped as it was. */
static bool load_is_mapped(const struct jit_load *load)
{
	struct bee_error ignored;
	struct maps maps = {};
	size_t i, k;
	bool is = !maps_read_process(load->pid, &maps, &ignored);

	for (i = 0; is && i < load->diff.add.count; i++) {
		const struct range *range = &load->diff.add.range[i];

		for (k = 0; k < maps.count && maps.entry[k].start != range->start; k++)
			;
		is = k < maps.count && maps.entry[k].end == range->end && maps_is_memory(&maps.entry[k]) &&
		     !maps.entry[k].writable;
	}
	maps_free(&maps);
	return is;
}

/* Return: 0, -1 with the result's error, or 1: start again. */
static int load_lay(struct jit_load *load, const struct jit_objects *objects)
{
	const bool new_heaps = memcmp(&load->heaps, &load->code.heaps, sizeof(load->heaps));
	struct jit_objects again = {};
	struct bee_error ignored;
	int ret = 0;
	size_t i;

	/* Set apart the bytes that the second reading takes. */
	if (load->again > load->memory.left) {
		load->memory.left = 0;
		return 1;
	}
	load->memory.left -= load->again;
	for (i = 0; !ret && i < load->maps.count; i++) {
		const struct maps_entry *entry = &load->maps.entry[i];

		if (!maps_is_memory(entry) || load_has_heap_at(load, entry))
			continue;
		ret = jit_objects_cover(objects, entry->start, entry->end) ?
		      load_add_code(load, objects, entry) : load_add_text(load, entry);
	}
	load->memory.left += load->again;
	if (!ret && load->diff.add.count &&
	    (load_read(load, &again) || !jit_objects_are_same(objects, &again) || !load_is_mapped(load)))
		ret = 1;
	load_make_diff(load);
	/* The request is sent even if it changes no range: ranges hold until the kernel changes their mappings. */
	if (!ret && (load->diff.add.count || load->code.ranges.count || load->heaps.nr || load->code.heaps.nr))
		ret = netlink_code_update(load->nl, &load->code, &load->diff,
					  new_heaps ? &load->heaps : NULL, &load->result->error);
	load->made.heaps = load->heaps.nr;
	load->made.new_heaps = new_heaps && load->heaps.nr;
	if (ret < 0 && load->result->error.code == ESTALE) {
		load->result->error = (struct bee_error){};
		ret = 1;
	}
	/* The module would keep tables that were not laid, or that were replaced, until the process ends. */
	for (i = 0; ret && i < load->diff.add.count; i++)
		netlink_table_del(load->nl, load->diff.add.range[i].file, &ignored);
	for (i = 0; !ret && i < load->diff.del.count; i++)
		netlink_table_del(load->nl, load->diff.del.range[i].file, &ignored);
	jit_objects_free(&again);
	return ret;
}

/* Open the memory of a process, and find out what tells of its code.  Return: 0, or -1 and nothing is open. */
static int load_open_memory(struct jit_load *load)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", load->pid);
	load->memory.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (load->memory.fd < 0)
		return error_set(&load->result->error, errno, "its memory cannot be read: %s",
				 strerror(errno));
	load_find_variables(load);
	if (load->hotspot[0] && hotspot_read(&load->memory, load->hotspot, &load->heaps, &load->result->error))
		load->heaps = (struct bee_code_heaps){};
	return 0;
}

/* Lay tables for the code of a process whose memory is open.  Return: as load_lay(). */
static int load_try_memory(struct jit_load *load)
{
	struct jit_objects objects = {};
	int ret = 0;

	if (load_open_memory(load))
		return -1;
	/* The list is not locked: while the process changes it, it cannot be followed. */
	if (load_read(load, &objects))
		ret = 1;
	load->result->objects = objects.count;
	if (!ret) {
		jit_objects_settle(&objects);
		ret = load_lay(load, &objects);
	}
	jit_objects_free(&objects);
	close(load->memory.fd);
	return ret;
}

/*
 * Look at the ranges of a process and at its code.  @fresh: what attempts have in common, with the bytes that
 * are left for all of them.  Return: as load_lay().
 */
static int load_begin(struct jit_load *fresh)
{
	struct jit_result *result = fresh->result;
	struct jit_load load = *fresh;
	struct netlink_codes codes;
	bool has_memory = false;
	size_t i;
	int ret = netlink_codes_get(load.nl, load.pid, &codes, &result->error) ?:
		  maps_read_process(load.pid, &load.maps, &result->error);

	load.code = codes.count ? codes.code[0] : (struct netlink_code){};
	load.code.pid = load.pid;
	for (i = 0; i < load.maps.count; i++)
		has_memory |= maps_is_memory(&load.maps.entry[i]);
	if (!ret && (has_memory || load.code.ranges.count || load.code.heaps.nr))
		ret = load_try_memory(&load);
	if (!ret) {
		result->laid = load.made.laid;
		result->tables = load.made.tables;
		result->remapped = load.made.remapped;
		result->bytes = load.made.bytes;
		result->removed = load.made.removed;
		result->heaps = load.made.heaps;
		result->new_heaps = load.made.new_heaps;
	}
	fresh->memory.left = load.memory.left;
	ranges_free(&load.diff.del);
	ranges_free(&load.diff.add);
	maps_free(&load.maps);
	free(load.descriptor);
	netlink_codes_free(&codes);
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
		.maker = maker, .pid = pid, .result = &result, .memory.left = JIT_BYTES,
	};
	const int cache = cache_fd(maker->cache);
	int try, ret = 1;
	char path[32];
	struct stat st;

	signal(SIGALRM, SIG_DFL);
	child_let_go(out, &cache, 1);
	table_jobs_limit();
	alarm(JIT_SECONDS);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (!stat(path, &st))
		load.uid = st.st_uid;
	load.nl = netlink_clone(maker->nl, &result.error);
	for (try = 0; load.nl && ret > 0 && try < JIT_TRIES && load.memory.left; try++) {
		result.error = (struct bee_error){};
		ret = load_begin(&load);
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
 * jit_jobs_run_mapped() - as jit_jobs_run(), for the processes that have executable memory without a file
 * @maker: the module, and how tables of files are made.  If its no_jit is set this does nothing.
 * @list: what processes have mapped
 * @done: called with the result of each; NULL: nobody wants to know
 * @arg: for @done
 *
 * Return: 0; or -1 and errno, if no child could be made.
 */
int jit_jobs_run_mapped(const struct table_maker *maker, const struct mapped_list *list, jit_done_fn *done,
			void *arg)
{
	struct jit_jobs jobs = { .maker = maker, .jobs = maker->jobs, .arg = arg, .done = done };
	pid_t *pid;
	size_t i;
	int ret;

	if (maker->no_jit || !list->count)
		return 0;
	pid = alloc_array(NULL, list->count, sizeof(*pid));
	for (i = 0; i < list->count; i++) {
		const struct mapped *mapped = &list->at[i];

		/* Memory of one process stays together, however the list is sorted. */
		if (!mapped->inode && strcmp(mapped->path, MAPS_VDSO) &&
		    (!jobs.count || pid[jobs.count - 1] != mapped->mapping.pid))
			pid[jobs.count++] = mapped->mapping.pid;
	}
	jobs.pid = pid;
	ret = jit_jobs_run(&jobs);
	free(pid);
	return ret;
}

/* A child_work_fn */
static void java_work(void *arg, size_t index, FILE *out)
{
	const struct jit_jobs *jobs = arg;
	struct jit_result result = {};
	struct jit_load load = { .pid = jobs->pid[index], .result = &result, .memory.left = JIT_BYTES };

	signal(SIGALRM, SIG_DFL);
	child_let_go(out, NULL, 0);
	table_jobs_limit();
	alarm(JIT_SECONDS);
	if (!maps_read_process(load.pid, &load.maps, &result.error) && !load_open_memory(&load))
		result.heaps = load.heaps.nr;
	fwrite(&result, sizeof(result), 1, out);
}

/* A jit_done_fn */
static void java_done(void *arg, pid_t pid, const struct jit_result *result)
{
	(void)pid;
	*(struct jit_result *)arg = *result;
}

/**
 * jit_jobs_find_java() - whether the code heaps of a process's Java virtual machine can be found
 * @pid: the process
 * @error: filled if not
 *
 * Return: 0 or -1.
 */
int jit_jobs_find_java(pid_t pid, struct bee_error *error)
{
	struct jit_result result = {};
	const struct jit_jobs jobs = { .pid = &pid, .count = 1, .arg = &result, .done = java_done };
	const struct parallel parallel = {
		.count = 1, .jobs = 1, .arg = (void *)&jobs, .work = java_work, .owner = jit_owner,
		.patience = TABLE_JOBS_IDLE, .done = jit_done,
	};

	if (parallel_run(&parallel))
		return error_set(error, errno, "cannot start a process: %s", strerror(errno));
	*error = result.error;
	return result.heaps ? 0 : -1;
}
