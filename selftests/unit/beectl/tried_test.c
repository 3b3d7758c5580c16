// SPDX-License-Identifier: GPL-2.0
/* Which files are tried again, and when. */
#include <errno.h>

#include "kselftest.h"
#include "tried.h"

/* For those of tools/process/table_jobs.c, with one code each. */
bool table_jobs_refusal_is_general(int code)
{
	return code == EPERM;
}

bool table_jobs_refusal_may_pass(int code)
{
	return code == EDQUOT;
}

/* Times are on steps, so the first one is at most a step later than that which is asked for. */
static bool is_soon(int64_t due, int64_t wanted)
{
	return due >= wanted && due < wanted + TRIED_STEP_MS;
}

/* The first attempts are noted for later, and the last one is the last. */
static bool check_attempts(void)
{
	struct tried tried = { 0 };
	bool good = tried_patience(&tried, 5) == -1 && !tried_is_due(&tried, 5) &&
		    tried_may(&tried, 7, 5);
	int64_t now = 100, wait;
	int i;

	for (i = 1; i < TRIED_MAX; i++) {
		tried_note(&tried, 7, now);
		wait = tried_patience(&tried, now);
		good &= is_soon(wait, TRIED_AGAIN_MS) && !tried_is_due(&tried, now + wait - 1) &&
			!tried_may(&tried, 7, now + wait - 1);
		now += wait;
		good &= !tried_patience(&tried, now) && !tried_patience(&tried, now + 1) &&
			tried_is_due(&tried, now) && !tried_is_due(&tried, now) &&
			tried_patience(&tried, now) == -1 && tried_may(&tried, 7, now);
	}
	tried_note(&tried, 7, now);
	good &= tried_patience(&tried, now) == -1 && !tried_may(&tried, 7, now + (1ll << 40)) &&
		tried_may(&tried, 8, now);
	tried_forget(&tried);
	return good && tried_may(&tried, 7, now);
}

/* While the module is full a file is tried again for ever, more and more seldom. */
static bool check_full(void)
{
	struct tried tried = { 0 };
	int64_t now = 100, wait, delay = TRIED_AGAIN_MS;
	bool good = true;
	int i;

	for (i = 0; i < 20; i++) {
		good &= tried_may(&tried, 7, now) &&
			tried_note_full(&tried, 7, 0, now) == !i && !tried_may(&tried, 7, now);
		wait = tried_patience(&tried, now);
		good &= is_soon(wait, delay);
		now += wait;
		good &= tried_is_due(&tried, now);
		delay = 2 * delay < TRIED_LAST_MS ? 2 * delay : TRIED_LAST_MS;
	}
	tried_note_full(&tried, 7, 60000, now);
	good &= is_soon(tried_patience(&tried, now), 60000 * TRIED_COST);
	tried_forget(&tried);
	return good;
}

/* Each file has a time of its own, which others that fail do not move. */
static bool check_own_time(void)
{
	struct tried tried = { 0 };
	bool good;

	tried_note_full(&tried, 7, 0, 0);
	tried_note(&tried, 8, TRIED_STEP_MS);
	tried_note_full(&tried, 9, 10000, TRIED_STEP_MS);
	good = tried_patience(&tried, 0) == TRIED_AGAIN_MS && tried_is_due(&tried, TRIED_AGAIN_MS) &&
	       tried_may(&tried, 7, TRIED_AGAIN_MS) && !tried_may(&tried, 8, TRIED_AGAIN_MS) &&
	       tried_patience(&tried, TRIED_AGAIN_MS) == TRIED_STEP_MS;
	good &= tried_is_due(&tried, TRIED_AGAIN_MS + TRIED_STEP_MS) &&
		tried_may(&tried, 8, TRIED_AGAIN_MS + TRIED_STEP_MS) &&
		!tried_may(&tried, 9, TRIED_AGAIN_MS + TRIED_STEP_MS);
	good &= tried_patience(&tried, 0) == TRIED_STEP_MS + 10000 * TRIED_COST;
	tried_forget(&tried);
	return good;
}

/* A file that is given up changes nothing for the others. */
static bool check_give_up(void)
{
	struct tried tried = { 0 };
	bool good;

	tried_note(&tried, 7, 0);
	tried_give_up(&tried, 8);
	good = !tried_may(&tried, 8, 1ll << 40) && tried_patience(&tried, 0) == TRIED_AGAIN_MS;
	tried_forget(&tried);
	return good && tried_patience(&tried, 100) == -1;
}

/* When too many are remembered all counts are forgotten, but not that one is to be tried again. */
static bool check_many(void)
{
	struct tried tried = { 0 };
	uint32_t id;
	bool good;

	tried_note(&tried, 1, 0);
	for (id = 2; id <= TRIED_FILES + 1; id++)
		tried_give_up(&tried, id);
	good = tried_may(&tried, 2, 0) && !tried_may(&tried, TRIED_FILES + 1, 0) &&
	       tried_is_due(&tried, TRIED_AGAIN_MS);
	tried_forget(&tried);
	return good;
}

/* What the reason is decides how often: given up, some attempts, or however many. */
static bool check_result(void)
{
	struct table_result opened = { .opened = true }, unopened = {};
	struct table_result full = { .opened = true, .refusal = EDQUOT };
	struct table_result general = { .opened = true, .refusal = EPERM };
	const int64_t later = TRIED_AGAIN_MS + TRIED_STEP_MS;
	struct tried tried = { 0 };
	bool good;

	good = tried_note_result(&tried, 1, &opened, 0) && tried_note_result(&tried, 2, &unopened, 0) &&
	       tried_note_result(&tried, 3, &full, 0) && !tried_note_result(&tried, 3, &full, 0) &&
	       tried_note_result(&tried, 4, &general, 0) && !tried_may(&tried, 1, later) &&
	       tried_may(&tried, 2, later) && !tried_may(&tried, 3, later) &&
	       tried_may(&tried, 3, 2 * later) && tried_may(&tried, 4, later);
	tried_forget(&tried);
	return good;
}

/* When a file gets its table its attempts are forgotten, so that it may be tried as often again if that is evicted. */
static bool check_made(void)
{
	const struct table_result made = { .source = TABLE_CACHED, .opened = true };
	const struct table_result left = { .opened = true, .left = true };
	struct tried tried = { 0 };
	bool good;

	/* Was never tried, and is not given up by being left. */
	tried_note_result(&tried, 1, &made, 0);
	tried_note_result(&tried, 1, &left, 0);
	good = tried_may(&tried, 1, 0);
	tried_note(&tried, 1, 0);
	tried_note(&tried, 1, 0);
	good &= tried_note_full(&tried, 2, 0, 0) && !tried_note_full(&tried, 2, 0, 0);
	good &= tried_note_result(&tried, 1, &made, 0) && tried_note_result(&tried, 2, &made, 0);
	good &= tried_may(&tried, 1, 0) && tried_may(&tried, 2, 0) && tried_note_full(&tried, 2, 0, 0);
	tried_note(&tried, 1, 0);
	good &= tried_may(&tried, 1, TRIED_AGAIN_MS + TRIED_STEP_MS);
	tried_forget(&tried);
	return good;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(7);
	ksft_test_result(check_attempts(), "so many attempts, each after a while\n");
	ksft_test_result(check_full(), "more and more seldom while the module is full\n");
	ksft_test_result(check_own_time(), "each file in its time\n");
	ksft_test_result(check_give_up(), "one that is given up\n");
	ksft_test_result(check_result(), "by the reason\n");
	ksft_test_result(check_made(), "one that has got a table since\n");
	ksft_test_result(check_many(), "more than are remembered\n");
	ksft_finished();
}
