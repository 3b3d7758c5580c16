/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to the module, one function for each operation of
 * Documentation/netlink/specs/beeunwind.yaml.  Only the .c files of this room use libnl, whose
 * names start with nl_ and nla_.
 */
#ifndef NETLINK_H
#define NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/beeunwind.h>
#include <linux/beeunwind_heaps.h>

#include "error.h"
#include "ranges.h"

struct netlink;

/* Instead of the descriptor of an ELF file: the vDSO; instead of that of a table: there can be none. */
#define NETLINK_VDSO		(-1)
#define NETLINK_NO_TABLE	(-1)

/* struct netlink_info: state of the module; see attribute set "info" of the spec */
struct netlink_info {
	char		module_version[32];
	uint32_t	table_version;
	uint32_t	hook;
	uint64_t	hook_hits;
	uint64_t	walks;
	uint32_t	files;
	uint32_t	tables;
	uint64_t	table_bytes;
	uint32_t	code_procs;
	uint64_t	code_bytes;
	uint64_t	cache_bytes;
	uint64_t	budget;
	uint32_t	share;
	uint64_t	instance;
	uint32_t	listeners;
	uint64_t	news;
};

/* netlink_info_used() - bytes that count against the budget */
static inline uint64_t netlink_info_used(const struct netlink_info *info)
{
	return info->table_bytes + info->code_bytes + info->cache_bytes;
}

/* struct netlink_file: a file and, if @loaded, its table; see attribute set "file" of the spec */
struct netlink_file {
	uint32_t	id;
	bool		loaded;
	bool		written;
	bool		mapped;
	char		name[256];
	uint8_t		identity[32];
	size_t		identity_len;
	uint64_t	bytes;
	uint32_t	rows;
	uint32_t	flags;
	uint64_t	device;
	uint64_t	inode;
	uint64_t	size;
	uint64_t	idle_ms;
	uint32_t	hits;
	uint32_t	stop[BEEUNWIND_STOP_MAX + 1];
	uint32_t	pid;
	uint32_t	uid;
};

/* struct netlink_files: the module's files; @ascending: by id, as the module dumps them */
struct netlink_files {
	struct netlink_file	*file;
	size_t			 count;
	size_t			 room;
	bool			 ascending;
};

/* struct netlink_code: a process's ranges of code in memory and code heaps; see attribute set "code" of the spec */
struct netlink_code {
	uint32_t		pid;
	uint64_t		generation;
	struct ranges		ranges;
	struct bee_code_heaps	heaps;		/* nr 0: none */
};

/* struct netlink_codes: processes with code in memory */
struct netlink_codes {
	struct netlink_code	*code;
	size_t			 count;
	size_t			 room;
};

/* struct netlink_proc: a process that was sampled, and its walks by stop reason */
struct netlink_proc {
	uint32_t	pid;
	uint32_t	stop[BEEUNWIND_STOP_MAX + 1];
};

/* struct netlink_procs: processes that were sampled */
struct netlink_procs {
	struct netlink_proc	*proc;
	size_t			 count;
	size_t			 room;
};

/* struct netlink_news: what a walk has met; see attribute set "news-item" of the spec; @name: "" if not known */
struct netlink_news {
	uint64_t	seq;
	uint32_t	kind;
	uint32_t	pid;
	uint64_t	start;
	uint64_t	end;
	char		name[256];
};

/* struct netlink_news_list: news, ascending by number */
struct netlink_news_list {
	struct netlink_news	*news;
	size_t			 count;
	size_t			 room;
};

/* struct netlink_stats: see attribute set "stats" of the spec; @stop is indexed by reason */
struct netlink_stats {
	uint64_t	stop[BEEUNWIND_STOP_MAX + 1];
	uint64_t	stop_other;
	uint64_t	frames;
	uint64_t	fp_steps;
};

struct netlink *netlink_open(struct bee_error *error);
struct netlink *netlink_clone(const struct netlink *nl, struct bee_error *error);
void netlink_close(struct netlink *nl);

int netlink_info_get(struct netlink *nl, struct netlink_info *info, struct bee_error *error);
int netlink_check_format(const struct netlink_info *info, struct bee_error *error);
int netlink_table_add(struct netlink *nl, int fd, int exe_fd, uint32_t uid, uint32_t *id,
		      struct bee_error *error);
int netlink_table_new(struct netlink *nl, int fd, uint32_t pid, uint32_t uid, const char *name,
		      uint32_t *id, struct bee_error *error);
int netlink_table_del(struct netlink *nl, uint32_t id, struct bee_error *error);
int netlink_file_get(struct netlink *nl, int exe_fd, struct netlink_file *file,
		     struct bee_error *error);
int netlink_file_get_id(struct netlink *nl, uint32_t id, struct netlink_file *file,
			struct bee_error *error);
int netlink_files_get(struct netlink *nl, bool counts, struct netlink_files *files,
		      struct bee_error *error);
const struct netlink_file *netlink_files_find(const struct netlink_files *files, uint32_t id);
void netlink_files_free(struct netlink_files *files);
int netlink_code_update(struct netlink *nl, struct netlink_code *code, const struct range_diff *diff,
			const struct bee_code_heaps *heaps, struct bee_error *error);
int netlink_codes_get(struct netlink *nl, uint32_t pid, struct netlink_codes *codes,
		      struct bee_error *error);
void netlink_codes_free(struct netlink_codes *codes);
int netlink_procs_get(struct netlink *nl, uint32_t pid, struct netlink_procs *procs,
		      struct bee_error *error);
void netlink_procs_free(struct netlink_procs *procs);
int netlink_news_get(struct netlink *nl, uint64_t seq, struct netlink_news_list *list,
		     struct bee_error *error);
int netlink_stats_get(struct netlink *nl, struct netlink_stats *stats, struct bee_error *error);
int netlink_config_set(struct netlink *nl, int setting, uint64_t value, struct bee_error *error);

#endif /* NETLINK_H */
