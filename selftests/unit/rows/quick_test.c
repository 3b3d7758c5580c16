// SPDX-License-Identifier: GPL-2.0
/*
 * The fast reader of call frame instructions against the complete one: what it takes must come to
 * the same rows, and it must take what compilers write.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "from_cfi.h"
#include "kselftest.h"
#include "quick.h"

#define BEGIN		0x1000
#define MAX_INSNS	48
#define NELEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define STREAMS		1000000

static u64 random_state = 88172645463325252ull;

static u32 random_below(u32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 20) % n;
}

/* As every x86-64 CIE begins: CFA = rsp+8, RA at CFA-8. */
static struct cfi_cie plain_cie(void)
{
	static const u8 start[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	struct cfi_cie cie = { .code_align = 1, .data_align = -8, .ra_reg = 16 };

	if (cfi_start(&cie, start, sizeof(start)))
		abort();
	return cie;
}

struct slow {
	struct row_set	*rows;
	bool		 signal;
};

static void slow_emit(void *arg, u64 start, u64 end, const struct cfi_row *from)
{
	struct slow *slow = arg;
	struct bee_rule row;

	(void)end;
	rule_from_cfi(from, slow->signal, &row);
	row_set_add(slow->rows, start, &row);
}

static int slow_run(struct row_set *rows, const struct cfi_cie *cie, const struct fde *fde)
{
	struct slow slow = { .rows = rows, .signal = cie->signal };

	return cfi_run(cie, fde->insns, fde->size, fde->begin, fde->end, slow_emit, &slow);
}

static bool same_rows(const struct row_set *a, const struct row_set *b)
{
	size_t i;

	if (a->nrows != b->nrows)
		return false;
	for (i = 0; i < a->nrows; i++)
		if (a->rows[i].pc != b->rows[i].pc ||
		    memcmp(&a->rules[a->rows[i].rule], &b->rules[b->rows[i].rule],
			   sizeof(struct bee_rule)))
			return false;
	return true;
}

enum outcome { LEFT, TAKEN, WRONG };

/* @insns behind as many bytes as an FDE has before them, and before FDE_SLACK others. */
static enum outcome run_both(const struct cfi_cie *cie, const u8 *insns, size_t n, u64 size)
{
	u8 bytes[16 + MAX_INSNS + FDE_SLACK];
	const struct fde fde = {
		.begin = BEGIN, .end = BEGIN + size, .insns = bytes + 16, .size = n, .plain = true,
	};
	struct row_set rows = {}, slow = {};
	enum outcome outcome = LEFT;
	struct quick quick;

	memset(bytes, 0xa5, 16);
	memset(bytes + 16 + n, random_below(256), FDE_SLACK);
	memcpy(bytes + 16, insns, n);
	quick_init(&quick, &rows);
	if (quick_run(&quick, cie, &fde))
		outcome = slow_run(&slow, cie, &fde) || !same_rows(&rows, &slow) ? WRONG : TAKEN;
	else if (rows.nrows)
		outcome = WRONG;
	row_set_free(&rows);
	row_set_free(&slow);
	return outcome;
}

static u8 random_register(void)
{
	static const u8 registers[] = { 3, 6, 6, 6, 7, 12, 13, 14, 15, 16 };

	return random_below(40) ? registers[random_below(8) + (random_below(9) == 0)] :
	       registers[random_below(10)];
}

static size_t put_uleb(u8 *to, u32 value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = value | 0x80;
	to[n++] = value;
	return n;
}

static u32 random_offset(void)
{
	return 8 * random_below(random_below(8) ? 64 : random_below(8) ? 4096 : 1u << 18);
}

/* One instruction, now and then a broken one. */
static size_t put_random(u8 *to)
{
	switch (random_below(16)) {
	case 0 ... 4:
		to[0] = DW_CFA_advance_loc | random_below(24);
		return 1;
	case 5:
		to[0] = DW_CFA_advance_loc1 + random_below(3);
		memset(to + 1, 0, 4);
		to[1] = random_below(256);
		return to[0] == DW_CFA_advance_loc4 ? 5 : to[0];
	case 6 ... 8:
		to[0] = DW_CFA_def_cfa_offset;
		return 1 + put_uleb(to + 1, random_offset());
	case 9:
		to[0] = DW_CFA_def_cfa;
		to[1] = random_register();
		return 2 + put_uleb(to + 2, random_offset());
	case 10:
		to[0] = DW_CFA_def_cfa_register;
		to[1] = random_register();
		return 2;
	case 11 ... 12:
		to[0] = DW_CFA_offset | random_register();
		to[1] = random_below(8) ? 1 + random_below(8) : random_below(256);
		return 2;
	case 13:
		to[0] = DW_CFA_remember_state + random_below(2);
		return 1;
	case 14:
		to[0] = DW_CFA_restore | random_register();
		return 1;
	}
	to[0] = random_below(8) ? DW_CFA_nop : random_below(256);
	return 1;
}

static void test_random(void)
{
	struct cfi_cie cie = plain_cie();
	size_t outcomes[3] = {}, i;

	for (i = 0; i < STREAMS && !outcomes[WRONG]; i++) {
		u8 insns[MAX_INSNS + 8];
		size_t n = 0, want = random_below(MAX_INSNS + 1);

		while (n < want)
			n += put_random(insns + n);
		/* The last one may be cut. */
		outcomes[run_both(&cie, insns, want, 1 + random_below(1024))]++;
	}
	ksft_print_msg("random: %zu taken, %zu left\n", outcomes[TAKEN], outcomes[LEFT]);
	ksft_test_result(!outcomes[WRONG], "random instructions: the same rows\n");
	ksft_test_result(outcomes[TAKEN] > STREAMS / 10 && outcomes[LEFT] > STREAMS / 10,
			 "random instructions: some are taken and some are left\n");
}

struct quick_case {
	const char	*name;
	bool		 taken;
	const u8	*insns;
	size_t		 n;
};

#define INSNS(...)	(const u8[]){ __VA_ARGS__ }, sizeof((const u8[]){ __VA_ARGS__ })
#define ADVANCE(n)	(DW_CFA_advance_loc | (n))
#define REMEMBER_4	DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state, \
			DW_CFA_remember_state
#define REMEMBER_16	REMEMBER_4, REMEMBER_4, REMEMBER_4, REMEMBER_4

static const struct quick_case cases[] = {
	{ "push and pop", true, INSNS(ADVANCE(1), DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
				      ADVANCE(8), DW_CFA_def_cfa_offset, 8) },
	{ "frame pointer", true, INSNS(ADVANCE(1), DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
				       ADVANCE(3), DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc1, 90,
				       DW_CFA_restore | 6, DW_CFA_def_cfa, 7, 8, 0, 0, 0) },
	{ "state", true, INSNS(ADVANCE(4), DW_CFA_def_cfa_offset, 0xb0, 1, DW_CFA_remember_state,
			       DW_CFA_advance_loc2, 9, 0, DW_CFA_def_cfa_offset, 8, ADVANCE(1),
			       DW_CFA_restore_state) },
	{ "other registers saved", true, INSNS(ADVANCE(4), DW_CFA_offset | 3, 2, DW_CFA_offset | 12, 3,
					       DW_CFA_restore | 3) },
	{ "nothing", true, INSNS(0, 0, 0) },
	{ "no state", false, INSNS(ADVANCE(4), DW_CFA_restore_state) },
	{ "advance to the end", false, INSNS(DW_CFA_advance_loc2, 0, 1, DW_CFA_def_cfa_offset, 8) },
	{ "other CFA register", false, INSNS(DW_CFA_def_cfa_register, 10) },
	{ "rsp saved", false, INSNS(DW_CFA_offset | 7, 2) },
	{ "return address elsewhere", false, INSNS(DW_CFA_offset | 16, 2) },
	{ "cut", false, INSNS(ADVANCE(4), DW_CFA_def_cfa_offset) },
	{ "cut where a zero is", false, INSNS(ADVANCE(4), DW_CFA_advance_loc4, 0, 0, 0) },
	{ "zero as an operand", false, INSNS(ADVANCE(4), DW_CFA_def_cfa_offset, 0) },
	{ "expression", false, INSNS(DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8) },
	{ "sixteen states", true, INSNS(REMEMBER_16) },
	{ "seventeen states", false, INSNS(REMEMBER_16, DW_CFA_remember_state) },
	{ "frame of a mebibyte", false, INSNS(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x40) },
};

static void test_cases(void)
{
	struct cfi_cie cie = plain_cie();
	size_t i;

	for (i = 0; i < NELEMS(cases); i++)
		ksft_test_result(run_both(&cie, cases[i].insns, cases[i].n, 256) == cases[i].taken,
				 "%s: %s\n", cases[i].name, cases[i].taken ? "taken" : "left");
}

/* Each of these makes the same instructions mean something else. */
static void test_cies(void)
{
	static const u8 insns[] = { ADVANCE(4), DW_CFA_def_cfa_offset, 16 };
	struct cfi_cie code = plain_cie(), data = code, signal = code, start = code, fp = code;
	struct cfi_cie *const others[] = { &code, &data, &signal, &start, &fp };
	bool left = true;
	size_t i;

	code.code_align = 4;
	data.data_align = 8;
	signal.signal = true;
	start.initial.ra.offset = -16;
	fp.initial.fp.how = CFI_UNDEFINED;
	for (i = 0; i < NELEMS(others); i++)
		left &= run_both(others[i], insns, sizeof(insns), 64) == LEFT;
	ksft_test_result(left, "other CIEs: left\n");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(3 + NELEMS(cases));
	test_cases();
	test_cies();
	test_random();
	ksft_finished();
}
