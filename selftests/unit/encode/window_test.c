// SPDX-License-Identifier: GPL-2.0
/* Windows: the rules where they begin, and their bits, compared with bits written by hand. */
#include <stdlib.h>
#include <string.h>

#include "encoder.h"
#include "kselftest.h"
#include "read_bits.h"

/* Three windows of 1 KiB: with a token in the middle, without a token, with one at the start. */
static void test_windows(void)
{
	u32 words[] = { BEE_WORD_INIT, 2 << BEE_WORD_CFA_SHIFT, BEE_WORD_GAP };
	struct row_start starts[] = { { 0x1000, 0 }, { 0x1010, 1 }, { 0x1800, 2 } };
	struct row_set rows = { .rows = starts, .nrows = 3, .nrules = 3, .end = 0x1810 };
	struct token token[] = { { 0x10, PHRASE_HEAD, 1 }, { 0x800, PHRASE_STEP, 1 } };
	struct encoder e = {
		.rows = &rows, .words = words,
		.tokens = { .rows = &rows, .origin = 0x1000, .window = 10, .token = token,
			    .ntokens = 2 },
	};
	const struct window *w;

	phrase_init(&e.phrases);
	window_find(&e);
	w = e.windows;
	ksft_test_result(e.nwindows == 3 && w[0].first == 0 && w[1].first == 1 && w[2].first == 1 &&
			 w[3].first == 2, "tokens of windows\n");
	ksft_test_result(w[0].rule == 0 && w[1].rule == 1 && w[2].rule == 2 && w[0].body == 0 &&
			 w[1].body == 1 && w[2].body == 1, "rule and body rule of windows\n");
	/* The third window's token gives the window's first rule and uses its body rule. */
	ksft_test_result(w[0].asked && w[1].asked && !w[2].asked && w[0].loose && w[1].loose &&
			 !w[2].loose && w[0].state == BEE_WINDOW_BODY &&
			 w[1].state == BEE_WINDOW_BODY && w[2].state == BEE_WINDOW_BODY,
			 "states of windows\n");
	token[0].body = 2;
	free(e.windows);
	window_find(&e);
	ksft_test_result(e.windows[1].state == BEE_WINDOW_POP && e.windows[1].body == 2,
			 "a state that is not the body rule\n");
	free(e.windows);
	phrase_free(&e.phrases);
}

/* Do the bits of the stream from *@at on spell @expected?  Moves *@at behind them. */
static bool stream_has(const struct encoder *e, u64 *at, const char *expected)
{
	for (; *expected; expected++) {
		if (*expected == ' ')
			continue;
		if (*at >= e->stream.nbits ||
		    read_bits(&e->stream, (*at)++, 1) != (u64)(*expected == '1'))
			return false;
	}
	return true;
}

/* One head phrase, without a place in the menu, and one step phrase, the first of its menu. */
static void make_phrases(struct encoder *e, u32 *numbers)
{
	static u16 no_rank[] = { MENU_NO_RANK }, first_rank[] = { 0 };
	static u8 menu_of_rule[] = { 0, 0 };
	u32 head, step;

	phrase_init(&e->phrases);
	head = phrase_add(&e->phrases, PHRASE_HEAD, BEE_OP_RULE, 1);
	step = phrase_add(&e->phrases, PHRASE_STEP, BEE_OP_RULE + 1, 0);
	e->phrases.nodes[head].count = e->phrases.nodes[step].count = 1;
	e->numbers = numbers;
	dict_build(&e->dicts[0], &e->phrases, true, numbers);
	dict_build(&e->dicts[1], &e->phrases, false, numbers);
	e->menus[0] = (struct menu_set){ .nmenus = 1, .ranks = no_rank };
	e->menus[1] = (struct menu_set){ .nmenus = 1, .of_rule = menu_of_rule, .ranks = first_rank };
	e->tokens.token[0].phrase = head;
	e->tokens.token[1].phrase = step;
}

/*
 * The window of the first worked example of <linux/beeunwind_table.h>, and three without tokens:
 * with a short start, with a state, and with a body rule whose number is too large for a short one.
 */
static void test_bits(void)
{
	struct token token[] = { { 0x30, 0, 0 }, { 0x40, 0, 0 } };
	struct window windows[] = {
		{ .first = 0, .body = 0 }, { .first = 2, .body = WINDOW_NO_BODY },
		{ .first = 2, .body = 0, .state = BEE_WINDOW_GAP }, { .first = 2, .body = 1 },
		{ .first = 2 },
	};
	u32 numbers[8] = {}, rule_numbers[] = { 0, 1 };
	struct encoder e = {
		.tokens = { .window = 8, .grain = 4, .token = token, .ntokens = 2 },
		.windows = windows, .nwindows = 4, .rule_numbers = rule_numbers, .nrules = 2,
	};
	u64 at = 0;

	make_phrases(&e, numbers);
	window_fit_tags(&e);
	ksft_test_result(e.tags.counts[0][2][TAG_DIRECT] == 1 && e.tags.counts[1][5][0] == 1,
			 "widths of the fields of tokens\n");
	e.tags.classes[0] = (struct bee_table_class){ BEE_CLASS_DIRECT | 4, 3 };
	e.tags.classes[1] = (struct bee_table_class){ BEE_CLASS_STEP | 8, 0 };
	e.tags.best[0][2][TAG_DIRECT] = 0;
	e.tags.best[1][5][0] = 1;
	window_write(&e);
	ksft_test_result(stream_has(&e, &at, "0 1100 000 00001000 1000 0000") &&
			 at == windows[0].end, "tokens: fields upwards, tags downwards\n");
	ksft_test_result(stream_has(&e, &at, "0") && at == windows[1].end, "a short start\n");
	ksft_test_result(stream_has(&e, &at, "1 11 0") && at == windows[2].end,
			 "a long start, for a state\n");
	ksft_test_result(stream_has(&e, &at, "1 00 1") && at == windows[3].end &&
			 at == e.stream.nbits, "a long start, for a body rule\n");
	dict_free(&e.dicts[0]);
	dict_free(&e.dicts[1]);
	phrase_free(&e.phrases);
	free(e.stream.bytes);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(4 + 5);
	test_windows();
	test_bits();
	ksft_finished();
}
