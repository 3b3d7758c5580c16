// SPDX-License-Identifier: GPL-2.0
/* Which files are tried again, and when. */
#include "kselftest.h"
#include "tried.h"

/* The first attempts are noted for later, and the last one is the last. */
static bool check_attempts(void)
{
	struct tried tried = { 0 };
	bool good = tried_patience(&tried, 5) == -1 && !tried_is_due(&tried, 5) &&
		    !tried_is_hopeless(&tried, 7);
	int64_t now = 100;
	int i;

	for (i = 1; i < TRIED_MAX; i++) {
		tried_note(&tried, 7, now);
		good &= tried_patience(&tried, now + 1) == TRIED_AGAIN_MS - 1 &&
			!tried_is_due(&tried, now + TRIED_AGAIN_MS - 1) &&
			!tried_is_hopeless(&tried, 7);
		now += TRIED_AGAIN_MS;
		good &= !tried_patience(&tried, now) && !tried_patience(&tried, now + 1) &&
			tried_is_due(&tried, now) && !tried_is_due(&tried, now) &&
			tried_patience(&tried, now) == -1;
	}
	tried_note(&tried, 7, now);
	good &= tried_patience(&tried, now) == -1 && tried_is_hopeless(&tried, 7) &&
		!tried_is_hopeless(&tried, 8);
	tried_forget(&tried);
	return good && !tried_is_hopeless(&tried, 7);
}

/* A file that is given up changes nothing for the others. */
static bool check_give_up(void)
{
	struct tried tried = { 0 };
	bool good;

	tried_note(&tried, 7, 100);
	tried_give_up(&tried, 8);
	good = tried_is_hopeless(&tried, 8) && tried_patience(&tried, 100) == TRIED_AGAIN_MS;
	tried_forget(&tried);
	return good && tried_patience(&tried, 100) == -1;
}

/* When too many are remembered all counts are forgotten, but not that one is to be tried again. */
static bool check_many(void)
{
	struct tried tried = { 0 };
	uint32_t id;
	bool good;

	tried_note(&tried, 1, 100);
	for (id = 2; id <= TRIED_FILES + 1; id++)
		tried_give_up(&tried, id);
	good = !tried_is_hopeless(&tried, 2) && tried_is_hopeless(&tried, TRIED_FILES + 1) &&
	       tried_is_due(&tried, 100 + TRIED_AGAIN_MS);
	tried_forget(&tried);
	return good;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(3);
	ksft_test_result(check_attempts(), "so many attempts, each after a while\n");
	ksft_test_result(check_give_up(), "one that is given up\n");
	ksft_test_result(check_many(), "more than are remembered\n");
	ksft_finished();
}
