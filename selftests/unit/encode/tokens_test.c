// SPDX-License-Identifier: GPL-2.0
/*
 * Tokens: decoded here as <linux/beeunwind_table.h> says, they must give the rows again; and no body
 * rule that was given up early would have been better.
 */
#include <stdlib.h>

#include "alloc.h"
#include "kselftest.h"
#include "random.h"
#include "tokens.c"

#define BASE	0x10000
#define SPAN	20000

static u32 words[64];
static struct row_set rows;

static u32 word_simple(bool rbp, u32 cfa, u32 fp)
{
	return (rbp ? BEE_WORD_RBP : BEE_WORD_RSP) | cfa << BEE_WORD_CFA_SHIFT |
	       fp << BEE_WORD_FP_SHIFT;
}

static void make_words(void)
{
	u32 i;

	for (i = 0; i < 64; i++)
		words[i] = word_simple(i & 1, 1 + i / 4, i & 2 ? 2 : 0);
	words[0] = BEE_WORD_INIT;
	words[1] = BEE_WORD_GAP;
	words[2] = BEE_WORD_FULL;
	words[3] = BEE_WORD_NONE | 3 << BEE_WORD_CFA_SHIFT;
}

/* Functions of 16 bytes to @most, their rows 1 to 40 bytes long, each with some @rules of all 64. */
static void make_rows(u32 most, u32 rules)
{
	u64 pc = BASE, function = BASE;
	u32 first = 0;

	rows.rows = alloc_zero(SPAN, sizeof(*rows.rows));
	rows.nrules = 64;
	while (pc < BASE + SPAN) {
		u32 rule = (first + random_u64() % rules) % 64;

		if (pc >= function) {
			function = (pc + 16 + random_u64() % (most - 16)) & -16ull;
			row_set_add_start(&rows, pc);
			first = rules < 64 ? random_u64() : 0;
			rule = 0;
		}
		if (!rows.nrows || rows.rows[rows.nrows - 1].rule != rule)
			rows.rows[rows.nrows++] = (struct row_start){ .pc = pc, .rule = rule };
		pc += 1 + random_u64() % 40;
		if (pc > function)
			pc = function;
	}
	rows.end = pc;
}

/* The four-byte form of the rule that @op makes of the body rule number @body. */
static u32 op_word(u32 op, u32 body)
{
	u32 b = words[body];

	if (op >= BEE_OP_RULE)
		return words[op - BEE_OP_RULE];
	if ((b & BEE_WORD_KIND) >= BEE_WORD_FULL)
		return b;
	if (op >= BEE_OP_POP)
		return (b & ~(BEE_WORD_KIND | BEE_WORD_CFA_FIELD << BEE_WORD_CFA_SHIFT)) |
		       (op - BEE_OP_POP + 1) << BEE_WORD_CFA_SHIFT;
	return b + (op << BEE_WORD_CFA_SHIFT);
}

static u32 next_at(u32 at, u8 delta)
{
	if (delta == BEE_DELTA_ALIGN_8)
		return (at | 7) + 1;
	return delta == BEE_DELTA_ALIGN_16 ? (at | 15) + 1 : at + delta;
}

/* Write the rule of each op of a token to @said, at the offset where the op begins. */
static u32 say_token(const struct tokens *tokens, const struct token *token, u32 *said)
{
	const struct phrase_node *nodes = tokens->phrases->nodes;
	u32 ops[BEE_TABLE_MAX_OPS], at = token->at, n = nodes[token->phrase].nops, node, i;
	bool head = nodes[token->phrase].head;
	u8 deltas[BEE_TABLE_MAX_OPS];
	u32 wrong = 0;

	for (node = token->phrase; nodes[node].nops; node = nodes[node].parent) {
		ops[nodes[node].nops - 1] = nodes[node].op;
		deltas[nodes[node].nops - 1] = nodes[node].delta;
	}
	if (head) {
		said[at] = BEE_WORD_INIT;
		wrong += ops[n - 1] != BEE_OP_RULE + token->body;
		wrong += !!(at & ((1u << tokens->grain) - 1));
	}
	for (i = 0; i < n; i++) {
		if (head && deltas[i] == BEE_DELTA_NEVER)
			break;
		/* Of several ops only the last may have an alignment code as its distance. */
		wrong += !head && i && i + 1 < n && deltas[i] >= BEE_DELTA_ALIGN_8;
		at = head ? at + deltas[i] : i ? next_at(at, deltas[i]) : at;
		wrong += at >> tokens->window != token->at >> tokens->window;
		said[at] = op_word(ops[i], token->body);
	}
	return wrong;
}

static bool tokens_say_rows(const struct tokens *tokens)
{
	u32 size = rows.end - tokens->origin, *said = alloc_array(NULL, size + 256, sizeof(*said));
	u32 i, row = 0, wrong = 0, word = ~0u;

	for (i = 0; i < size + 256; i++)
		said[i] = ~0u;
	for (i = 0; i < tokens->ntokens; i++) {
		wrong += i && tokens->token[i].at <= tokens->token[i - 1].at;
		wrong += say_token(tokens, &tokens->token[i], said);
	}
	for (i = rows.rows[0].pc - tokens->origin; i < size; i++) {
		while (row + 1 < rows.nrows && rows.rows[row + 1].pc - tokens->origin <= i)
			row++;
		if (said[i] != ~0u)
			word = said[i];
		wrong += word != words[rows.rows[row].rule];
	}
	free(said);
	return !wrong;
}

/* As tokens_choose(), but each body rule is tried to its end.  @given_up: those that need not. */
static struct token_choice choose_slowly(struct token_function *f, u32 *given_up)
{
	bool aligned = !(f->start & ((1u << f->tokens->grain) - 1));
	struct token_choice best = { .cost = ~0u, .body = f->last_body }, none = best;
	u32 bodies[MAX_CANDIDATES + 1];
	size_t i, n = aligned ? tokens_candidates(f, bodies) : 0;

	for (i = 0; i < n; i++) {
		/* All from the last item on. */
		f->best.n = 0;
		tokens_add_items(f, bodies[i], true);
		*given_up += best.cost > HEAD_COST && !tokens_steps(f, best.cost - HEAD_COST);
		tokens_add_items(f, bodies[i], true);
		tokens_steps(f, ~0u);
		tokens_try_heads(f, bodies[i], &best);
	}
	f->best.n = 0;
	tokens_try_body(f, &none);
	return none.cost <= best.cost ? none : best;
}

/* Whether each function's choice is the one that is found without giving up. */
static bool tokens_are_best(struct tokens *tokens, u32 *given_up)
{
	struct token_function f = { .tokens = tokens, .before = NO_RULE }, slow = f;
	u32 start, row = 0, worse = 0;

	for (start = 0; start < rows.nstarts; start++) {
		u64 end = start + 1 < rows.nstarts ? rows.starts[start + 1] : rows.end;
		struct token_choice choice, other;

		f.start = rows.starts[start] - tokens->origin;
		f.end = end - tokens->origin;
		f.rows = &rows.rows[row];
		while (row < rows.nrows && rows.rows[row].pc < end)
			row++;
		f.nrows = &rows.rows[row] - f.rows;
		slow.start = f.start;
		slow.end = f.end;
		slow.rows = f.rows;
		slow.nrows = f.nrows;
		slow.before = f.before;
		slow.last_body = f.last_body;
		choice = tokens_choose(&f);
		/* One without rows may have nothing to say. */
		other = f.nrows ? choose_slowly(&slow, given_up) : choice;
		worse += choice.cost != other.cost || choice.body != other.body ||
			 choice.taken != other.taken || choice.head != other.head;
		f.last_body = choice.body;
		if (f.nrows)
			f.before = f.rows[f.nrows - 1].rule;
	}
	free(f.tried.item);
	free(f.best.item);
	free(slow.tried.item);
	free(slow.best.item);
	return !worse;
}

/* Return: whether no choice for the rows is worse for what is given up. */
static bool rows_are_best(u32 *given_up)
{
	struct phrase_set phrases;
	struct tokens tokens = {
		.rows = &rows, .words = words, .window = 10, .origin = BASE & ~1023ull,
		.phrases = &phrases, .candidates = 4,
	};
	bool best = true;
	u32 i;

	phrase_init(&phrases);
	for (i = 0; i < 3; i++) {
		tokens_find(&tokens);
		phrase_seed(&phrases);
		phrase_price(&phrases);
		best = best && tokens_are_best(&tokens, given_up);
	}
	free(tokens.token);
	phrase_free(&phrases);
	return best;
}

static void test_given_up(void)
{
	u32 i, given_up = 0;
	bool best = true;

	for (i = 0; i < 12; i++) {
		make_rows(100 + 100 * i, 2 + i % 4);
		best = best && rows_are_best(&given_up);
		row_set_free(&rows);
	}
	ksft_test_result(best && given_up > 500,
			 "no body rule is given up that would be the best, %u are given up\n",
			 given_up);
}

static void test_window(u32 window, u32 grain, bool plain, u32 rounds)
{
	struct phrase_set phrases;
	struct tokens tokens = {
		.rows = &rows, .words = words, .window = window, .grain = grain, .plain = plain,
		.origin = BASE & ~((1ull << window) - 1), .phrases = &phrases, .candidates = 1,
	};
	size_t first = 0;
	bool good = true;
	u32 i;

	phrase_init(&phrases);
	for (i = 0; i < rounds; i++) {
		tokens_find(&tokens);
		good = good && tokens_say_rows(&tokens);
		first = first ?: tokens.ntokens;
		phrase_seed(&phrases);
		phrase_price(&phrases);
		tokens.candidates = 2;
	}
	if (plain)
		good = good && tokens.ntokens >= rows.nrows;
	else
		good = good && tokens.ntokens < rows.nrows;
	ksft_test_result(good, "window %u, grain %u%s: %zu rows, %zu tokens\n", window, grain,
			 plain ? ", plain" : "", rows.nrows, tokens.ntokens);
	free(tokens.token);
	phrase_free(&phrases);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(6);
	make_words();
	make_rows(200, 64);
	test_window(10, 0, false, 3);
	test_window(12, 0, false, 3);
	test_window(9, 4, false, 3);
	test_window(11, 2, false, 1);
	test_window(9, 0, true, 1);
	row_set_free(&rows);
	test_given_up();
	ksft_finished();
}
