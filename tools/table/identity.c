// SPDX-License-Identifier: GPL-2.0
/* The identity of an ELF file, which names its entry in the cache. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "identity.h"
#include "io.h"
#include "build_id.h"

static uint64_t time_ns(const struct statx_timestamp *time)
{
	return time->tv_sec * 1000000000ull + time->tv_nsec;
}

static int identity_stat(int fd, struct statx *st)
{
	return statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, st);
}

/* A number of this boot of the kernel, which nobody chooses; 0: unknown. */
static uint64_t boot_number(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	uint64_t first = 0, second = 0, third = 0;
	char text[64];
	ssize_t size;

	if (fd < 0)
		return 0;
	size = io_read_at(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	if (sscanf(text, "%8" SCNx64 "-%4" SCNx64 "-%4" SCNx64, &first, &second, &third) != 3)
		return 0;
	return first << 32 | second << 16 | third;
}

/*
 * Which inode on which file system it is, such that no file system that a user can make passes for
 * another.  A block device has a number.  The others get numbers as they are mounted, so that the
 * one which a FUSE server had can be that of btrfs after the next boot.  btrfs, ZFS and tmpfs have an
 * f_fsid that stays; FUSE has none, and overlayfs that of a layer, which can be FUSE.  There the
 * number counts, but only until the next boot.
 *
 * On overlayfs the inode below counts, which containers share.  Its device and number are from @known
 * both: the file may be copied to another layer meanwhile.
 *
 * Return: 0, or -1 and errno.
 */
static int identity_set_inode(struct file_identity *identity, int fd, const struct statx *st,
			      const struct identity_known *known)
{
	/* As in the kernel's dev_t. */
	uint64_t device = (uint64_t)st->stx_dev_major << 20 | st->stx_dev_minor, boot;
	struct statfs fs;
	bool is_overlay;

	if (known && known->vdso)
		return 0;
	/* A FUSE server need not answer. */
	if (fstatfs(fd, &fs))
		memset(&fs, 0, sizeof(fs));
	is_overlay = fs.f_type == OVERLAYFS_SUPER_MAGIC;
	identity->inode = st->stx_ino;
	if (is_overlay && known) {
		device = known->device;
		identity->inode = known->inode;
	}
	identity->born = time_ns(st->stx_mask & STATX_BTIME ? &st->stx_btime : &st->stx_ctime);
	identity->mtime = time_ns(&st->stx_mtime);
	identity->fs = device;
	if (device >> 20)
		return 0;
	identity->fs_type = fs.f_type;
	memcpy(&identity->fs, &fs.f_fsid, sizeof(identity->fs));
	if (identity->fs && !is_overlay)
		return 0;
	boot = boot_number();
	if (!boot) {
		errno = ENOENT;
		return -1;
	}
	identity->fs = device ^ boot;
	return 0;
}

/**
 * identity_read() - find out which ELF file it is by its first page, without libelf
 * @fd: the file, open for reading
 * @known: what the module knows of it, or NULL: it was not asked
 * @identity: filled
 *
 * A file whose first page misleads gets an identity under which there is nothing in the cache.
 *
 * Return: false if the build-id is not in the first page; then only identity_open() can tell.
 */
bool identity_read(int fd, const struct identity_known *known, struct file_identity *identity)
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
	return !identity_set_inode(identity, fd, &st, known) && build_id.len;
}

/**
 * identity_open() - open an ELF file, as elf_identify() does, and find out which one it is
 * @elf: filled; elf_close() releases it, also after a failure
 * @fd: see elf_identify()
 * @known: what the module knows of it, or NULL: it was not asked
 * @identity: filled
 * @error: filled on failure
 *
 * The times are read before the file: if it changes while it is read, its mtime is later than that
 * of @identity.  Where the file system has no time of birth, ctime takes its place; a new link
 * to the file changes ctime (perf record makes links), so its table is then compiled again.
 *
 * Return: 0 or -1.
 */
int identity_open(struct elf_file *elf, int fd, const struct identity_known *known,
		  struct file_identity *identity, struct bee_error *error)
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
	if (identity_set_inode(identity, fd, &st, known))
		return error_set(error, errno, "its file system is not known: %s", strerror(errno));
	return 0;
}
