// SPDX-License-Identifier: GPL-2.0
/*
 * Look up and list the rows of validated unwind tables.  [S]: pure; needs only
 * memcmp(), array_index_nospec() and byte order helpers.
 */
#include <linux/nospec.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "table.h"
#include "table_bits.h"

/* A token: what its tag says, BEE_SCAN_*, 0 for none; and its field from the first bit on. */
struct token {
	u64	class;
	u64	bits;
};

/*
 * What a scan of a window finds for a pc: the last token and the last head token
 * at or before it, where the last one stands, and where the next one does, or the
 * window ends.
 */
struct window_scan {
	struct token	last;
	struct token	head;
	u32		position;
	u32		next;
};

#define TAGS_AT_ONCE	14
/* The TAGS_AT_ONCE tags before bit @end, the first of them on top. */
static __always_inline u64 tags_before(const u8 *record, u32 end)
{
	__le64 word;

	__builtin_memcpy(&word, record + (end >> 3) - 7, sizeof(word));
	return le64_to_cpu(word) << (8 - (end & 7));
}

/*
 * Scan bits [@at, @end) of a record, which begin with @bits, for the tokens at or before byte @x
 * of the window.
 */
static __always_inline void window_scan(const struct bee_table *table, const u8 *record, u32 at,
					u64 bits, u32 end, u32 x, struct window_scan *scan)
{
	struct token last = {}, head = {};
	u32 position = 0, n = TAGS_AT_ONCE;
	u64 tags = tags_before(record, end);

	for (;;) {
		u64 class = table->scan[tags >> 60];
		u32 grain = class >> BEE_SCAN_GRAIN_SHIFT & 31;
		u32 gap = bits & class & BEE_SCAN_GAP;
		u32 next = (position & ~0u << grain) + (gap << grain);

		if (at >= end)
			break;
		if (next > x) {
			if (next < scan->next)
				scan->next = next;
			break;
		}
		position = next;
		last = (struct token){ class, bits };
		head.class = class & BEE_SCAN_STEP ? head.class : class;
		head.bits = class & BEE_SCAN_STEP ? head.bits : bits;
		at += class_width(class);
		bits = bits_at(record, at);
		end -= 4;
		tags <<= 4;
		if (!--n) {
			tags = tags_before(record, end);
			n = TAGS_AT_ONCE;
		}
	}
	scan->last = last;
	scan->head = head;
	scan->position = position;
}

static __always_inline u32 table_rule(const struct bee_table *table, u32 index)
{
	return le32_to_cpu(table->rules[index]);
}

/* The phrase of a head token, and the number of its body rule. */
static __always_inline struct phrase head_phrase(const struct bee_table *table, struct token token,
						 u32 *body)
{
	u32 id = class_id(token.class, token.bits);
	struct phrase phrase;
	u32 place;

	if (token.class & BEE_SCAN_DIRECT) {
		phrase = table_phrase(table, HEAD, id);
		*body = table_field(table, phrase.at, table->rule_bits);
		return phrase;
	}
	place = le32_to_cpu(table->head_menu[id]);
	*body = place >> BEE_HEAD_BODY_SHIFT;
	return table_phrase(table, HEAD, place & BEE_HEAD_PHRASE);
}

/* The phrase of a step token; @menu is the body rule's. */
static __always_inline struct phrase step_phrase(const struct bee_table *table, struct token token,
						 u32 menu)
{
	u32 id = class_id(token.class, token.bits);

	if (!(token.class & BEE_SCAN_DIRECT))
		id = le16_to_cpu(table->step_menus[(menu << table->menu_bits) + id]);
	return table_phrase(table, STEP, id);
}

/*
 * The distances of a phrase, four bits each in @nibbles, as their sums, a byte each: where
 * op 0, 1, ... 7 are, from the token.  At most 8 * 15, so that bit 7 is always clear.
 */
static __always_inline u64 phrase_places(u32 nibbles)
{
	u64 bytes = nibbles;

	bytes = (bytes | bytes << 16) & 0x0000ffff0000ffffull;
	bytes = (bytes | bytes << 8) & 0x00ff00ff00ff00ffull;
	bytes = (bytes | bytes << 4) & 0x0f0f0f0f0f0f0f0full;
	return bytes * 0x0101010101010101ull;
}

/* How many of @places are at or before @x. */
static __always_inline u32 phrase_count(u64 places, u32 x)
{
	u64 not_before = ((x < 127 ? x : 127) | 128) * 0x0101010101010101ull - places;

	return (not_before >> 7 & 0x0101010101010101ull) * 0x0101010101010101ull >> 56;
}

/*
 * How many ops of a phrase at @position are at or before @x; @last: the distance code of
 * its last op; @until: the place of the next one.
 */
static __always_inline u32 phrase_passed(u32 kind, u32 nibbles, u32 nops, u32 position, u32 x,
					 u32 *until)
{
	u64 places = phrase_places(nibbles);
	u32 passed = phrase_count(places, x - position);
	u32 code = nibbles >> 4 * (nops - 1) & 15;
	u32 before = position + ((places << 8) >> 8 * (nops - 1) & 0xff);
	u32 last = before + code;

	if (kind == HEAD && code == BEE_DELTA_NEVER)
		last = ~0u;
	/* By code, in a hexadecimal digit: what to round up to, less one; and what to add. */
	if (kind == STEP)
		last = (before | (0xf700000000000000ull >> 4 * code & 15)) +
		       (0x11dcba9876543210ull >> 4 * code & 15);
	if (x >= last)
		return nops;
	passed = passed < nops - 1 ? passed : nops - 1;
	if (passed + 1 == nops)
		*until = last;
	else
		*until = position + (places >> 8 * passed & 0xff);
	return passed;
}

/* What an op makes of the body rule; written so that it needs no branch. */
static __always_inline u32 rule_apply(u32 body, u32 op)
{
	u32 popped = body & ~(BEE_WORD_KIND | BEE_WORD_CFA_FIELD << BEE_WORD_CFA_SHIFT);
	u32 from = op < BEE_OP_POP ? body : popped;
	u32 add = op < BEE_OP_POP ? op : op - BEE_OP_POP + 1;

	return body & BEE_WORD_FULL ? body : from + (add << BEE_WORD_CFA_SHIFT);
}

static __always_inline u32 table_op_rule(const struct bee_table *table, u32 body, u32 op)
{
	bool relative = op < BEE_OP_RULE;
	u32 rule = table_rule(table, relative ? 0 : op - BEE_OP_RULE);

	body = rule_apply(body, op);
	return relative ? body : rule;
}

/* The rule that holds at @x after a head token at @position, whose phrase's body rule is @body. */
static __always_inline u32 head_rule(const struct bee_table *table, const struct phrase *phrase,
				     u32 body, u32 position, u32 x, u32 *until)
{
	const struct bee_table_group *g = phrase->group;
	u64 bits = bits_at(table_blob(table), phrase->at + table->rule_bits);
	u32 ops = g->shapes + ((u32)bits & bits_mask(g->shape_bits)) * g->shape_width;
	u32 passed = phrase_passed(HEAD, bits >> g->shape_bits, phrase->nops, position, x, until);

	if (passed == phrase->nops)
		return body;
	if (!passed)
		return BEE_WORD_INIT;
	ops += (passed - 1) * table->rule_bits;
	return table_rule(table, table_field(table, ops, table->rule_bits));
}

static __always_inline u32 step_rule(const struct bee_table *table, const struct phrase *phrase,
				     u32 body, u32 position, u32 x, u32 *until)
{
	const struct bee_table_group *g = phrase->group;
	u64 bits = bits_at(table_blob(table), phrase->at);
	u32 ops = g->shapes + ((u32)bits & bits_mask(g->shape_bits)) * g->shape_width;
	u32 nibbles = bits >> g->shape_bits << 4;
	u32 passed = phrase_passed(STEP, nibbles, phrase->nops, position, x, until);

	ops += (passed - 1) * table->op_bits;
	return table_op_rule(table, body, table_field(table, ops, table->op_bits));
}

static __always_inline u32 window_state_rule(u32 state, u32 body)
{
	switch (state) {
	case BEE_WINDOW_BODY:
		return body;
	case BEE_WINDOW_POP:
		return rule_apply(body, BEE_OP_POP);
	case BEE_WINDOW_INIT:
		return BEE_WORD_INIT;
	}
	return BEE_WORD_GAP;
}

/*
 * The rule at byte @x of the window in bits [@at, @end) of a record; it holds up to byte
 * @until at least.
 */
static __always_inline u32 window_rule(const struct bee_table *table, const u8 *record, u32 at,
				       u32 end, u32 x, u32 *until)
{
	struct window_start start = window_start(table, record, at);
	struct window_scan scan = { .next = table->window_mask + 1 };
	u32 rule, body = start.body, stop = ~0u;
	struct phrase phrase;

	/* Nothing but a short body rule.  The guess whether it is that ends before it is read. */
	if (end - at == table->short_width) {
		*until = scan.next;
		return table_rule(table, (u32)start.bits >> 1 & table->body_mask);
	}
	window_scan(table, record, at + start.width, start.rest, end, x, &scan);
	if (scan.last.class & BEE_SCAN_STEP) {
		if (scan.head.class)
			head_phrase(table, scan.head, &body);
		body = table_rule(table, body);
		phrase = step_phrase(table, scan.last, rule_menu(body));
		rule = step_rule(table, &phrase, body, scan.position, x, &stop);
	} else if (scan.last.class) {
		phrase = head_phrase(table, scan.last, &body);
		rule = head_rule(table, &phrase, table_rule(table, body), scan.position, x, &stop);
	} else {
		rule = window_state_rule(start.state, table_rule(table, body));
	}
	*until = stop < scan.next ? stop : scan.next;
	return rule;
}

/* The rule at byte @y from the origin; it holds up to byte @until at least. */
static __always_inline u32 table_find(const struct bee_table *table, u32 y, u32 *until)
{
	u32 page = le32_to_cpu(table->pages[y >> table->page_shift]);
	u32 i = y >> table->window & table->page_mask;
	u32 floor = y & ~table->window_mask;
	struct page_record record;
	u32 at, end, rule;

	if (page & BEE_PAGE_RULE) {
		*until = (y | bits_mask(table->page_shift)) + 1;
		return table_rule(table, page >> BEE_PAGE_RULE_SHIFT);
	}
	record = page_record(table, page);
	page_window(table, &record, i, &at, &end);
	rule = window_rule(table, record.bytes, at, end, y - floor, until);
	*until += floor;
	return rule;
}

static void row_from_full(const struct bee_table_rule *r, struct bee_rule *row)
{
	*row = (struct bee_rule){
		.kind = BEE_RULE_KNOWN, .arg = r->flags,
		.cfa = r->cfa, .cfa_reg = r->cfa_reg,
		.fp = r->fp, .fp_reg = r->fp_reg,
		.ra = r->ra, .ra_reg = r->ra_reg,
		.cfa_off = le32_to_cpu(r->cfa_off), .cfa_add = le32_to_cpu(r->cfa_add),
		.fp_off = le32_to_cpu(r->fp_off), .ra_off = le32_to_cpu(r->ra_off),
	};
}

static __always_inline void row_decode(const struct bee_table *table, u32 rule, struct bee_rule *row)
{
	u32 kind = rule & BEE_WORD_KIND, field = rule_field(rule);
	/* In bytes, eight to each, with one shift. */
	u32 cfa = rule << (3 - BEE_WORD_CFA_SHIFT) & BEE_WORD_CFA_FIELD << 3;
	u32 slot = rule >> (BEE_WORD_FP_SHIFT - 3) & BEE_WORD_FP_MAX << 3;

	if (kind == BEE_WORD_FULL) {
		row_from_full(&table->full[field], row);
		return;
	}
	*row = (struct bee_rule){};
	if (kind == BEE_WORD_NONE) {
		row->kind = field ? BEE_RULE_UNSUPPORTED : BEE_RULE_GAP;
		row->arg = field ? field - 1 : 0;
		return;
	}
	row->cfa_reg = BEE_REG_RSP - kind;
	row->cfa_off = cfa;
	row->fp = slot ? BEE_FP_CFA : BEE_FP_SAME;
	row->fp_off = -slot;
	row->ra_off = -8;
}

/* What will be asked for only after page and window have been found, each by what came before. */
static __always_inline void table_prefetch(const struct bee_table *table)
{
	u32 kind;

	__builtin_prefetch(&table->scan[0]);
	__builtin_prefetch(&table->scan[BEE_TABLE_CLASSES / 2]);
	for (kind = HEAD; kind <= STEP; kind++) {
		__builtin_prefetch(&table->kinds[kind].groups[0]);
		__builtin_prefetch(&table->kinds[kind].groups[BEE_TABLE_MAX_OPS / 2]);
	}
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
void bee_table_lookup(const struct bee_table *table, u64 pc, struct bee_rule *row)
{
	u32 rule = BEE_WORD_GAP, until;
	u64 y = pc - table->origin;

	table_prefetch(table);
	if (pc - table->base < table->span)
		/* The process chooses @pc, and what is read there says where to read next. */
		rule = table_find(table, array_index_nospec(y, table->reach), &until);
	row_decode(table, rule, row);
}

/* As bee_table_lookup(), in [base, base + span); the row holds up to @end at least. */
static void table_read(const struct bee_table *table, u64 pc, u64 *end, struct bee_rule *row)
{
	u32 until;

	row_decode(table, table_find(table, pc - table->origin, &until), row);
	if (until > table->reach)
		until = table->reach;
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
 * Return: false if the table has no row at @pc, as after the last one; or if what is
 * there has no end beyond it, so that a listing comes to its own.
 */
bool bee_table_next(const struct bee_table *table, u64 pc, u64 *end, struct bee_rule *row)
{
	struct bee_rule next;
	u64 next_end;

	if (pc - table->base >= table->span)
		return false;
	table_read(table, pc, end, row);
	if (*end <= pc)
		return false;
	while (*end < table->base + table->span) {
		table_read(table, *end, &next_end, &next);
		if (next_end <= *end || memcmp(&next, row, sizeof(next)))
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
