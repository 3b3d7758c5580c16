// SPDX-License-Identifier: GPL-2.0
/* CIEs and FDEs written byte by byte, and the rows that they must give. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coverage.h"
#include "eh_frame.h"
#include "rule_text.h"
#include "cursor.h"
#include "reader.h"
#include "kselftest.h"

#define TEXT	0x1000		/* address of 0x100 bytes of nop */
#define FRAMES	0x8000

struct section {
	u8	bytes[2048];
	size_t	n;
	bool	debug_frame;
};

#define INSNS(...)	(const u8[]){ __VA_ARGS__ }, sizeof((const u8[]){ __VA_ARGS__ })
#define NO_INSNS	NULL, 0

/* CFA = rsp+8, RA at CFA-8, as every x86-64 CIE begins. */
#define START		DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1

static void put(struct section *s, const void *bytes, size_t n)
{
	if (n)
		memcpy(s->bytes + s->n, bytes, n);
	s->n += n;
}

static void put_uint(struct section *s, u64 value, unsigned int size)
{
	put(s, &value, size);
}

/* End the record (CIE or FDE) that begins at @start: write its length. */
static void end_record(struct section *s, size_t start)
{
	u32 length;

	while ((s->n - start) % 4)
		put_uint(s, DW_CFA_nop, 1);
	length = s->n - start - 4;
	memcpy(s->bytes + start, &length, 4);
}

struct cie_form {
	const char	*augmentation;
	u8		 version;
	u8		 code_align;
	u8		 ra_reg;
	const u8	*data;		/* of the augmentation */
	size_t		 data_size;
};

#define AUGMENTATION(...)	.data = (const u8[]){ __VA_ARGS__ }, \
				.data_size = sizeof((const u8[]){ __VA_ARGS__ })

static size_t put_cie_form(struct section *s, const struct cie_form *form, const u8 *insns,
			   size_t n)
{
	size_t start = s->n;

	put_uint(s, 0, 4);
	put_uint(s, s->debug_frame ? 0xffffffff : 0, 4);
	put_uint(s, form->version, 1);
	put(s, form->augmentation, strlen(form->augmentation) + 1);
	if (form->version == 4)
		put_uint(s, 8, 2);
	put_uint(s, form->code_align, 1);
	put_uint(s, 0x78, 1);				/* data alignment -8 */
	put_uint(s, form->ra_reg, 1);
	if (form->augmentation[0] == 'z') {
		put_uint(s, form->data_size, 1);
		put(s, form->data, form->data_size);
	}
	put(s, insns, n);
	end_record(s, start);
	return start;
}

static size_t put_cie(struct section *s, const u8 *insns, size_t n)
{
	static const struct cie_form form = {
		.augmentation = "", .version = 1, .code_align = 1, .ra_reg = 16,
	};

	return put_cie_form(s, &form, insns, n);
}

static void put_fde_head(struct section *s, size_t cie)
{
	put_uint(s, 0, 4);
	put_uint(s, s->debug_frame ? cie : s->n - cie, 4);
}

static void put_fde(struct section *s, size_t cie, u64 begin, u64 size, const u8 *insns, size_t n)
{
	size_t start = s->n;

	put_fde_head(s, cie);
	put_uint(s, begin, 8);
	put_uint(s, size, 8);
	put(s, insns, n);
	end_record(s, start);
}

static u8 text[0x100];

static void elf_add_section(struct elf_file *elf, const struct section *s)
{
	elf->frames[elf->nframes++] = (struct elf_frames){
		.data = s->bytes, .size = s->n, .debug_frame = s->debug_frame,
		.base = {
			.data = s->bytes, .vaddr = FRAMES,
			.datarel = 0x3000, .has_datarel = true,
		},
	};
}

/* A file that has @text at offset TEXT. */
static struct reader *text_open(void)
{
	static int fd = -1;
	struct bee_error why = {};

	if (fd < 0)
		fd = memfd_create("text", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, text, sizeof(text), TEXT) != sizeof(text))
		exit(1);
	return reader_open(fd, &why);
}

/* All rows in one line: "pc CFA FP RA|...", or why there are none. */
static void rows_to_text(const struct section *s, const struct section *second, char *out,
			 size_t size)
{
	struct elf_file elf = {
		.ntext = 1,
		.text[0] = { .vaddr = TEXT, .offset = TEXT, .size = sizeof(text) },
		.reader = text_open(),
	};
	struct bee_error error;
	char rule[RULE_TEXT_MAX], *tab;
	struct row_set rows;
	size_t i, n = 0;

	elf_add_section(&elf, s);
	if (second)
		elf_add_section(&elf, second);
	if (coverage_rows(&elf, &rows, &error)) {
		snprintf(out, size, "%s", error.text);
	} else {
		for (i = 0; i < rows.nrows; i++) {
			rule_format(&rows.rules[rows.rows[i].rule], rule);
			while ((tab = strchr(rule, '\t')))
				*tab = ' ';
			n += snprintf(out + n, size - n, "%llx %s|",
				      (unsigned long long)rows.rows[i].pc, rule);
		}
		snprintf(out + n, size - n, "%llx", (unsigned long long)rows.end);
	}
	row_set_free(&rows);
	reader_close(elf.reader);
}

static void expect_both(const char *name, const struct section *s, const struct section *second,
			const char *expected)
{
	char got[2048];

	rows_to_text(s, second, got, sizeof(got));
	if (strcmp(got, expected))
		ksft_print_msg("want %s\n# got  %s\n", expected, got);
	ksft_test_result(!strcmp(got, expected), "%s\n", name);
}

static void expect(const char *name, const struct section *s, const char *expected)
{
	expect_both(name, s, NULL, expected);
}

/* One FDE of 16 bytes at TEXT. */
struct insns_case {
	const char	*name;
	const u8	*insns;
	size_t		 n;
	const char	*expected;
};

#define ADVANCE(n)	DW_CFA_advance_loc | (n)
#define FIRST		"1000 rsp+8 same cfa-8|"
#define BAD		"1000 unsupported:cfi|1010"
#define BAD_FROM_8	FIRST "1008 unsupported:cfi|1010"

#define REMEMBER_8	10, 10, 10, 10, 10, 10, 10, 10	/* DW_CFA_remember_state */
#define REMEMBER_16	REMEMBER_8, REMEMBER_8
#define RESTORE_8	11, 11, 11, 11, 11, 11, 11, 11	/* DW_CFA_restore_state */

static const struct insns_case insns_cases[] = {
	{ "nothing", NO_INSNS, FIRST "1010" },
	{ "nop", INSNS(DW_CFA_nop), FIRST "1010" },
	{ "advance_loc", INSNS(ADVANCE(4), DW_CFA_def_cfa_offset, 16),
	  FIRST "1004 rsp+16 same cfa-8|1010" },
	{ "advance_loc1", INSNS(DW_CFA_advance_loc1, 4, DW_CFA_def_cfa_offset, 16),
	  FIRST "1004 rsp+16 same cfa-8|1010" },
	{ "advance_loc2", INSNS(DW_CFA_advance_loc2, 4, 0, DW_CFA_def_cfa_offset, 16),
	  FIRST "1004 rsp+16 same cfa-8|1010" },
	{ "advance_loc4", INSNS(DW_CFA_advance_loc4, 4, 0, 0, 0, DW_CFA_def_cfa_offset, 16),
	  FIRST "1004 rsp+16 same cfa-8|1010" },
	{ "set_loc", INSNS(DW_CFA_set_loc, 4, 0x10, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 16),
	  FIRST "1004 rsp+16 same cfa-8|1010" },
	{ "set_loc backwards", INSNS(ADVANCE(8), DW_CFA_set_loc, 4, 0x10, 0, 0, 0, 0, 0, 0),
	  BAD_FROM_8 },
	{ "MIPS_advance_loc8", INSNS(DW_CFA_MIPS_advance_loc8, 4, 0, 0, 0, 0, 0, 0, 0), BAD },
	{ "advance by 0", INSNS(ADVANCE(4), DW_CFA_def_cfa_offset, 24, ADVANCE(0),
				DW_CFA_def_cfa_offset, 16), FIRST "1004 rsp+16 same cfa-8|1010" },
	{ "advance past the end", INSNS(ADVANCE(4), DW_CFA_def_cfa_offset, 16, ADVANCE(40), 0x3f),
	  FIRST "1004 rsp+16 same cfa-8|1010" },
	{ "advance to the end", INSNS(ADVANCE(16), DW_CFA_def_cfa_offset, 16), FIRST "1010" },
	{ "def_cfa", INSNS(DW_CFA_def_cfa, 6, 16), "1000 rbp+16 same cfa-8|1010" },
	{ "def_cfa_sf", INSNS(DW_CFA_def_cfa_sf, 6, 0x7e), "1000 rbp+16 same cfa-8|1010" },
	{ "def_cfa_register", INSNS(DW_CFA_def_cfa_register, 12), "1000 r12+8 same cfa-8|1010" },
	{ "def_cfa_offset_sf", INSNS(DW_CFA_def_cfa_offset_sf, 0x7d),
	  "1000 rsp+24 same cfa-8|1010" },
	{ "def_cfa_offset behind an expression: the expression stays",
	  INSNS(DW_CFA_def_cfa_expression, 2, DW_OP_breg3, 8, ADVANCE(1), DW_CFA_def_cfa_offset, 32,
		ADVANCE(1), DW_CFA_offset | 6, 2),
	  "1000 rbx+8 same cfa-8|1002 rbx+8 cfa-16 cfa-8|1010" },
	{ "def_cfa_register behind an expression: the offset from before",
	  INSNS(DW_CFA_def_cfa_offset, 24, DW_CFA_def_cfa_expression, 2, DW_OP_breg3, 8, ADVANCE(1),
		DW_CFA_def_cfa_register, 6, ADVANCE(1), DW_CFA_def_cfa, 7, 16),
	  "1000 rbx+8 same cfa-8|1001 rbp+24 same cfa-8|1002 rsp+16 same cfa-8|1010" },
	{ "both behind an expression",
	  INSNS(DW_CFA_def_cfa_expression, 2, DW_OP_breg3, 8, ADVANCE(1),
		DW_CFA_def_cfa_offset_sf, 0x7d, DW_CFA_def_cfa_register, 6),
	  "1000 rbx+8 same cfa-8|1001 rbp+24 same cfa-8|1010" },
	{ "an expression, remembered and restored",
	  INSNS(DW_CFA_def_cfa_expression, 2, DW_OP_breg3, 8, DW_CFA_remember_state, ADVANCE(1),
		DW_CFA_def_cfa, 6, 64, ADVANCE(1), DW_CFA_restore_state, DW_CFA_def_cfa_register, 7),
	  "1000 rbx+8 same cfa-8|1001 rbp+64 same cfa-8|1002 rsp+8 same cfa-8|1010" },
	{ "offset", INSNS(DW_CFA_offset | 6, 2), "1000 rsp+8 cfa-16 cfa-8|1010" },
	{ "offset of others", INSNS(DW_CFA_offset | 3, 2, DW_CFA_offset | 12, 3), FIRST "1010" },
	{ "offset_extended", INSNS(DW_CFA_offset_extended, 6, 2), "1000 rsp+8 cfa-16 cfa-8|1010" },
	{ "offset_extended_sf", INSNS(DW_CFA_offset_extended_sf, 6, 0x7e),
	  "1000 rsp+8 cfa+16 cfa-8|1010" },
	{ "GNU_negative_offset_extended", INSNS(DW_CFA_GNU_negative_offset_extended, 6, 2),
	  "1000 rsp+8 cfa+16 cfa-8|1010" },
	{ "same_value", INSNS(DW_CFA_offset | 6, 2, ADVANCE(1), DW_CFA_same_value, 6),
	  "1000 rsp+8 cfa-16 cfa-8|1001 rsp+8 same cfa-8|1010" },
	{ "undefined FP", INSNS(DW_CFA_undefined, 6), "1000 rsp+8 undef cfa-8|1010" },
	{ "undefined RA", INSNS(DW_CFA_undefined, 16), "1000 rsp+8 same undef|1010" },
	{ "register", INSNS(DW_CFA_register, 6, 0, DW_CFA_register, 16, 2),
	  "1000 rsp+8 rax rcx|1010" },
	{ "restore", INSNS(DW_CFA_offset | 6, 2, ADVANCE(1), DW_CFA_restore | 6),
	  "1000 rsp+8 cfa-16 cfa-8|1001 rsp+8 same cfa-8|1010" },
	{ "restore RA", INSNS(DW_CFA_register, 16, 2, ADVANCE(1), DW_CFA_restore | 16),
	  "1000 rsp+8 same rcx|1001 rsp+8 same cfa-8|1010" },
	{ "restore_extended", INSNS(DW_CFA_offset | 6, 2, ADVANCE(1), DW_CFA_restore_extended, 6),
	  "1000 rsp+8 cfa-16 cfa-8|1001 rsp+8 same cfa-8|1010" },
	{ "remember and restore",
	  INSNS(DW_CFA_remember_state, ADVANCE(1), DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		DW_CFA_remember_state, ADVANCE(1), DW_CFA_def_cfa, 6, 16,
		ADVANCE(1), DW_CFA_restore_state, ADVANCE(1), DW_CFA_restore_state),
	  FIRST "1001 rsp+16 cfa-16 cfa-8|1002 rbp+16 cfa-16 cfa-8|1003 rsp+16 cfa-16 cfa-8|"
	  "1004 rsp+8 same cfa-8|1010" },
	{ "restore without remember", INSNS(DW_CFA_restore_state), BAD },
	{ "17 states remembered", INSNS(REMEMBER_16, DW_CFA_remember_state), FIRST "1010" },
	{ "16 states remembered, all restored",
	  INSNS(DW_CFA_def_cfa_offset, 16, REMEMBER_16, DW_CFA_def_cfa_offset, 24, ADVANCE(4),
		RESTORE_8, RESTORE_8), "1000 rsp+24 same cfa-8|1004 rsp+16 same cfa-8|1010" },
	{ "17 states remembered, one restored",
	  INSNS(REMEMBER_16, DW_CFA_remember_state, ADVANCE(4), DW_CFA_def_cfa_offset, 16,
		ADVANCE(4), DW_CFA_restore_state, ADVANCE(4), DW_CFA_def_cfa_offset, 24),
	  FIRST "1004 rsp+16 same cfa-8|1008 unsupported:cfi|1010" },
	{ "GNU_args_size", INSNS(DW_CFA_GNU_args_size, 0x80, 1), FIRST "1010" },
	{ "GNU_window_save", INSNS(DW_CFA_GNU_window_save), BAD },
	{ "unknown opcode", INSNS(ADVANCE(8), 0x3f), BAD_FROM_8 },
	{ "a bad instruction in the middle of a row",
	  INSNS(ADVANCE(8), DW_CFA_def_cfa_offset, 16, 0x3f, ADVANCE(4), DW_CFA_def_cfa_offset, 8),
	  BAD_FROM_8 },
	{ "truncated operand", INSNS(ADVANCE(8), DW_CFA_nop, DW_CFA_nop,
	  DW_CFA_advance_loc4), BAD_FROM_8 },
	{ "truncated expression",
	  INSNS(DW_CFA_nop, DW_CFA_nop, DW_CFA_def_cfa_expression, 8), BAD },
	{ "ULEB128 with padding", INSNS(DW_CFA_def_cfa_offset, 0x90, 0x80, 0x80, 0),
	  "1000 rsp+16 same cfa-8|1010" },
	{ "ULEB128 of 2^64", INSNS(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
				   0x80, 0x80, 2), BAD },
	{ "offset product modulo 2^64", INSNS(DW_CFA_offset_extended, 6, 0xff, 0xff, 0xff, 0xff, 0xff,
					      0xff, 0xff, 0xff, 0x7f),
	  "1000 rsp+8 cfa+8 cfa-8|1010" },
	{ "DRAP", INSNS(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
			DW_CFA_expression, 6, 2, DW_OP_breg6, 0),
	  "1000 *(rbp-8)+0 *(rbp+0) cfa-8|1010" },
	{ "an indexed CFA",
	  INSNS(DW_CFA_def_cfa_expression, 10, DW_OP_breg7, 8, DW_OP_breg9, 1, DW_OP_lit8,
		DW_OP_mul,
		DW_OP_plus, DW_OP_deref, DW_OP_plus_uconst, 16),
	  "1000 *(rsp+8*r9+16)+16 same cfa-8|1010" },
	{ "an indexed CFA, not in memory",
	  INSNS(DW_CFA_def_cfa_expression, 7, DW_OP_breg7, 8, DW_OP_breg9, 0, DW_OP_lit8, DW_OP_mul,
		DW_OP_plus), "1000 unsupported:cfa-expr|1010" },
	{ "an indexed FP",
	  INSNS(DW_CFA_expression, 6, 7, DW_OP_breg7, 8, DW_OP_breg9, 0, DW_OP_lit8, DW_OP_mul,
		DW_OP_plus), "1000 unsupported:fp-expr|1010" },
	{ "an indexed rsp",
	  INSNS(DW_CFA_expression, 7, 7, DW_OP_breg7, 8, DW_OP_breg9, 0, DW_OP_lit8, DW_OP_mul,
		DW_OP_plus), "1000 unsupported:sp-rule|1010" },
	{ "cfa-expr", INSNS(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 0, DW_OP_abs),
	  "1000 unsupported:cfa-expr|1010" },
	{ "cfa-expr: rip", INSNS(DW_CFA_def_cfa_expression, 2, DW_OP_breg16, 0),
	  "1000 unsupported:cfa-expr|1010" },
	{ "cfa-reg", INSNS(DW_CFA_def_cfa, 17, 8), "1000 unsupported:cfa-reg|1010" },
	{ "fp-expr", INSNS(DW_CFA_expression, 6, 3, DW_OP_breg7, 0, DW_OP_deref),
	  "1000 unsupported:fp-expr|1010" },
	{ "fp-reg", INSNS(DW_CFA_register, 6, 17), "1000 unsupported:fp-reg|1010" },
	{ "ra-expr", INSNS(DW_CFA_expression, 16, 3, DW_OP_breg7, 0, DW_OP_deref),
	  "1000 unsupported:ra-expr|1010" },
	{ "ra-reg", INSNS(DW_CFA_register, 16, 17), "1000 unsupported:ra-reg|1010" },
	{ "ra-reg: same value", INSNS(DW_CFA_same_value, 16), "1000 unsupported:ra-reg|1010" },
	{ "sp-rule", INSNS(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_deref,
			   DW_CFA_offset | 7, 2), "1000 unsupported:sp-rule|1010" },
	{ "rsp is saved", INSNS(DW_CFA_offset | 7, 2), "1000 *(rsp-8)+0 same *(rsp+0)|1010" },
	{ "rsp is CFA - 8", INSNS(DW_CFA_val_offset, 7, 1), "1000 rsp+0 same *(rsp+0)|1010" },
	{ "rsp is CFA", INSNS(DW_CFA_val_offset, 7, 0), FIRST "1010" },
	{ "sp-rule: undefined", INSNS(DW_CFA_undefined, 7), "1000 unsupported:sp-rule|1010" },
	{ "offset", INSNS(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 8),
	  "1000 unsupported:offset|1010" },
	{ "unsupported, then not", INSNS(DW_CFA_def_cfa, 17, 8, ADVANCE(4), DW_CFA_def_cfa, 7, 8),
	  "1000 unsupported:cfa-reg|1004 rsp+8 same cfa-8|1010" },
};

/* The half of a CFA that nothing has begun. */
static void test_no_cfa(void)
{
	struct section s = {};

	put_fde(&s, put_cie(&s, NO_INSNS), TEXT, 16,
		INSNS(DW_CFA_def_cfa_offset, 8, DW_CFA_def_cfa_register, 7));
	expect("register and offset, but no CFA", &s, "1000 unsupported:cfa-undef|1010");
}

static void test_insns(const struct insns_case *t)
{
	struct section s = {};

	put_fde(&s, put_cie(&s, INSNS(START)), TEXT, 16, t->insns, t->n);
	expect(t->name, &s, t->expected);
}

struct form_case {
	const char	*name;
	struct cie_form	 form;
	const u8	*fde;		/* after the CIE pointer */
	size_t		 n;
	const char	*expected;
};

#define AT_TEXT8	0, 0x10, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0
#define DROPPED		"no readable FDE in its .eh_frame or .debug_frame"
/* In these cases the CIE has 24 bytes, and pc_begin is 8 bytes into the FDE. */
#define PCREL(value)	((u32)(value) - (FRAMES + 24 + 8))

static const struct form_case form_cases[] = {
	{ "version 3", { "", 3, 1, 16 }, INSNS(AT_TEXT8), FIRST "1010" },
	{ "version 4", { "", 4, 1, 16 }, INSNS(AT_TEXT8), FIRST "1010" },
	{ "version 2", { "", 2, 1, 16 }, INSNS(AT_TEXT8), DROPPED },
	{ "signal frame", { "zRS", 1, 1, 16, AUGMENTATION(DW_EH_PE_absptr) },
	  INSNS(AT_TEXT8, 0), "1000 rsp+8 same cfa-8 signal|1010" },
	{ "code alignment 4", { "", 1, 4, 16 },
	  INSNS(AT_TEXT8, ADVANCE(1), DW_CFA_def_cfa_offset, 16),
	  FIRST "1004 rsp+16 same cfa-8|1010" },
	{ "augmentation zPLR", { "zPLR", 1, 1, 16,
	  AUGMENTATION(DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1, 2, 3, 4,
		       DW_EH_PE_sdata4,
		       DW_EH_PE_udata4) }, INSNS(0, 0x10, 0, 0, 16, 0, 0, 0, 4, 1, 2, 3, 4),
	  FIRST "1010" },
	{ "augmentation zRB", { "zRB", 1, 1, 16, AUGMENTATION(DW_EH_PE_udata4) },
	  INSNS(0, 0x10, 0, 0, 16, 0, 0, 0, 0), FIRST "1010" },
	{ "unknown augmentation", { "zX", 1, 1, 16 }, INSNS(AT_TEXT8, 0), FIRST "1010" },
	{ "unknown augmentation with data", { "zRXB", 1, 1, 16, AUGMENTATION(DW_EH_PE_udata4, 7) },
	  INSNS(0, 0x10, 0, 0, 16, 0, 0, 0, 0), FIRST "1010" },
	{ "unknown augmentation before the encoding",
	  { "zXR", 1, 1, 16, AUGMENTATION(7, DW_EH_PE_udata4) },
	  INSNS(0, 0x10, 0, 0, 16, 0, 0, 0, 0), DROPPED },
	{ "unknown augmentation without a length", { "X", 1, 1, 16 }, INSNS(AT_TEXT8), DROPPED },
	{ "old augmentation", { "eh", 1, 1, 16 }, INSNS(AT_TEXT8), DROPPED },
	{ "udata2", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_udata2) }, INSNS(0, 0x10, 16, 0, 0),
	  FIRST "1010" },
	{ "sdata2", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_sdata2) }, INSNS(0, 0x10, 16, 0, 0),
	  FIRST "1010" },
	{ "uleb128", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_uleb128) }, INSNS(0x80, 0x20, 16, 0),
	  FIRST "1010" },
	{ "sleb128", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_sleb128) }, INSNS(0x80, 0x20, 16, 0),
	  FIRST "1010" },
	{ "udata8", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_udata8) }, INSNS(AT_TEXT8, 0),
	  FIRST "1010" },
	{ "sdata4 pcrel", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_pcrel | DW_EH_PE_sdata4) },
	  INSNS(PCREL(TEXT) & 0xff, PCREL(TEXT) >> 8 & 0xff, 0xff, 0xff, 16, 0, 0, 0, 0),
	  FIRST "1010" },
	{ "sdata4 datarel", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_datarel | DW_EH_PE_sdata4) },
	  INSNS(0, 0xe0, 0xff, 0xff, 16, 0, 0, 0, 0), FIRST "1010" },
	{ "textrel", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_textrel | DW_EH_PE_sdata4) },
	  INSNS(0, 0x10, 0, 0, 16, 0, 0, 0, 0), DROPPED },
	{ "indirect", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_indirect | DW_EH_PE_sdata4) },
	  INSNS(0, 0x10, 0, 0, 16, 0, 0, 0, 0), DROPPED },
	{ "aligned", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_aligned) }, INSNS(AT_TEXT8, 0),
	  DROPPED },
	{ "omit", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_omit) }, INSNS(AT_TEXT8, 0), DROPPED },
	{ "augmentation data too long", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_udata4) },
	  INSNS(0, 0x10, 0, 0, 16, 0, 0, 0, 0x70), BAD },
	{ "RA column rbp", { "", 1, 1, 6 }, INSNS(AT_TEXT8), BAD },
	{ "no size", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_udata4) },
	  INSNS(0, 0x10, 0, 0, 0, 0, 0, 0, 0), DROPPED },
	{ "truncated range", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_udata4) },
	  INSNS(0, 0x10, 0, 0),
	  DROPPED },
	{ "outside the text", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_udata4) },
	  INSNS(0, 0x20, 0, 0, 16, 0, 0, 0, 0), "no FDE describes code of an executable segment" },
	{ "pc 0", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_pcrel | DW_EH_PE_sdata4) },
	  INSNS(0, 0, 0, 0, 16, 0, 0, 0, 0), "no FDE describes code of an executable segment" },
	{ "runs past the text", { "zR", 1, 1, 16, AUGMENTATION(DW_EH_PE_udata4) },
	  INSNS(0xf0, 0x10, 0, 0, 0xff, 0, 0, 0, 0), "10f0 rsp+8 same cfa-8|1100" },
};

static void test_form(const struct form_case *t)
{
	struct section s = {};
	size_t start;

	put_cie_form(&s, &t->form, INSNS(START));
	start = s.n;
	put_fde_head(&s, 0);
	put(&s, t->fde, t->n);
	end_record(&s, start);
	expect(t->name, &s, t->expected);
}

#define CFA16	INSNS(DW_CFA_def_cfa_offset, 16)
#define CFA24	INSNS(DW_CFA_def_cfa_offset, 24)

static void test_overlap(void)
{
	struct section s = {}, debug = { .debug_frame = true };
	size_t cie = put_cie(&s, INSNS(START));

	put_fde(&s, cie, TEXT + 8, 16, CFA16);
	put_fde(&s, cie, TEXT, 16, NO_INSNS);
	expect("overlap: the one that starts last counts", &s,
	       "1000 rsp+8 same cfa-8|1008 rsp+16 same cfa-8|1018");
	put_fde(&s, cie, TEXT, 32, CFA24);
	expect("overlap: of two at one address the first in the file counts", &s,
	       "1000 rsp+8 same cfa-8|1008 rsp+16 same cfa-8|1018");
	put_fde(&s, cie, TEXT + 2, 2, CFA24);
	text[6] = 0xc3;
	expect("overlap: behind one inside another there is none", &s,
	       "1000 rsp+8 same cfa-8|1002 rsp+24 same cfa-8|1004 gap|1008 rsp+16 same cfa-8|1018");
	text[6] = 0x90;

	s = (struct section){};
	cie = put_cie(&s, INSNS(START));
	put_fde(&s, cie, TEXT, 16, NO_INSNS);
	put_fde(&s, cie, TEXT + 16, 8, CFA16);
	cie = put_cie(&debug, INSNS(START));
	put_fde(&debug, cie, TEXT + 0x10, 4, CFA24);
	put_fde(&debug, cie, TEXT + 0x18, 8, CFA24);
	expect_both(".debug_frame fills what .eh_frame leaves", &s, &debug,
		    "1000 rsp+8 same cfa-8|1010 rsp+16 same cfa-8|1018 rsp+24 same cfa-8|1020");
	put_fde(&s, cie, TEXT + 0x30, 8, NO_INSNS);
	put_fde(&debug, cie, TEXT + 0x28, 9, INSNS(DW_CFA_def_cfa_offset, 32));
	expect_both(".debug_frame that runs into .eh_frame does not count", &s, &debug,
		    "1000 rsp+8 same cfa-8|1010 rsp+16 same cfa-8|1018 rsp+24 same cfa-8|"
		    "1030 rsp+8 same cfa-8|1038");
}

/* The CIE of .debug_frame may follow its FDEs. */
static void test_cie_last(void)
{
	struct section s = { .debug_frame = true };
	size_t cie;

	put_fde(&s, 0, TEXT, 16, NO_INSNS);
	put_fde(&s, 0, TEXT + 16, 16, CFA16);
	cie = put_cie(&s, INSNS(START));
	s.bytes[4] = s.bytes[4 + s.bytes[0] + 4] = cie;
	expect("a CIE behind its FDEs", &s, "1000 rsp+8 same cfa-8|1010 rsp+16 same cfa-8|1020");
}

static void test_holes(void)
{
	struct section s = {};
	size_t cie = put_cie(&s, INSNS(START));

	put_fde(&s, cie, TEXT, 8, NO_INSNS);
	put_fde(&s, cie, TEXT + 0x20, 8, CFA16);
	expect("padding belongs to the row before it", &s,
	       "1000 rsp+8 same cfa-8|1020 rsp+16 same cfa-8|1028");
	text[0x10] = 0xc3;
	expect("code without an FDE is a gap", &s,
	       "1000 rsp+8 same cfa-8|1008 gap|1020 rsp+16 same cfa-8|1028");
	text[0x10] = 0x90;
	put_fde(&s, cie, TEXT + 0x40, 8, INSNS(0x3f));
	put_fde(&s, cie, TEXT + 0x60, 8, NO_INSNS);
	expect("one bad FDE spoils only itself", &s,
	       "1000 rsp+8 same cfa-8|1020 rsp+16 same cfa-8|1040 unsupported:cfi|"
	       "1060 rsp+8 same cfa-8|1068");
}

static void test_records(void)
{
	struct section s = {};
	size_t cie, at;

	cie = put_cie(&s, INSNS(START));
	put_fde(&s, cie, TEXT, 8, NO_INSNS);
	put_uint(&s, 0, 4);
	put_fde(&s, cie, TEXT + 8, 8, CFA16);
	expect("records behind a terminator", &s,
	       "1000 rsp+8 same cfa-8|1008 rsp+16 same cfa-8|1010");
	at = s.n;
	put_uint(&s, 0, 4);
	put_uint(&s, 0x1234, 4);
	expect("no records behind a terminator", &s,
	       "1000 rsp+8 same cfa-8|1008 rsp+16 same cfa-8|1010");
	s.n = at;
	put_fde(&s, s.n + 8, TEXT + 16, 8, NO_INSNS);
	put_fde(&s, cie, TEXT + 24, 8, CFA24);
	expect("an FDE without a CIE is dropped, the next is not", &s,
	       "1000 rsp+8 same cfa-8|1008 rsp+16 same cfa-8|1018 rsp+24 same cfa-8|1020");

	s = (struct section){};
	put_uint(&s, 0xffffffff, 4);
	put_uint(&s, 20, 8);
	put_uint(&s, 0, 4);
	put(&s, "\1\0\1\x78\x10", 5);
	put(&s, INSNS(START, 0, 0, 0, 0, 0, 0));
	put_uint(&s, 0xffffffff, 4);
	put_uint(&s, 20, 8);
	put_uint(&s, s.n, 4);
	put_uint(&s, TEXT, 8);
	put_uint(&s, 16, 8);
	expect("64-bit lengths", &s, FIRST "1010");

	s = (struct section){};
	cie = put_cie(&s, INSNS(START, DW_CFA_restore_state));
	put_fde(&s, cie, TEXT, 16, NO_INSNS);
	expect("a malformed CIE", &s, BAD);
}

/* FDEs that refer to other places than CIEs: only whole records count, and each one once. */
static void test_references(void)
{
	struct elf_file elf = {};
	struct fde_list list;
	struct section s = {};
	size_t cie, i, inner;
	bool good;

	cie = put_cie(&s, INSNS(START));
	/* A record that is no CIE, and has one inside. */
	inner = s.n + 8;
	put_uint(&s, 28, 4);
	put_uint(&s, 1, 4);
	put(&s, s.bytes + cie, 24);
	put_fde(&s, inner, TEXT, 8, NO_INSNS);
	for (i = 0; i < 50; i++)
		put_fde(&s, 4 * i + 4, TEXT, 8, NO_INSNS);
	put_fde(&s, cie, TEXT + 8, 8, CFA16);
	elf_add_section(&elf, &s);
	eh_frame_read(&elf, &list);
	good = list.ncies == 1 && list.nfdes == 1 && list.fdes[0].begin == TEXT + 8;
	if (!good)
		ksft_print_msg("%zu CIEs, %zu FDEs\n", list.ncies, list.nfdes);
	ksft_test_result(good, "references to what is no CIE\n");
	eh_frame_free(&list);
}

/* An expression that is too long to be evaluated for each row. */
static void test_long_expression(void)
{
	const u8 first[] = { DW_CFA_def_cfa_expression, 0x81, 1, DW_OP_breg7, 8 };
	u8 insns[sizeof(first) + 127];
	struct section s = {};

	memset(insns, DW_OP_nop, sizeof(insns));
	memcpy(insns, first, sizeof(first));
	put_fde(&s, put_cie(&s, INSNS(START)), TEXT, 16, insns, sizeof(insns));
	expect("an expression of 129 bytes", &s, "1000 unsupported:cfa-expr|1010");
	s = (struct section){};
	insns[1]--;
	put_fde(&s, put_cie(&s, INSNS(START)), TEXT, 16, insns, sizeof(insns) - 1);
	expect("an expression of 128 bytes", &s, FIRST "1010");
}

int main(void)
{
	const size_t ninsns = sizeof(insns_cases) / sizeof(insns_cases[0]);
	const size_t nforms = sizeof(form_cases) / sizeof(form_cases[0]);
	size_t i;

	memset(text, 0x90, sizeof(text));
	ksft_print_header();
	ksft_set_plan(ninsns + nforms + 1 + 5 + 1 + 3 + 5 + 1 + 2);
	for (i = 0; i < ninsns; i++)
		test_insns(&insns_cases[i]);
	for (i = 0; i < nforms; i++)
		test_form(&form_cases[i]);
	test_no_cfa();
	test_overlap();
	test_cie_last();
	test_holes();
	test_records();
	test_references();
	test_long_expression();
	ksft_finished();
}
