// SPDX-License-Identifier: GPL-2.0
/* DWARF expressions: each operator against a value computed by hand; expressions without value. */
#include <dwarf.h>
#include <string.h>

#include "expr.h"
#include "kselftest.h"

#define BYTES(...)	{ __VA_ARGS__ }, sizeof((u8[]){ __VA_ARGS__ })
#define RBX		3
#define RDI		5
#define RSP		7

static const struct {
	const char		*name;
	u8			bytes[24];
	size_t			size;
	bool			cfa;
	bool			none;	/* no value */
	struct expr_value	value;
} cases[] = {
	{ "lit0", BYTES(DW_OP_lit0), .value = { EXPR_CONST } },
	{ "lit31", BYTES(DW_OP_lit31), .value = { EXPR_CONST, .off = 31 } },
	{ "const1u", BYTES(DW_OP_const1u, 0xff), .value = { EXPR_CONST, .off = 255 } },
	{ "const1s", BYTES(DW_OP_const1s, 0xff), .value = { EXPR_CONST, .off = -1ull } },
	{ "const2u", BYTES(DW_OP_const2u, 0x34, 0x92), .value = { EXPR_CONST, .off = 0x9234 } },
	{ "const2s", BYTES(DW_OP_const2s, 0xfe, 0xff), .value = { EXPR_CONST, .off = -2ull } },
	{ "const4u", BYTES(DW_OP_const4u, 0, 0, 0, 0x80),
	  .value = { EXPR_CONST, .off = 1u << 31 } },
	{ "const4s", BYTES(DW_OP_const4s, 0, 0, 0, 0x80),
	  .value = { EXPR_CONST, .off = -(1ull << 31) } },
	{ "const8u", BYTES(DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8),
	  .value = { EXPR_CONST, .off = 0x0807060504030201 } },
	{ "const8s", BYTES(DW_OP_const8s, 0xfd, 255, 255, 255, 255, 255, 255, 255),
	  .value = { EXPR_CONST, .off = -3ull } },
	{ "constu", BYTES(DW_OP_constu, 0x80, 0x01), .value = { EXPR_CONST, .off = 128 } },
	{ "consts", BYTES(DW_OP_consts, 0x7f), .value = { EXPR_CONST, .off = -1ull } },
	{ "breg7", BYTES(DW_OP_breg7, 16), .value = { EXPR_REG, RSP, .off = 16 } },
	{ "breg0, negative", BYTES(DW_OP_breg0, 0x78), .value = { EXPR_REG, 0, .off = -8ull } },
	{ "breg15", BYTES(DW_OP_breg15, 0), .value = { EXPR_REG, 15 } },
	{ "breg16 is ip", BYTES(DW_OP_breg16, 5), .value = { EXPR_IP, .off = 5 } },
	{ "breg17 is no GPR", BYTES(DW_OP_breg17, 0), .none = true },
	{ "bregx", BYTES(DW_OP_bregx, RBX, 0x7c), .value = { EXPR_REG, RBX, .off = -4ull } },
	{ "bregx 17", BYTES(DW_OP_bregx, 17, 0), .none = true },
	{ "ip + const - const", BYTES(DW_OP_breg16, 4, DW_OP_const4s, 0xf0, 0xff, 0xff, 0xff,
				      DW_OP_minus, DW_OP_lit3, DW_OP_plus),
	  .value = { EXPR_IP, .off = 23 } },
	{ "ip + reg", BYTES(DW_OP_breg16, 0, DW_OP_breg3, 0, DW_OP_plus), .none = true },
	{ "deref of ip", BYTES(DW_OP_breg16, 0, DW_OP_deref), .none = true },
	{ "the CFA", BYTES(DW_OP_nop), true, .value = { EXPR_REG, EXPR_REG_CFA } },
	{ "plus_uconst", BYTES(DW_OP_breg7, 8, DW_OP_plus_uconst, 24),
	  .value = { EXPR_REG, RSP, .off = 32 } },
	{ "reg + const", BYTES(DW_OP_breg7, 8, DW_OP_lit4, DW_OP_plus),
	  .value = { EXPR_REG, RSP, .off = 12 } },
	{ "const + reg", BYTES(DW_OP_lit4, DW_OP_breg7, 8, DW_OP_plus),
	  .value = { EXPR_REG, RSP, .off = 12 } },
	{ "reg + reg", BYTES(DW_OP_breg7, 0, DW_OP_breg3, 0, DW_OP_plus), .none = true },
	{ "const + const", BYTES(DW_OP_lit4, DW_OP_lit5, DW_OP_plus),
	  .value = { EXPR_CONST, .off = 9 } },
	{ "minus", BYTES(DW_OP_breg7, 8, DW_OP_lit3, DW_OP_minus),
	  .value = { EXPR_REG, RSP, .off = 5 } },
	{ "const - reg", BYTES(DW_OP_lit3, DW_OP_breg7, 8, DW_OP_minus), .none = true },
	{ "deref", BYTES(DW_OP_breg7, 8, DW_OP_deref), .value = { EXPR_DEREF, RSP, .off = 8 } },
	{ "deref, then plus", BYTES(DW_OP_breg7, 8, DW_OP_deref, DW_OP_lit16, DW_OP_plus),
	  .value = { EXPR_DEREF, RSP, .off = 8, .add = 16 } },
	{ "deref twice", BYTES(DW_OP_breg7, 8, DW_OP_deref, DW_OP_deref),
	  .value = { EXPR_DEREF2, RSP, .off = 8 } },
	{ "deref twice, with sums", BYTES(DW_OP_breg7, 56, DW_OP_deref, DW_OP_lit24, DW_OP_plus,
					  DW_OP_deref, DW_OP_lit16, DW_OP_minus),
	  .value = { EXPR_DEREF2, RSP, .off = 56, .mid = 24, .add = -16ull } },
	{ "deref three times", BYTES(DW_OP_breg7, 8, DW_OP_deref, DW_OP_deref, DW_OP_deref),
	  .none = true },
	{ "index, deref twice", BYTES(DW_OP_breg7, 0, DW_OP_breg5, 0, DW_OP_lit8, DW_OP_mul,
				      DW_OP_plus, DW_OP_deref, DW_OP_deref), .none = true },
	{ "deref of a constant", BYTES(DW_OP_lit8, DW_OP_deref), .none = true },
	{ "deref of the CFA", BYTES(DW_OP_deref), true, .value = { EXPR_DEREF, EXPR_REG_CFA } },
	{ "index", BYTES(DW_OP_breg7, 8, DW_OP_breg5, 2, DW_OP_lit8, DW_OP_mul, DW_OP_plus),
	  .value = { EXPR_REG, RSP, true, RDI, .off = 8 + 8 * 2 } },
	{ "index, deref", BYTES(DW_OP_breg7, 0, DW_OP_breg5, 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus,
				DW_OP_deref), .value = { EXPR_DEREF, RSP, true, RDI } },
	{ "mul alone", BYTES(DW_OP_breg5, 0, DW_OP_lit8, DW_OP_mul), .none = true },
	{ "mul by 4", BYTES(DW_OP_breg7, 0, DW_OP_breg5, 0, DW_OP_lit4, DW_OP_mul, DW_OP_plus),
	  .none = true },
	{ "two indices", BYTES(DW_OP_breg7, 8, DW_OP_breg9, 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus,
			       DW_OP_breg10, 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus), .none = true },
	{ "mul of the CFA", BYTES(DW_OP_lit8, DW_OP_mul), true, true },
	{ "the topmost counts", BYTES(DW_OP_breg7, 0, DW_OP_lit1),
	  .value = { EXPR_CONST, .off = 1 } },
	{ "eight values", BYTES(DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1,
				DW_OP_lit1, DW_OP_lit1, DW_OP_lit2),
	  .value = { EXPR_CONST, .off = 2 } },
	{ "nine values", BYTES(DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1,
			       DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1), .none = true },
	{ "an operator without operands", BYTES(DW_OP_plus), .none = true },
	{ "plus with one", BYTES(DW_OP_lit1, DW_OP_plus), .none = true },
	{ "plus_uconst of nothing", BYTES(DW_OP_plus_uconst, 1), .none = true },
	{ "deref of nothing", BYTES(DW_OP_deref), .none = true },
	{ "minus with one", BYTES(DW_OP_lit1, DW_OP_minus), .none = true },
	{ "mul with one", BYTES(DW_OP_lit8, DW_OP_mul), .none = true },
	{ "cut in an operand", BYTES(DW_OP_const4u, 1, 2, 3), .none = true },
	{ "LEB128 without end", BYTES(DW_OP_constu, 0x80), .none = true },
	{ "LEB128 of more than 64 bits",
	  BYTES(DW_OP_constu, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2), .none = true },
	{ "unknown operator", BYTES(DW_OP_call_frame_cfa), .none = true },
	{ "a branch", BYTES(DW_OP_lit1, DW_OP_skip, 0, 0), .none = true },
	{ "empty", .none = true },
};

static void test_case(size_t i)
{
	const struct cfi_rule rule = {
		.how = CFI_EXPR, .expr = cases[i].bytes, .size = cases[i].size,
	};
	const struct expr_value *e = &cases[i].value;
	struct expr_value v = {};
	bool good = expr_value(&rule, cases[i].cfa, &v) == !cases[i].none;

	if (good && !cases[i].none)
		good = v.kind == e->kind && v.reg == e->reg && v.indexed == e->indexed &&
		       v.index == e->index && v.off == e->off && v.add == e->add &&
		       v.mid == e->mid;
	ksft_test_result(good, "%s\n", cases[i].name);
}

/* The expression that ld writes for .plt; only its threshold byte may differ. */
static void test_plt(void)
{
	u8 bytes[] = {
		DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
		DW_OP_lit3, DW_OP_shl, DW_OP_plus,
	};
	struct cfi_rule rule = { .how = CFI_EXPR, .expr = bytes, .size = sizeof(bytes) };
	s32 threshold = 0;
	bool good = expr_is_plt(&rule, &threshold) && threshold == 11;
	size_t i;

	bytes[6] = DW_OP_lit9;
	good = good && expr_is_plt(&rule, &threshold) && threshold == 9;
	for (i = 0; i < sizeof(bytes); i++) {
		bytes[i] ^= 0x20;
		good = good && !expr_is_plt(&rule, &threshold);
		bytes[i] ^= 0x20;
	}
	bytes[6] = DW_OP_lit12;
	good = good && !expr_is_plt(&rule, &threshold);
	rule.size--;
	good = good && !expr_is_plt(&rule, &threshold);
	ksft_test_result(good, "the linkers' expression for .plt\n");
}

int main(void)
{
	size_t i;

	ksft_print_header();
	ksft_set_plan(sizeof(cases) / sizeof(cases[0]) + 1);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		test_case(i);
	test_plt();
	ksft_finished();
}
