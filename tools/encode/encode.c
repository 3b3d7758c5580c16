// SPDX-License-Identifier: GPL-2.0
/* From rows to the bytes of a table: the order of the steps, rule numbers, and the sections. */
#include <asm/byteorder.h>
#include <linux/crc32.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "encode.h"
#include "encoder.h"
#include "order.h"

#define FIRST_WINDOW	11	/* log2; used until the number of tokens is known */
#define LAST_WINDOW	12	/* log2; larger windows make only tables of sparse text smaller */
#define MAX_WINDOWS	(1u << 20)	/* beside one for each row: what there is memory for */
#define LOOKUP_PROBES	(29 * BIT / 4)	/* time of a lookup without its tokens, in probes */
#define TOKEN_ROUNDS	3	/* each with the costs that the round before found */
#define MAX_FULL	BEE_WORD_CFA_FIELD
#define MAX_GROUP	65535

static bool rule_is_simple(const struct bee_rule *r)
{
	s32 n = r->cfa_off / 8, slot = -(r->fp_off / 8);

	if (r->kind != BEE_RULE_KNOWN || r->arg || r->cfa != BEE_CFA_REG || r->ra != BEE_RA_CFA ||
	    r->ra_off != -8 || (r->cfa_reg != BEE_REG_RSP && r->cfa_reg != BEE_REG_RBP))
		return false;
	if (r->cfa_off % 8 || n < 0 || n > (s32)BEE_WORD_CFA_MAX)
		return false;
	if (r->fp == BEE_FP_SAME)
		return true;
	return r->fp == BEE_FP_CFA && !(r->fp_off % 8) && slot > 0 && slot <= (s32)BEE_WORD_FP_MAX;
}

/* A rule in four bytes, without its menu and, for a full rule, its number. */
static u32 encode_word(const struct bee_rule *r)
{
	if (r->kind == BEE_RULE_GAP)
		return BEE_WORD_GAP;
	if (r->kind == BEE_RULE_UNSUPPORTED)
		return BEE_WORD_NONE | (r->arg + 1) << BEE_WORD_CFA_SHIFT;
	if (!rule_is_simple(r))
		return BEE_WORD_FULL;
	return (r->cfa_reg == BEE_REG_RSP ? BEE_WORD_RSP : BEE_WORD_RBP) |
	       (r->cfa_off / 8) << BEE_WORD_CFA_SHIFT | (-r->fp_off / 8) << BEE_WORD_FP_SHIFT;
}

static struct bee_table_rule encode_full(const struct bee_rule *r)
{
	return (struct bee_table_rule){
		.flags = r->arg,
		.cfa = r->cfa, .cfa_reg = r->cfa_reg,
		.fp = r->fp, .fp_reg = r->fp_reg,
		.ra = r->ra, .ra_reg = r->ra_reg,
		.cfa_off = cpu_to_le32(r->cfa_off), .cfa_add = cpu_to_le32(r->cfa_add),
		.fp_off = cpu_to_le32(r->fp_off), .ra_off = cpu_to_le32(r->ra_off),
	};
}

/*
 * The grain that makes gaps cheapest.  A function that does not start at a multiple of it can have
 * no head token, which costs 14 bits.
 */
static u32 encode_choose_grain(const struct row_set *rows)
{
	u64 best = ~0ull;
	u32 grain, choice = 0;

	for (grain = 0; grain <= BEE_TABLE_MAX_GRAIN; grain++) {
		u64 cost = (BEE_TABLE_MAX_GRAIN - grain) * rows->nstarts;
		size_t i;

		for (i = 0; i < rows->nstarts; i++)
			if (rows->starts[i] & ((1u << grain) - 1))
				cost += 14;
		if (cost <= best) {
			best = cost;
			choice = grain;
		}
	}
	return choice;
}

/* Number of windows of 2^@window bytes. */
static u64 encode_windows(const struct row_set *rows, u32 window)
{
	return (rows->end - rows->rows[0].pc) >> window;
}

/*
 * Is a list of rows smaller than any table of windows?  A list takes eight bytes for each row.  A
 * table of windows has a directory, which takes four bytes for each page of the text even if no row
 * is in the page.  So where rows are few and far apart, a directory of the largest pages is larger
 * than the whole list.
 */
static bool encode_is_sparse(const struct row_set *rows)
{
	return encode_windows(rows, BEE_TABLE_MAX_WINDOW + BEE_TABLE_MAX_PAGE) > 2 * rows->nrows;
}

/* The smallest window with which there are no more windows than rows, or the largest of all. */
static u32 encode_least_window(const struct row_set *rows)
{
	u32 window = BEE_TABLE_MIN_WINDOW;

	while (window < BEE_TABLE_MAX_WINDOW && encode_windows(rows, window) > rows->nrows)
		window++;
	return window;
}

/* Find the tokens for windows of 2^@window bytes. */
static void encode_tokens(struct encoder *e, u32 window)
{
	e->tokens.window = window;
	e->tokens.origin = e->rows->rows[0].pc & ~((1ull << window) - 1);
	tokens_find(&e->tokens);
}

/*
 * The largest window in which a lookup takes no longer than a binary search over the rows, but not
 * one with which there are more windows than rows.  A lookup reads half of a window's tokens on
 * average, and a token takes about as long as a probe.
 */
static u32 encode_choose_window(const struct encoder *e)
{
	u32 probes = phrase_log2(e->rows->nrows);
	u64 limit = probes > LOOKUP_PROBES ? 2 * (probes - LOOKUP_PROBES) : 0;
	const struct token *token = e->tokens.token;
	u32 window, least = encode_least_window(e->rows);

	for (window = LAST_WINDOW; window > least; window--) {
		u64 busy = 0;	/* windows with tokens */
		size_t i;

		for (i = 0; i < e->tokens.ntokens; i++)
			busy += !i || token[i].at >> window != token[i - 1].at >> window;
		if (e->tokens.ntokens * BIT <= limit * busy)
			break;
	}
	return window > least ? window : least;
}

/* Has a window more tokens than the format allows? */
static bool encode_window_is_full(const struct encoder *e)
{
	const struct token *token = e->tokens.token;
	size_t i;

	for (i = BEE_TABLE_MAX_TOKENS; i < e->tokens.ntokens; i++)
		if (token[i].at >> e->tokens.window ==
		    token[i - BEE_TABLE_MAX_TOKENS].at >> e->tokens.window)
			return true;
	return false;
}

/* Number the phrases in use. */
static void encode_number(struct encoder *e)
{
	e->numbers = alloc_array(e->numbers, e->phrases.nnodes, sizeof(*e->numbers));
	memset(e->numbers, 0xff, e->phrases.nnodes * sizeof(*e->numbers));
	dict_free(&e->dicts[0]);
	dict_free(&e->dicts[1]);
	dict_build(&e->dicts[0], &e->phrases, true, e->numbers);
	dict_build(&e->dicts[1], &e->phrases, false, e->numbers);
}

static void encode_forget_places(struct encoder *e)
{
	free((void *)e->tokens.places);
	e->tokens.places = NULL;
	menu_free(&e->menus[1]);
	e->menus[1] = (struct menu_set){};
}

/* Find tokens with neutral costs; then again, with the costs of the phrases found before. */
static void encode_find_phrases(struct encoder *e)
{
	u32 round, kind, i, window = FIRST_WINDOW;
	bool fits;

	e->tokens.candidates = 1;
	encode_tokens(e, window);
	phrase_seed(&e->phrases);
	e->tokens.candidates = 2;
	for (round = 0; round < TOKEN_ROUNDS; round++) {
		phrase_price(&e->phrases);
		if (round) {
			/* What step phrases cost by the menus that these tokens would get. */
			encode_forget_places(e);
			encode_number(e);
			menu_fit_step(&e->menus[1], &e->tokens, &e->dicts[1], e->numbers);
			e->tokens.places = menu_costs(&e->menus[1], &e->dicts[1]);
			e->tokens.menus = e->menus[1].of_rule;
			e->tokens.numbers = e->numbers;
			e->tokens.nnumbers = e->phrases.nnodes;
			e->tokens.nsteps = e->dicts[1].total;
		}
		encode_tokens(e, window);
		window = encode_choose_window(e);
	}
	if (e->tokens.window != window)
		encode_tokens(e, window);
	encode_forget_places(e);
	while (encode_window_is_full(e) && e->tokens.window > BEE_TABLE_MIN_WINDOW)
		encode_tokens(e, e->tokens.window - 1);
	/* If the smallest window is full: of plain tokens it has one for each byte at most. */
	fits = !encode_window_is_full(e);
	encode_number(e);
	for (kind = 0; kind < 2; kind++)
		for (i = 0; i < BEE_TABLE_MAX_OPS; i++)
			fits = fits && e->dicts[kind].nphrases[i] <= MAX_GROUP;
	if (fits)
		return;
	e->tokens.plain = true;
	encode_tokens(e, BEE_TABLE_MIN_WINDOW);
	encode_number(e);
}

/* How often a rule is the body rule at the start of a window, and how often it is an op. */
struct rule_use {
	u32	rule;
	u32	windows;
	u32	ops;
};

static int compare_uses(const void *a, const void *b)
{
	const struct rule_use *x = a, *y = b;

	return order(y->windows, x->windows) ?: order(y->ops, x->ops) ?: order(x->rule, y->rule);
}

/* Choose the width of short body rule numbers. */
static void encode_choose_body_bits(struct encoder *e, const struct rule_use *uses)
{
	u32 full = bee_table_width(e->nrules), bits, i;
	u64 best = ~0ull;

	for (bits = 0; bits <= full && 1u << bits <= e->nrules; bits++) {
		u64 cost = 0;

		for (i = 0; i < e->nrules; i++)
			cost += (u64)uses[i].windows * (i < 1u << bits ? bits : 2 + full);
		if (cost < best) {
			best = cost;
			e->body_bits = bits;
		}
	}
}

/* Count the rules at the start of windows.  Choose the body rule where no token refers to it. */
static void encode_count_windows(struct encoder *e, struct rule_use *uses)
{
	u32 i;

	/* A page without tokens is written as the rule of its first window. */
	for (i = 0; i < e->nwindows; i++)
		if (e->windows[i].first == e->windows[i + 1].first)
			uses[e->windows[i].rule].ops++;
	for (i = 0; i < e->nwindows; i++) {
		u32 page = i & ~((1u << BEE_TABLE_MAX_PAGE) - 1);
		u32 after = page + (1u << BEE_TABLE_MAX_PAGE);
		struct window *w = &e->windows[i];

		if (w->loose && !w->asked) {
			w->body = WINDOW_NO_BODY;
		} else if (w->loose && uses[w->rule].ops) {
			/* The rule is in the table anyway, and BEE_WINDOW_BODY has a short form. */
			w->body = w->rule;
			w->state = BEE_WINDOW_BODY;
		} else if (w->loose && w->state > BEE_WINDOW_POP) {
			w->body = WINDOW_NO_BODY;
		}
		if (w->body == WINDOW_NO_BODY)
			continue;
		if (after > e->nwindows)
			after = e->nwindows;
		/* If even the largest page that it can be in has no token, it is not written. */
		if (w->state != BEE_WINDOW_BODY)
			uses[w->body].ops++;
		else
			uses[w->body].windows += e->windows[page].first != e->windows[after].first;
	}
}

/* Number the rules that something refers to. */
static void encode_number_rules(struct encoder *e)
{
	u32 nrules = e->rows->nrules, kind, node, i;
	const struct phrase_node *nodes = e->phrases.nodes;
	struct rule_use *uses = alloc_array(NULL, nrules, sizeof(*uses));

	for (i = 0; i < nrules; i++)
		uses[i] = (struct rule_use){ .rule = i };
	for (kind = 0; kind < 2; kind++)
		for (i = 0; i < e->dicts[kind].total; i++)
			for (node = e->dicts[kind].nodes[i]; nodes[node].nops;
			     node = nodes[node].parent)
				if (nodes[node].op >= BEE_OP_RULE)
					uses[nodes[node].op - BEE_OP_RULE].ops++;
	encode_count_windows(e, uses);
	qsort(uses, nrules, sizeof(*uses), compare_uses);
	e->rule_numbers = alloc_array(NULL, nrules, sizeof(*e->rule_numbers));
	e->rules = alloc_array(NULL, nrules, sizeof(*e->rules));
	for (i = 0; i < nrules && (!i || uses[i].windows || uses[i].ops); i++) {
		e->rule_numbers[uses[i].rule] = i;
		e->rules[i] = uses[i].rule;
	}
	e->nrules = i;
	encode_choose_body_bits(e, uses);
	free(uses);
}

static void encode_window_fields(const struct encoder *e, struct bee_table_header *h)
{
	u32 kind, i;

	h->nrules = cpu_to_le16(e->nrules);
	h->window = e->tokens.window;
	h->page = e->page;
	h->grain = e->tokens.grain;
	h->border_bits = e->border_bits;
	h->body_bits = e->body_bits;
	h->nmenus = e->menus[1].nmenus;
	memcpy(h->classes, e->tags.classes, sizeof(h->classes));
	for (kind = 0; kind < 2; kind++) {
		h->menu_bits[kind] = e->menus[kind].bits;
		for (i = 0; i < BEE_TABLE_MAX_OPS; i++) {
			h->nphrases[kind][i] = cpu_to_le16(e->dicts[kind].nphrases[i]);
			h->nshapes[kind][i] = cpu_to_le16(e->dicts[kind].nshapes[i]);
		}
	}
}

/* Append rules in four bytes, pages, menus and dictionaries.  Return: number of full rules. */
static u32 encode_sections(const struct encoder *e, struct bits *bits, struct bits *records)
{
	const struct menu_set *head = &e->menus[0], *step = &e->menus[1];
	u32 kind, i, n, nfull = 0;

	for (i = 0; i < e->nrules; i++) {
		u32 rule = e->rules[i], word = e->words[rule];

		if (word == BEE_WORD_FULL)
			word |= nfull++ << BEE_WORD_CFA_SHIFT;
		bits_put(bits, word | (u32)step->of_rule[rule] << BEE_WORD_MENU_SHIFT, 32);
	}
	page_write(e, bits, records);
	n = e->dicts[0].total ? 1u << head->bits : 0;
	for (i = 0; i < n; i++) {
		bits_put(bits, dict_id(&e->dicts[0], head->places[i]), 16);
		bits_put(bits, dict_body(&e->dicts[0], &e->phrases, head->places[i],
					 e->rule_numbers), 16);
	}
	n = e->dicts[1].total ? step->nmenus << step->bits : 0;
	for (i = 0; i < n; i++)
		bits_put(bits, dict_id(&e->dicts[1], step->places[i]), 16);
	for (kind = 0; kind < 2; kind++)
		dict_write(&e->dicts[kind], &e->phrases, e->rule_numbers, e->nrules, bits);
	return nfull;
}

static size_t encode_fixed_size(const struct encoder *e, u32 nfull)
{
	return sizeof(struct bee_table_header) +
	       e->info->nsegments * sizeof(struct bee_table_segment) +
	       nfull * sizeof(struct bee_table_rule);
}

/*
 * Begin a blob of @size bytes with the fields of the header that all tables have, and with the segments.
 * Return: the byte behind them.
 */
static void *encode_begin(const struct encoder *e, struct bee_table_header *h, size_t size,
			  u32 nfull)
{
	const struct table_info *info = e->info;
	struct bee_table_segment *segment = (struct bee_table_segment *)(h + 1);
	u64 base = e->rows->rows[0].pc;
	u32 i;

	h->magic = cpu_to_le32(BEE_TABLE_MAGIC);
	h->version = cpu_to_le16(BEE_TABLE_VERSION);
	h->machine = cpu_to_le16(BEE_TABLE_MACHINE);
	h->size = cpu_to_le32(size);
	h->base = cpu_to_le64(base);
	h->file_size = cpu_to_le64(info->file_size);
	h->span = cpu_to_le32(e->rows->end - base);
	h->nrows = cpu_to_le32(e->rows->nrows);
	h->nfull = cpu_to_le16(nfull);
	h->nsegments = info->nsegments;
	h->id_type = info->id_type;
	h->id_len = info->id_len;
	h->flags = e->rows->flags;
	memcpy(h->id, info->id, info->id_len);
	for (i = 0; i < info->nsegments; i++)
		*segment++ = (struct bee_table_segment){
			.vaddr = cpu_to_le64(info->segments[i].vaddr),
			.offset = cpu_to_le64(info->segments[i].offset),
			.size = cpu_to_le64(info->segments[i].size),
		};
	return segment;
}

static void *encode_finish(struct bee_table_header *h, size_t size)
{
	h->crc = cpu_to_le32(~crc32_le(~0u, h, size));
	return h;
}

/* Put header, segments, full rules and all bit sections together. */
static void *encode_windows_blob(const struct encoder *e, size_t *size)
{
	struct bits bits = {}, records = {};
	u32 nfull = encode_sections(e, &bits, &records), i;
	struct bee_table_header *h;
	struct bee_table_rule *full;
	u8 *at;

	*size = encode_fixed_size(e, nfull) + bits_bytes(&bits) + bits_bytes(&records) +
		BEE_TABLE_PAD;
	h = alloc_zero(*size, 1);
	full = encode_begin(e, h, *size, nfull);
	encode_window_fields(e, h);
	for (i = 0; i < e->nrules; i++)
		if (e->words[e->rules[i]] == BEE_WORD_FULL)
			*full++ = encode_full(&e->rows->rules[e->rules[i]]);
	at = (u8 *)full;
	memcpy(at, bits.bytes, bits_bytes(&bits));
	if (records.nbits)
		memcpy(at + bits_bytes(&bits), records.bytes, bits_bytes(&records));
	free(bits.bytes);
	free(records.bytes);
	return encode_finish(h, *size);
}

/* Number the full rules that rows have, in the order of the rows.  Return: how many there are. */
static u32 list_number_full(const struct encoder *e, u32 *numbers)
{
	const struct row_set *rows = e->rows;
	u32 nfull = 0;
	size_t i;

	memset(numbers, 0xff, rows->nrules * sizeof(*numbers));
	for (i = 0; i < rows->nrows; i++) {
		u32 rule = rows->rows[i].rule;

		if (e->words[rule] == BEE_WORD_FULL && numbers[rule] == ~0u)
			numbers[rule] = nfull++;
	}
	return nfull;
}

/* A table that is a list.  @most: bytes; NULL if the list would have more. */
static void *encode_list_blob(const struct encoder *e, size_t most, size_t *size)
{
	const struct row_set *rows = e->rows;
	u32 *numbers = alloc_array(NULL, rows->nrules, sizeof(*numbers)), nfull;
	struct bee_table_header *h = NULL;
	struct bee_table_rule *full;
	struct bee_table_row *row;
	size_t bytes, i;

	nfull = list_number_full(e, numbers);
	bytes = encode_fixed_size(e, nfull) + rows->nrows * sizeof(*row);
	if (bytes > most)
		goto out;
	*size = bytes;
	h = alloc_zero(bytes, 1);
	full = encode_begin(e, h, bytes, nfull);
	row = (struct bee_table_row *)(full + nfull);
	for (i = 0; i < rows->nrows; i++) {
		u32 rule = rows->rows[i].rule, word = e->words[rule];

		if (word == BEE_WORD_FULL) {
			full[numbers[rule]] = encode_full(&rows->rules[rule]);
			word |= numbers[rule] << BEE_WORD_CFA_SHIFT;
		}
		row[i] = (struct bee_table_row){
			.pc = cpu_to_le32(rows->rows[i].pc - rows->rows[0].pc),
			.word = cpu_to_le32(word),
		};
	}
	encode_finish(h, bytes);
out:
	free(numbers);
	return h;
}

static void encode_free(struct encoder *e)
{
	u32 kind;

	for (kind = 0; kind < 2; kind++) {
		dict_free(&e->dicts[kind]);
		menu_free(&e->menus[kind]);
	}
	phrase_free(&e->phrases);
	free(e->tokens.token);
	free(e->words);
	free(e->numbers);
	free(e->windows);
	free(e->rule_numbers);
	free(e->rules);
	free(e->stream.bytes);
}

/* The table with windows; NULL if there would be too many windows. */
static void *encode_with_windows(struct encoder *e, size_t *size)
{
	phrase_init(&e->phrases);
	e->tokens = (struct tokens){
		.rows = e->rows, .words = e->words, .phrases = &e->phrases,
		.grain = encode_choose_grain(e->rows),
	};
	encode_find_phrases(e);
	if (encode_windows(e->rows, e->tokens.window) > MAX_WINDOWS + e->rows->nrows)
		return NULL;
	menu_fit_head(&e->menus[0], &e->tokens, &e->dicts[0]);
	menu_fit_step(&e->menus[1], &e->tokens, &e->dicts[1], e->numbers);
	window_find(e);
	encode_number_rules(e);
	window_fit_tags(e);
	window_write(e);
	page_choose_size(e);
	return encode_windows_blob(e, size);
}

/**
 * encode_table() - write a table
 * @info: what the table says about its file, apart from the rows
 * @rows: the file's rows, at least one
 * @size: bytes of the table
 * @error: filled on failure
 *
 * Equal arguments always give equal bytes.
 *
 * Return: the table, for free(); or NULL if it exceeds a limit of the format.
 */
void *encode_table(const struct table_info *info, const struct row_set *rows, size_t *size,
		   struct bee_error *error)
{
	struct encoder e = { .info = info, .rows = rows };
	void *blob = NULL, *list;
	size_t i, full = 0;

	if (rows->end - rows->rows[0].pc > BEE_TABLE_MAX_SPAN) {
		error_set(error, 0, "more than 4 GiB of text");
		return NULL;
	}
	e.words = alloc_array(NULL, rows->nrules, sizeof(*e.words));
	for (i = 0; i < rows->nrules; i++) {
		e.words[i] = encode_word(&rows->rules[i]);
		full += e.words[i] == BEE_WORD_FULL;
	}
	if (rows->nrules > BEE_TABLE_MAX_RULES || full > MAX_FULL) {
		error_set(error, 0, "%zu distinct rules, more than a table holds", rows->nrules);
		free(e.words);
		return NULL;
	}
	*size = BEE_TABLE_MAX_SIZE + 1;
	if (!encode_is_sparse(rows))
		blob = encode_with_windows(&e, size);
	list = encode_list_blob(&e, *size - 1, size);
	if (list) {
		free(blob);
		blob = list;
	}
	encode_free(&e);
	if (!blob || *size > BEE_TABLE_MAX_SIZE) {
		error_set(error, 0, "%zu rows, more than a table of %u MiB holds", rows->nrows,
			  BEE_TABLE_MAX_SIZE >> 20);
		free(blob);
		return NULL;
	}
	return blob;
}
