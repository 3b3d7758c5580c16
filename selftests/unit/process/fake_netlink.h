/* SPDX-License-Identifier: GPL-2.0 */
/* A fake of tools/netlink: the test decides what the module has and answers. */
#ifndef FAKE_NETLINK_H
#define FAKE_NETLINK_H

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "alloc.h"
#include "netlink.h"

/**
 * struct fake - the module
 * @file: its files
 * @nfiles: number of them
 * @range: ranges of process @pid
 * @nranges: number of them
 * @pid: the only process that it has; 0: none
 * @added_id: the id that TABLE_ADD answers with, unless @add_code is set
 * @add_code: the error that TABLE_ADD answers with; 0 for none
 * @proc_code: error of PROC_ADD, by pid; 0 for none
 * @forget_code: error of PROC_DEL; 0 for none
 * @forks: when PROC_DEL forgets @pid, the next one takes its place, so many times; -1: each time
 * @open_id: the id that FILE_GET answers with for an open file
 * @refuse: TABLE_ADD refuses only so many tables with @add_code; 0: all
 * @deadly: the inode of a file for which FILE_GET ends the child that asks, the first time
 * @adds: how many tables were added; children count at the same time, here and in what follows
 * @clones: how many connections were made
 * @refused: how many tables were refused
 * @deaths: how many children @deadly has ended
 * @dumps: how often all files were asked for
 */
struct fake {
	struct netlink_file	file[4];
	size_t			nfiles;
	struct range		range[4];
	size_t			nranges;
	uint32_t		pid;
	uint32_t		added_id;
	int			add_code;
	int			(*proc_code)(uint32_t pid);
	int			forget_code;
	int			forks;
	uint32_t		open_id;
	uint32_t		refuse;
	ino_t			deadly;
	_Atomic uint32_t	*adds;
	_Atomic uint32_t	*clones;
	_Atomic uint32_t	*refused;
	_Atomic uint32_t	*deaths;
	_Atomic uint32_t	*dumps;
};

static struct fake fake;

struct netlink {
	int nothing;
};

static void fake_reset(void)
{
	_Atomic uint32_t *adds = fake.adds;

	if (!adds)
		adds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fake = (struct fake){ .adds = adds, .clones = adds + 1, .refused = adds + 2,
			      .deaths = adds + 3, .dumps = adds + 4 };
	memset(adds, 0, 5 * sizeof(*adds));
}

struct netlink *netlink_clone(const struct netlink *nl, struct bee_error *error)
{
	(void)nl;
	(void)error;
	++*fake.clones;
	return alloc_zero(1, sizeof(struct netlink));
}

void netlink_close(struct netlink *nl)
{
	free(nl);
}

int netlink_table_add(struct netlink *nl, int fd, int exe_fd, uint32_t *id,
		      struct bee_error *error)
{
	(void)nl;
	(void)fd;
	(void)exe_fd;
	*id = fake.added_id;
	if (fake.add_code && (!fake.refuse || *fake.refused < fake.refuse)) {
		++*fake.refused;
		return error_set(error, fake.add_code, "no");
	}
	++*fake.adds;
	return 0;
}

/* Device 5, and what the file itself says; loaded if a table of @fake.file says so. */
int netlink_file_get(struct netlink *nl, int exe_fd, struct netlink_file *file,
		     struct bee_error *error)
{
	struct stat st = { 0 };
	size_t i;

	(void)nl;
	(void)error;
	fstat(exe_fd, &st);
	if (fake.deadly && st.st_ino == fake.deadly && !*fake.deaths) {
		++*fake.deaths;
		raise(SIGALRM);
	}
	*file = (struct netlink_file){ .id = fake.open_id, .device = 5, .inode = st.st_ino,
				       .size = st.st_size };
	for (i = 0; i < fake.nfiles; i++)
		if (fake.file[i].inode == st.st_ino && fake.file[i].loaded)
			file->loaded = true;
	return 0;
}

int netlink_files_get(struct netlink *nl, struct netlink_files *files, struct bee_error *error)
{
	(void)nl;
	(void)error;
	++*fake.dumps;
	*files = (struct netlink_files){ .file = alloc_zero(4, sizeof(*files->file)),
					 .count = fake.nfiles };
	memcpy(files->file, fake.file, sizeof(fake.file));
	return 0;
}

const struct netlink_file *netlink_files_find(const struct netlink_files *files, uint32_t id)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		if (files->file[i].id == id)
			return &files->file[i];
	return NULL;
}

void netlink_files_free(struct netlink_files *files)
{
	free(files->file);
	*files = (struct netlink_files){ 0 };
}

int netlink_procs_get(struct netlink *nl, uint32_t pid, struct netlink_procs *procs,
		      struct bee_error *error)
{
	size_t i;

	(void)nl;
	(void)error;
	*procs = (struct netlink_procs){ 0 };
	if (!fake.pid || (pid && pid != fake.pid))
		return 0;
	procs->proc = alloc_zero(1, sizeof(*procs->proc));
	procs->count = 1;
	procs->proc[0] = (struct netlink_proc){ .pid = fake.pid, .cookie = 1 };
	for (i = 0; i < fake.nranges; i++)
		ranges_append(&procs->proc[0].ranges, &fake.range[i]);
	return 0;
}

int netlink_procs_get_counts(struct netlink *nl, struct netlink_procs *procs, struct bee_error *error)
{
	return netlink_procs_get(nl, 0, procs, error);
}

int netlink_procs_get_users(struct netlink *nl, uint32_t file, struct netlink_procs *procs,
			    struct bee_error *error)
{
	size_t i;

	(void)nl;
	*procs = (struct netlink_procs){ 0 };
	for (i = 0; i < fake.nranges && fake.range[i].file != file; i++)
		;
	if (i == fake.nranges)
		return error_set(error, ENOENT, "no file %u", file);
	procs->proc = alloc_zero(1, sizeof(*procs->proc));
	procs->count = 1;
	procs->proc[0] = (struct netlink_proc){ .pid = fake.pid, .cookie = 1 };
	ranges_append(&procs->proc[0].ranges, &fake.range[i]);
	return 0;
}

void netlink_procs_free(struct netlink_procs *procs)
{
	if (procs->count)
		ranges_free(&procs->proc[0].ranges);
	free(procs->proc);
	*procs = (struct netlink_procs){ 0 };
}

int netlink_proc_add(struct netlink *nl, struct netlink_proc *proc, struct bee_error *error)
{
	int code = fake.proc_code ? fake.proc_code(proc->pid) : 0;

	(void)nl;
	return code ? error_set(error, code, "refused %u", proc->pid) : 0;
}

int netlink_proc_add_nowait(struct netlink *nl, struct netlink_proc *proc, struct bee_error *error)
{
	return netlink_proc_add(nl, proc, error);
}

int netlink_proc_forget(struct netlink *nl, uint64_t cookie, struct bee_error *error)
{
	(void)nl;
	(void)cookie;
	if (fake.forget_code != EPERM)
		fake.pid = fake.forks ? fake.pid + 1 : 0;
	fake.forks -= fake.forks > 0;
	return fake.forget_code ? error_set(error, fake.forget_code, "no") : 0;
}

#endif /* FAKE_NETLINK_H */
