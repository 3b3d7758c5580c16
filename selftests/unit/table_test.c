// SPDX-License-Identifier: GPL-2.0
/* The validator refuses all damage, says what and where; lookups find the rows. */
#include <stddef.h>

#include "kselftest.h"
#include "table.h"
#include "blob.h"

static const char *const all_reasons[] = {
#include "reasons.h"
};

#define NREASONS	(sizeof(all_reasons) / sizeof(all_reasons[0]))

static bool reason_met[NREASONS];

static void note_reason(const char *why)
{
	size_t i;

	for (i = 0; i < NREASONS; i++)
		if (!strcmp(why, all_reasons[i]))
			reason_met[i] = true;
}

/* Validate a copy whose end is the end of its memory, so that ASan sees overruns. */
static int validate_exact(const void *bytes, size_t size, struct bee_table_error *error)
{
	struct bee_table table;
	struct bee_row row;
	u64 start, end, pc;
	void *copy = malloc(size ?: 1);
	int ret;
	u32 i;

	memcpy(copy, bytes, size);
	*error = (struct bee_table_error){};
	ret = bee_table_validate(copy, size, &table, error);
	if (ret) {
		note_reason(error->why);
		free(copy);
		return ret;
	}
	for (pc = EXAMPLE_BASE - 2; pc < EXAMPLE_BASE + EXAMPLE_SPAN + 2; pc++)
		bee_table_lookup(&table, pc, &row);
	for (i = 0; i < table.nrows; i++) {
		bee_table_row(&table, i, &start, &end, &row);
		bee_table_lookup(&table, start, &row);
		bee_table_lookup(&table, end - 1, &row);
	}
	bee_table_lookup(&table, 0, &row);
	bee_table_lookup(&table, ~0ull, &row);
	bee_table_bias(&table, 0x7f0000000000, 0x1000, &pc);
	free(copy);
	return 0;
}

static bool rows_equal(const struct bee_row *a, const struct bee_row *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static const struct bee_row *example_row(u64 pc)
{
	static const struct bee_row first = {
		.cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra_off = -8,
	}, pushed = {
		.cfa_reg = BEE_REG_RSP, .cfa_off = 16, .fp = BEE_FP_CFA, .fp_off = -16,
		.ra_off = -8,
	}, gap = { .kind = BEE_ROW_GAP };

	if (pc == 0x1130)
		return &first;
	return pc > 0x1130 && pc < 0x1140 ? &pushed : &gap;
}

static void test_example(void)
{
	u8 *blob = blob_example();
	struct bee_table_error error = {};
	struct bee_table table = {};
	struct bee_row row;
	bool good = true;
	u64 start, end, pc;
	int ret;

	ret = bee_table_validate(blob, EXAMPLE_SIZE, &table, &error);
	ksft_test_result(!ret, "worked example: accepted\n");
	if (ret)
		ksft_print_msg("%s at %llu\n", error.why, (unsigned long long)error.offset);
	for (pc = 0x1100; !ret && pc < 0x1200; pc++) {
		bee_table_lookup(&table, pc, &row);
		if (rows_equal(&row, example_row(pc)))
			continue;
		ksft_print_msg("pc %#llx\n", (unsigned long long)pc);
		good = false;
	}
	ksft_test_result(good, "worked example: rules at each pc\n");
	bee_table_row(&table, 1, &start, &end, &row);
	ksft_test_result(start == 0x1131 && end == 0x1140 && rows_equal(&row, example_row(start)),
			 "worked example: second row\n");
	bee_table_row(&table, 2, &start, &end, &row);
	ksft_test_result(start == 0x1140 && end == 0x1180 && row.kind == BEE_ROW_GAP,
			 "worked example: last row\n");
	free(blob);
}

static void test_bias(void)
{
	u8 *blob = blob_example();
	struct bee_table_segment *s = (void *)(blob + EXAMPLE_SEGMENTS_AT);
	struct bee_table_error error;
	struct bee_table table = {};
	u64 bias = 0;

	s->vaddr = cpu_to_le64(0x402300);
	s->offset = cpu_to_le64(0x1300);
	s->size = cpu_to_le64(0x2000);
	blob_fix_crc(blob, EXAMPLE_SIZE);
	bee_table_validate(blob, EXAMPLE_SIZE, &table, &error);
	ksft_test_result(bee_table_bias(&table, 0x555555556000, 0x1000, &bias) &&
			 bias == 0x555555556000 - 0x402000, "bias: first page\n");
	ksft_test_result(bee_table_bias(&table, 0x555555558000, 0x3000, &bias) &&
			 bias == 0x555555558000 - 0x404000, "bias: a later page\n");
	ksft_test_result(!bee_table_bias(&table, 0x555555558000, 0, &bias) &&
			 !bee_table_bias(&table, 0x555555558000, 0x4000, &bias),
			 "bias: other pages\n");
	free(blob);
}

static void test_flips(void)
{
	u8 *blob = blob_example();
	struct bee_table_error error;
	bool refused = true;
	unsigned int accepted = 0;
	size_t bit;

	for (bit = 0; bit < EXAMPLE_SIZE * 8; bit++) {
		blob[bit / 8] ^= 1 << bit % 8;
		if (!validate_exact(blob, EXAMPLE_SIZE, &error) || !error.why || !*error.why ||
		    error.offset > EXAMPLE_SIZE) {
			ksft_print_msg("bit %zu: %s\n", bit, error.why ?: "accepted");
			refused = false;
		}
		blob[bit / 8] ^= 1 << bit % 8;
	}
	ksft_test_result(refused, "each bit flipped: refused\n");

	for (bit = 0; bit < EXAMPLE_SIZE * 8; bit++) {
		blob[bit / 8] ^= 1 << bit % 8;
		blob_fix_crc(blob, EXAMPLE_SIZE);
		accepted += !validate_exact(blob, EXAMPLE_SIZE, &error);
		blob[bit / 8] ^= 1 << bit % 8;
	}
	ksft_print_msg("%u of %zu flips with a good checksum accepted\n", accepted,
		       EXAMPLE_SIZE * 8);
	ksft_test_result(accepted && accepted < EXAMPLE_SIZE * 8,
			 "each bit flipped, good checksum: lookups in bounds\n");
	free(blob);
}

static void test_truncation(void)
{
	u8 *blob = blob_example(), *longer = calloc(1, EXAMPLE_SIZE + 8);
	struct bee_table_error error;
	bool refused = true;
	size_t size;

	for (size = 0; size < EXAMPLE_SIZE; size++)
		refused &= validate_exact(blob, size, &error) && error.offset <= size;
	ksft_test_result(refused, "each truncation: refused\n");

	/* A truncation that the header agrees with. */
	for (size = sizeof(struct bee_table_header); size < EXAMPLE_SIZE; size++) {
		((struct bee_table_header *)blob)->size = cpu_to_le32(size);
		blob_fix_crc(blob, size);
		refused &= validate_exact(blob, size, &error) && error.offset <= size;
	}
	ksft_test_result(refused, "each truncation, good size and checksum: refused\n");

	free(blob);
	blob = blob_example();
	memcpy(longer, blob, EXAMPLE_SIZE);
	ksft_test_result(validate_exact(longer, EXAMPLE_SIZE + 1, &error), "one byte more: refused\n");
	free(longer);
	free(blob);
}

/* Write @value over the @size bytes at @at of the example: this must be the answer. */
struct damage {
	size_t		 at;
	unsigned int	 size;
	u64		 value;
	const char	*why;
	u64		 offset;
};

#define HEADER(field)	offsetof(struct bee_table_header, field)
#define SEGMENT(field)	(EXAMPLE_SEGMENTS_AT + offsetof(struct bee_table_segment, field))
#define RULE(n, field)	(EXAMPLE_RULES_AT + 24 * (n) + offsetof(struct bee_table_rule, field))
#define START(n)	(EXAMPLE_STARTS_AT + 4 * (n))
#define INDEX(n)	(EXAMPLE_INDICES_AT + 2 * (n))
#define RULE_AT(n)	(EXAMPLE_RULES_AT + 24 * (n))

static const struct damage damages[] = {
	{ HEADER(magic), 4, 0x42454554, "made for the other byte order", 0 },
	{ HEADER(magic), 4, 0x464c457f, "not an unwind table (bad magic)", 0 },
	{ HEADER(version), 2, 2, "another version of the table format", 4 },
	{ HEADER(version), 2, 0, "another version of the table format", 4 },
	{ HEADER(machine), 2, 183, "made for another architecture", 6 },
	{ HEADER(size), 4, EXAMPLE_SIZE - 1, "truncated, or longer than its header says", 8 },
	{ HEADER(flags), 4, 1, "unknown flags", 16 },
	{ HEADER(reserved), 8, 1ull << 63, "reserved field not zero", 32 },
	{ HEADER(reserved2) + 5, 1, 1, "reserved field not zero", 66 },
	{ HEADER(span), 8, 0, "text interval out of range", 48 },
	{ HEADER(span), 8, 0x100000000, "text interval out of range", 48 },
	{ HEADER(base), 8, -16ull, "text interval out of range", 48 },
	{ HEADER(id_type), 1, 2, "unknown kind of file identity", 64 },
	{ HEADER(id_len), 1, 0, "bad length of the file identity", 65 },
	{ HEADER(id_len), 1, 33, "bad length of the file identity", 65 },
	{ HEADER(id_len), 1, 19, "bad length of the file identity", 65 },
	{ HEADER(nsegments), 4, 0, "number of segments out of range", 20 },
	{ HEADER(nsegments), 4, 65, "number of segments out of range", 20 },
	{ HEADER(nrules), 4, 0, "number of rules out of range", 24 },
	{ HEADER(nrules), 4, 65536, "number of rules out of range", 24 },
	{ HEADER(nrows), 4, 0, "no rows", 28 },
	{ HEADER(nrows), 4, 2, "section sizes do not add up to the table's size", 28 },
	{ HEADER(nrows), 4, 4, "section sizes do not add up to the table's size", 28 },
	{ HEADER(nrows), 4, ~0u, "section sizes do not add up to the table's size", 28 },
	{ SEGMENT(size), 8, 0, "segments overlap, wrap or are empty", EXAMPLE_SEGMENTS_AT },
	{ SEGMENT(size), 8, -1ull, "segments overlap, wrap or are empty", EXAMPLE_SEGMENTS_AT },
	{ SEGMENT(vaddr), 8, -1ull, "segments overlap, wrap or are empty", EXAMPLE_SEGMENTS_AT },
	{ SEGMENT(offset), 8, -1ull, "segments overlap, wrap or are empty", EXAMPLE_SEGMENTS_AT },
	{ RULE(0, kind), 1, 3, "unknown kind of rule", RULE_AT(0) },
	{ RULE(0, arg), 1, 2, "unknown rule flags", RULE_AT(0) },
	{ RULE(0, cfa), 1, 3, "unknown CFA rule", RULE_AT(0) },
	{ RULE(1, cfa_reg), 1, 16, "CFA register out of range", RULE_AT(1) },
	{ RULE(1, cfa_add), 4, 8, "unused CFA field not zero", RULE_AT(1) },
	{ RULE(0, cfa), 2, 2, "PLT rule with other constants than 10 and 11", RULE_AT(0) },
	{ RULE(0, cfa), 2, 0x702, "PLT rule with other constants than 10 and 11", RULE_AT(0) },
	{ RULE(0, fp), 1, 5, "unknown FP rule", RULE_AT(0) },
	{ RULE(1, fp_reg), 1, 1, "FP register out of range", RULE_AT(1) },
	{ RULE(0, fp), 2, 0x1002, "FP register out of range", RULE_AT(0) },
	{ RULE(0, fp_off), 4, 1, "unused FP field not zero", RULE_AT(0) },
	{ RULE(0, ra), 1, 4, "unknown RA rule", RULE_AT(0) },
	{ RULE(0, ra_reg), 1, 1, "RA register out of range", RULE_AT(0) },
	{ RULE(0, ra), 2, 0x1002, "RA register out of range", RULE_AT(0) },
	{ RULE(0, ra), 1, 3, "unused RA field not zero", RULE_AT(0) },
	{ RULE(2, arg), 1, 1, "gap rule with content", RULE_AT(2) },
	{ RULE(2, ra_off), 4, 1, "gap rule with content", RULE_AT(2) },
	{ RULE(2, kind), 2, 0x0a02, "unknown reason of an unsupported rule", RULE_AT(2) },
	{ RULE(0, kind), 1, 2, "unsupported rule with content", RULE_AT(0) },
	{ START(0), 4, 0x1, "first row does not start at base", START(0) },
	{ START(1), 4, 0x10, "rows are not sorted", START(2) },
	{ START(1), 4, 0, "rows are not sorted", START(1) },
	{ START(2), 4, 0x50, "last row starts past the end of the text", START(2) },
	{ INDEX(1), 2, 3, "rule index past the end of the dictionary", INDEX(1) },
};

static void test_damage(const struct damage *d)
{
	u8 *blob = blob_example();
	struct bee_table_error error;
	__le64 value = cpu_to_le64(d->value);
	bool good;

	memcpy(blob + d->at, &value, d->size);
	blob_fix_crc(blob, EXAMPLE_SIZE);
	good = validate_exact(blob, EXAMPLE_SIZE, &error) && !strcmp(error.why, d->why) &&
	       error.offset == d->offset;
	if (!good)
		ksft_print_msg("got \"%s\" at %llu\n", error.why ?: "accepted",
			       (unsigned long long)error.offset);
	ksft_test_result(good, "byte %zu = %#llx: %s\n", d->at, (unsigned long long)d->value, d->why);
	free(blob);
}

static void test_too_large(void)
{
	size_t size = (size_t)BEE_TABLE_MAX_SIZE + 1;
	u8 *blob = blob_example(), *large = calloc(1, size);
	struct bee_table_error error = {};
	struct bee_table table;

	memcpy(large, blob, EXAMPLE_SIZE);
	((struct bee_table_header *)large)->size = cpu_to_le32(size);
	bee_table_validate(large, size, &table, &error);
	note_reason(error.why);
	ksft_test_result(!strcmp(error.why, "larger than a table may be"), "too large: refused\n");
	free(large);
	free(blob);
}

static void test_reasons_met(void)
{
	bool all = NREASONS > 20;
	size_t i;

	for (i = 0; i < NREASONS; i++) {
		if (reason_met[i])
			continue;
		ksft_print_msg("never given: \"%s\"\n", all_reasons[i]);
		all = false;
	}
	ksft_test_result(all, "each of the validator's %zu reasons was given\n", NREASONS);
}

int main(void)
{
	const size_t ndamages = sizeof(damages) / sizeof(damages[0]);
	size_t i;

	ksft_print_header();
	ksft_set_plan(4 + 3 + 2 + 3 + ndamages + 2);
	test_example();
	test_bias();
	test_flips();
	test_truncation();
	for (i = 0; i < ndamages; i++)
		test_damage(&damages[i]);
	test_too_large();
	test_reasons_met();
	ksft_finished();
}
