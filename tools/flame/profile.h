/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples, as a tree of addresses.  Names are not known here: an address is a place in a file, or
 * in the kernel.  Memory grows with distinct stacks, not with samples.
 */
#ifndef PROFILE_H
#define PROFILE_H

#include "intern.h"
#include "perfdata.h"

#define PROFILE_MAX_DEPTH	8192
#define PROFILE_OFF_CPU		":offcpu-time"	/* what follows the name of an event whose periods are ns off the CPU */

/**
 * enum profile_file_kind - what a frame's offset means
 * @PROFILE_ELF: a place in an ELF file, in bytes from its start
 * @PROFILE_KERNEL: an address in the kernel
 * @PROFILE_JIT: an address in memory of a process that belongs to no ELF file
 * @PROFILE_UNKNOWN: an address that belongs to nothing known
 * @PROFILE_COMM: number of the text that stands for process or thread
 * @PROFILE_EVENT: index of an event
 */
enum profile_file_kind {
	PROFILE_ELF,
	PROFILE_KERNEL,
	PROFILE_JIT,
	PROFILE_UNKNOWN,
	PROFILE_COMM,
	PROFILE_EVENT,
};

/**
 * struct profile_file - a file, or what stands for one
 * @kind: enum profile_file_kind
 * @path: number of its text; PROFILE_KERNEL: what the recording calls the code there, or ""
 * @mapped_id: build-id as of the mapping, number of its text in hexadecimal, or of ""
 * @pid: PROFILE_JIT: the process
 * @dev: device, 0 if not known
 * @inode: inode number, 0 if not known
 * @build_id: @mapped_id, or what the recording's header says; not a part of the key
 * @jitdump: PROFILE_JIT: path of the process's jitdump file, or ""; not a part of the key
 * @ended: PROFILE_JIT: the process has ended while it was recorded; not a part of the key
 * @mapper: PROFILE_ELF: a process that has mapped it, if there is one that has not ended when the
 *	recording is read; 0 if not known; not a part of the key
 */
struct profile_file {
	u32	kind;
	u32	path;
	u32	mapped_id;
	u32	pid;
	u64	dev;
	u64	inode;
	u32	build_id;
	u32	jitdump;
	u32	ended;
	u32	mapper;
};

/**
 * struct profile_frame - an address
 * @file: index of its file
 * @exact: the instruction that ran or is next; otherwise the one after a call
 * @offset: see enum profile_file_kind
 */
struct profile_frame {
	u32	file;
	u32	exact;
	u64	offset;
};

/**
 * struct profile_node - an address in a stack
 * @parent: node of the caller; INTERN_NONE for the event, whose children are threads' names
 * @frame: index of the address
 * @samples: that ended here
 * @period: sum of their periods
 */
struct profile_node {
	u32	parent;
	u32	frame;
	u64	samples;
	u64	period;
};

/* struct profile_event - samples of one event */
struct profile_event {
	u32	name;
	u64	samples;
};

/**
 * struct profile_times - when samples were taken
 * @node: of each sample, where it ended
 * @time: of each sample, ns of perf's clock, ascending
 * @count: entries in @time
 * @node_room: entries of @node there is memory for
 * @time_room: entries of @time there is memory for
 */
struct profile_times {
	u32	*node;
	u64	*time;
	size_t	 count;
	size_t	 node_room;
	size_t	 time_room;
};

/**
 * struct profile - a recording, read
 * @texts: names of files, threads and events
 * @files: of struct profile_file
 * @frames: of struct profile_frame
 * @nodes: of struct profile_node; parents come before their children
 * @times: of all samples, if they are wanted
 * @event: the events
 * @nevents: entries in @event
 * @cmdline: text of perf's command line, or of what was recorded
 * @stops: text that says how walks ended, or of ""
 * @lost: samples lost
 * @throttled: times that an event was throttled
 * @unfinished: the recording ends too early
 * @forgotten: mappings that were not kept, as processes had too many; their code is PROFILE_UNKNOWN
 * @is_flat: no event that has samples was recorded with callchains
 * @copies: an event that has samples was recorded with copies of user stacks in place of callchains
 * @waits_unknown: there are samples of sched_switch, but the recording does not say when the threads ran again
 * @shown_event: text that names the event of samples that were text, or of ""
 * @left_out: samples that were text and are of other events
 * @lines_left: lines of text that were not understood
 * @first_line_left: number of the first line that was not understood
 * @frames_cut: frames that were not taken, as their stacks have more than PROFILE_MAX_DEPTH
 * @kernel_symbol: text of a symbol of the kernel, or of ""
 * @kernel_address: where it was
 */
struct profile {
	struct texts		 texts;
	struct intern		 files;
	struct intern		 frames;
	struct intern		 nodes;
	struct profile_times	 times;
	struct profile_event	*event;
	size_t			 nevents;
	u32			 cmdline;
	u32			 stops;
	u64			 lost;
	u64			 throttled;
	bool			 unfinished;
	u64			 forgotten;
	bool			 is_flat;
	bool			 copies;
	bool			 waits_unknown;
	u32			 shown_event;
	u64			 left_out;
	u64			 lines_left;
	u64			 first_line_left;
	u64			 frames_cut;
	u32			 kernel_symbol;
	u64			 kernel_address;
};

void profile_open(struct profile *profile);
void profile_close(struct profile *profile);
u32 profile_text(struct profile *profile, const char *text);
u32 profile_add_frame(struct profile *profile, u32 file, u64 offset, bool exact);
u32 profile_add_node(struct profile *profile, u32 parent, u32 frame);
u32 profile_add_file(struct profile *profile, enum profile_file_kind kind, u32 path);
void profile_add_time(struct profile *profile, u32 node, u64 time);
void profile_add_event(struct profile *profile, const char *name, u64 samples);
bool profile_event_is(const char *name, const char *wanted);

static inline const char *profile_get_text(const struct profile *profile, u32 number)
{
	return texts_get(&profile->texts, number);
}

static inline struct profile_file *profile_file(const struct profile *profile, u32 index)
{
	return intern_item(&profile->files, index);
}

static inline struct profile_frame *profile_frame(const struct profile *profile, u32 index)
{
	return intern_item(&profile->frames, index);
}

static inline struct profile_node *profile_node(const struct profile *profile, u32 index)
{
	return intern_item(&profile->nodes, index);
}

/* profile_node_is_memory(): is the frame code in memory of a process, in no file? */
static inline bool profile_node_is_memory(const struct profile *profile, const struct profile_node *node)
{
	return profile_file(profile, profile_frame(profile, node->frame)->file)->kind == PROFILE_JIT;
}

#endif /* PROFILE_H */
