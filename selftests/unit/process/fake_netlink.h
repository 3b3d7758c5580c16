/* SPDX-License-Identifier: GPL-2.0 */
/* A fake of tools/netlink: a module that knows files by their inodes, shared with children. */
#ifndef FAKE_NETLINK_H
#define FAKE_NETLINK_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "alloc.h"
#include "netlink.h"

#define FAKE_FILES	16

/**
 * struct fake - the module
 * @file: files that it knows; id 0: none.  The vDSO has inode 0
 * @add_code: with which TABLE_ADD refuses tables; 0: it takes them
 * @adds: tables that were added
 * @marks: files that were said to have none
 * @dels: files that were forgotten
 * @uid: of the last table
 */
struct fake {
	struct netlink_file	file[FAKE_FILES];
	int			add_code;
	int			adds;
	int			marks;
	int			dels;
	uint32_t		uid;
};

static struct fake *fake;

struct netlink {
	int nothing;
};

static void fake_reset(void)
{
	if (!fake)
		fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(fake, 0, sizeof(*fake));
}

struct netlink *netlink_clone(const struct netlink *nl, struct bee_error *error)
{
	(void)nl;
	(void)error;
	return alloc_zero(1, sizeof(struct netlink));
}

void netlink_close(struct netlink *nl)
{
	free(nl);
}

/* The file's place, or that of a new one. */
static struct netlink_file *fake_find(int exe_fd, bool add)
{
	struct stat st = { 0 };
	size_t i;

	if (exe_fd != NETLINK_VDSO)
		fstat(exe_fd, &st);
	for (i = 0; i < FAKE_FILES; i++)
		if (fake->file[i].id && fake->file[i].inode == st.st_ino)
			return &fake->file[i];
	for (i = 0; i < FAKE_FILES && add; i++)
		if (!fake->file[i].id) {
			fake->file[i] = (struct netlink_file){ .id = i + 1, .inode = st.st_ino, .size = st.st_size,
							       .device = st.st_dev };
			return &fake->file[i];
		}
	return NULL;
}

int netlink_table_add(struct netlink *nl, int fd, int exe_fd, uint32_t uid, uint32_t *id,
		      struct bee_error *error)
{
	struct netlink_file *file;
	struct stat st = { 0 };

	(void)nl;
	if (fd != NETLINK_NO_TABLE && fake->add_code)
		return error_set(error, fake->add_code, "no");
	file = fake_find(exe_fd, true);
	if (exe_fd != NETLINK_VDSO)
		fstat(exe_fd, &st);
	file->size = st.st_size;
	file->loaded = fd != NETLINK_NO_TABLE;
	fake->adds += file->loaded;
	fake->marks += !file->loaded;
	fake->uid = uid;
	*id = file->id;
	return 0;
}

int netlink_table_del(struct netlink *nl, uint32_t id, struct bee_error *error)
{
	(void)nl;
	if (!fake->file[id - 1].id)
		return error_set(error, ENOENT, "no");
	fake->file[id - 1].id = 0;
	fake->dels++;
	return 0;
}

int netlink_file_get(struct netlink *nl, int exe_fd, struct netlink_file *file,
		     struct bee_error *error)
{
	const struct netlink_file *found = fake_find(exe_fd, false);

	(void)nl;
	memset(file, 0, sizeof(*file));
	if (!found)
		return error_set(error, ENOENT, "no");
	*file = *found;
	return 0;
}

#endif /* FAKE_NETLINK_H */
