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
	/* Refused, for one, if the file is not made with frame pointers: try without. */
	if (ret && lossy && lossy->fp_bypass) {
		struct lossy_options thin = {
			.thin = lossy->thin, .cfi_only = lossy->cfi_only,
		};

		row_set_free(&rows);
		*error = (struct bee_error){};
		ret = compile_rows(elf, &thin, &rows, &result, error);
	}
	row_set_free(&rows);
	*report = result.lossy;
	file->blob = result.blob;
	file->table = result.table;
	return ret;
}

/**
 * table_file_open() - the exact table of an ELF file, if it is in the cache and quickly found
 * @cache: the cache
 * @fd: the ELF file, open for reading; the caller closes it
 * @known: see identity_read()
 * @size: filled: bytes of the table
 *
 * Reads the first page of the file, and of the table only the header, which names the file that it
 * is of.  The module checks the rest.
 *
 * Return: the table, open for reading, which the caller closes; or -1: table_file_get() may still
 * find it.
 */
int table_file_open(struct cache *cache, int fd, const struct identity_known *known,
		    uint64_t *size)
{
	struct file_identity identity;

	return identity_read(fd, known, &identity) ? cache_find(cache, &identity, size) : -1;
}

/**
 * table_file_get() - the table of an ELF file
 * @cache: where an exact table is looked for, and kept
 * @fd: the ELF file, open for reading; the caller closes it
 * @path: its name, for people
 * @known: see identity_read()
 * @lossy: what to leave out, or NULL: nothing; if the file is not made with frame pointers,
 *	@lossy->fp_bypass is ignored
 * @report: filled: what was left out
 * @file: filled; table_file_close() releases it, also if there is none
 * @error: filled if there is no table, or if it could not be kept in the cache; @error->text is ""
 *	otherwise
 *
 * A file that someone made to hurt may take long, and may need more memory than there is, which
 * ends the process: a caller that has to go on makes the table in a child.
 *
 * Return: TABLE_CACHED, TABLE_COMPILED or TABLE_NONE.
 */
enum table_source table_file_get(struct cache *cache, int fd, const char *path,
				 const struct identity_known *known,
				 const struct lossy_options *lossy, struct lossy_report *report,
				 struct table_file *file, struct bee_error *error)
{
	enum table_source source = TABLE_NONE;
	struct file_identity identity;
	struct elf_file elf;

	*file = (struct table_file){ .fd = -1 };
	*report = (struct lossy_report){};
	*error = (struct bee_error){};
	if (!identity_open(&elf, fd, known, &identity, error)) {
		if ((!lossy || (lossy_is_exact(lossy) && !lossy->cfi_only)) &&
		    cache_lookup(cache, &identity, file))
			source = TABLE_CACHED;
		else if (!file_compile(&elf, lossy, report, file, error) &&
			 !cache_store(cache, &identity, path, file, error))
			source = TABLE_COMPILED;
	}
	elf_close(&elf);
	return source;
}
