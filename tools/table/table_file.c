// SPDX-License-Identifier: GPL-2.0
/* From an ELF file to a file that holds its table: in the cache, or compiled now. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "compile.h"
#include "elf.h"
#include "error.h"
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
static int file_identify(int fd, bool vdso, struct file_identity *identity,
			 struct bee_error *error)
{
	struct elf_file elf;
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st))
		return error_set(error, errno, "%s", strerror(errno));
	if (elf_open(&elf, fd, error))
		return -1;
	*identity = (struct file_identity){ .type = elf.id_type, .len = elf.id_len,
					    .size = elf.file_size };
	memcpy(identity->id, elf.id, sizeof(identity->id));
	if (!vdso) {
		identity->inode = st.stx_ino;
		identity->born = time_ns(st.stx_mask & STATX_BTIME ? &st.stx_btime : &st.stx_ctime);
		identity->mtime = time_ns(&st.stx_mtime);
	}
	elf_close(&elf);
	return 0;
}

static enum table_source file_compile(struct cache *cache, int fd, const char *path,
				      const struct file_identity *identity,
				      const struct lossy_options *lossy,
				      struct lossy_report *report, struct table_file *file,
				      struct bee_error *error)
{
	struct lossy_options thin = { .thin = lossy->thin };
	struct compile_result result;
	int ret;

	ret = compile_elf_lossy(fd, lossy, &result, error);
	/* The frame pointer does not do for all files. */
	if (ret && lossy->fp_bypass)
		ret = compile_elf_lossy(fd, &thin, &result, error);
	*report = result.lossy;
	if (ret) {
		compile_result_free(&result);
		return TABLE_NONE;
	}
	ret = cache_store(cache, identity, path, result.blob, result.size, file, error);
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
 * @error: filled if it has none or is not kept in the cache; @error->text is "" otherwise
 *
 * A file that was made to hurt may take long, and more memory than there is ends the
 * process: those who must not suffer do this in a child process.
 *
 * Return: TABLE_CACHED, TABLE_COMPILED or TABLE_NONE.
 */
enum table_source table_file_get(struct cache *cache, int fd, const char *path, bool vdso,
				 struct table_file *file, struct bee_error *error)
{
	static const struct lossy_options exact;
	struct lossy_report report;

	return table_file_make(cache, fd, path, vdso, &exact, &report, file, error);
}

/**
 * table_file_make() - as table_file_get(), a table that may leave things out
 * @cache: where exact tables are looked for, and kept; others are not
 * @fd: see table_file_get(), as for those that are not named here
 * @path: see there
 * @vdso: see there
 * @lossy: what may be left out; of a file that the frame pointer does not do for, only @lossy->thin
 * @report: filled: what has been left out
 * @file: see there
 * @error: see there
 *
 * Return: TABLE_CACHED, TABLE_COMPILED or TABLE_NONE.
 */
enum table_source table_file_make(struct cache *cache, int fd, const char *path, bool vdso,
				  const struct lossy_options *lossy, struct lossy_report *report,
				  struct table_file *file, struct bee_error *error)
{
	struct file_identity identity;

	*file = (struct table_file){ .fd = -1 };
	*report = (struct lossy_report){ 0 };
	*error = (struct bee_error){ 0 };
	if (file_identify(fd, vdso, &identity, error))
		return TABLE_NONE;
	if (lossy_is_exact(lossy) && cache_lookup(cache, &identity, file))
		return TABLE_CACHED;
	return file_compile(cache, fd, path, &identity, lossy, report, file, error);
}
