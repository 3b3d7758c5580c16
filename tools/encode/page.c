// SPDX-License-Identifier: GPL-2.0
/* Pages of windows: the directory, and the records with the windows' borders. */
#include <string.h>

#include "packing.h"

/* Bit of the stream where window @i begins; after the last they are empty. */
static u64 window_begin(const struct pack *p, u32 i)
{
	u32 empty = 1 + p->body_bits;

	if (i > p->nwindows)
		return window_begin(p, p->nwindows) + (i - p->nwindows) * (u64)empty;
	return i ? p->windows[i - 1].end : 0;
}

/* How far window @i of the page that begins with @first is from where it would be. */
static s64 page_border(const struct pack *p, u32 first, u32 i, u32 page)
{
	u64 begin = window_begin(p, first), size = window_begin(p, first + (1u << page)) - begin;

	return (s64)(window_begin(p, first + i) - begin) - (s64)(i * size >> page);
}

/* The width that the borders of a page need. */
static u32 page_width(const struct pack *p, u32 first, u32 page)
{
	u32 i, bits = 1;

	for (i = 1; i < 1u << page; i++) {
		s64 border = page_border(p, first, i, page);

		while (border >= 1ll << (bits - 1) || border < -(1ll << (bits - 1)))
			bits++;
	}
	return bits;
}

/* The same of all pages of 2^@page windows; 0 if their records would be too long. */
static u32 page_max_width(const struct pack *p, u32 page)
{
	u32 first, n = 1u << page, bits = 1;
	u64 max = 0;

	for (first = 0; first < p->nwindows; first += n) {
		u64 size = window_begin(p, first + n) - window_begin(p, first);
		u32 width = page_width(p, first, page);

		if (width > bits)
			bits = width;
		if (size > max)
			max = size;
	}
	return bits <= BEE_TABLE_MAX_BORDER_BITS && 16 + n * bits + max <= 0xffff ? bits : 0;
}

/* How much narrower than the widest the borders of a page are. */
static u32 page_narrower(const struct pack *p, u32 first, u32 page, u32 max)
{
	u32 less = max - page_width(p, first, page);

	return less < BEE_PAGE_NARROWER ? less : BEE_PAGE_NARROWER;
}

static u64 page_cost(const struct pack *p, u32 page, u32 max)
{
	u32 first, n = 1u << page;
	u64 cost = 0;

	for (first = 0; first < p->nwindows; first += n)
		cost += 32 + 16 + (n - 1) * (max - page_narrower(p, first, page, max));
	return cost;
}

/**
 * page_choose_size() - choose how many windows make a page
 * @p: with written windows; page and border_bits are set
 *
 * The size with which the directory and the borders of windows take least.
 */
void page_choose_size(struct pack *p)
{
	u64 best = ~0ull;
	u32 page;

	for (page = 0; page <= BEE_TABLE_MAX_PAGE; page++) {
		u32 bits = page_max_width(p, page);
		u64 cost = page_cost(p, page, bits);

		if (!bits || cost >= best)
			continue;
		best = cost;
		p->page = page;
		p->border_bits = bits;
	}
}

static void bits_copy(struct bits *to, const struct bits *from, u64 start, u64 end)
{
	while (start < end) {
		u32 n = end - start < 32 ? end - start : 32;
		u64 word;

		memcpy(&word, from->bytes + start / 8, sizeof(word));
		bits_put(to, word >> start % 8, n);
		start += n;
	}
}

/* Append a page record. */
static void page_write_record(const struct pack *p, u32 first, u32 border_bits,
			      struct bits *records)
{
	u32 i, n = 1u << p->page;
	u64 begin = window_begin(p, first), end = window_begin(p, first + n);

	bits_put(records, 16 + (n - 1) * border_bits + end - begin, 16);
	for (i = 1; i < n; i++)
		bits_put(records, page_border(p, first, i, p->page) + (1 << (border_bits - 1)),
			 border_bits);
	bits_copy(records, &p->stream, begin, end < p->stream.nbits ? end : p->stream.nbits);
	for (i = p->nwindows; i < first + n; i++)
		bits_put(records, 0, 1 + p->body_bits);
	bits_align(records);
}

/**
 * page_write() - append the page directory and the page records
 * @p: with written windows and the size of pages
 * @directory: appended to
 * @records: filled
 */
void page_write(const struct pack *p, struct bits *directory, struct bits *records)
{
	u32 i, n = 1u << p->page, narrower;

	for (i = 0; i < p->nwindows; i += n) {
		u32 after = i + n < p->nwindows ? i + n : p->nwindows;

		if (p->windows[i].first == p->windows[after].first) {
			bits_put(directory,
				 p->rule_numbers[p->windows[i].rule] << BEE_PAGE_RULE_SHIFT |
					 BEE_PAGE_RULE,
				 32);
			continue;
		}
		narrower = page_narrower(p, i, p->page, p->border_bits);
		bits_put(directory, bits_bytes(records) << BEE_PAGE_RECORD_SHIFT |
				    narrower << BEE_PAGE_NARROWER_SHIFT, 32);
		page_write_record(p, i, p->border_bits - narrower, records);
	}
}
