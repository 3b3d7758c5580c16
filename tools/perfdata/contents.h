/* SPDX-License-Identifier: GPL-2.0 */
/* What a recording of perf consists of: the types that all files of this room share. */
#ifndef PERFDATA_CONTENTS_H
#define PERFDATA_CONTENTS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#define PERFDATA_MAX_EVENTS	1024
#define PERFDATA_MAX_BUILD_ID	20

/**
 * struct perfdata_event - an event that was recorded
 * @name: as perf calls it, or "event N"; NULL until it is known
 * @sample_type: PERF_SAMPLE_*: what its samples consist of
 * @read_format: PERF_FORMAT_*
 * @period: of each sample, if they do not have their own; 0 if they do
 * @id_all: its other records end with a sample_id
 * @deferred: user stacks of its samples come later, in records of their own
 * @calls: its samples have the processor's records of the calls that have not returned (--call-graph lbr)
 * @has_index: of branch stacks: a word is in front of their entries (PERF_SAMPLE_BRANCH_HW_INDEX)
 * @copies: its samples have copies of user stacks in place of their callchains
 */
struct perfdata_event {
	char	*name;
	u64	 sample_type;
	u64	 read_format;
	u64	 period;
	bool	 id_all;
	bool	 deferred;
	bool	 calls;
	bool	 has_index;
	bool	 copies;
};

/* struct perfdata_id - @id, in samples, stands for an event */
struct perfdata_id {
	u64	id;
	u32	event;
};

/**
 * struct perfdata_build_id - of a file
 * @size: bytes; 0: not known
 * @bytes: the build-id
 */
struct perfdata_build_id {
	u8	size;
	u8	bytes[PERFDATA_MAX_BUILD_ID];
};

/* struct perfdata_file_id - the build-id that the header has for @path */
struct perfdata_file_id {
	char				*path;
	struct perfdata_build_id	 build_id;
};

/**
 * struct perfdata - what is known of the recording
 * @event: the events
 * @nevents: entries in @event
 * @ids: ascending by id
 * @nids: entries in @ids
 * @file: build-ids in the header or pipe; ordered by path if @nsorted is @nfiles
 * @nfiles: entries in @file
 * @path_bytes: length of all their paths
 * @nsorted: their number when they were sorted last
 * @cmdline: of perf; NULL if not known
 * @lbr: the callchain of a sample, put together of its calls
 * @lbr_room: elements there is memory for
 * @deferred: samples that wait for their user stacks, or NULL
 * @lost: records that ring buffers have lost
 * @lost_samples: samples that events have lost, as perf says when it ends: the same ones, if it does
 * @throttled: number of times that an event was throttled
 * @unfinished: it ends before perf has ended it
 */
struct perfdata {
	struct perfdata_event	*event;
	size_t			 nevents;
	struct perfdata_id	*ids;
	size_t			 nids;
	struct perfdata_file_id	*file;
	size_t			 nfiles;
	size_t			 path_bytes;
	size_t			 nsorted;
	char			*cmdline;
	u64			*lbr;
	size_t			 lbr_room;
	struct deferred		*deferred;
	u64			 lost;
	u64			 lost_samples;
	u64			 throttled;
	bool			 unfinished;
};

/**
 * struct perfdata_sample - a sample
 * @event: index of its event
 * @pid: process
 * @tid: thread
 * @mode: PERF_RECORD_MISC_CPUMODE_MASK's values: where @ip is
 * @ip: interrupted ip
 * @time: ns, of perf's clock; 0 if the event has none
 * @cpu: where it was taken; ~0 if the event does not say it
 * @period: what it stands for, in counts of the event
 * @chain: callchain, with PERF_CONTEXT_* between the parts; NULL if the event has none
 * @depth: elements of @chain
 * @raw: the fields that the tracepoint has recorded; NULL if the event is no tracepoint, or if the sample is
 *	delivered late, as its user stack came in another record
 * @raw_size: bytes of @raw
 */
struct perfdata_sample {
	u32		 event;
	u32		 pid;
	u32		 tid;
	u16		 mode;
	u64		 ip;
	u64		 time;
	u32		 cpu;
	u64		 period;
	const u64	*chain;
	u64		 depth;
	const u8	*raw;
	u32		 raw_size;
};

/**
 * struct perfdata_map - memory that a process, or the kernel, has mapped
 * @pid: process; ~0: kernel
 * @start: first address
 * @size: bytes
 * @offset: in the file, of @start
 * @path: name of the file
 * @executable: instructions can be there
 * @dev: device of the file, 0 if not known
 * @inode: its inode number, 0 if not known
 * @build_id: of the file
 */
struct perfdata_map {
	u32				 pid;
	u64				 start;
	u64				 size;
	u64				 offset;
	const char			*path;
	bool				 executable;
	u64				 dev;
	u64				 inode;
	struct perfdata_build_id	 build_id;
};

/**
 * struct perfdata_symbol - code that the kernel has made, of which it says what it is called
 * @start: first address
 * @size: bytes
 * @name: of a BPF program, or what else it is
 * @gone: it is not there any more
 */
struct perfdata_symbol {
	u64		 start;
	u64		 size;
	const char	*name;
	bool		 gone;
};

/**
 * struct perfdata_task - COMM, FORK or EXIT
 * @pid: process
 * @tid: thread
 * @parent_pid: FORK: the process it comes from; @pid for a new thread
 * @parent_tid: FORK: the thread it comes from
 * @found: FORK: it ran before perf began, which wrote this record; MMAP records of all that it has mapped
 *	follow
 * @comm: COMM: its name
 */
struct perfdata_task {
	u32		 pid;
	u32		 tid;
	u32		 parent_pid;
	u32		 parent_tid;
	bool		 found;
	const char	*comm;
};

/**
 * struct perfdata_handler - who takes the records, in the order of their times
 * @arg: for the functions
 * @sample: takes a sample
 * @map: takes a mapping
 * @symbol: takes code that the kernel has made or freed
 * @comm: takes the name of a thread
 * @fork: takes a new thread or process
 * @exit: takes a thread that has ended
 * @resume: takes a thread that runs again, and when (perf record --switch-events); or NULL
 * @read: called now and then while records are read; or NULL
 *
 * Strings and arrays are valid during the call.
 */
struct perfdata_handler {
	void	*arg;
	void	(*sample)(void *arg, const struct perfdata_sample *sample);
	void	(*map)(void *arg, const struct perfdata_map *map);
	void	(*symbol)(void *arg, const struct perfdata_symbol *symbol);
	void	(*comm)(void *arg, const struct perfdata_task *task);
	void	(*fork)(void *arg, const struct perfdata_task *task);
	void	(*exit)(void *arg, const struct perfdata_task *task);
	void	(*resume)(void *arg, u32 tid, u64 time);
	void	(*read)(void *arg);
};

#endif /* PERFDATA_CONTENTS_H */
