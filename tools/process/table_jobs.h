/* SPDX-License-Identifier: GPL-2.0 */
/* Find or make the tables of files, and give them to the module. */
#ifndef TABLE_JOBS_H
#define TABLE_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "map_file.h"
#include "mapped.h"
#include "netlink.h"
#include "table_file.h"

/*
 * The kernel kills a child of beectl that makes the table of a file when the child has used so many
 * seconds of CPU time for it (table_jobs_limit()).  The largest files take some seconds.
 */
#define TABLE_JOBS_SECONDS	120
/*
 * beectl kills a child after so many seconds of the clock: one that waits for a file system uses no CPU
 * time.  The child has to find and open the file in the first TABLE_JOBS_OPEN of these seconds.
 */
#define TABLE_JOBS_PATIENCE	600
#define TABLE_JOBS_OPEN		10
/*
 * A child that waits for a FUSE server cannot be killed.  A caller that has nothing else to do than to wait
 * for a child goes on without it when the child has used no CPU time for so many seconds.
 */
#define TABLE_JOBS_IDLE		60
/*
 * Most bytes of addresses that such a child may have, with what is mapped.  The largest need that was
 * measured is 409 MiB (VmPeak of "beectl compile" of a Terraform provider, a Go program of 707 MB);
 * libcublasLt takes 52 MiB and libLLVM-15 45.  It is less than the service may have (MemoryMax in
 * tools/beeunwind.service.in).
 */
#define TABLE_JOBS_MEMORY	(3ull << 29)

/* struct table_want.fd: the file is to be found where it is mapped */
#define TABLE_WANT_MAPPED	(-2)

/* struct table_want.uid: the owner of the file */
#define TABLE_WANT_OWNER	((uid_t)-1)

/**
 * struct table_want - a file that needs a table
 * @fd: the file, open; or NETLINK_VDSO; or TABLE_WANT_MAPPED
 * @mapping: where it is mapped
 * @name: its path, for people; a mapped file that is mapped no longer is looked for there; of others it is found
 *	with the file, if it is ""
 * @size: bytes of the file; 0: not known
 * @uid: the user for whose process it is made, whose share of the module's memory it takes; or TABLE_WANT_OWNER
 * @owner: and whose files a child reads for it, as child_owner_of() @uid
 * @cached_only: do not compile it
 */
struct table_want {
	int		fd;
	struct mapping	mapping;
	char		name[256];
	uint64_t	size;
	uid_t		uid;
	uid_t		owner;
	bool		cached_only;
};

/* struct table_wants: a growing array; all zero is an empty one */
struct table_wants {
	struct table_want	*want;
	size_t			 count;
	size_t			 room;
};

/* struct table_stored: files whose tables the module has, and bytes of these */
struct table_stored {
	size_t		files;
	uint64_t	bytes;
};

/**
 * struct table_result - what has become of a struct table_want
 * @source: where its table came from; TABLE_NONE: it has none
 * @opened: the file was opened
 * @left: it has no table because that is not in the cache and was not to be compiled
 * @id: the module's name for the file; 0: it does not know it
 * @name: of the file
 * @bytes: of the table
 * @text: of the file, bytes with rules; 0 if its table is exact
 * @wrong: of @text, bytes with a wrong rule
 * @refusal: if the module refused the table: its @error.code
 * @may_pass: another attempt may succeed, if it is later
 * @error: if it has no table, unless @left; or if that is not kept in the cache
 */
struct table_result {
	enum table_source	source;
	bool			opened;
	bool			left;
	uint32_t		id;
	char			name[256];
	uint64_t		bytes;
	uint64_t		text;
	uint64_t		wrong;
	int			refusal;
	bool			may_pass;
	struct bee_error	error;
};

/**
 * struct table_maker - how tables are made
 * @nl: the module
 * @cache: where they are looked for, and kept
 * @lossy: what may be left out of them
 * @jobs: files at a time; 0: as many as there are CPUs
 * @no_jit: leave code in memory without tables
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
	void		*arg;
	void		(*done)(void *arg, const struct table_want *want,
				const struct table_result *result);
	void		(*progress)(size_t ready, size_t count, const char *name);
};

struct table_want *table_wants_add(struct table_wants *wants, const char *name, uid_t uid);
int table_jobs_ask(struct netlink *nl, const struct mapped *mapped, struct netlink_file *file);
struct table_stored table_wants_add_mapped(struct table_wants *wants, struct mapped_list *list, struct netlink *nl);
void table_wants_free(struct table_wants *wants);

void table_jobs_limit(void);
void table_jobs_make(const struct table_maker *maker, struct table_want *want, int gate, FILE *out);
bool table_jobs_waits(const void *data, size_t size, struct table_result *result);
struct table_result table_jobs_result(const void *data, size_t size, const char *died);
int table_jobs_run(const struct table_maker *maker, const struct table_wants *wants);
int table_jobs_explain(const struct table_maker *maker, const struct table_wants *wants);
bool table_jobs_refusal_is_general(int code);
bool table_jobs_note_refusal(const struct table_result *result, struct bee_error *error);

#endif /* TABLE_JOBS_H */
