// SPDX-License-Identifier: GPL-2.0
/* Pages: page records read back bit by bit. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "encoder.h"
#include "kselftest.h"
#include "random.h"
#include "read_bits.h"

/* Make @n windows with random content, up to @most bits larger than an empty window. */
static void make_windows(struct encoder *e, u32 n, u32 most)
{
	u32 i;

	e->nwindows = n;
	e->windows = alloc_zero(n + 1, sizeof(*e->windows));
	for (i = 0; i < n; i++) {
		u32 left = 1 + e->body_bits + (most ? random_u64() % most : 0);

		e->windows[i].first = i;
		for (; left > 32; left -= 32)
			bits_put(&e->stream, random_u64(), 32);
		bits_put(&e->stream, random_u64(), left);
		e->windows[i].end = e->stream.nbits;
	}
	e->windows[n].first = n;
	/* page_write() copies whole words, so it may read past the last window. */
	bits_put(&e->stream, 0, 56);
}

/* Read one page record.  Return: the number of its windows that differ from @e's. */
static u32 read_record(const struct encoder *e, const struct bits *records, u32 entry, u32 first)
{
	u32 n = 1u << e->page, i, wrong = 0;
	u32 width = e->border_bits - (entry >> BEE_PAGE_NARROWER_SHIFT & BEE_PAGE_NARROWER);
	u64 at = 8ull * (entry >> BEE_PAGE_RECORD_SHIFT), all = read_bits(records, at, 16);
	u64 content = at + 16 + (n - 1) * width, size = at + all - content, begin = 0, end, j;

	for (i = 0; i < n; i++, begin = end) {
		u64 from;

		end = size;
		if (i + 1 < n)
			end = ((i + 1) * size >> e->page) - (1ull << (width - 1)) +
			      read_bits(records, at + 16 + i * width, width);
		if (first + i >= e->nwindows) {
			wrong += end - begin != 1 + e->body_bits;
			continue;
		}
		from = first + i ? e->windows[first + i - 1].end : 0;
		wrong += end - begin != e->windows[first + i].end - from;
		for (j = 0; !wrong && j < end - begin; j++)
			wrong += read_bits(records, content + begin + j, 1) !=
				 read_bits(&e->stream, from + j, 1);
	}
	return wrong;
}

static void test_pages(u32 n, u32 most)
{
	struct encoder e = { .body_bits = 3 };
	struct bits directory = {}, records = {};
	u64 size[BEE_TABLE_MAX_PAGE + 1] = {};
	u32 i, wrong = 0;

	make_windows(&e, n, most);
	page_choose_size(&e);
	page_write(&e, &directory, &records);
	wrong += directory.nbits != 32ull * ((n - 1) / (1u << e.page) + 1);
	for (i = 0; i < n; i += 1u << e.page) {
		u32 entry = read_bits(&directory, 32ull * (i >> e.page), 32);

		wrong += entry & BEE_PAGE_RULE || read_record(&e, &records, entry, i);
	}
	/* Records are padded to whole bytes, so the chosen page size may be 1 % from the best. */
	size[e.page] = bits_bytes(&records) + bits_bytes(&directory);
	for (i = 0; i <= BEE_TABLE_MAX_PAGE && n > 1000; i++) {
		struct bits other = {}, rest = {};
		u32 chosen = e.page;

		if (i == chosen || (u64)most << i > 0x4000)
			continue;
		e.page = i;
		e.border_bits = BEE_TABLE_MAX_BORDER_BITS;
		page_write(&e, &other, &rest);
		size[i] = bits_bytes(&rest) + bits_bytes(&other);
		wrong += size[i] * 101 / 100 < size[chosen];
		e.page = chosen;
		free(other.bytes);
		free(rest.bytes);
	}
	ksft_test_result(!wrong, "%u windows of up to %u bits: pages of 2^%u, borders of %u bits\n",
			 n, most, e.page, e.border_bits);
	free(directory.bytes);
	free(records.bytes);
	free(e.stream.bytes);
	free(e.windows);
}

/* The directory itself holds the rule of a page without tokens. */
static void test_page_rule(void)
{
	u32 rule_numbers[] = { 7, 5 }, i;
	struct encoder e = { .body_bits = 3, .rule_numbers = rule_numbers };
	struct bits directory = {}, records = {};

	make_windows(&e, 4, 0);
	for (i = 0; i < 5; i++)
		e.windows[i] = (struct window){ .rule = 1, .end = 4 * (i + 1) };
	page_choose_size(&e);
	page_write(&e, &directory, &records);
	for (i = 0; i < directory.nbits / 32; i++)
		if (read_bits(&directory, 32 * i, 32) != (5 << BEE_PAGE_RULE_SHIFT | BEE_PAGE_RULE))
			break;
	ksft_test_result(directory.nbits && i == directory.nbits / 32 && !records.nbits,
			 "pages without tokens\n");
	free(directory.bytes);
	free(e.stream.bytes);
	free(e.windows);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(5 + 1);
	test_pages(1, 0);
	test_pages(3, 10);
	test_pages(5000, 20);
	test_pages(5000, 200);
	test_pages(2000, 3000);
	test_page_rule();
	ksft_finished();
}
