// SPDX-License-Identifier: GPL-2.0
/*
 * Give text that a process has remapped into memory without a file the table of its file.  No table
 * is made of memory: the range only has to refer to the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "elf.h"
#include "map_file.h"
#include "remap_job.h"
#include "remapped.h"

/**
 * struct remap_job - one look at a process
 * @maker: how tables are made
 * @nl: the module
 * @proc: its ranges
 * @memory: the process's
 * @maps: what it has mapped, read after its ranges
 * @end: when tables have to be ready, CLOCK_MONOTONIC, ms
 * @result: of the process
 * @diff: ranges that get a file
 * @known: @file is the one of @inode on @device; if @fd is -1, it cannot be opened
 * @device: of the file that was looked at last
 * @inode: and its number
 * @fd: the file
 * @pin: the file, as map_file_pin()
 * @elf: its headers
 * @id: the module's name for it, once it has a table; 0: it has none yet
 */
struct remap_job {
	const struct table_maker *maker;
	struct netlink		*nl;
	struct netlink_proc	*proc;
	struct memory		*memory;
	const struct maps	*maps;
	int64_t			 end;
	struct jit_result	*result;
	struct range_diff	 diff;
	bool			 known;
	uint64_t		 device;
	uint64_t		 inode;
	int			 fd;
	int			 pin;
	struct elf_file		 elf;
	uint32_t		 id;
};

static void job_close_file(struct remap_job *job)
{
	if (!job->known)
		return;
	elf_close(&job->elf);
	if (job->fd >= 0)
		close(job->fd);
	if (job->pin >= 0)
		close(job->pin);
	job->known = false;
}

/* Open the file of a mapping, unless it is the one that is open.  Return: whether it is open. */
static bool job_open_file(struct remap_job *job, const struct maps_entry *entry)
{
	struct mapping mapping = {
		.pid = job->proc->pid, .start = entry->start, .end = entry->end, .path = "",
	};
	struct bee_error ignored;

	if (job->known && job->device == entry->device && job->inode == entry->inode)
		return job->fd >= 0;
	job_close_file(job);
	job->known = true;
	job->device = entry->device;
	job->inode = entry->inode;
	job->id = 0;
	job->elf = (struct elf_file){};
	job->pin = map_file_pin(&mapping);
	job->fd = job->pin < 0 ? -1 : map_file_open(&mapping, job->pin, &ignored);
	if (job->fd < 0 || !elf_identify(&job->elf, job->fd, &ignored))
		return job->fd >= 0;
	close(job->fd);
	job->fd = -1;
	return false;
}

/* The name of the open file, for people. */
static void job_file_name(const struct remap_job *job, char *name, size_t size)
{
	char link[32];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", job->pin);
	length = readlink(link, name, size - 1);
	name[length < 0 ? 0 : length] = '\0';
}

/*
 * Give the module the file's table; the file's text may be mapped nowhere.  That takes until @job->end at
 * most, and not of the time that the caller's alarm leaves for the look.
 * Return: 0, -1, or 1: no time is left for it.
 */
static int job_make_table(struct remap_job *job)
{
	struct table_want want = { .pin = job->pin, .mapping.pid = job->proc->pid };
	struct netlink_file file = {};
	int64_t seconds = (job->end - clock_ms()) / 1000;
	struct table_result made;
	unsigned int left;

	if (job->id)
		return 0;
	job_file_name(job, want.name, sizeof(want.name));
	if (seconds <= 0) {
		error_set(&job->result->error, 0, "no time is left for the table of %.300s",
			  want.name);
		return 1;
	}
	left = alarm(seconds);
	made = table_jobs_make_one(job->maker, job->nl, &want, NULL);
	alarm(left);
	job->result->compiled += made.source == TABLE_COMPILED;
	job->result->cached += made.source == TABLE_CACHED;
	if (made.source == TABLE_NONE)
		return error_set(&job->result->error, made.error.code, "%.100s: %.300s", want.name,
				 made.error.text);
	if (netlink_file_get(job->nl, job->fd, &file, &job->result->error))
		return -1;
	job->id = file.id;
	return 0;
}

/* Return: 0 or -1; 0 also if the range is not text of a file, or that cannot be found out. */
static int job_look_at(struct remap_job *job, const struct range *range)
{
	struct range laid = { .start = range->start, .end = range->end };
	struct remapped remapped;
	char name[256];
	int ret;

	if (!remapped_find(job->maps, range->start, range->end, &remapped) ||
	    !job_open_file(job, &remapped.before) || !remapped_place(&job->elf, &remapped))
		return 0;
	if (!remapped_is_text(job->memory, job->fd, &remapped)) {
		job_file_name(job, name, sizeof(name));
		error_set(&job->result->error, 0, "at %#" PRIx64 " memory is in the place of text "
			  "of %s, and has other bytes, or cannot be read", range->start, name);
		return 0;
	}
	ret = job_make_table(job);
	if (ret)
		return ret < 0 ? -1 : 0;
	laid.offset = remapped.offset;
	laid.file = job->id;
	ranges_append(&job->diff.del, range);
	ranges_append(&job->diff.add, &laid);
	return 0;
}

/* The module has applied the diff: change the ranges of @job->proc in the same way. */
static void job_note_laid(struct remap_job *job)
{
	struct ranges *ranges = &job->proc->ranges;
	size_t i, k = 0;

	for (i = 0; i < ranges->count && k < job->diff.add.count; i++)
		if (ranges->range[i].start == job->diff.add.range[k].start)
			ranges->range[i] = job->diff.add.range[k++];
	job->result->remapped += k;
}

/**
 * remap_job_lay() - give remapped text of a process the tables of its files
 * @maker: how these are made; its connection is not used
 * @nl: the module
 * @proc: the process with its ranges; both are brought up to date
 * @maps: its mappings, read after its ranges
 * @memory: of the process
 * @end: when tables of files have to be ready, CLOCK_MONOTONIC, ms; a file that is reached later gets none
 * @result: remapped, compiled, cached and error are filled
 *
 * For a child, as jit_jobs_run() has, after table_jobs_limit().
 *
 * Return: 0; -1 with the result's error; or 1: the process has changed its mappings meanwhile.
 */
int remap_job_lay(const struct table_maker *maker, struct netlink *nl, struct netlink_proc *proc,
		  const struct maps *maps, struct memory *memory, int64_t end,
		  struct jit_result *result)
{
	struct remap_job job = {
		.maker = maker, .nl = nl, .proc = proc, .memory = memory, .maps = maps,
		.end = end, .result = result,
	};
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < proc->ranges.count; i++)
		if (!proc->ranges.range[i].file)
			ret = job_look_at(&job, &proc->ranges.range[i]);
	if (!ret && job.diff.add.count)
		ret = netlink_proc_update(nl, proc, &job.diff, &result->error);
	if (!ret)
		job_note_laid(&job);
	if (ret && result->error.code == ESTALE) {
		result->error = (struct bee_error){};
		ret = 1;
	}
	job_close_file(&job);
	ranges_free(&job.diff.del);
	ranges_free(&job.diff.add);
	return ret;
}
