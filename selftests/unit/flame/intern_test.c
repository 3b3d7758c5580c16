// SPDX-License-Identifier: GPL-2.0
/* Numbers for strings, also for those that have one hash. */
#include <string.h>

#include "hash.h"
#include "intern.h"
#include "kselftest.h"
#include "random.h"

#define TEXTS	1000

/* Two words; the second one undoes in the hash what the first one has done. */
static void make_text(u64 seed, u64 number, u64 text[2])
{
	text[0] = number;
	text[1] = hash_word(seed, number);
}

static bool check_equal_hashes(void)
{
	size_t i, round, wrong = 0;
	struct texts texts;
	u64 text[2];

	hash_secret = random_u64();
	texts_open(&texts);
	for (round = 0; round < 2; round++)
		for (i = 0; i < TEXTS; i++) {
			make_text(hash_secret, i, text);
			wrong += texts_add(&texts, (const char *)text, sizeof(text)) != i ||
				 memcmp(texts_get(&texts, i), text, sizeof(text));
		}
	texts_close(&texts);
	return !wrong;
}

static bool check_lengths(void)
{
	static const char text[20];
	struct texts texts;
	size_t i, wrong = 0;

	texts_open(&texts);
	for (i = 0; i <= sizeof(text); i++)
		wrong += texts_add(&texts, text, i) != i;
	for (i = 0; i <= sizeof(text); i++)
		wrong += texts_add(&texts, text, i) != i;
	texts_close(&texts);
	return !wrong;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(2);
	ksft_test_result(check_equal_hashes(), "%d strings that have one hash\n", TEXTS);
	ksft_test_result(check_lengths(), "strings of zeros of all lengths are told apart\n");
	ksft_finished();
}
