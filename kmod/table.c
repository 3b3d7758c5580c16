// SPDX-License-Identifier: GPL-2.0
/*
 * Look up and list the rows of validated unwind tables.  beectl is built with this file, too: it
 * takes no lock and allocates nothing.
 *
 * The format and its terms are in <linux/beeunwind_table.h>.  A word is a rule in four bytes
 * (BEE_WORD_*).  Places in a window, x, and in the text, y, are bytes from their first one.
 */
#include <linux/nospec.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "table.h"
#include "table_bits.h"
#include "work.h"

/* A token: BEE_SCAN_* of its tag, 0: no token; and bits from the first one of its field on. */
struct token {
	u64	class;
	u64	bits;
};

/*
 * What is found in a window for a place: the last token and the last head token at or before it,
 * where the last token is, and where the next one is, or the window ends.
 */
struct window_scan {
	struct token	last;
	struct token	head;
	u32		position;
	u32		next;
};

#define TAGS_AT_ONCE	14

#define TABLE_FUNCTION_ROWS	32

/* The TAGS_AT_ONCE tags that end at bit @end; the first one is in the highest bits. */
static __always_inline u64 tags_before(const struct bee_table *table, u32 end)
{
	return table_word_at(table, (end >> 3) - 7) << (8 - (end & 7));
}

/*
 * Find the tokens at or before place @x in bits [@at, @end) of the blob, behind the window's
 * start; @bits: what table_bits(@at) gives.  Their price is subtracted from *@left.  A scan that finds
 * nothing left stops, wherever it is.
 */
static __always_inline void window_scan(const struct bee_table *table, u32 at, u64 bits, u32 end,
					u32 x, s32 *left, struct window_scan *scan)
{
	struct token last = {}, head = {};
	u32 position = 0, n = TAGS_AT_ONCE;
	u64 tags = tags_before(table, end);

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
		bits = table_bits(table, at);
		end -= 4;
		tags <<= 4;
		if (!--n) {
			*left -= TAGS_AT_ONCE * BEE_WORK_TOKEN;
			if (*left < 0)
				break;
			tags = tags_before(table, end);
			n = TAGS_AT_ONCE;
		}
	}
	*left -= (TAGS_AT_ONCE - n) * BEE_WORK_TOKEN;
	scan->last = last;
	scan->head = head;
	scan->position = position;
}

/* Numbers of rules and places in menus are masked for the same reason as in table_word_at(). */
static __always_inline u32 table_word(const struct bee_table *table, u32 index)
{
	return le32_to_cpu(table->rules[array_index_nospec(index, table->nrules)]);
}

/* The phrase of a head token; *@body: the number of its body rule. */
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
	place = le32_to_cpu(table->head_menu[array_index_nospec(id, table->nheads)]);
	*body = place >> BEE_HEAD_BODY_SHIFT;
	return table_phrase(table, HEAD, place & BEE_HEAD_PHRASE);
}

/* The phrase of a step token; @menu: the step menu that the body rule names. */
static __always_inline struct phrase step_phrase(const struct bee_table *table, struct token token,
						 u32 menu)
{
	u32 id = class_id(token.class, token.bits), place = (menu << table->menu_bits) + id;

	if (!(token.class & BEE_SCAN_DIRECT))
		id = le16_to_cpu(table->step_menus[array_index_nospec(place, table->nsteps)]);
	return table_phrase(table, STEP, id);
}

/*
 * Where ops 0 .. 7 of a phrase are, in bytes from the token, one in each byte of the result: sums
 * of the distances, which @nibbles has in four bits each.  8 * 15 at most, so bit 7 is clear.
 */
static __always_inline u64 phrase_places(u32 nibbles)
{
	u64 bytes = nibbles;

	bytes = (bytes | bytes << 16) & 0x0000ffff0000ffffull;
	bytes = (bytes | bytes << 8) & 0x00ff00ff00ff00ffull;
	bytes = (bytes | bytes << 4) & 0x0f0f0f0f0f0f0f0full;
	return bytes * 0x0101010101010101ull;
}

/* How many of the eight @places are at or before @x. */
static __always_inline u32 phrase_count(u64 places, u32 x)
{
	u64 not_before = ((x < 127 ? x : 127) | 128) * 0x0101010101010101ull - places;

	return (not_before >> 7 & 0x0101010101010101ull) * 0x0101010101010101ull >> 56;
}

/*
 * How many ops of a phrase at place @position are at or before place @x; *@until: where the next
 * one is.  @nibbles: distances of its @nops ops.
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
	/* Digit @code of the first constant rounds @before up, that of the second one is added. */
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

/* The body rule as changed by an op below BEE_OP_RULE, without a branch. */
static __always_inline u32 word_apply(u32 body, u32 op)
{
	u32 popped = body & ~(BEE_WORD_KIND | BEE_WORD_CFA_FIELD << BEE_WORD_CFA_SHIFT);
	u32 from = op < BEE_OP_POP ? body : popped;
	u32 add = op < BEE_OP_POP ? op : op - BEE_OP_POP + 1;

	return body & BEE_WORD_FULL ? body : from + (add << BEE_WORD_CFA_SHIFT);
}

static __always_inline u32 table_op_word(const struct bee_table *table, u32 body, u32 op)
{
	bool relative = op < BEE_OP_RULE;
	u32 word = table_word(table, relative ? 0 : op - BEE_OP_RULE);

	body = word_apply(body, op);
	return relative ? body : word;
}

/* The rule at place @x behind a head token at @position; @body: its phrase's body rule. */
static __always_inline u32 head_word(const struct bee_table *table, const struct phrase *phrase,
				     u32 body, u32 position, u32 x, u32 *until)
{
	const struct bee_table_group *g = phrase->group;
	u64 bits = table_bits(table, phrase->at + table->rule_bits);
	u32 ops = g->shapes + ((u32)bits & bits_mask(g->shape_bits)) * g->shape_width;
	u32 passed = phrase_passed(HEAD, bits >> g->shape_bits, phrase->nops, position, x, until);

	if (passed == phrase->nops)
		return body;
	if (!passed)
		return BEE_WORD_INIT;
	ops += (passed - 1) * table->rule_bits;
	return table_word(table, table_field(table, ops, table->rule_bits));
}

static __always_inline u32 step_word(const struct bee_table *table, const struct phrase *phrase,
				     u32 body, u32 position, u32 x, u32 *until)
{
	const struct bee_table_group *g = phrase->group;
	u64 bits = table_bits(table, phrase->at);
	u32 ops = g->shapes + ((u32)bits & bits_mask(g->shape_bits)) * g->shape_width;
	u32 nibbles = bits >> g->shape_bits << 4;
	u32 passed = phrase_passed(STEP, nibbles, phrase->nops, position, x, until);

	ops += (passed - 1) * table->op_bits;
	return table_op_word(table, body, table_field(table, ops, table->op_bits));
}

static __always_inline u32 window_state_word(u32 state, u32 body)
{
	switch (state) {
	case BEE_WINDOW_BODY:
		return body;
	case BEE_WINDOW_POP:
		return word_apply(body, BEE_OP_POP);
	case BEE_WINDOW_INIT:
		return BEE_WORD_INIT;
	}
	return BEE_WORD_GAP;
}

/*
 * The rule at place @x of the window in bits [@at, @end) of the blob; it holds at least up to
 * place *@until.  @left: as for window_scan().
 */
static __always_inline u32 window_word(const struct bee_table *table, u32 at, u32 end, u32 x,
				       s32 *left, u32 *until)
{
	struct window_start start = window_start(table, at);
	struct window_scan scan = { .next = table->window_mask + 1 };
	u32 word, body = start.body, stop = ~0u;
	struct phrase phrase;

	/* A short body rule and no token: this branch resolves before the load that it guards. */
	if (end - at == table->short_width) {
		*until = scan.next;
		return table_word(table, (u32)start.bits >> 1 & table->body_mask);
	}
	window_scan(table, at + start.width, start.rest, end, x, left, &scan);
	if (scan.last.class & BEE_SCAN_STEP) {
		if (scan.head.class)
			head_phrase(table, scan.head, &body);
		body = table_word(table, body);
		phrase = step_phrase(table, scan.last, word_menu(body));
		word = step_word(table, &phrase, body, scan.position, x, &stop);
	} else if (scan.last.class) {
		phrase = head_phrase(table, scan.last, &body);
		word = head_word(table, &phrase, table_word(table, body), scan.position, x, &stop);
	} else {
		word = window_state_word(start.state, table_word(table, body));
	}
	*until = stop < scan.next ? stop : scan.next;
	return word;
}

/*
 * The rule at place @y of a list.  However branches are predicted, what is compared and returned is
 * of the list: how often the loop runs does not depend on @y, and @n rows from @row on are always
 * in it.
 */
static u32 list_find(const struct bee_table *table, u32 y, u32 *until)
{
	const struct bee_table_row *row = table->rows;
	u32 n = table->nrows, half;

	for (; n > 1; n -= half) {
		half = n / 2;
		row += le32_to_cpu(row[half].pc) <= y ? half : 0;
	}
	*until = row + 1 < table->rows + table->nrows ? le32_to_cpu(row[1].pc) : table->reach;
	return le32_to_cpu(row->word);
}

/*
 * The rule at place @y from the origin; it holds at least up to place *@until.  @left: as for
 * window_scan().
 */
static __always_inline u32 table_find(const struct bee_table *table, u32 y, s32 *left, u32 *until)
{
	u32 i = y >> table->window & table->page_mask;
	u32 floor = y & ~table->window_mask;
	u32 page, at, end, word;
	struct page_record record;

	if (unlikely(!table->window))
		return list_find(table, y, until);
	page = le32_to_cpu(table->pages[y >> table->page_shift]);
	if (page & BEE_PAGE_RULE) {
		*until = (y | bits_mask(table->page_shift)) + 1;
		return table_word(table, page >> BEE_PAGE_RULE_SHIFT);
	}
	record = page_record(table, page);
	page_window(table, &record, i, &at, &end);
	word = window_word(table, at, end, y - floor, left, until);
	*until += floor;
	return word;
}

static void rule_from_full(const struct bee_table_rule *r, struct bee_rule *rule)
{
	*rule = (struct bee_rule){
		.kind = BEE_RULE_KNOWN, .arg = r->flags,
		.cfa = r->cfa, .cfa_reg = r->cfa_reg,
		.fp = r->fp, .fp_reg = r->fp_reg,
		.ra = r->ra, .ra_reg = r->ra_reg,
		.cfa_off = le32_to_cpu(r->cfa_off), .cfa_add = le32_to_cpu(r->cfa_add),
		.fp_off = le32_to_cpu(r->fp_off), .ra_off = le32_to_cpu(r->ra_off),
	};
}

static __always_inline void rule_decode(const struct bee_table *table, u32 word,
					struct bee_rule *rule)
{
	u32 kind = word & BEE_WORD_KIND, field = word_field(word);
	/* Both fields count words: one shift moves a field to bit 0 and multiplies it by 8. */
	u32 cfa = word << (3 - BEE_WORD_CFA_SHIFT) & BEE_WORD_CFA_FIELD << 3;
	u32 slot = word >> (BEE_WORD_FP_SHIFT - 3) & BEE_WORD_FP_MAX << 3;

	if (kind == BEE_WORD_FULL) {
		/* Behind a mispredicted branch the caller's word can be one of another table. */
		rule_from_full(&table->full[array_index_nospec(field, table->nfull)], rule);
		return;
	}
	*rule = (struct bee_rule){};
	if (kind == BEE_WORD_NONE) {
		rule->kind = field ? BEE_RULE_UNSUPPORTED : BEE_RULE_GAP;
		rule->arg = field ? field - 1 : 0;
		return;
	}
	rule->cfa_reg = BEE_REG_RSP - kind;
	rule->cfa_off = cfa;
	rule->fp = slot ? BEE_FP_CFA : BEE_FP_SAME;
	rule->fp_off = -slot;
	rule->ra_off = -8;
}

/* Needed only after a chain of dependent loads (directory, border, window). */
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
 * bee_table_word() - the rule at a pc, as a word
 * @table: a validated table
 * @place: bytes from the table's base to the pc
 * @left: instructions that a walk may still take; less the price of the tokens that were read
 *
 * Context: Any, NMI-safe.
 * Reads one window: at most BEE_TABLE_MAX_TOKENS tokens and two phrases.  Stops if nothing is left:
 * then *@left is negative, and the word may be any of the table.
 * Return: the word (BEE_WORD_*), which says the same in this table at any time; a gap outside of
 * the text that the table covers.
 */
u32 bee_table_word(const struct bee_table *table, u64 place, s32 *left)
{
	u64 y = place + (table->base - table->origin);
	u32 until;

	table_prefetch(table);
	if (place >= table->span)
		return BEE_WORD_GAP;
	/* User space controls @place, and the value read decides what is read next. */
	return table_find(table, array_index_nospec(y, table->reach), left, &until);
}

/**
 * bee_table_is_one() - whether a place without a rule can belong to a function
 * @table: a validated table
 * @start: bytes from the table's base to the function's first byte
 * @place: and to the place, which is in a gap
 * @left: as for bee_table_word(), which is called for each row between the two
 *
 * The function may have rules up to the gap, but not as at its start: then it has returned there, and
 * the gap is of another one.  It may have a part before its start, in the same gap.
 *
 * Context: Any, NMI-safe.
 * Return: false if there are more than TABLE_FUNCTION_ROWS rows or windows between, too.
 */
bool bee_table_is_one(const struct bee_table *table, u64 start, u64 place, s32 *left)
{
	const u32 rule_bits = (1u << BEE_WORD_MENU_SHIFT) - 1;
	u32 shift = table->base - table->origin, until, word, last = BEE_WORD_GAP, i;
	u64 at = (start < place ? start : place) + shift, end = start + place + 2 * shift - at;

	/* What the table does not cover is one gap. */
	if (start >= table->span || place >= table->span)
		return start >= table->span && place >= table->span;
	for (i = 0; i < TABLE_FUNCTION_ROWS && *left >= 0; i++) {
		*left -= BEE_WORK_ROW;
		/* As in bee_table_word(). */
		word = table_find(table, array_index_nospec(at, table->reach), left, &until);
		word &= rule_bits;
		if (word != BEE_WORD_GAP && (start > place || (i && last == BEE_WORD_GAP)))
			return false;
		if (word == BEE_WORD_GAP && last == BEE_WORD_INIT)
			return false;
		if (end < until)
			return word == BEE_WORD_GAP;
		at = until;
		last = word;
	}
	return false;
}

/**
 * bee_table_decode() - the rule that a word stands for
 * @table: the table that the word is from
 * @word: the word
 * @rule: filled
 *
 * Context: Any, NMI-safe.
 */
void bee_table_decode(const struct bee_table *table, u32 word, struct bee_rule *rule)
{
	rule_decode(table, word, rule);
}

/**
 * bee_table_lookup() - the rule at a pc
 * @table: a validated table
 * @pc: address as in the ELF file
 * @rule: filled; a gap outside of the text that the table covers
 *
 * Context: Any, NMI-safe.
 * Reads one window: at most BEE_TABLE_MAX_TOKENS tokens and two phrases; in a list at most 26 rows.
 */
void bee_table_lookup(const struct bee_table *table, u64 pc, struct bee_rule *rule)
{
	s32 left = BEE_TABLE_MAX_TOKENS * BEE_WORK_TOKEN;

	rule_decode(table, bee_table_word(table, pc - table->base, &left), rule);
}

/* As bee_table_lookup(), for a pc in the text; the rule holds at least up to *@end. */
static void table_read(const struct bee_table *table, u64 pc, u64 *end, struct bee_rule *rule)
{
	s32 left = BEE_TABLE_MAX_TOKENS * BEE_WORK_TOKEN;
	u32 until;

	rule_decode(table, table_find(table, pc - table->origin, &left, &until), rule);
	if (until > table->reach)
		until = table->reach;
	*end = table->origin + until;
}

/**
 * bee_table_next() - one row, to list a table
 * @table: a validated table
 * @pc: start of the row: the table's base, or @end of the row before
 * @end: filled: pc after the row
 * @rule: filled; differs from that of the next row
 *
 * Context: Process; linear in the text that the row covers.
 * Return: false if no row starts at @pc: after the last one, or if a table whose rows are not
 * true has one that ends where it starts, which would make the listing endless.
 */
bool bee_table_next(const struct bee_table *table, u64 pc, u64 *end, struct bee_rule *rule)
{
	struct bee_rule next;
	u64 next_end;

	if (pc - table->base >= table->span)
		return false;
	table_read(table, pc, end, rule);
	if (*end <= pc)
		return false;
	while (*end < table->base + table->span) {
		table_read(table, *end, &next_end, &next);
		if (next_end <= *end || memcmp(&next, rule, sizeof(next)))
			break;
		*end = next_end;
	}
	return true;
}

/**
 * bee_table_pc() - the pc of a byte of the file
 * @table: a validated table
 * @offset: byte of the file
 *
 * The loader maps whole pages, so the pages at both ends of a mapping can show bytes of other
 * segments; but each byte of the file is code of one segment only.
 *
 * Context: Any, NMI-safe.
 * Return: the pc; outside of all executable segments, a pc without a row.
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
