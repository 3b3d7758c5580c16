/* SPDX-License-Identifier: GPL-2.0 */
/* Run a command under one perf event and keep perf's records. */
#ifndef BEE_RECORD_H
#define BEE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Registers by DWARF number, and the return address column: ip. */
#define RECORD_REGS	17
#define RECORD_RSP	7
#define RECORD_RIP	16

/**
 * enum record_type - what a record reports
 * @RECORD_SAMPLE: user mode as it was at one moment
 * @RECORD_MMAP: code was mapped
 * @RECORD_COMM: a new name; if @exec is set, because of a new image
 * @RECORD_FORK: a new process or thread
 */
enum record_type {
	RECORD_SAMPLE,
	RECORD_MMAP,
	RECORD_COMM,
	RECORD_FORK,
};

/**
 * struct record - one record of perf
 * @time: when, ns
 * @type: what
 * @pid: process
 * @tid: thread
 * @regs: SAMPLE
 * @nchain: SAMPLE: frames in @chain
 * @chain: SAMPLE: the user callchain
 * @nstack: SAMPLE: bytes in @stack
 * @stack: SAMPLE: memory from rsp on
 * @redzone: SAMPLE: memory below rsp, NULL where it is not known
 * @start: MMAP: first address
 * @size: MMAP: bytes
 * @offset: MMAP: file offset at @start
 * @name: MMAP: path; COMM: name
 * @exec: COMM: because of exec
 * @parent: FORK: the process that called fork
 */
struct record {
	uint64_t	 time;
	enum record_type type;
	pid_t		 pid;
	pid_t		 tid;
	uint64_t	 regs[RECORD_REGS];
	size_t		 nchain;
	uint64_t	*chain;
	size_t		 nstack;
	uint8_t		*stack;
	uint8_t		*redzone;
	uint64_t	 start;
	uint64_t	 size;
	uint64_t	 offset;
	char		*name;
	bool		 exec;
	pid_t		 parent;
};

/**
 * struct recording - all records in order of time
 * @record: the records
 * @count: how many
 * @room: memory for so many
 * @samples: samples among them
 * @launcher: if not 0, samples are kept only of processes that this process has started
 * @lost: records that perf had no room for
 */
struct recording {
	struct record	*record;
	size_t		 count;
	size_t		 room;
	size_t		 samples;
	pid_t		 launcher;
	uint64_t	 lost;
};

bool record_read(const struct record *sample, uint64_t addr, void *to, size_t n);
int record_command(struct recording *recording, char **argv, bool launcher, uint64_t period_ns,
		   unsigned int seconds, size_t samples);

#endif /* BEE_RECORD_H */
