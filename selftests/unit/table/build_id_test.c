// SPDX-License-Identifier: GPL-2.0
/* The build-id in the first page of a file: where it is found, and pages that are broken. */
#include <linux/types.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest.h"
#include "build_id.h"
#include "random.h"

#define PAGE	4096
#define NOTE	16		/* bytes of a note before the build-id */

static const u8 id[BEE_BUILD_ID_MAX] = "abcdefghijklmnopqrst";

/* A file's first page with a note of @len bytes at @at. */
static void make_page(u8 *page, size_t at, u32 len)
{
	const u32 note[] = { 4, len, 3, 0x554e47 };

	memset(page, 0, PAGE);
	memcpy(page, "\177ELF", 4);
	memcpy(page + at, note, NOTE);
	memcpy(page + at + NOTE, id, len < sizeof(id) ? len : sizeof(id));
}

/* In memory of just that size, so that ASan sees reads behind it. */
static struct bee_build_id find(const u8 *page, size_t size)
{
	struct bee_build_id found;
	u8 *copy = malloc(size ? size : 1);

	memcpy(copy, page, size);
	bee_build_id_find(copy, size, &found);
	free(copy);
	return found;
}

static bool is(const struct bee_build_id *found, u32 len)
{
	static const u8 zeros[BEE_BUILD_ID_MAX];

	return found->len == len && !memcmp(found->id, id, len) &&
	       !memcmp(found->id + len, zeros, sizeof(zeros) - len);
}

static bool check_places(void)
{
	struct bee_build_id found;
	bool good = true;
	u8 page[PAGE];
	size_t at;

	for (at = 64; at + NOTE + BEE_BUILD_ID_MAX <= PAGE; at += 4) {
		make_page(page, at, BEE_BUILD_ID_MAX);
		found = find(page, PAGE);
		good = good && is(&found, BEE_BUILD_ID_MAX);
	}
	return good;
}

static bool check_lengths(void)
{
	struct bee_build_id found;
	bool good = true;
	u8 page[PAGE];
	u32 len;

	for (len = 0; len < 2 * BEE_BUILD_ID_MAX; len++) {
		make_page(page, 0x2e0, len);
		found = find(page, PAGE);
		good = good && is(&found, len <= BEE_BUILD_ID_MAX ? len : 0);
	}
	make_page(page, 0x2e0, 0xfffffff0);
	found = find(page, PAGE);
	return good && is(&found, 0);
}

static bool check_truncated(void)
{
	const size_t at = 0x2e0, end = at + NOTE + BEE_BUILD_ID_MAX;
	struct bee_build_id found;
	bool good = true;
	u8 page[PAGE];
	size_t size;

	make_page(page, at, BEE_BUILD_ID_MAX);
	for (size = 0; size <= PAGE; size++) {
		found = find(page, size);
		good = good && is(&found, size < end ? 0 : BEE_BUILD_ID_MAX);
	}
	return good;
}

static bool check_other_notes(void)
{
	struct bee_build_id found;
	u8 page[PAGE];
	bool good;

	make_page(page, 0x2e0, 8);
	page[0] = 'M';
	found = find(page, PAGE);
	good = is(&found, 0);
	make_page(page, 0x2e2, 8);
	found = find(page, PAGE);
	good = good && is(&found, 0);
	make_page(page, 0x2e0, 8);
	page[0x2e0 + 8] = 1;
	found = find(page, PAGE);
	return good && is(&found, 0);
}

static bool check_mutated(void)
{
	struct bee_build_id found;
	bool good = true;
	u8 page[PAGE];
	int i, k;

	for (i = 0; i < 20000; i++) {
		make_page(page, 4 * (random_u64() % 1000), BEE_BUILD_ID_MAX);
		for (k = random_u64() % 16; k >= 0; k--)
			page[random_u64() % PAGE] = random_u64();
		found = find(page, random_u64() % (PAGE + 1));
		good = good && found.len <= BEE_BUILD_ID_MAX;
	}
	return good;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(5);
	ksft_test_result(check_places(), "a build-id is found wherever it is in the page\n");
	ksft_test_result(check_lengths(), "a build-id has up to 20 bytes\n");
	ksft_test_result(check_truncated(), "a build-id is not found in a page that ends before it does\n");
	ksft_test_result(check_other_notes(), "a build-id is not found in what is no ELF file, nor in other notes\n");
	ksft_test_result(check_mutated(), "broken pages are harmless to the search for a build-id\n");
	ksft_finished();
}
