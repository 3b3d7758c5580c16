// SPDX-License-Identifier: GPL-2.0
/* From a recording of perf to a profile: each address becomes a place in a file. */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "collect.h"
#include "cursor.h"
#include "jitdump.h"
#include "spaces.h"
#include "text.h"

#define CONTEXT_MARK		(~0ull - 4094)	/* PERF_CONTEXT_MAX: from here on no addresses */
#define CONTEXT_CACHE		(1u << 16)	/* addresses */
#define KERNEL_PID		(~0u)
/* What processes can fill: they map ever new files, under ever new names. */
#define MAX_FILES		(1u << 18)	/* distinct ones */
#define MAX_TEXT		(256u << 20)	/* bytes of all names */
#define KERNEL_MAP		"[kernel.kallsyms]"
/* An event whose samples have the stacks in which threads stop, and a trace_event_raw_sched_switch. */
#define SWITCH_EVENT		"sched:sched_switch"
#define SWITCH_PREV_PID		24	/* offset in bytes */
#define SWITCH_NEXT_PID		56
/* Switches are weighed by time if the ends of so many waits are known for each end that is not. */
#define SWITCH_FEW_LOST		10

/* An address whose frame is known. */
struct known_address {
	u64	address;
	u32	space;
	u32	exact;
	u32	frame;
};

/**
 * struct collector - the work
 * @how: from the caller
 * @profile: filled
 * @data: the recording
 * @spaces: what is mapped at the time of the record
 * @known: addresses of the latest samples
 * @kernel: index of the file that stands for the kernel
 * @kernel_id: the kernel's build-id, as the record of its mapping has it: number of the text, or of ""
 * @unknown: index of the file for addresses that are nowhere
 * @comm: index of the file for threads' names
 * @event: index of the file for events
 * @target: what beectl has recorded, by its process id; 0 if not known
 * @target_name: number of the text that is its name; INTERN_NONE if not known
 * @samples: of each event
 * @period: sum of all periods
 * @start: time of the first sample, also of those that do not count
 * @started: there was one
 * @waits: switches after which the recording says that the thread runs again
 * @waits_lost: switches after which the thread stops again, and the recording has not said that it ran
 * @frame: of a sample, innermost first
 */
struct collector {
	const struct collect	*how;
	struct profile		*profile;
	struct perfdata		 data;
	struct spaces		 spaces;
	struct known_address	*known;
	u32			 kernel;
	u32			 kernel_id;
	u32			 unknown;
	u32			 comm;
	u32			 event;
	u32			 target;
	u32			 target_name;
	u64			 samples[PERFDATA_MAX_EVENTS];
	u64			 period;
	u64			 start;
	bool			 started;
	u64			 waits;
	u64			 waits_lost;
	u32			 frame[PROFILE_MAX_DEPTH];
};

/* Names of mappings that are no files (the kernel's perf_event_mmap_event()), but may have code. */
static bool path_is_memory(const char *path)
{
	static const char *const names[] = {
		"//anon", "/anon_hugepage", "/dev/zero", "/memfd:", "/SYSV", "[heap]", "[stack",
		"[anon", "anon_inode:", "/dev/shm/", "//toolong", "//enomem",
	};
	size_t i;

	if (!*path)
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(path, names[i], strlen(names[i])))
			return true;
	return false;
}

/* The number of a text that a record of a mapping has; INTERN_NONE if it is a new one, and there are too many. */
static u32 collector_text(const struct collector *collector, const char *text)
{
	struct profile *profile = collector->profile;

	return profile->files.count < MAX_FILES && texts_bytes(&profile->texts) < MAX_TEXT ?
	       profile_text(profile, text) : texts_find(&profile->texts, text);
}

/* The file of a mapping; INTERN_NONE if it is a new one, and there are too many. */
static u32 collector_file(struct collector *collector, const struct perfdata_map *map)
{
	struct profile *profile = collector->profile;
	struct profile_file file = { .kind = PROFILE_ELF, .dev = map->dev, .inode = map->inode };
	char id[2 * PERFDATA_MAX_BUILD_ID + 1];
	u32 index, *mapper;

	if (path_is_memory(map->path))
		file = (struct profile_file){ .kind = PROFILE_JIT, .pid = map->pid };
	text_hex(map->build_id.bytes, map->build_id.size, id, sizeof(id));
	file.mapped_id = collector_text(collector, file.kind == PROFILE_ELF ? id : "");
	file.build_id = file.mapped_id;
	file.jitdump = profile_text(profile, "");
	file.path = collector_text(collector, file.kind == PROFILE_ELF ? map->path : "");
	if (file.mapped_id == INTERN_NONE || file.path == INTERN_NONE)
		return INTERN_NONE;
	index = profile->files.count < MAX_FILES || file.kind == PROFILE_JIT ?
		intern_add(&profile->files, &file) : intern_find(&profile->files, &file);
	if (index == INTERN_NONE)
		return index;
	mapper = &profile_file(profile, index)->mapper;
	if (!*mapper || (kill(*mapper, 0) && errno == ESRCH))
		*mapper = map->pid;
	return index;
}

/* perf names a symbol that the kernel's addresses can be compared by: "[kernel.kallsyms]_stext". */
static void collector_map_kernel(struct collector *collector, const struct perfdata_map *map)
{
	struct profile *profile = collector->profile;
	size_t length = strlen(KERNEL_MAP);
	char id[2 * PERFDATA_MAX_BUILD_ID + 1];
	u32 symbol, build_id;

	if (strncmp(map->path, KERNEL_MAP, length) || !map->path[length])
		return;
	text_hex(map->build_id.bytes, map->build_id.size, id, sizeof(id));
	symbol = collector_text(collector, map->path + length);
	build_id = collector_text(collector, id);
	if (symbol == INTERN_NONE || build_id == INTERN_NONE)
		return;
	profile->kernel_symbol = symbol;
	profile->kernel_address = map->offset;
	collector->kernel_id = build_id;
}

/* A process that makes code maps its jitdump file, for its name to be seen here. */
static void collector_map_jitdump(struct collector *collector, const struct perfdata_map *map)
{
	const struct perfdata_map code = { .pid = map->pid, .path = "//anon" };
	u32 file = collector_file(collector, &code), path = collector_text(collector, map->path);

	if (path != INTERN_NONE)
		profile_file(collector->profile, file)->jitdump = path;
}

static void collector_map(void *arg, const struct perfdata_map *map)
{
	struct space_map mapped = { map->start, map->start + map->size, map->offset, 0 };
	struct collector *collector = arg;
	struct spaces *spaces = &collector->spaces;

	if (map->pid == KERNEL_PID) {
		collector_map_kernel(collector, map);
	} else if (jitdump_is(map->path)) {
		collector_map_jitdump(collector, map);
	} else if (!map->executable) {
		spaces_unmap(spaces, map->pid, mapped.start, mapped.end);
	} else if ((mapped.file = collector_file(collector, map)) == INTERN_NONE) {
		spaces_unmap(spaces, map->pid, mapped.start, mapped.end);
		spaces->forgotten++;
	} else {
		if (profile_file(collector->profile, mapped.file)->kind == PROFILE_JIT)
			mapped.offset = map->start;
		spaces_map(spaces, map->pid, &mapped);
	}
}

/* What the kernel says goes before kallsyms, which has neither ends of symbols nor those that are gone. */
static void collector_symbol(void *arg, const struct perfdata_symbol *symbol)
{
	struct collector *collector = arg;
	struct space_map code = { symbol->start, symbol->start + symbol->size, symbol->start };
	u32 name = symbol->gone ? INTERN_NONE : collector_text(collector, symbol->name);

	if (name == INTERN_NONE) {
		spaces_unmap(&collector->spaces, KERNEL_PID, code.start, code.end);
		return;
	}
	code.file = profile_add_file(collector->profile, PROFILE_KERNEL, name);
	spaces_map(&collector->spaces, KERNEL_PID, &code);
}

/* perf's command line, if "beectl record" has written it, says no more of the command than its process id: that, or 0. */
static u32 cmdline_target(const char *cmdline)
{
	const char *control = cmdline ? strstr(cmdline, " record --control=fd:") : NULL;
	u32 pid;

	return control && sscanf(control, " record --control=fd:%*u,%*u -p %u", &pid) == 1 ? pid : 0;
}

/*
 * After an exec, what the old program had mapped stays until something else is mapped there: samples
 * of the rest of that system call still have its callers.
 */
static void collector_comm(void *arg, const struct perfdata_task *task)
{
	struct collector *collector = arg;
	struct task *thread = spaces_task(&collector->spaces, task->tid);

	snprintf(thread->comm, sizeof(thread->comm), "%s", task->comm);
	thread->named = true;
	thread->label = INTERN_NONE;
	if (!collector->target)
		collector->target = cmdline_target(collector->data.cmdline);
	if (task->pid == collector->target && task->tid == task->pid)
		collector->target_name = profile_text(collector->profile, thread->comm);
}

/* A process has ended, or a new one has its number: note it for the code in memory that has this number. */
static void collector_set_ended(struct collector *collector, u32 pid, bool ended)
{
	struct profile *profile = collector->profile;
	const u32 none = profile_text(profile, "");
	const struct profile_file code = {
		.kind = PROFILE_JIT, .pid = pid, .mapped_id = none, .path = none,
	};
	u32 file = intern_find(&profile->files, &code);

	if (file != INTERN_NONE)
		profile_file(profile, file)->ended = ended;
}

static void collector_fork(void *arg, const struct perfdata_task *task)
{
	struct collector *collector = arg;
	const struct task parent = *spaces_task(&collector->spaces, task->parent_tid);
	struct task *thread = spaces_task(&collector->spaces, task->tid);

	thread->wait = INTERN_NONE;
	memcpy(thread->comm, parent.comm, sizeof(thread->comm));
	thread->named = parent.named;
	thread->label = INTERN_NONE;
	if (task->pid == task->parent_pid) {
		spaces_thread(&collector->spaces, task->pid, task->tid);
		return;
	}
	collector_set_ended(collector, task->pid, false);
	if (!task->found)
		spaces_fork(&collector->spaces, task->parent_pid, task->pid);
}

static void collector_exit(void *arg, const struct perfdata_task *task)
{
	struct collector *collector = arg;

	if (spaces_exit(&collector->spaces, task->pid, task->tid))
		collector_set_ended(collector, task->pid, true);
}

/* What a thread is called; @number: room for what it is called if it has no name */
static const char *task_comm(const struct task *task, u32 tid, char number[16])
{
	if (task->named)
		return task->comm;
	if (!tid)
		return "swapper";	/* as perf: the idle threads of all CPUs */
	snprintf(number, 16, ":%u", tid);
	return number;
}

/* The text at the root of a thread's samples. */
static u32 collector_label(struct collector *collector, const struct perfdata_sample *sample)
{
	struct task *task = spaces_task(&collector->spaces, sample->tid);
	char number[16], text[128];
	const char *comm;

	if (task->label != INTERN_NONE)
		return task->label;
	comm = task_comm(task, sample->tid, number);
	if (collector->how->roots == COLLECT_COMM)
		return task->label = profile_text(collector->profile, comm);
	if (collector->how->roots == COLLECT_PID)
		snprintf(text, sizeof(text), "%.64s-%u", comm, sample->pid);
	else
		snprintf(text, sizeof(text), "%.64s-%u/%u", comm, sample->pid, sample->tid);
	return task->label = profile_text(collector->profile, text);
}

static u32 collector_new_frame(struct collector *collector, const struct space *space, u64 ip,
			       bool exact, bool kernel)
{
	/* A call at the end of a mapping returns to the address after it. */
	const struct space_map *map = space_find(space, ip - !exact);

	if (!map)
		return profile_add_frame(collector->profile,
					 kernel ? collector->kernel : collector->unknown, ip, exact);
	return profile_add_frame(collector->profile, map->file, ip - map->start + map->offset,
				 exact);
}

/* @space: of the process, or in the kernel's part of a callchain of what the kernel has made */
static u32 collector_frame(struct collector *collector, const struct space *space, u64 mode,
			   u64 ip, bool exact)
{
	bool kernel = mode == PERF_CONTEXT_KERNEL;
	u32 id = space ? space->id : kernel ? 0 : ~0u;
	struct known_address *known = &collector->known[(ip ^ ip >> 16 ^ id * 40503u) % CONTEXT_CACHE];

	if (!kernel && mode != PERF_CONTEXT_USER)
		return profile_add_frame(collector->profile, collector->unknown, ip, exact);
	if (known->address == ip && known->space == id && known->exact == exact)
		return known->frame;
	*known = (struct known_address){ ip, id, exact,
				 collector_new_frame(collector, space, ip, exact, kernel) };
	return known->frame;
}

/* Fill @collector->frame.  Return: how many. */
static size_t collector_frames(struct collector *collector, const struct perfdata_sample *sample)
{
	const struct space *space = spaces_task(&collector->spaces, sample->pid)->space;
	const struct space *kernel = spaces_task(&collector->spaces, KERNEL_PID)->space;
	u64 mode = sample->mode == PERF_RECORD_MISC_KERNEL ? PERF_CONTEXT_KERNEL :
		   sample->mode == PERF_RECORD_MISC_USER ? PERF_CONTEXT_USER : 0;
	bool exact = true, user = false;
	size_t i, n = 0;

	for (i = 0; i < sample->depth && n < PROFILE_MAX_DEPTH; i++) {
		u64 ip = sample->chain[i];

		/* The kernel writes the user stack last, so it writes no mark after PERF_CONTEXT_USER. */
		if (ip >= CONTEXT_MARK && !user) {
			mode = ip;
			user = mode == PERF_CONTEXT_USER;
			exact = true;
			continue;
		}
		collector->frame[n++] = collector_frame(collector, mode == PERF_CONTEXT_KERNEL ?
							kernel : space, mode, ip, exact);
		exact = false;
	}
	collector->profile->frames_cut += sample->depth - i;
	if (!n)
		collector->frame[n++] = collector_frame(collector, mode == PERF_CONTEXT_KERNEL ?
							kernel : space, mode, sample->ip, true);
	return n;
}

static bool collector_takes(struct collector *collector, const struct perfdata_sample *sample)
{
	const struct task *task = spaces_task(&collector->spaces, sample->tid);
	char number[16];

	if (!collector->started)
		collector->start = sample->time;
	collector->started = true;
	return filter_takes(&collector->how->filter, sample, task_comm(task, sample->tid, number),
			    sample->time - collector->start);
}

/* All that is added up later is part of this sum: what would be more than it can be is left out. */
static void collector_add_period(struct collector *collector, u32 node, u64 period)
{
	if (!__builtin_add_overflow(collector->period, period, &collector->period))
		profile_node(collector->profile, node)->period += period;
	else
		collector->period -= period;
}

/* A thread that has waited runs again. */
static void collector_resume(void *arg, u32 tid, u64 time)
{
	struct collector *collector = arg;
	struct task *task = spaces_task(&collector->spaces, tid);

	if (task->wait == INTERN_NONE)
		return;
	collector_add_period(collector, task->wait, time > task->since ? time - task->since : 0);
	task->wait = INTERN_NONE;
	collector->waits++;
}

static bool collector_event_is_switch(const struct collector *collector, u32 event)
{
	return profile_event_is(collector->data.event[event].name, SWITCH_EVENT);
}

/*
 * The thread to which the CPU switches runs again.  A tracepoint has the numbers of the thread's own pid namespace; if
 * these are not perf's, nobody knows which thread it is.
 */
static void collector_switch(struct collector *collector, const struct perfdata_sample *sample)
{
	struct cursor prev = cursor_of(sample->raw, sample->raw_size), next = prev;

	cursor_take(&prev, SWITCH_PREV_PID);
	cursor_take(&next, SWITCH_NEXT_PID);
	if (cursor_u32(&prev) == sample->tid && !prev.bad)
		collector_resume(collector, cursor_u32(&next), sample->time);
}

/* The thread waits from now on in the stack that ends at @node; the idle threads of all CPUs, 0, do not wait. */
static void collector_wait(struct collector *collector, const struct perfdata_sample *sample, u32 node)
{
	struct task *task = spaces_task(&collector->spaces, sample->tid);

	if (!sample->tid)
		return;
	collector->waits_lost += task->wait != INTERN_NONE;
	task->wait = node;
	task->since = sample->time;
}

static void collector_sample(void *arg, const struct perfdata_sample *sample)
{
	struct collector *collector = arg;
	struct profile *profile = collector->profile;
	bool is_switch = sample->raw && collector_event_is_switch(collector, sample->event);
	u32 label, frame, node;
	size_t n;

	if (is_switch)
		collector_switch(collector, sample);
	if (!collector_takes(collector, sample))
		return;
	label = collector_label(collector, sample);
	frame = profile_add_frame(profile, collector->event, sample->event, true);
	node = profile_add_node(profile, INTERN_NONE, frame);
	frame = profile_add_frame(profile, collector->comm, label, true);
	node = profile_add_node(profile, node, frame);
	for (n = collector_frames(collector, sample); n; n--)
		node = profile_add_node(profile, node, collector->frame[n - 1]);
	profile_node(profile, node)->samples++;
	if (is_switch)
		collector_wait(collector, sample, node);
	else
		collector_add_period(collector, node, sample->period);
	if (collector->how->times)
		profile_add_time(profile, node, sample->time);
	collector->samples[sample->event]++;
}

/*
 * Are they one file, as far as is known?  On overlayfs one file can have two devices, both or one of them
 * without a major number.
 */
static bool file_is_same(const struct profile_file *a, const struct profile_file *b)
{
	return a->mapped_id == b->mapped_id && a->inode == b->inode &&
	       (a->dev == b->dev || !(a->dev >> 32) || !(b->dev >> 32));
}

/* Mark the paths that several files have had: @several[number of the path's text]. */
static bool *collector_find_several(const struct profile *profile)
{
	bool *several = alloc_zero(profile->texts.index.count, sizeof(*several));
	u32 *first = alloc_array(NULL, profile->texts.index.count, sizeof(*first)), i;

	memset(first, 0xff, profile->texts.index.count * sizeof(*first));
	for (i = 0; i < profile->files.count; i++) {
		const struct profile_file *file = profile_file(profile, i);

		if (file->kind != PROFILE_ELF)
			continue;
		if (first[file->path] == INTERN_NONE)
			first[file->path] = i;
		else if (!file_is_same(file, profile_file(profile, first[file->path])))
			several[file->path] = true;
	}
	free(first);
	return several;
}

/*
 * Build-ids of files: those of their mappings, or else what the recording says at its end, by paths.
 * It is of no use for paths that several files have had.
 */
static void collector_set_build_ids(struct collector *collector)
{
	struct profile *profile = collector->profile;
	bool *several = collector_find_several(profile);
	char id[2 * PERFDATA_MAX_BUILD_ID + 1];
	u32 i;

	for (i = 0; i < profile->files.count; i++) {
		struct profile_file *file = profile_file(profile, i);
		const struct perfdata_build_id *build_id;
		const char *path = file->kind == PROFILE_KERNEL ? KERNEL_MAP :
				   profile_get_text(profile, file->path);

		file->build_id = file->kind == PROFILE_KERNEL ? collector->kernel_id : file->mapped_id;
		if (*profile_get_text(profile, file->build_id) || several[file->path])
			continue;
		build_id = perfdata_find_build_id(&collector->data, path);
		if (!build_id)
			continue;
		text_hex(build_id->bytes, build_id->size, id, sizeof(id));
		file->build_id = profile_text(profile, id);
	}
	free(several);
}

/*
 * Set the periods of switches to 0, since for most of them the recording does not say when the thread ran again: the
 * graph then counts these samples.
 */
static void collector_forget_waits(struct collector *collector)
{
	struct profile *profile = collector->profile;
	u32 *event = alloc_array(NULL, profile->nodes.count + 1, sizeof(*event)), i;

	for (i = 0; i < profile->nodes.count; i++) {
		struct profile_node *node = profile_node(profile, i);

		event[i] = node->parent == INTERN_NONE ? profile_frame(profile, node->frame)->offset :
							 event[node->parent];
		if (collector_event_is_switch(collector, event[i]))
			node->period = 0;
	}
	free(event);
}

/* What is known at the end only: build-ids of files, names of events. */
static void collector_finish(struct collector *collector)
{
	struct profile *profile = collector->profile;
	const struct perfdata *data = &collector->data;
	bool waits = collector->waits > SWITCH_FEW_LOST * collector->waits_lost;
	char name[64];
	u32 i;

	profile->cmdline = collector->target_name != INTERN_NONE ? collector->target_name :
			   profile_text(profile, data->cmdline ?: "");
	/* Not the sum: __perf_output_begin() of the kernel counts each loss in both. */
	profile->lost = data->lost > data->lost_samples ? data->lost : data->lost_samples;
	profile->throttled = data->throttled;
	profile->unfinished = data->unfinished;
	profile->forgotten = collector->spaces.forgotten;
	profile->nevents = 0;
	profile->is_flat = true;
	profile->copies = false;
	profile->waits_unknown = false;
	for (i = 0; i < data->nevents; i++) {
		bool is_switch = collector_event_is_switch(collector, i);

		snprintf(name, sizeof(name), "%.40s" PROFILE_OFF_CPU, data->event[i].name);
		profile_add_event(profile, is_switch && waits ? name : data->event[i].name, collector->samples[i]);
		profile->waits_unknown |= is_switch && collector->samples[i] && !waits;
		if (collector->samples[i] && data->event[i].sample_type & PERF_SAMPLE_CALLCHAIN)
			profile->is_flat = false;
		profile->copies |= collector->samples[i] && data->event[i].copies;
	}
	if (profile->waits_unknown)
		collector_forget_waits(collector);
	collector_set_build_ids(collector);
}

static void collector_read(void *arg)
{
	struct collector *collector = arg;

	if (!collector->how->checkpoint || !collector->how->is_due(collector->how->arg))
		return;
	collector_finish(collector);
	collector->how->checkpoint(collector->how->arg, collector->profile);
}

/**
 * collect_perfdata() - read a recording of perf
 * @collect: how
 * @stream: perf.data, or the pipe of "perf record -o -"
 * @profile: open and empty; filled
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int collect_perfdata(const struct collect *collect, struct stream *stream, struct profile *profile,
		     struct bee_error *error)
{
	struct collector *collector = alloc_zero(1, sizeof(*collector));
	const struct perfdata_handler handler = {
		.arg = collector, .sample = collector_sample, .map = collector_map,
		.symbol = collector_symbol, .comm = collector_comm, .fork = collector_fork,
		.exit = collector_exit, .resume = collector_resume, .read = collector_read,
	};
	int ret;

	collector->how = collect;
	collector->profile = profile;
	collector->target_name = INTERN_NONE;
	collector->known = alloc_array(NULL, CONTEXT_CACHE, sizeof(*collector->known));
	/* No address that is looked up. */
	memset(collector->known, 0xff, CONTEXT_CACHE * sizeof(*collector->known));
	collector->kernel_id = profile_text(profile, "");
	collector->kernel = profile_add_file(profile, PROFILE_KERNEL, profile->cmdline);
	collector->unknown = profile_add_file(profile, PROFILE_UNKNOWN, profile->cmdline);
	collector->comm = profile_add_file(profile, PROFILE_COMM, profile->cmdline);
	collector->event = profile_add_file(profile, PROFILE_EVENT, profile->cmdline);
	spaces_open(&collector->spaces);
	ret = perfdata_read(&collector->data, stream, &handler, error);
	if (!ret)
		collector_finish(collector);
	spaces_close(&collector->spaces);
	perfdata_free(&collector->data);
	free(collector->known);
	free(collector);
	return ret;
}
