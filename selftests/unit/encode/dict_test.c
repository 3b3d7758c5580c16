// SPDX-License-Identifier: GPL-2.0
/*
 * Dictionaries: the phrases' numbers, and the encoded bits against bytes written by hand from
 * <linux/beeunwind_table.h>.
 */
#include <string.h>

#include "dict.h"
#include "kselftest.h"

static const u32 rule_numbers[] = { 2, 0, 1 };

static bool bits_are(const struct bits *bits, const u8 *expected, size_t size)
{
	size_t i;

	if (bits_bytes(bits) == size && !memcmp(bits->bytes, expected, size))
		return true;
	for (i = 0; i < bits_bytes(bits); i++)
		ksft_print_msg("byte %zu: %02x\n", i, bits->bytes[i]);
	return false;
}

/*
 * Step phrases: "rule 0" used 9 times, "add 0" 5 times, "pop 0, 3 bytes later add 0" twice, and
 * one that no token uses.
 */
static void test_step(void)
{
	static const u8 expected[] = {
		0x02,		/* one op: shapes 0 and 1, a bit each */
		0x03,		/* two ops: one shape, no bits; distance 3 */
		34 | 0 << 6, 0,	/* shapes of one op, 6 bits an op: rule 0 is number 2; add 0 */
		16 | 0 << 6, 0,	/* of two: pop 0, add 0 */
	};
	struct phrase_set set;
	struct bits bits = {};
	struct dict dict;
	u32 numbers[16], add, rule, pop, two;

	phrase_init(&set);
	add = phrase_add(&set, PHRASE_STEP, BEE_OP_ADD, 0);
	phrase_add(&set, PHRASE_STEP, BEE_OP_ADD + 1, 0);
	rule = phrase_add(&set, PHRASE_STEP, BEE_OP_RULE, 0);
	pop = phrase_add(&set, PHRASE_STEP, BEE_OP_POP, 0);
	two = phrase_add(&set, pop, BEE_OP_ADD, 3);
	set.nodes[add].count = 5;
	set.nodes[rule].count = 9;
	set.nodes[two].count = 2;
	dict_build(&dict, &set, false, numbers);
	ksft_test_result(dict.total == 3 && numbers[rule] == 0 && numbers[add] == 1 &&
			 numbers[two] == 2 && dict.nphrases[0] == 2 && dict.nphrases[1] == 1 &&
			 dict.nshapes[0] == 2 && dict.nshapes[1] == 1,
			 "step phrases: fewer ops first, then more uses\n");
	/* An id is the group in the low three bits, and above them the number in the group. */
	ksft_test_result(dict_id(&dict, 0) == 0 && dict_id(&dict, 1) == 8 &&
			 dict_id(&dict, 2) == 1 && dict.id_bits == 4, "step phrases: ids\n");
	dict_write(&dict, &set, rule_numbers, 3, &bits);
	ksft_test_result(bits_are(&bits, expected, sizeof(expected)), "step phrases: bits\n");
	free(bits.bytes);
	dict_free(&dict);
	phrase_free(&set);
}

/*
 * Head phrases "body rule 1", "body rule 2", "rule 0 after 1 byte, body rule 1 after 4 more" and
 * "rule 0 after 1 byte, body rule 2 after 4 more".  The body rule is no part of a shape, so there are two shapes.
 */
static void test_head(void)
{
	static const u8 expected[] = {
		/* 2 bits of body rule, 4 of distance "never": 60 | 61 << 6 */
		0x7c, 0x0f,
		/* 2 bits of body rule, distances 1 and 4: 0x104 | 0x105 << 10 */
		0x04, 0x15, 0x04,
		/* shape of two ops: rule 0, which is number 2 */
		2,
	};
	u32 numbers[16], one, other, first, two, four;
	struct phrase_set set;
	struct bits bits = {};
	struct dict dict;

	phrase_init(&set);
	one = phrase_add(&set, PHRASE_HEAD, BEE_OP_RULE + 1, BEE_DELTA_NEVER);
	other = phrase_add(&set, PHRASE_HEAD, BEE_OP_RULE + 2, BEE_DELTA_NEVER);
	first = phrase_add(&set, PHRASE_HEAD, BEE_OP_RULE, 1);
	two = phrase_add(&set, first, BEE_OP_RULE + 1, 4);
	four = phrase_add(&set, first, BEE_OP_RULE + 2, 4);
	set.nodes[one].count = 7;
	set.nodes[other].count = 6;
	set.nodes[two].count = 5;
	set.nodes[four].count = 4;
	dict_build(&dict, &set, true, numbers);
	ksft_test_result(dict.total == 4 && numbers[one] == 0 && numbers[other] == 1 &&
			 numbers[two] == 2 && numbers[four] == 3 && dict.nshapes[0] == 1 &&
			 dict.nshapes[1] == 1, "head phrases: numbers, and shapes without body\n");
	ksft_test_result(dict_body(&dict, &set, 0, rule_numbers) == 0 &&
			 dict_body(&dict, &set, 3, rule_numbers) == 1,
			 "head phrases: body rules\n");
	dict_write(&dict, &set, rule_numbers, 3, &bits);
	ksft_test_result(bits_are(&bits, expected, sizeof(expected)), "head phrases: bits\n");
	free(bits.bytes);
	dict_free(&dict);
	phrase_free(&set);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(6);
	test_step();
	test_head();
	ksft_finished();
}
