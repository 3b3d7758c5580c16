// SPDX-License-Identifier: GPL-2.0
/*
 * Look up and list the rows of validated unwind tables.  [S]: pure; needs only
 * memcmp() and byte order helpers.
 */
#include <linux/string.h>
#include <asm/byteorder.h>

#include "table.h"
#include "table_bits.h"

/* A token: the bit where its field begins, and above that its tag. */
typedef u64 token_t;

#define TOKEN_TAG_SHIFT	32
#define TOKEN_NONE	0		/* no field begins at the blob's first bit */

/*
 * What a scan of a window finds for a pc: the last token and the last head token
 * at or before it, where the last one stands, and where the next one does, or the
 * window ends.
 */
struct window_scan {
	token_t	last;
	token_t	head;
	u32	position;
	u32	next;
};

#define TAGS_AT_ONCE	14

/* The TAGS_AT_ONCE tags before bit @end, the first of them on top. */
static __always_inline u64 tags_before(const u8 *blob, u32 end)
{
	__le64 word;

	__builtin_memcpy(&word, blob + (end >> 3) - 7, sizeof(word));
	return le64_to_cpu(word) << (8 - (end & 7));
}

/* Scan bits [@at, @end) for the tokens at or before byte @x of the window. */
static __always_inline void window_scan(const struct bee_table *table, u32 at, u32 end, u32 x,
					struct window_scan *scan)
{
	const u8 *blob = table_blob(table);
	token_t last = TOKEN_NONE, head = TOKEN_NONE;
	u32 position = 0, n = 0;
	u64 tags = 0;

	while (at < end) {
		u32 class, grain, next;

		if (!n) {
			tags = tags_before(blob, end);
			n = TAGS_AT_ONCE;
		}
		class = table->scan[tags >> 60];
		grain = class >> BEE_SCAN_GRAIN_SHIFT & 7;
		next = (position >> grain) + ((u32)bits_at(blob, at) & class & BEE_SCAN_GAP);
		next <<= grain;
		if (next > x) {
			if (next < scan->next)
				scan->next = next;
			break;
		}
		position = next;
		last = at | tags >> 60 << TOKEN_TAG_SHIFT;
		head = class & BEE_SCAN_STEP ? head : last;
		at += class >> BEE_SCAN_WIDTH_SHIFT;
		tags <<= 4;
		end -= 4;
		n--;
	}
	scan->last = last;
	scan->head = head;
	scan->position = position;
}

/* A phrase found by its number. */
struct phrase {
	u32	nops;
	u32	ops;		/* bit of the blob of its first op */
	u64	deltas;
};

static __always_inline struct phrase table_phrase(const struct bee_table *table, u32 kind, u32 id)
{
	const struct bee_table_phrases *p = &table->kinds[kind];
	const struct bee_table_group *g = &p->groups[0];
	u32 i;
	u64 bits;

	for (i = 1; i < BEE_TABLE_MAX_OPS; i++)
		g += id >= p->groups[i].first;
	bits = bits_at(table_blob(table), g->phrases + (id - g->first) * g->width);
	return (struct phrase){
		.nops = g - p->groups + 1,
		.ops = g->shapes + ((u32)bits & g->shape_mask) * g->shape_width,
		.deltas = bits >> g->shape_bits,
	};
}

/* The phrase of a token; @menu is the body rule's. */
static __always_inline struct phrase table_token_phrase(const struct bee_table *table, u32 kind,
							token_t token, u32 menu)
{
	const struct bee_table_phrases *p = &table->kinds[kind];
	const struct bee_table_token *t = &table->tokens[token >> TOKEN_TAG_SHIFT];
	u32 id = bits_at(table_blob(table), token) >> t->gap_bits & t->id_mask;
	u32 place = (menu << p->menu_bits) + (id & t->place_mask);
	u32 named = bits_at(table_blob(table), p->menu + place * p->id_bits) & p->id_mask;

	/* No branch: which it is cannot be foreseen, and a menu is always there to read. */
	return table_phrase(table, kind, (id & ~t->place_mask) | (named & t->named_mask));
}

static __always_inline u32 table_op(const struct bee_table *table, const struct phrase *phrase,
				    u32 i)
{
	return bits_at(table_blob(table), phrase->ops + i * table->op_bits) &
	       bits_mask(table->op_bits);
}

static __always_inline u32 table_rule(const struct bee_table *table, u32 index)
{
	return le32_to_cpu(table->rules[index]);
}

/* What an op makes of the body rule; written so that it needs no branch. */
static __always_inline u32 rule_apply(u32 body, u32 op)
{
	u32 popped = body & ~(BEE_RULE_KIND | BEE_RULE_CFA_FIELD << BEE_RULE_CFA_SHIFT);
	u32 from = op < BEE_OP_POP ? body : popped;
	u32 add = op < BEE_OP_POP ? op : op - BEE_OP_POP + 1;

	return body & BEE_RULE_FULL ? body : from + (add << BEE_RULE_CFA_SHIFT);
}

static __always_inline u32 table_op_rule(const struct bee_table *table, u32 body, u32 op)
{
	bool relative = op < BEE_OP_RULE;
	u32 rule = table_rule(table, relative ? 0 : op - BEE_OP_RULE);

	body = rule_apply(body, op);
	return relative ? body : rule;
}

/* No phrase says anything farther from its token than this. */
#define PHRASE_REACH	(16 * BEE_TABLE_MAX_OPS)

/* Which op of a head phrase at @position holds at @x, -1 for none yet; @until: the next's place. */
static __always_inline int head_op_at(const struct phrase *phrase, u32 position, u32 x, u32 *until)
{
	u64 deltas = phrase->deltas;
	u32 i = phrase->nops - 1;

	if (x - position >= PHRASE_REACH)
		return (int)i - ((deltas >> 4 * i & 15) == BEE_DELTA_NEVER);
	for (i = 0; i < phrase->nops; i++, deltas >>= 4) {
		u32 delta = deltas & 15;

		if (delta == BEE_DELTA_NEVER)
			break;
		position += delta;
		if (position > x) {
			*until = position;
			break;
		}
	}
	return (int)i - 1;
}

static __always_inline u32 step_op_at(const struct phrase *phrase, u32 position, u32 x, u32 *until)
{
	u64 deltas = phrase->deltas;
	u32 i;

	if (x - position >= PHRASE_REACH)
		return phrase->nops - 1;
	for (i = 1; i < phrase->nops; i++, deltas >>= 4) {
		u32 delta = deltas & 15;

		if (delta == BEE_DELTA_ALIGN_8)
			position = (position | 7) + 1;
		else if (delta == BEE_DELTA_ALIGN_16)
			position = (position | 15) + 1;
		else
			position += delta;
		if (position > x) {
			*until = position;
			break;
		}
	}
	return i - 1;
}

static __always_inline u32 window_state_rule(u32 state, u32 body)
{
	switch (state) {
	case BEE_WINDOW_BODY:
		return body;
	case BEE_WINDOW_POP:
		return rule_apply(body, BEE_OP_POP);
	case BEE_WINDOW_INIT:
		return BEE_RULE_INIT;
	}
	return BEE_RULE_GAP;
}

/*
 * The rule at byte @x of the window in bits [@at, @end); it holds up to byte
 * @until at least.
 */
static __always_inline u32 window_rule(const struct bee_table *table, u32 at, u32 end, u32 x,
				       u32 *until)
{
	struct window_start start = window_start(table, at);
	struct window_scan scan = { .next = 1u << table->window };
	struct phrase phrase;
	u32 body = table_rule(table, start.body), op;
	int i;

	window_scan(table, at + start.width, end, x, &scan);
	*until = scan.next;
	if (scan.head != TOKEN_NONE) {
		phrase = table_token_phrase(table, HEAD, scan.head, 0);
		body = table_rule(table, table_op(table, &phrase, phrase.nops - 1) - BEE_OP_RULE);
	}
	if (scan.last == TOKEN_NONE)
		return window_state_rule(start.state, body);
	if (scan.last == scan.head) {
		u32 stop = *until;

		i = head_op_at(&phrase, scan.position, x, &stop);
		if (stop < *until)
			*until = stop;
		if (i < 0)
			return BEE_RULE_INIT;
		return table_rule(table, table_op(table, &phrase, i) - BEE_OP_RULE);
	}
	phrase = table_token_phrase(table, STEP, scan.last, rule_menu(body));
	op = *until;
	i = step_op_at(&phrase, scan.position, x, &op);
	if (op < *until)
		*until = op;
	return table_op_rule(table, body, table_op(table, &phrase, i));
}

/* The rule at byte @y from the origin; it holds up to byte @until at least. */
static __always_inline u32 table_find(const struct bee_table *table, u32 y, u32 *until)
{
	u32 page = le32_to_cpu(table->pages[y >> (table->window + table->page)]);
	u32 i = y >> table->window & bits_mask(table->page);
	u32 floor = y & ~bits_mask(table->window);
	struct page_record record;
	u32 at, end, rule;

	if (page & BEE_PAGE_RULE) {
		*until = (y | bits_mask(table->window + table->page)) + 1;
		return table_rule(table, page >> BEE_PAGE_RULE_SHIFT);
	}
	record = page_record(table, page);
	at = page_border(table, &record, i);
	end = page_border(table, &record, i + 1);
	rule = window_rule(table, at, end, y - floor, until);
	*until += floor;
	return rule;
}

static void row_from_full(const struct bee_table_rule *r, struct bee_row *row)
{
	*row = (struct bee_row){
		.kind = BEE_ROW_RULES, .arg = r->flags,
		.cfa = r->cfa, .cfa_reg = r->cfa_reg,
		.fp = r->fp, .fp_reg = r->fp_reg,
		.ra = r->ra, .ra_reg = r->ra_reg,
		.cfa_off = le32_to_cpu(r->cfa_off), .cfa_add = le32_to_cpu(r->cfa_add),
		.fp_off = le32_to_cpu(r->fp_off), .ra_off = le32_to_cpu(r->ra_off),
	};
}

static __always_inline void row_decode(const struct bee_table *table, u32 rule, struct bee_row *row)
{
	u32 kind = rule & BEE_RULE_KIND, field = rule_field(rule);
	u32 slot = rule >> BEE_RULE_FP_SHIFT & BEE_RULE_FP_MAX;

	if (kind == BEE_RULE_FULL) {
		row_from_full(&table->full[field], row);
		return;
	}
	*row = (struct bee_row){};
	if (kind == BEE_RULE_NONE) {
		row->kind = field ? BEE_ROW_UNSUPPORTED : BEE_ROW_GAP;
		row->arg = field ? field - 1 : 0;
		return;
	}
	row->cfa_reg = kind == BEE_RULE_RSP ? BEE_REG_RSP : BEE_REG_RBP;
	row->cfa_off = 8 * field;
	row->fp = slot ? BEE_FP_CFA : BEE_FP_SAME;
	row->fp_off = -8 * (s32)slot;
	row->ra_off = -8;
}

/**
 * bee_table_lookup() - the rules at a pc
 * @table: a validated table
 * @pc: address as in the ELF file
 * @row: the rules; a gap where the table covers nothing
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Reads one window: at most BEE_TABLE_MAX_TOKENS tokens and two phrases.
 */
void bee_table_lookup(const struct bee_table *table, u64 pc, struct bee_row *row)
{
	u32 rule = BEE_RULE_GAP, until;

	if (pc - table->base < table->span)
		rule = table_find(table, pc - table->origin, &until);
	row_decode(table, rule, row);
}

/* As bee_table_lookup(), in [base, base + span); the row holds up to @end at least. */
static void table_read(const struct bee_table *table, u64 pc, u64 *end, struct bee_row *row)
{
	u32 until;

	row_decode(table, table_find(table, pc - table->origin, &until), row);
	if (until > table->base - table->origin + table->span)
		until = table->base - table->origin + table->span;
	*end = table->origin + until;
}

/**
 * bee_table_next() - one row, for listing a table
 * @table: a validated table
 * @pc: its start: the table's base for the first row, then the end of the one before
 * @end: pc after the row
 * @row: its rules, other than those of the row after it
 *
 * Context: Process; linear in the text that the row covers.
 * Return: false if the table has no row at @pc, as after the last one.
 */
bool bee_table_next(const struct bee_table *table, u64 pc, u64 *end, struct bee_row *row)
{
	struct bee_row next;
	u64 next_end;

	if (pc - table->base >= table->span)
		return false;
	table_read(table, pc, end, row);
	while (*end < table->base + table->span) {
		table_read(table, *end, &next_end, &next);
		if (memcmp(&next, row, sizeof(next)))
			break;
		*end = next_end;
	}
	return true;
}

/**
 * bee_table_pc() - from a place in the file to the pc there
 * @table: a validated table
 * @offset: byte of the file
 *
 * The loader maps whole pages, so the pages at both ends of a segment can hold
 * bytes of its neighbours as well; but a byte of the file is code of one segment
 * only.
 *
 * Context: Any, NMI-safe.
 * Return: the pc; outside of all executable segments, which have no rows, one that
 * has none either.
 */
u64 bee_table_pc(const struct bee_table *table, u64 offset)
{
	u32 i;

	for (i = 0; i < table->nsegments; i++) {
		const struct bee_table_segment *s = &table->segments[i];
		u64 into = offset - le64_to_cpu(s->offset);

		if (into < le64_to_cpu(s->size))
			return le64_to_cpu(s->vaddr) + into;
	}
	return table->base + table->span;
}
