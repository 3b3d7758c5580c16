// SPDX-License-Identifier: GPL-2.0
/* From an ELF file to a file that holds its table: in the cache, or compiled now. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "compile.h"
#include "elf.h"
#include "table_file.h"

static uint64_t time_ns(const struct statx_timestamp *time)
{
	return time->tv_sec * 1000000000ull + time->tv_nsec;
}

/*
 * Taken before the file is compiled: a change meanwhile gives it another mtime. A file
 * system that keeps no time of birth has ctime for it; then a link, as perf record makes
 * them, has the file compiled again.
 */
static int file_identify(int fd, bool vdso, struct file_identity *identity, char *why, size_t size)
{
	struct bee_elf elf;
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st)) {
		snprintf(why, size, "%s", strerror(errno));
		return -1;
	}
	if (bee_elf_open(&elf, fd)) {
		snprintf(why, size, "%s", elf.message);
		return -1;
	}
	*identity = (struct file_identity){ .type = elf.id_type, .len = elf.id_len,
					    .size = elf.file_size };
	memcpy(identity->id, elf.id, sizeof(identity->id));
	if (!vdso) {
		identity->inode = st.stx_ino;
		identity->born = time_ns(st.stx_mask & STATX_BTIME ? &st.stx_btime : &st.stx_ctime);
		identity->mtime = time_ns(&st.stx_mtime);
	}
	bee_elf_close(&elf);
	return 0;
}

static enum table_source file_compile(struct cache *cache, int fd, const char *path,
				      const struct file_identity *identity,
				      struct table_file *file, char *why, size_t size)
{
	struct compile_result result;
	int ret;

	if (compile_elf(fd, &result)) {
		snprintf(why, size, "%s", result.message);
		compile_result_free(&result);
		return TABLE_NONE;
	}
	ret = cache_store(cache, identity, path, result.blob, result.size, file, why, size);
	result.blob = NULL;
	compile_result_free(&result);
	return ret ? TABLE_NONE : TABLE_COMPILED;
}

/**
 * table_file_get() - the table of an ELF file
 * @cache: where it is looked for, and kept
 * @fd: the ELF file, open for reading; the caller closes it
 * @path: its name, for people
 * @vdso: a copy of the vDSO, whose inode means nothing
 * @file: filled; table_file_close() releases it, also if there is none
 * @why: a sentence, if it has none or is not kept in the cache
 * @size: bytes of @why
 *
 * A file that was made to hurt may take long, and more memory than there is ends the
 * process: those who must not suffer do this in a child process.
 *
 * Return: TABLE_CACHED, TABLE_COMPILED or TABLE_NONE.
 */
enum table_source table_file_get(struct cache *cache, int fd, const char *path, bool vdso,
				 struct table_file *file, char *why, size_t size)
{
	struct file_identity identity;

	*file = (struct table_file){ .fd = -1 };
	why[0] = '\0';
	if (file_identify(fd, vdso, &identity, why, size))
		return TABLE_NONE;
	if (cache_lookup(cache, &identity, file))
		return TABLE_CACHED;
	return file_compile(cache, fd, path, &identity, file, why, size);
}
