/* SPDX-License-Identifier: GPL-2.0 */
/* Find or make the tables of mapped files, and give them to the module. */
#ifndef TABLE_JOBS_H
#define TABLE_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "map_file.h"
#include "netlink.h"
#include "table_file.h"

/*
 * The kernel kills a child of beectl that makes the table of a file when the child has used so many
 * seconds of CPU time for it (table_jobs_limit()).  The largest files take some seconds.
 */
#define TABLE_JOBS_SECONDS	120
/*
 * It also kills a child after so many seconds of the clock: one that waits for a file system uses no CPU
 * time.  The file has to be found and opened in TABLE_JOBS_OPEN seconds of them.
 */
#define TABLE_JOBS_PATIENCE	600
#define TABLE_JOBS_OPEN		10
/*
 * One that waits for a FUSE server cannot be killed.  Who has nothing else to do than to wait for a child
 * goes on without it when it has used no CPU time for so many seconds.
 */
#define TABLE_JOBS_IDLE		60
/*
 * Most bytes of addresses that such a child may have, with what is mapped.  The largest need that was
 * measured is 409 MiB (VmPeak of "beectl compile" of a Terraform provider, a Go program of 707 MB);
 * libcublasLt takes 52 MiB and libLLVM-15 45.  It is less than the service may have (MemoryMax in
 * tools/beeunwind.service.in).
 */
#define TABLE_JOBS_MEMORY	(3ull << 29)

/**
 * struct table_want - a file that has no table
 * @id: the module's name for it; 0: whichever file @pin leads to
 * @name: its path, for people
 * @device: that it is on, as the module numbers it
 * @mapping: where to find it; its path is set (to @name) only while the file is opened,
 *	because the array may move before
 * @pin: from map_file_pin(), or -errno; -ETIMEDOUT: the process does not let itself be looked at
 * @pinned_by: until then no child is started for the file, as the pinner may still answer;
 *	CLOCK_MONOTONIC, ms; 0: the pinner has answered, or was not asked
 * @missed: frames in it for which there was no table, when the module said so last
 * @cached_only: do not compile it
 */
struct table_want {
	uint32_t	id;
	char		name[256];
	uint64_t	device;
	struct mapping	mapping;
	int		pin;
	int64_t		pinned_by;
	uint32_t	missed;
	bool		cached_only;
};

/* struct table_wants: a growing array; all zero is an empty one */
struct table_wants {
	struct table_want	*want;
	size_t			 count;
	size_t			 room;
};

/**
 * struct table_result - what has become of a struct table_want
 * @source: where its table came from; TABLE_NONE: it has none
 * @opened: the wanted file was opened; if it has no table, another attempt would fail likewise
 * @left: it has none because it is not in the cache and was not to be compiled
 * @bytes: of the table
 * @text: of the file, bytes with rules; 0 if its table is exact
 * @wrong: of these, with a wrong rule
 * @refusal: if the module refused the table: its @error.code; EDQUOT as well if the queue did, because of
 *	its user, or if the kernel killed the child that made it: memory had run out
 * @cost: CPU time that another attempt would take, ms: as this one did, if the table is not in the
 *	cache
 * @error: if it has no table, unless @left; or if that is not kept in the cache
 */
struct table_result {
	enum table_source	source;
	bool			opened;
	bool			left;
	uint64_t		bytes;
	uint64_t		text;
	uint64_t		wrong;
	int			refusal;
	unsigned int		cost;
	struct bee_error	error;
};

/**
 * struct table_maker - how tables are made
 * @nl: the module
 * @cache: where they are looked for, and kept
 * @lossy: what may be left out of them
 * @jobs: files at a time; 0: as many as there are CPUs
 * @no_jit: leave code in memory without tables
 * @mark: files that can have no table get an empty one, so that the module does not
 *	announce them again when they are mapped again
 * @arg: for @done
 * @done: takes one result; of table_jobs_run(), in the order of the files
 * @progress: called now and then with the number of files that are ready, of all, and
 *	the name of one that is not; or NULL
 */
struct table_maker {
	struct netlink	*nl;
	struct cache	*cache;
	struct lossy_options lossy;
	unsigned int	 jobs;
	bool		 no_jit;
	bool		 mark;
	void		*arg;
	void		(*done)(void *arg, const struct table_want *want,
				const struct table_result *result);
	void		(*progress)(size_t ready, size_t count, const char *name);
};

void table_jobs_add(struct table_wants *wants, const struct netlink_file *file);
bool table_jobs_map_want(struct netlink *nl, const struct mapping *mapping,
			 struct table_want *want);
void table_jobs_select(const struct netlink_files *files, const struct netlink_procs *procs,
		       struct table_wants *wants);
/**
 * struct table_look - the module's files, and who has them mapped
 * @files: all files
 * @procs: the process that was asked for, or all
 */
struct table_look {
	struct netlink_files	files;
	struct netlink_procs	procs;
};

int table_jobs_look(struct netlink *nl, pid_t pid, struct table_look *look,
		    struct bee_error *error);
void table_jobs_look_free(struct table_look *look);
int table_jobs_find(struct netlink *nl, pid_t pid, struct table_wants *wants,
		    struct bee_error *error);
void table_jobs_free(struct table_wants *wants);

void table_jobs_limit(void);
struct table_result table_jobs_make_one(const struct table_maker *maker, struct netlink *nl,
					struct table_want *want, FILE *opened);
void table_jobs_make(const struct table_maker *maker, struct table_want *want, FILE *out);
struct table_result table_jobs_result(const void *data, size_t size, const char *died);
int table_jobs_run(const struct table_maker *maker, const struct table_wants *wants);
bool table_jobs_refusal_is_general(int code);
bool table_jobs_refusal_may_pass(int code);
bool table_jobs_note_refusal(const struct table_want *want, const struct table_result *result,
			     struct bee_error *error);

#endif /* TABLE_JOBS_H */
