// SPDX-License-Identifier: GPL-2.0
/*
 * Compute the size of the SFrame section that "as --gsframe" and ld would make of a file's
 * FDEs: version 2 (The SFrame Format, binutils 2.44) for AMD64, where the return address is
 * always at CFA-8 and takes no space.  The section itself is not written.
 */

#include "eh_frame.h"
#include "expr.h"
#include "sframe.h"

#define SFRAME_HEADER	28
#define SFRAME_FDE	20
#define SFRAME_FRE_INFO	1
#define SFRAME_MAX_FRES	65535

/* The content of a frame row entry (FRE).  @fp is 0 if rbp is not saved. */
struct sframe_row {
	u64	reg;
	s64	cfa;
	s64	fp;
};

/* Sums of a function while cfi_run() passes its rows. */
struct sframe_function {
	struct sframe_row	row;
	size_t			nfres;
	u64			offsets;	/* bytes of all offsets */
	bool			refused;
	bool			plt;
};

/* Bytes of a stack offset. */
static unsigned int sframe_offset_size(s64 offset)
{
	u64 size = offset < 0 ? -(u64)offset : offset;

	return size <= 0x7f ? 1 : size <= 0x7fff ? 2 : 4;
}

static bool sframe_fits(s64 offset)
{
	return offset == (s32)offset;
}

static bool sframe_get_fp(const struct cfi_rule *rule, s64 *fp)
{
	switch (rule->how) {
	case CFI_UNSPECIFIED:
	case CFI_UNDEFINED:
	case CFI_SAME:
		*fp = 0;
		return true;
	case CFI_OFFSET:
		*fp = rule->offset;
		return *fp && sframe_fits(*fp);
	}
	return false;
}

static bool sframe_has_usual_ra(const struct cfi_rule *rule)
{
	return rule->how == CFI_UNDEFINED || (rule->how == CFI_OFFSET && rule->offset == -8);
}

static bool sframe_has_usual_sp(const struct cfi_rule *rule)
{
	return rule->how == CFI_UNSPECIFIED || rule->how == CFI_SAME ||
	       (rule->how == CFI_VAL_OFFSET && !rule->offset);
}

/* Return: false if a frame row entry cannot express these rules. */
static bool sframe_row_of(const struct cfi_row *from, struct sframe_row *to)
{
	if (from->cfa.how != CFI_REGISTER || !sframe_fits(from->cfa.offset) ||
	    (from->cfa.reg != BEE_REG_RSP && from->cfa.reg != BEE_REG_RBP))
		return false;
	to->reg = from->cfa.reg;
	to->cfa = from->cfa.offset;
	return sframe_get_fp(&from->fp, &to->fp) && sframe_has_usual_ra(&from->ra) &&
	       sframe_has_usual_sp(&from->sp);
}

static void sframe_add_row(void *arg, u64 start, u64 end, const struct cfi_row *from)
{
	struct sframe_function *function = arg;
	struct sframe_row row;
	unsigned int size;
	s32 threshold;

	(void)start;
	(void)end;
	if (!sframe_row_of(from, &row)) {
		function->refused = true;
		function->plt |= from->cfa.how == CFI_EXPR &&
				 expr_is_plt(&from->cfa, &threshold);
		return;
	}
	if (function->nfres && row.reg == function->row.reg && row.cfa == function->row.cfa &&
	    row.fp == function->row.fp)
		return;
	size = sframe_offset_size(row.cfa);
	if (sframe_offset_size(row.fp) > size)
		size = sframe_offset_size(row.fp);
	function->offsets += size * (row.fp ? 2 : 1);
	function->row = row;
	function->nfres++;
}

/* Bytes of the start address in each FRE, by the size of the function. */
static unsigned int sframe_start_size(u64 size)
{
	return size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;
}

static void sframe_add(struct sframe_size *size, size_t nfdes, size_t nfres, u64 bytes)
{
	size->nfdes += nfdes;
	size->nfres += nfres;
	size->bytes += nfdes * SFRAME_FDE + bytes;
}

/* ld writes one FDE for the first entry of a PLT and one, by masked pc, for all others. */
static void sframe_add_plt(struct sframe_size *size)
{
	sframe_add(size, 2, 4, 4 * (1 + SFRAME_FRE_INFO + 1));
}

static void sframe_add_fde(struct sframe_size *size, const struct cie *cie, const struct fde *fde)
{
	struct sframe_function function = {};
	u64 start_size = sframe_start_size(fde->end - fde->begin);

	if (fde->malformed || cfi_run(&cie->cfi, fde->insns, fde->size, fde->begin, fde->end,
				      sframe_add_row, &function) != fde->end)
		function.refused = true;
	if (function.plt)
		sframe_add_plt(size);
	else if (function.refused || function.nfres > SFRAME_MAX_FRES)
		size->skipped++;
	else
		sframe_add(size, 1, function.nfres,
			   function.nfres * (start_size + SFRAME_FRE_INFO) + function.offsets);
}

/**
 * sframe_measure() - the size that a file's SFrame section would have
 * @elf: the file
 * @size: filled
 *
 * Functions are the FDEs of .eh_frame that describe executable text, or if there are none
 * those of .debug_frame.  A function with a rule that SFrame cannot represent is left out as
 * a whole, as gas does.
 */
void sframe_measure(const struct elf_file *elf, struct sframe_size *size)
{
	struct fde_list list;
	size_t i;

	*size = (struct sframe_size){ .bytes = SFRAME_HEADER };
	eh_frame_read(elf, &list);
	for (i = 0; i < list.nfdes; i++) {
		const struct fde *fde = &list.fdes[i];

		if (fde->debug_frame && !list.fdes[0].debug_frame)
			break;
		if (!elf_find_text(elf, fde->begin))
			continue;
		size->functions++;
		sframe_add_fde(size, &list.cies[fde->cie], fde);
	}
	eh_frame_free(&list);
}
