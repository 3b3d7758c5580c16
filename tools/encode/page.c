// SPDX-License-Identifier: GPL-2.0
/* Pages of windows: the directory, and the records with the windows' borders. */
#include <string.h>

#include "encoder.h"

/* Bit of the stream where window @i begins; those after the last one count as empty. */
static u64 window_begin(const struct encoder *e, u32 i)
{
	u32 empty = 1 + e->body_bits;

	if (i > e->nwindows)
		return window_begin(e, e->nwindows) + (i - e->nwindows) * (u64)empty;
	return i ? e->windows[i - 1].end : 0;
}

/* Distance of window @i of a page from where it would be if all windows had the same size. */
static s64 page_border(const struct encoder *e, u32 first, u32 i, u32 page)
{
	u64 begin = window_begin(e, first), size = window_begin(e, first + (1u << page)) - begin;

	return (s64)(window_begin(e, first + i) - begin) - (s64)(i * size >> page);
}

/* The width that the borders of a page need. */
static u32 page_width(const struct encoder *e, u32 first, u32 page)
{
	u32 i, bits = 1;

	for (i = 1; i < 1u << page; i++) {
		s64 border = page_border(e, first, i, page);

		while (border >= 1ll << (bits - 1) || border < -(1ll << (bits - 1)))
			bits++;
	}
	return bits;
}

/* The widest border in pages of 2^@page windows; 0 if a record would be too long. */
static u32 page_max_width(const struct encoder *e, u32 page)
{
	u32 first, n = 1u << page, bits = 1;
	u64 max = 0;

	for (first = 0; first < e->nwindows; first += n) {
		u64 size = window_begin(e, first + n) - window_begin(e, first);
		u32 width = page_width(e, first, page);

		if (width > bits)
			bits = width;
		if (size > max)
			max = size;
	}
	return bits <= BEE_TABLE_MAX_BORDER_BITS && 16 + n * bits + max <= 0xffff ? bits : 0;
}

/* How much narrower than the widest the borders of a page are. */
static u32 page_narrower(const struct encoder *e, u32 first, u32 page, u32 max)
{
	u32 less = max - page_width(e, first, page);

	return less < BEE_PAGE_NARROWER ? less : BEE_PAGE_NARROWER;
}

/**
 * page_choose_size() - choose how many windows make a page
 * @e: with written windows; page and border_bits are set
 *
 * Takes the number with which the directory and the borders of windows have the fewest bits.
 */
void page_choose_size(struct encoder *e)
{
	u64 best = ~0ull;
	u32 page, first;

	for (page = 0; page <= BEE_TABLE_MAX_PAGE; page++) {
		u32 bits = page_max_width(e, page), n = 1u << page;
		u64 cost = 0;

		for (first = 0; bits && first < e->nwindows; first += n)
			cost += 32 + 16 +
				(n - 1) * (bits - page_narrower(e, first, page, bits));
		if (!bits || cost >= best)
			continue;
		best = cost;
		e->page = page;
		e->border_bits = bits;
	}
}

/* Append a page record. */
static void page_write_record(const struct encoder *e, u32 first, u32 border_bits,
			      struct bits *records)
{
	u32 i, n = 1u << e->page, part;
	u64 begin = window_begin(e, first), end = window_begin(e, first + n);
	u64 at, stop = end < e->stream.nbits ? end : e->stream.nbits, word;

	bits_put(records, 16 + (n - 1) * border_bits + end - begin, 16);
	for (i = 1; i < n; i++)
		bits_put(records, page_border(e, first, i, e->page) + (1 << (border_bits - 1)),
			 border_bits);
	for (at = begin; at < stop; at += part) {
		part = stop - at < 32 ? stop - at : 32;
		memcpy(&word, e->stream.bytes + at / 8, sizeof(word));
		bits_put(records, word >> at % 8, part);
	}
	for (i = e->nwindows; i < first + n; i++)
		bits_put(records, 0, 1 + e->body_bits);
	bits_align(records);
}

/**
 * page_write() - append the page directory and the page records
 * @e: with written windows and the size of pages
 * @directory: appended to
 * @records: filled
 */
void page_write(const struct encoder *e, struct bits *directory, struct bits *records)
{
	u32 i, n = 1u << e->page, narrower;

	for (i = 0; i < e->nwindows; i += n) {
		u32 after = i + n < e->nwindows ? i + n : e->nwindows;

		if (e->windows[i].first == e->windows[after].first) {
			bits_put(directory,
				 e->rule_numbers[e->windows[i].rule] << BEE_PAGE_RULE_SHIFT |
					 BEE_PAGE_RULE,
				 32);
			continue;
		}
		narrower = page_narrower(e, i, e->page, e->border_bits);
		bits_put(directory, bits_bytes(records) << BEE_PAGE_RECORD_SHIFT |
				    narrower << BEE_PAGE_NARROWER_SHIFT, 32);
		page_write_record(e, i, e->border_bits - narrower, records);
	}
}
