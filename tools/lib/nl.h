/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to the module, one call per operation of
 * Documentation/netlink/specs/beeunwind.yaml.  nl.c is the only user of libnl,
 * whose names start with nl_; these start with bee_nl_.
 */
#ifndef BEE_NL_H
#define BEE_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/beeunwind.h>

#include "range.h"

struct bee_nl;

/* Instead of an ELF file: the vDSO. */
#define BEE_NL_VDSO	(-1)

/* Not an errno: the module is not there. */
#define BEE_NL_NO_MODULE	0x10000

/**
 * struct bee_nl_error - why a request failed
 * @code: errno value that the kernel gave, or BEE_NL_NO_MODULE
 * @text: a sentence, the module's own where it sent one
 */
struct bee_nl_error {
	int	code;
	char	text[256];
};

/* struct bee_nl_info: see "info" in the spec */
struct bee_nl_info {
	char		module_version[32];
	uint32_t	table_version;
	uint32_t	hook;
	uint64_t	hook_hits;
	uint64_t	walks;
	uint32_t	files;
	uint32_t	tables;
	uint64_t	table_bytes;
	uint32_t	procs;
	uint32_t	ranges;
	uint64_t	range_bytes;
	uint64_t	budget;
	uint64_t	follow_lost;
	uint32_t	follow;
	uint32_t	announce;
};

/* struct bee_nl_table: a file and its table, if @loaded; see "table" in the spec */
struct bee_nl_table {
	uint32_t	id;
	bool		loaded;
	char		name[256];
	uint8_t		file_id[32];
	size_t		file_id_len;
	uint64_t	bytes;
	uint32_t	rows;
	uint32_t	users;
	uint64_t	device;
	uint64_t	inode;
	uint64_t	size;
	uint64_t	idle_ms;
	uint32_t	hits;
	uint32_t	missed;
	uint32_t	stop[BEEUNWIND_STOP_MAX + 1];
	uint32_t	pid;
	uint64_t	start;
	uint64_t	end;
	uint32_t	flags;
};

/* struct bee_nl_tables: the module's files */
struct bee_nl_tables {
	struct bee_nl_table	*table;
	size_t			 count;
	size_t			 room;
};

/* struct bee_nl_proc: a managed address space; see "proc" in the spec */
struct bee_nl_proc {
	uint32_t	pid;
	uint64_t	cookie;
	uint64_t	generation;
	uint32_t	nranges;
	struct ranges	ranges;
};

/* struct bee_nl_procs: managed address spaces */
struct bee_nl_procs {
	struct bee_nl_proc	*proc;
	size_t			 count;
	size_t			 room;
};

/* struct bee_nl_stats: see "stats" in the spec; @stop is indexed by reason */
struct bee_nl_stats {
	uint64_t	stop[BEEUNWIND_STOP_MAX + 1];
	uint64_t	stop_other;
	uint64_t	frames;
	uint64_t	fp_steps;
};

struct bee_nl *bee_nl_open(struct bee_nl_error *error);
struct bee_nl *bee_nl_clone(const struct bee_nl *nl, struct bee_nl_error *error);
void bee_nl_close(struct bee_nl *nl);

int bee_nl_info_get(struct bee_nl *nl, struct bee_nl_info *info, struct bee_nl_error *error);
int bee_nl_check_format(const struct bee_nl_info *info, struct bee_nl_error *error);
int bee_nl_table_add(struct bee_nl *nl, int fd, int exe_fd, uint32_t *id,
		     struct bee_nl_error *error);
int bee_nl_table_set(struct bee_nl *nl, int fd, uint32_t id, struct bee_nl_error *error);
int bee_nl_table_del(struct bee_nl *nl, uint32_t id, bool force, struct bee_nl_error *error);
int bee_nl_tables_get(struct bee_nl *nl, struct bee_nl_tables *tables,
		      struct bee_nl_error *error);
void bee_nl_tables_free(struct bee_nl_tables *tables);
int bee_nl_proc_add(struct bee_nl *nl, struct bee_nl_proc *proc, struct bee_nl_error *error);
int bee_nl_proc_update(struct bee_nl *nl, struct bee_nl_proc *proc,
		       const struct range_diff *diff, struct bee_nl_error *error);
int bee_nl_proc_del(struct bee_nl *nl, uint32_t pid, struct bee_nl_error *error);
int bee_nl_proc_forget(struct bee_nl *nl, uint64_t cookie, struct bee_nl_error *error);
int bee_nl_procs_get(struct bee_nl *nl, uint32_t pid, struct bee_nl_procs *procs,
		     struct bee_nl_error *error);
void bee_nl_procs_free(struct bee_nl_procs *procs);
int bee_nl_stats_get(struct bee_nl *nl, struct bee_nl_stats *stats,
		     struct bee_nl_error *error);
int bee_nl_config_set_budget(struct bee_nl *nl, uint64_t bytes, struct bee_nl_error *error);
int bee_nl_config_set_hook(struct bee_nl *nl, enum beeunwind_hook_state hook,
			   struct bee_nl_error *error);
int bee_nl_config_set_follow(struct bee_nl *nl, enum beeunwind_follow follow,
			     struct bee_nl_error *error);
int bee_nl_config_set_announce(struct bee_nl *nl, enum beeunwind_announce announce,
			       struct bee_nl_error *error);

/* Shared with nl_events.c, which has libnl's types: attributes of a "table" */
struct nlattr;
int bee_nl_table_parse(struct nlattr *attrs, int length, struct bee_nl_table *table);

#endif /* BEE_NL_H */
