// SPDX-License-Identifier: GPL-2.0
/* The identity of an ELF file, which names its entry in the cache. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "identity.h"
#include "io.h"
#include "kmod/build_id.h"

static uint64_t time_ns(const struct statx_timestamp *time)
{
	return time->tv_sec * 1000000000ull + time->tv_nsec;
}

static int identity_stat(int fd, struct statx *st)
{
	return statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, st);
}

/* Which inode it is; @vdso: a copy of the vDSO, whose inode means nothing. */
static void identity_set_inode(struct file_identity *identity, const struct statx *st, bool vdso)
{
	if (vdso)
		return;
	identity->inode = st->stx_ino;
	identity->born = time_ns(st->stx_mask & STATX_BTIME ? &st->stx_btime : &st->stx_ctime);
	identity->mtime = time_ns(&st->stx_mtime);
}

/**
 * identity_read() - find out which ELF file it is by its first page, without libelf
 * @fd: the file, open for reading
 * @vdso: a copy of the vDSO, whose inode means nothing
 * @identity: filled
 *
 * A file whose first page misleads gets an identity under which there is nothing in the cache.
 *
 * Return: false if the build-id is not in the first page; then only identity_open() can tell.
 */
bool identity_read(int fd, bool vdso, struct file_identity *identity)
{
	struct bee_build_id build_id;
	u32 page[1024];
	struct statx st;
	ssize_t size;

	if (identity_stat(fd, &st))
		return false;
	size = io_read_at(fd, page, sizeof(page), 0);
	if (size < 0)
		return false;
	bee_build_id_find(page, size, &build_id);
	*identity = (struct file_identity){
		.type = BEE_ID_BUILD_ID, .len = build_id.len, .size = st.stx_size,
	};
	memcpy(identity->id, build_id.id, build_id.len);
	identity_set_inode(identity, &st, vdso);
	return build_id.len;
}

/**
 * identity_open() - open an ELF file, as elf_identify() does, and find out which one it is
 * @elf: filled; elf_close() releases it, also after a failure
 * @fd: see elf_identify()
 * @vdso: a copy of the vDSO, whose inode means nothing
 * @identity: filled
 * @error: filled on failure
 *
 * The times are read before the file: if it changes while it is read, its mtime is later than that
 * of @identity.  Where the file system has no time of birth, ctime takes its place; a new link
 * to the file changes ctime (perf record makes links), so its table is then compiled again.
 *
 * Return: 0 or -1.
 */
int identity_open(struct elf_file *elf, int fd, bool vdso, struct file_identity *identity,
		  struct bee_error *error)
{
	struct statx st;

	*elf = (struct elf_file){};
	if (identity_stat(fd, &st))
		return error_set(error, errno, "%s", strerror(errno));
	if (elf_identify(elf, fd, error))
		return -1;
	*identity = (struct file_identity){
		.type = elf->id_type, .len = elf->id_len, .size = elf->file_size,
	};
	memcpy(identity->id, elf->id, sizeof(identity->id));
	identity_set_inode(identity, &st, vdso);
	return 0;
}
