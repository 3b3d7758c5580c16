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

#include "error.h"
#include "ranges.h"

struct netlink;

/* For netlink_table_add(), instead of the descriptor of an ELF file: the vDSO. */
#define NETLINK_VDSO	(-1)

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
	uint32_t	procs;
	uint32_t	ranges;
	uint64_t	range_bytes;
	uint64_t	budget;
	uint64_t	follow_lost;
	uint32_t	follow;
	uint32_t	announce;
	uint64_t	instance;
	uint32_t	listeners;
	uint64_t	cache_bytes;
	uint32_t	share;
	uint32_t	most_ranges;
	char		uncalled[160];
};

/* netlink_info_used() - bytes that count against the budget */
static inline uint64_t netlink_info_used(const struct netlink_info *info)
{
	return info->table_bytes + info->range_bytes + info->cache_bytes;
}

/* netlink_file.uid if the module does not say whose process has the file mapped */
#define NETLINK_NO_UID	((uint32_t)-1)

/* struct netlink_file: a file and, if @loaded, its table; see attribute set "file" of the spec */
struct netlink_file {
	uint32_t	id;
	bool		loaded;
	char		name[256];
	uint8_t		identity[32];
	size_t		identity_len;
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
	uint32_t	uid;
	uint64_t	start;
	uint64_t	end;
	uint32_t	flags;
	uint32_t	procs;
	uint64_t	owner;
};

/* struct netlink_files: the module's files; @ascending: by id, as the module dumps them */
struct netlink_files {
	struct netlink_file	*file;
	size_t			 count;
	size_t			 room;
	bool			 ascending;
};

/* struct netlink_proc: a managed address space; see attribute set "proc" of the spec */
struct netlink_proc {
	uint32_t	pid;
	uint64_t	cookie;
	uint64_t	generation;
	uint32_t	nranges;
	struct ranges	ranges;
	uint32_t	stop[BEEUNWIND_STOP_MAX + 1];
};

/* struct netlink_procs: managed address spaces */
struct netlink_procs {
	struct netlink_proc	*proc;
	size_t			 count;
	size_t			 room;
};

/* struct netlink_user: what a user has of the budget; see attribute set "user" of the spec */
struct netlink_user {
	uint32_t	uid;
	uint64_t	bytes;
	uint64_t	most;
	uint64_t	refused;
};

/* struct netlink_users: users whose processes are managed */
struct netlink_users {
	struct netlink_user	*user;
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
int netlink_table_add(struct netlink *nl, int fd, int exe_fd, uint32_t *id,
		      struct bee_error *error);
int netlink_table_new(struct netlink *nl, int fd, uint32_t pid, const char *name, uint32_t *id,
		      struct bee_error *error);
int netlink_table_set(struct netlink *nl, int fd, uint32_t id, struct bee_error *error);
int netlink_table_del(struct netlink *nl, uint32_t id, bool force, struct bee_error *error);
int netlink_table_del_used(struct netlink *nl, uint32_t id, uint32_t *procs, struct bee_error *error);
int netlink_file_get(struct netlink *nl, int exe_fd, struct netlink_file *file,
		     struct bee_error *error);
int netlink_file_get_id(struct netlink *nl, uint32_t id, struct netlink_file *file,
			struct bee_error *error);
int netlink_files_get(struct netlink *nl, struct netlink_files *files, struct bee_error *error);
int netlink_files_get_counts(struct netlink *nl, struct netlink_files *files,
			     struct bee_error *error);
const struct netlink_file *netlink_files_find(const struct netlink_files *files, uint32_t id);
void netlink_files_free(struct netlink_files *files);
int netlink_proc_add(struct netlink *nl, struct netlink_proc *proc, struct bee_error *error);
int netlink_proc_add_nowait(struct netlink *nl, struct netlink_proc *proc, struct bee_error *error);
int netlink_proc_update(struct netlink *nl, struct netlink_proc *proc,
			const struct range_diff *diff, struct bee_error *error);
int netlink_proc_del(struct netlink *nl, uint32_t pid, struct bee_error *error);
int netlink_proc_forget(struct netlink *nl, uint64_t cookie, struct bee_error *error);
int netlink_procs_get(struct netlink *nl, uint32_t pid, struct netlink_procs *procs,
		      struct bee_error *error);
int netlink_procs_get_counts(struct netlink *nl, struct netlink_procs *procs,
			     struct bee_error *error);
int netlink_proc_find(struct netlink *nl, uint64_t cookie, struct netlink_procs *procs,
		      struct bee_error *error);
int netlink_procs_get_users(struct netlink *nl, uint32_t file, struct netlink_procs *procs,
			    struct bee_error *error);
void netlink_procs_free(struct netlink_procs *procs);
int netlink_users_get(struct netlink *nl, struct netlink_users *users, struct bee_error *error);
void netlink_users_free(struct netlink_users *users);
int netlink_stats_get(struct netlink *nl, struct netlink_stats *stats, struct bee_error *error);
int netlink_config_set(struct netlink *nl, int setting, uint64_t value, struct bee_error *error);
int netlink_config_hold(struct netlink *nl, int setting, uint32_t value, struct bee_error *error);

#endif /* NETLINK_H */
