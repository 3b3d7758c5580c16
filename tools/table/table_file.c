// SPDX-License-Identifier: GPL-2.0
/* From an ELF file to a file that holds its table: in the cache, or compiled now. */
#include "compile.h"
#include "elf.h"
#include "error.h"
#include "identity.h"
#include "table_file.h"

static int file_compile(struct elf_file *elf, const struct lossy_options *lossy,
			struct lossy_report *report, struct table_file *file,
			struct bee_error *error)
{
	struct compile_result result;
	struct row_set rows = {};
	int ret;

	if (elf_read_cfi(elf, error))
		return -1;
	ret = compile_rows(elf, lossy, &rows, &result, error);
	/* The frame pointer does not do for all files. */
	if (ret && lossy && lossy->fp_bypass) {
		struct lossy_options thin = { .thin = lossy->thin };

		row_set_free(&rows);
		ret = compile_rows(elf, &thin, &rows, &result, error);
	}
	row_set_free(&rows);
	*report = result.lossy;
	file->blob = result.blob;
	file->table = result.table;
	return ret;
}

/**
 * table_file_get() - the table of an ELF file
 * @cache: where an exact table is looked for, and kept
 * @fd: the ELF file, open for reading; the caller closes it
 * @path: its name, for people
 * @vdso: a copy of the vDSO, whose inode means nothing
 * @lossy: what may be left out, or NULL: nothing; if the frame pointer does not do for the
 *	file, only @lossy->thin counts
 * @report: filled: what has been left out
 * @file: filled; table_file_close() releases it, also if there is none
 * @error: filled if it has none or is not kept in the cache; @error->text is "" otherwise
 *
 * A file that was made to hurt may take long, and more memory than there is ends the
 * process: a caller that must not suffer does this in a child process.
 *
 * Return: TABLE_CACHED, TABLE_COMPILED or TABLE_NONE.
 */
enum table_source table_file_get(struct cache *cache, int fd, const char *path, bool vdso,
				 const struct lossy_options *lossy, struct lossy_report *report,
				 struct table_file *file, struct bee_error *error)
{
	enum table_source source = TABLE_NONE;
	struct file_identity identity;
	struct elf_file elf;

	*file = (struct table_file){ .fd = -1 };
	*report = (struct lossy_report){};
	*error = (struct bee_error){};
	if (!identity_open(&elf, fd, vdso, &identity, error)) {
		if ((!lossy || lossy_is_exact(lossy)) && cache_lookup(cache, &identity, file))
			source = TABLE_CACHED;
		else if (!file_compile(&elf, lossy, report, file, error) &&
			 !cache_store(cache, &identity, path, file, error))
			source = TABLE_COMPILED;
	}
	elf_close(&elf);
	return source;
}
