// SPDX-License-Identifier: GPL-2.0
/* Windows: what holds where they begin, and their tokens as bits. */
#include <string.h>

#include "alloc.h"
#include "packing.h"
#include "kmod/table.h"

static u8 window_state(const struct pack *p, u32 rule, u32 body)
{
	if (rule == body)
		return BEE_WINDOW_BODY;
	if (p->words[rule] == BEE_WORD_INIT)
		return BEE_WINDOW_INIT;
	return p->words[rule] == BEE_WORD_GAP ? BEE_WINDOW_GAP : BEE_WINDOW_POP;
}

static bool token_is_head(const struct pack *p, size_t token)
{
	return p->phrases.nodes[p->parse.tokens[token].phrase].head;
}

/* Step tokens in front of the first head refer to the body rule. */
static bool window_is_loose(const struct pack *p, const struct pack_window *w, u32 after)
{
	return w->first == after || token_is_head(p, w->first);
}

/**
 * window_find() - cut the tokens into windows
 * @p: parsed; windows are filled
 */
void window_find(struct pack *p)
{
	const struct row_set *rows = p->rows;
	u32 shift = p->parse.window, i;
	size_t row = 0, token = 0;
	u32 body = 0;

	p->nwindows = ((rows->end - 1 - p->parse.origin) >> shift) + 1;
	p->windows = alloc_array(NULL, p->nwindows + 1, sizeof(*p->windows));
	for (i = 0; i < p->nwindows; i++) {
		struct pack_window *w = &p->windows[i];
		u64 pc = p->parse.origin + ((u64)i << shift);
		bool said;

		while (row + 1 < rows->nrows && rows->rows[row + 1].pc <= pc)
			row++;
		*w = (struct pack_window){
			.first = token, .body = body, .rule = rows->rows[row].rule,
		};
		said = token < p->parse.ntokens && p->parse.tokens[token].at == (u64)i << shift;
		w->state = said || pc < rows->rows[0].pc ? BEE_WINDOW_BODY :
							   window_state(p, w->rule, body);
		w->asked = !said && pc >= rows->rows[0].pc;
		for (; token < p->parse.ntokens && p->parse.tokens[token].at >> shift == i; token++)
			body = p->parse.tokens[token].body;
		w->loose = window_is_loose(p, w, token);
	}
	p->windows[i].first = token;
}

/* What a token is written as: its gap in the units of its kind, and its place or number. */
struct token_fields {
	bool	step;
	u32	gap;
	u32	id;
	u32	place;
	u32	gap_bits;
	u32	place_bits;	/* or TAGS_DIRECT */
};

static u32 bits_of(u32 value)
{
	return value ? 32 - __builtin_clz(value) : 0;
}

static struct token_fields token_fields_of(const struct pack *p, const struct token *token,
					    u32 *position)
{
	struct token_fields f = { .step = !p->phrases.nodes[token->phrase].head };
	u32 at = token->at & ((1u << p->parse.window) - 1);
	u32 shift = f.step ? 0 : p->parse.grain;
	const struct menu_set *menus = &p->menus[f.step];
	u32 menu = f.step ? menus->of_rule[token->body] : 0;

	f.gap = (at >> shift) - (*position >> shift);
	*position = at;
	f.place = menus->ranks[(size_t)menu * p->dicts[f.step].total + p->numbers[token->phrase]];
	f.id = dict_id(&p->dicts[f.step], p->numbers[token->phrase]);
	f.gap_bits = bits_of(f.gap);
	f.place_bits = f.place == MENU_NO_RANK ? TAGS_DIRECT : bits_of(f.place);
	return f;
}

/**
 * window_fit_tags() - find the classes of tokens
 * @p: with windows and menus; tags are filled
 */
void window_fit_tags(struct pack *p)
{
	u32 i, j, kind;

	for (kind = 0; kind < 2; kind++) {
		p->tags.id_bits[kind] = p->dicts[kind].id_bits;
		p->tags.menu_bits[kind] = p->menus[kind].bits;
	}
	for (i = 0; i < p->nwindows; i++) {
		u32 position = 0;

		for (j = p->windows[i].first; j < p->windows[i + 1].first; j++) {
			struct token_fields f = token_fields_of(p, &p->parse.tokens[j], &position);

			p->tags.counts[f.step][f.gap_bits][f.place_bits]++;
		}
	}
	tags_fit(&p->tags);
}

/* Append one window to the stream. */
static void window_write_one(struct pack *p, struct pack_window *w)
{
	u8 tags[BEE_TABLE_MAX_TOKENS];
	u32 body = w->body == PACK_NO_BODY ? 0 : p->rule_numbers[w->body];
	bool is_long = w->state != BEE_WINDOW_BODY || body >= 1u << p->body_bits;
	u32 j, n = 0, position = 0;

	bits_put(&p->stream, is_long, 1);
	if (is_long)
		bits_put(&p->stream, w->state, 2);
	bits_put(&p->stream, body, is_long ? bee_table_width(p->nrules) : p->body_bits);
	for (j = w->first; j < w[1].first; j++) {
		struct token_fields f = token_fields_of(p, &p->parse.tokens[j], &position);
		const struct bee_table_class *class;

		tags[n] = p->tags.best[f.step][f.gap_bits][f.place_bits];
		class = &p->tags.classes[tags[n++]];
		bits_put(&p->stream, f.gap, class->gap & 0xf);
		bits_put(&p->stream, class->gap & BEE_CLASS_DIRECT ? f.id : f.place, class->id);
	}
	while (n)
		bits_put(&p->stream, tags[--n], 4);
	w->end = p->stream.nbits;
}

/**
 * window_write() - write all windows
 * @p: with tags and numbered rules; the stream is filled
 */
void window_write(struct pack *p)
{
	u32 i;

	for (i = 0; i < p->nwindows; i++)
		window_write_one(p, &p->windows[i]);
}
