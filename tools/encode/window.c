// SPDX-License-Identifier: GPL-2.0
/* Windows: the state that each begins with, and its tokens as bits. */
#include <string.h>

#include "alloc.h"
#include "encoder.h"
#include "kmod/table.h"

/**
 * window_find() - cut the tokens into windows
 * @e: with tokens; windows are filled
 */
void window_find(struct encoder *e)
{
	const struct token *token = e->tokens.token;
	const struct row_set *rows = e->rows;
	u32 shift = e->tokens.window, body = 0, i;
	size_t row = 0, at = 0;

	e->nwindows = ((rows->end - 1 - e->tokens.origin) >> shift) + 1;
	e->windows = alloc_array(NULL, e->nwindows + 1, sizeof(*e->windows));
	for (i = 0; i < e->nwindows; i++) {
		struct window *w = &e->windows[i];
		u64 pc = e->tokens.origin + ((u64)i << shift);

		while (row + 1 < rows->nrows && rows->rows[row + 1].pc <= pc)
			row++;
		*w = (struct window){
			.first = at, .body = body, .rule = rows->rows[row].rule,
			.state = BEE_WINDOW_BODY,
		};
		w->asked = pc >= rows->rows[0].pc &&
			   (at == e->tokens.ntokens || token[at].at != (u64)i << shift);
		if (w->asked && w->rule != body)
			w->state = e->words[w->rule] == BEE_WORD_INIT ? BEE_WINDOW_INIT :
				   e->words[w->rule] == BEE_WORD_GAP ? BEE_WINDOW_GAP :
				   BEE_WINDOW_POP;
		while (at < e->tokens.ntokens && token[at].at >> shift == i)
			body = token[at++].body;
		/* Step tokens before the first head refer to the body rule. */
		w->loose = w->first == at || e->phrases.nodes[token[w->first].phrase].head;
	}
	e->windows[i].first = at;
}

/* A token as it is written: its gap in the units of its kind, and its place or phrase number. */
struct token_fields {
	bool	step;
	u32	gap;
	u32	id;
	u32	place;
	u32	gap_bits;
	u32	place_bits;	/* or TAG_DIRECT */
};

static struct token_fields token_fields_of(const struct encoder *e, const struct token *token,
					    u32 *position)
{
	struct token_fields f = { .step = !e->phrases.nodes[token->phrase].head };
	u32 at = token->at & ((1u << e->tokens.window) - 1);
	u32 shift = f.step ? 0 : e->tokens.grain;
	const struct menu_set *menus = &e->menus[f.step];
	u32 menu = f.step ? menus->of_rule[token->body] : 0;

	f.gap = (at >> shift) - (*position >> shift);
	*position = at;
	f.place = menus->ranks[(size_t)menu * e->dicts[f.step].total + e->numbers[token->phrase]];
	f.id = dict_id(&e->dicts[f.step], e->numbers[token->phrase]);
	f.gap_bits = bits_width(f.gap);
	f.place_bits = f.place == MENU_NO_RANK ? TAG_DIRECT : bits_width(f.place);
	return f;
}

/**
 * window_fit_tags() - find the classes of tokens
 * @e: with windows and menus; tags are filled
 */
void window_fit_tags(struct encoder *e)
{
	u32 i, j, kind;

	for (kind = 0; kind < 2; kind++) {
		e->tags.id_bits[kind] = e->dicts[kind].id_bits;
		e->tags.menu_bits[kind] = e->menus[kind].bits;
	}
	for (i = 0; i < e->nwindows; i++) {
		u32 position = 0;

		for (j = e->windows[i].first; j < e->windows[i + 1].first; j++) {
			struct token_fields f = token_fields_of(e, &e->tokens.token[j], &position);

			e->tags.counts[f.step][f.gap_bits][f.place_bits]++;
		}
	}
	tag_classes_fit(&e->tags);
}

/**
 * window_write() - write all windows
 * @e: with tags and numbered rules; the stream is filled
 */
void window_write(struct encoder *e)
{
	u32 full = bee_table_width(e->nrules), i, j;

	for (i = 0; i < e->nwindows; i++) {
		struct window *w = &e->windows[i];
		u32 body = w->body == WINDOW_NO_BODY ? 0 : e->rule_numbers[w->body];
		bool is_long = w->state != BEE_WINDOW_BODY || body >= 1u << e->body_bits;
		u8 tags[BEE_TABLE_MAX_TOKENS];
		u32 n = 0, position = 0;

		bits_put(&e->stream, is_long, 1);
		if (is_long)
			bits_put(&e->stream, w->state, 2);
		bits_put(&e->stream, body, is_long ? full : e->body_bits);
		for (j = w->first; j < w[1].first; j++) {
			struct token_fields f = token_fields_of(e, &e->tokens.token[j], &position);
			const struct bee_table_class *class;

			tags[n] = e->tags.best[f.step][f.gap_bits][f.place_bits];
			class = &e->tags.classes[tags[n++]];
			bits_put(&e->stream, f.gap, class->gap & 0xf);
			bits_put(&e->stream, class->gap & BEE_CLASS_DIRECT ? f.id : f.place,
				 class->id);
		}
		while (n)
			bits_put(&e->stream, tags[--n], 4);
		w->end = e->stream.nbits;
	}
}
