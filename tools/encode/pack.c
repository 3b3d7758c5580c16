// SPDX-License-Identifier: GPL-2.0
/* From rows to the bytes of a table; the same rows always give the same bytes. */
#include <asm/byteorder.h>
#include <linux/crc32.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "pack.h"
#include "packing.h"

#define FIRST_WINDOW	11	/* log2, until the number of tokens is known */
#define LAST_WINDOW	12	/* log2, the largest that is worth it */
#define LOOKUP_PROBES	(29 * BIT / 4)	/* what a lookup costs beside passing tokens */
#define PARSE_ROUNDS	3	/* with the costs that the round before found */
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

/* A rule in four bytes, without menu; full rules get their number when they are written. */
static u32 pack_word(const struct bee_rule *r)
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

static struct bee_table_rule pack_full(const struct bee_rule *r)
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

/* A function whose start is not aligned has no head token: worth about 14 bits. */
static u32 pack_choose_grain(const struct row_set *rows)
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

/* Parse with another window size. */
static void pack_parse(struct pack *p, u32 window)
{
	p->parse.window = window;
	p->parse.origin = p->rows->rows[0].pc & ~((1ull << window) - 1);
	parse_rows(&p->parse);
}

static u32 pack_max_tokens(const struct pack *p)
{
	u32 n = 0, max = 0;
	size_t i;

	for (i = 0; i < p->parse.ntokens; i++) {
		bool same = i && p->parse.tokens[i].at >> p->parse.window ==
				 p->parse.tokens[i - 1].at >> p->parse.window;

		n = same ? n + 1 : 1;
		if (n > max)
			max = n;
	}
	return max;
}

/* Windows of 2^@shift bytes that have tokens. */
static u64 pack_busy_windows(const struct pack *p, u32 shift)
{
	u64 n = 0;
	size_t i;

	for (i = 0; i < p->parse.ntokens; i++)
		n += !i || p->parse.tokens[i].at >> shift != p->parse.tokens[i - 1].at >> shift;
	return n;
}

/*
 * The largest window in which a lookup takes no longer than a binary search over the rows:
 * a token costs about as much as a probe, and on average half of a window's are passed.
 */
static u32 pack_choose_window(const struct pack *p)
{
	u32 probes = ceil_log2(p->rows->nrows);
	u64 limit = probes > LOOKUP_PROBES ? 2 * (probes - LOOKUP_PROBES) : 0;
	u32 window;

	for (window = LAST_WINDOW; window > BEE_TABLE_MIN_WINDOW; window--)
		if (p->parse.ntokens * BIT <= limit * pack_busy_windows(p, window))
			break;
	return window;
}

static bool pack_dicts_fit(const struct pack *p)
{
	u32 kind, i;

	for (kind = 0; kind < 2; kind++)
		for (i = 0; i < BEE_TABLE_MAX_OPS; i++)
			if (p->dicts[kind].nphrases[i] > MAX_GROUP)
				return false;
	return true;
}

static void pack_number(struct pack *p)
{
	p->numbers = alloc_array(p->numbers, p->phrases.nnodes, sizeof(*p->numbers));
	memset(p->numbers, 0xff, p->phrases.nnodes * sizeof(*p->numbers));
	dict_free(&p->dicts[0]);
	dict_free(&p->dicts[1]);
	dict_build(&p->dicts[0], &p->phrases, true, p->numbers);
	dict_build(&p->dicts[1], &p->phrases, false, p->numbers);
}

static void pack_forget_places(struct pack *p)
{
	free((void *)p->parse.places);
	p->parse.places = NULL;
	menu_free(&p->menus[1]);
	p->menus[1] = (struct menu_set){};
}

/* What step phrases cost by the menus that the tokens found so far would get. */
static void pack_price_places(struct pack *p)
{
	pack_forget_places(p);
	pack_number(p);
	menu_fit_step(&p->menus[1], &p->parse, &p->dicts[1], p->numbers);
	p->parse.places = menu_costs(&p->menus[1], &p->dicts[1]);
	p->parse.menus = p->menus[1].of_rule;
	p->parse.numbers = p->numbers;
	p->parse.nnumbers = p->phrases.nnodes;
	p->parse.nsteps = p->dicts[1].total;
}

/* Neutral costs first; then, a few times, the costs that the phrases in use have. */
static void pack_find_phrases(struct pack *p)
{
	u32 round, window = FIRST_WINDOW;

	p->parse.candidates = 1;
	pack_parse(p, window);
	phrase_seed(&p->phrases);
	p->parse.candidates = 2;
	for (round = 0; round < PARSE_ROUNDS; round++) {
		phrase_price(&p->phrases);
		if (round)
			pack_price_places(p);
		pack_parse(p, window);
		window = pack_choose_window(p);
	}
	if (p->parse.window != window)
		pack_parse(p, window);
	pack_forget_places(p);
	while (pack_max_tokens(p) > BEE_TABLE_MAX_TOKENS)
		pack_parse(p, p->parse.window - 1);
	pack_number(p);
	if (pack_dicts_fit(p))
		return;
	p->parse.plain = true;
	pack_parse(p, BEE_TABLE_MIN_WINDOW);
	pack_number(p);
}

/* How often a rule is the body at the start of a window, and an op. */
struct rule_use {
	u32	rule;
	u32	windows;
	u32	ops;
};

static int compare_uses(const void *a, const void *b)
{
	const struct rule_use *x = a, *y = b;

	if (x->windows != y->windows)
		return x->windows > y->windows ? -1 : 1;
	if (x->ops != y->ops)
		return x->ops > y->ops ? -1 : 1;
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

static void pack_count_ops(const struct pack *p, struct rule_use *uses)
{
	u32 kind, i, node;

	for (kind = 0; kind < 2; kind++)
		for (i = 0; i < p->dicts[kind].total; i++)
			for (node = p->dicts[kind].nodes[i]; p->phrases.nodes[node].nops;
			     node = p->phrases.nodes[node].parent) {
				u32 op = p->phrases.nodes[node].op;

				if (op >= BEE_OP_RULE)
					uses[op - BEE_OP_RULE].ops++;
			}
}

/* Choose the width of short body rule numbers. */
static void pack_choose_body_bits(struct pack *p, const struct rule_use *uses)
{
	u32 full = bee_table_width(p->nrules), bits, i;
	u64 best = ~0ull;

	for (bits = 0; bits <= full && 1u << bits <= p->nrules; bits++) {
		u64 cost = 0;

		for (i = 0; i < p->nrules; i++)
			cost += (u64)uses[i].windows * (i < 1u << bits ? bits : 2 + full);
		if (cost < best) {
			best = cost;
			p->body_bits = bits;
		}
	}
}

/*
 * What a window begins with.  Where no token refers to the body rule, it is the rule that holds, if
 * that is in the dictionary, as then it can be short; or none.
 */
static void pack_settle_window(struct pack_window *w, const struct rule_use *uses)
{
	if (!w->loose)
		return;
	if (!w->asked) {
		w->body = PACK_NO_BODY;
	} else if (uses[w->rule].ops) {
		w->body = w->rule;
		w->state = BEE_WINDOW_BODY;
	} else if (w->state > BEE_WINDOW_POP) {
		w->body = PACK_NO_BODY;
	}
}

/* No window of the largest page that it can be in has a token: it is not going to be written. */
static bool pack_is_unwritten(const struct pack *p, u32 window)
{
	u32 first = window & ~((1u << BEE_TABLE_MAX_PAGE) - 1);
	u32 after = first + (1u << BEE_TABLE_MAX_PAGE);

	return p->windows[first].first ==
	       p->windows[after < p->nwindows ? after : p->nwindows].first;
}

static void pack_count_windows(struct pack *p, struct rule_use *uses)
{
	u32 i;

	/* Windows without tokens may become one of a page. */
	for (i = 0; i < p->nwindows; i++)
		if (p->windows[i].first == p->windows[i + 1].first)
			uses[p->windows[i].rule].ops++;
	for (i = 0; i < p->nwindows; i++) {
		struct pack_window *w = &p->windows[i];

		pack_settle_window(w, uses);
		if (w->body != PACK_NO_BODY && w->state == BEE_WINDOW_BODY)
			uses[w->body].windows += !pack_is_unwritten(p, i);
		else if (w->body != PACK_NO_BODY)
			uses[w->body].ops++;
	}
}

/* Number the rules that something refers to. */
static void pack_number_rules(struct pack *p)
{
	u32 nrules = p->rows->nrules, i;
	struct rule_use *uses = alloc_array(NULL, nrules, sizeof(*uses));

	for (i = 0; i < nrules; i++)
		uses[i] = (struct rule_use){ .rule = i };
	pack_count_ops(p, uses);
	pack_count_windows(p, uses);
	qsort(uses, nrules, sizeof(*uses), compare_uses);
	p->rule_numbers = alloc_array(NULL, nrules, sizeof(*p->rule_numbers));
	p->rules = alloc_array(NULL, nrules, sizeof(*p->rules));
	for (i = 0; i < nrules && (!i || uses[i].windows || uses[i].ops); i++) {
		p->rule_numbers[uses[i].rule] = i;
		p->rules[i] = uses[i].rule;
	}
	p->nrules = i;
	pack_choose_body_bits(p, uses);
	free(uses);
}

static void pack_head_menu(const struct pack *p, struct bits *bits)
{
	const struct menu_set *menu = &p->menus[0];
	const struct dict *dict = &p->dicts[0];
	u32 i, n = dict->total ? 1u << menu->bits : 0;

	for (i = 0; i < n; i++) {
		bits_put(bits, dict_id(dict, menu->places[i]), 16);
		bits_put(bits, dict_body(dict, &p->phrases, menu->places[i], p->rule_numbers),
			 16);
	}
}

static void pack_step_menus(const struct pack *p, struct bits *bits)
{
	const struct menu_set *menus = &p->menus[1];
	const struct dict *dict = &p->dicts[1];
	u32 i, n = dict->total ? menus->nmenus << menus->bits : 0;

	for (i = 0; i < n; i++)
		bits_put(bits, dict_id(dict, menus->places[i]), 16);
}

static void pack_rules(const struct pack *p, struct bits *bits, u32 *nfull)
{
	u32 i;

	for (i = 0; i < p->nrules; i++) {
		u32 rule = p->rules[i], word = p->words[rule];

		if (word == BEE_WORD_FULL)
			word |= (*nfull)++ << BEE_WORD_CFA_SHIFT;
		bits_put(bits, word | (u32)p->menus[1].of_rule[rule] << BEE_WORD_MENU_SHIFT, 32);
	}
}

static void pack_header(const struct pack *p, struct bee_table_header *h, u32 nfull)
{
	const struct elf_file *elf = p->elf;
	u64 base = p->rows->rows[0].pc;
	u32 kind, i;

	h->magic = cpu_to_le32(BEE_TABLE_MAGIC);
	h->version = cpu_to_le16(BEE_TABLE_VERSION);
	h->machine = cpu_to_le16(BEE_TABLE_MACHINE);
	h->base = cpu_to_le64(base);
	h->file_size = cpu_to_le64(elf->file_size);
	h->span = cpu_to_le32(p->rows->end - base);
	h->nrows = cpu_to_le32(p->rows->nrows);
	h->nrules = cpu_to_le16(p->nrules);
	h->nfull = cpu_to_le16(nfull);
	h->nsegments = elf->ntext;
	h->window = p->parse.window;
	h->page = p->page;
	h->grain = p->parse.grain;
	h->border_bits = p->border_bits;
	h->body_bits = p->body_bits;
	h->nmenus = p->menus[1].nmenus;
	h->id_type = elf->id_type;
	h->id_len = elf->id_len;
	h->flags = p->rows->flags;
	memcpy(h->id, elf->id, elf->id_len);
	memcpy(h->classes, p->tags.classes, sizeof(h->classes));
	for (kind = 0; kind < 2; kind++) {
		h->menu_bits[kind] = p->menus[kind].bits;
		for (i = 0; i < BEE_TABLE_MAX_OPS; i++) {
			h->nphrases[kind][i] = cpu_to_le16(p->dicts[kind].nphrases[i]);
			h->nshapes[kind][i] = cpu_to_le16(p->dicts[kind].nshapes[i]);
		}
	}
}

static void *pack_segments(const struct elf_file *elf, struct bee_table_segment *segments)
{
	size_t i;

	for (i = 0; i < elf->ntext; i++)
		segments[i] = (struct bee_table_segment){
			.vaddr = cpu_to_le64(elf->text[i].vaddr),
			.offset = cpu_to_le64(elf->text[i].offset),
			.size = cpu_to_le64(elf->text[i].size),
		};
	return segments + elf->ntext;
}

static void *pack_full_rules(const struct pack *p, struct bee_table_rule *full)
{
	u32 i;

	for (i = 0; i < p->nrules; i++)
		if (p->words[p->rules[i]] == BEE_WORD_FULL)
			*full++ = pack_full(&p->rows->rules[p->rules[i]]);
	return full;
}

/* Put header, segments, full rules and all bit sections together. */
static void *pack_blob(const struct pack *p, size_t *size)
{
	struct bits bits = {}, records = {};
	struct bee_table_header *h;
	u32 kind, nfull = 0;
	u8 *at;

	pack_rules(p, &bits, &nfull);
	page_write(p, &bits, &records);
	pack_head_menu(p, &bits);
	pack_step_menus(p, &bits);
	for (kind = 0; kind < 2; kind++)
		dict_write(&p->dicts[kind], &p->phrases, p->rule_numbers, p->nrules, &bits);
	*size = sizeof(*h) + p->elf->ntext * sizeof(struct bee_table_segment) +
		nfull * sizeof(struct bee_table_rule) + bits_bytes(&bits) + bits_bytes(&records) +
		BEE_TABLE_PAD;
	h = alloc_array(NULL, *size, 1);
	memset(h, 0, *size);
	pack_header(p, h, nfull);
	h->size = cpu_to_le32(*size);
	at = pack_full_rules(p, pack_segments(p->elf, (void *)(h + 1)));
	memcpy(at, bits.bytes, bits_bytes(&bits));
	memcpy(at + bits_bytes(&bits), records.bytes, bits_bytes(&records));
	h->crc = cpu_to_le32(~crc32_le(~0u, h, *size));
	free(bits.bytes);
	free(records.bytes);
	return h;
}

static void pack_prepare(struct pack *p)
{
	size_t i;

	p->words = alloc_array(NULL, p->rows->nrules, sizeof(*p->words));
	for (i = 0; i < p->rows->nrules; i++)
		p->words[i] = pack_word(&p->rows->rules[i]);
	phrase_init(&p->phrases);
	p->parse = (struct parse){
		.rows = p->rows, .words = p->words, .phrases = &p->phrases,
		.grain = pack_choose_grain(p->rows),
	};
}

static void pack_free(struct pack *p)
{
	u32 kind;

	for (kind = 0; kind < 2; kind++) {
		dict_free(&p->dicts[kind]);
		menu_free(&p->menus[kind]);
	}
	phrase_free(&p->phrases);
	free(p->parse.tokens);
	free(p->words);
	free(p->numbers);
	free(p->windows);
	free(p->rule_numbers);
	free(p->rules);
	free(p->stream.bytes);
}

/* false with @error set if no table can hold these rows */
static bool pack_is_possible(const struct row_set *rows, struct bee_error *error)
{
	size_t i, full = 0;

	for (i = 0; i < rows->nrules; i++)
		full += pack_word(&rows->rules[i]) == BEE_WORD_FULL;
	if (rows->end - rows->rows[0].pc > BEE_TABLE_MAX_SPAN)
		error_set(error, 0, "more than 4 GiB of text");
	else if (rows->nrules > BEE_TABLE_MAX_RULES || full > MAX_FULL)
		error_set(error, 0, "%zu distinct rules, more than a table holds",
			 rows->nrules);
	else
		return true;
	return false;
}

/**
 * pack_table() - write a table
 * @elf: the file
 * @rows: its rows, at least one
 * @size: bytes of the table
 * @error: filled on failure
 *
 * Return: the table, for free(); or NULL if it exceeds a limit.
 */
void *pack_table(const struct elf_file *elf, const struct row_set *rows, size_t *size,
		     struct bee_error *error)
{
	struct pack p = { .elf = elf, .rows = rows };
	void *blob;

	if (!pack_is_possible(rows, error))
		return NULL;
	pack_prepare(&p);
	pack_find_phrases(&p);
	menu_fit_head(&p.menus[0], &p.parse, &p.dicts[0]);
	menu_fit_step(&p.menus[1], &p.parse, &p.dicts[1], p.numbers);
	window_find(&p);
	pack_number_rules(&p);
	window_fit_tags(&p);
	window_write(&p);
	page_choose_size(&p);
	blob = pack_blob(&p, size);
	pack_free(&p);
	if (*size > BEE_TABLE_MAX_SIZE) {
		error_set(error, 0, "%zu rows, more than a table of %u MiB holds",
			 rows->nrows, BEE_TABLE_MAX_SIZE >> 20);
		free(blob);
		return NULL;
	}
	return blob;
}
