// SPDX-License-Identifier: GPL-2.0
/* From an ELF file to its unwind table. */
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "coverage.h"
#include "elf.h"
#include "encode.h"
#include "error.h"
#include "gopclntab.h"
#include "rows.h"

/* Encode, and check the table as the module does. */
static int compile_table(const struct table_info *info, const struct row_set *rows,
			 struct compile_result *result, struct bee_error *error)
{
	struct bee_table_error refusal;
	size_t i;

	result->rows = rows->nrows;
	row_set_count_made(rows, false, &result->synth_rows, &result->synth);
	row_set_count_made(rows, true, &result->abi_rows, &result->abi);
	for (i = 0; i < rows->nrows; i++)
		if (row_rule(rows, i)->kind == BEE_RULE_UNSUPPORTED)
			result->unsupported++;
	result->blob = encode_table(info, rows, &result->size, error);
	if (!result->blob)
		return -1;
	if (!bee_table_validate(result->blob, result->size, &result->table, &refusal))
		return 0;
	return error_set(error, 0, "bug in the compiler: its table is refused: %s at offset %llu",
			 refusal.why, (unsigned long long)refusal.offset);
}

static struct table_info compile_info(const struct elf_file *elf)
{
	struct table_info info = {
		.file_size = elf->file_size, .nsegments = elf->ntext,
		.id_type = elf->id_type, .id_len = elf->id_len,
	};
	size_t i;

	memcpy(info.id, elf->id, sizeof(info.id));
	for (i = 0; i < elf->ntext; i++)
		info.segments[i] = (struct table_segment){
			.vaddr = elf->text[i].vaddr, .offset = elf->text[i].offset,
			.size = elf->text[i].size,
		};
	return info;
}

/**
 * compile_encode() - encode_table() for an ELF file
 * @elf: the file
 * @rows: its rows, at least one
 * @size: bytes of the table
 * @error: filled on failure
 *
 * Return: the table, not validated, for free(); or NULL.
 */
void *compile_encode(const struct elf_file *elf, const struct row_set *rows, size_t *size,
		     struct bee_error *error)
{
	struct table_info info = compile_info(elf);

	return encode_table(&info, rows, size, error);
}

/**
 * compile_rows() - make the unwind table of an open ELF file
 * @elf: the file, with its CFI
 * @lossy: what to leave out, or NULL: nothing
 * @rows: filled with what the table says; row_set_free() releases it, also after a
 *	failure
 * @result: always filled; compile_result_free() releases it
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int compile_rows(const struct elf_file *elf, const struct lossy_options *lossy,
		 struct row_set *rows, struct compile_result *result, struct bee_error *error)
{
	struct table_info info = compile_info(elf);
	struct gopclntab go;

	gopclntab_open(elf, &go);
	*result = (struct compile_result){
		.cfi_size = elf_frames_size(elf), .go = go.count, .go_trouble = go.trouble,
	};
	if (lossy && (lossy->cfi_only || !lossy_is_exact(lossy)) ?
	    coverage_cfi_rows(elf, rows, error) : coverage_rows(elf, rows, error))
		return -1;
	if (lossy && !lossy_is_exact(lossy) &&
	    lossy_apply(elf, rows, lossy, &result->lossy, error))
		return -1;
	if (lossy && lossy->cfi_only)
		rows->flags |= BEE_TABLE_F_CFI_ONLY;
	if (!compile_table(&info, rows, result, error) && !elf_check(elf, error))
		return 0;
	compile_result_free(result);
	return -1;
}

/**
 * compile_list() - make the unwind table of text that is in no file
 * @elf: says where it is; see coverage_list_rows()
 * @list: its FDEs
 * @rows: filled with what the table says; row_set_free() releases it, also after a
 *	failure
 * @result: always filled; compile_result_free() releases it
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int compile_list(const struct elf_file *elf, const struct fde_list *list, struct row_set *rows,
		 struct compile_result *result, struct bee_error *error)
{
	struct table_info info = compile_info(elf);

	*result = (struct compile_result){};
	if (!coverage_list_rows(elf, list, rows, error) &&
	    !compile_table(&info, rows, result, error))
		return 0;
	compile_result_free(result);
	return -1;
}

/**
 * compile_elf() - make the unwind table of an ELF file
 * @fd: open for reading, a regular file or memfd; the offset is not used, and
 *	the caller closes it
 * @lossy: what to leave out, or NULL: nothing
 * @result: always filled; compile_result_free() releases it
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int compile_elf(int fd, const struct lossy_options *lossy, struct compile_result *result,
		struct bee_error *error)
{
	struct row_set rows = {};
	struct elf_file elf;
	int ret;

	*result = (struct compile_result){};
	ret = elf_open(&elf, fd, error);
	if (!ret)
		ret = compile_rows(&elf, lossy, &rows, result, error);
	row_set_free(&rows);
	elf_close(&elf);
	return ret;
}

/* compile_result_free(): release the table, if there is one */
void compile_result_free(struct compile_result *result)
{
	free(result->blob);
	result->blob = NULL;
}
