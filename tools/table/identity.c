// SPDX-License-Identifier: GPL-2.0
/* The identity of an ELF file, which names its entry in the cache. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "identity.h"

static uint64_t time_ns(const struct statx_timestamp *time)
{
	return time->tv_sec * 1000000000ull + time->tv_nsec;
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
 * of @identity.  A file system without time of birth has ctime stand for it; there a new link to the
 * file, which changes ctime (perf record makes links), has its table compiled again.
 *
 * Return: 0 or -1.
 */
int identity_open(struct elf_file *elf, int fd, bool vdso, struct file_identity *identity,
		  struct bee_error *error)
{
	struct statx st;

	*elf = (struct elf_file){};
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st))
		return error_set(error, errno, "%s", strerror(errno));
	if (elf_identify(elf, fd, error))
		return -1;
	*identity = (struct file_identity){
		.type = elf->id_type, .len = elf->id_len, .size = elf->file_size,
	};
	memcpy(identity->id, elf->id, sizeof(identity->id));
	if (vdso)
		return 0;
	identity->inode = st.stx_ino;
	identity->born = time_ns(st.stx_mask & STATX_BTIME ? &st.stx_btime : &st.stx_ctime);
	identity->mtime = time_ns(&st.stx_mtime);
	return 0;
}
