// SPDX-License-Identifier: GPL-2.0
/* Counters from the output of "beectl status --json", whole and damaged, and differences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counts.h"
#include "kselftest.h"

static const char json[] =
	"{ \"hook_hits\": 900, \"instance\": \"0xfedcba9876543210\", \"frames\": 500,\n"
	"  \"fp_steps\": 7, \"reasons\": [ { \"reason\": \"outermost\", \"walks\": 5000000000 },\n"
	"    { \"reason\": \"gap\", \"walks\": 3 }, { \"reason\": \"of-tomorrow\", \"walks\": 9 } ],\n"
	"  \"incomplete\": [ { \"id\": 7, \"stops\": { \"gap\": 2 } },\n"
	"    { \"id\": 8, \"stops\": { \"gap\": 4294967290, \"no-table\": 1 } } ],\n"
	"  \"processes\": [ { \"pid\": 4, \"stops\": { \"outermost\": 10 } } ] }\n";

static char path[] = "/tmp/counts_test.XXXXXX";

static int read_text(const char *text, size_t size, struct counts *counts, struct bee_error *error)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(text, 1, size, file) != size || fclose(file))
		exit(KSFT_FAIL);
	return counts_read(path, counts, error);
}

static bool check_read(void)
{
	struct counts counts;
	struct bee_error error;
	bool good;

	good = !read_text(json, strlen(json), &counts, &error) &&
	       counts.info.instance == 0xfedcba9876543210 && counts.info.hook_hits == 900 &&
	       counts.stats.stop[BEEUNWIND_STOP_OUTERMOST] == 5000000000 &&
	       counts.stats.stop[BEEUNWIND_STOP_GAP] == 3 && counts.stats.frames == 500 &&
	       counts.files.count == 2 && counts.files.file[1].id == 8 &&
	       counts.files.file[1].stop[BEEUNWIND_STOP_GAP] == 4294967290 &&
	       counts.procs.count == 1 && counts.procs.proc[0].pid == 4 &&
	       counts.procs.proc[0].stop[BEEUNWIND_STOP_OUTERMOST] == 10;
	counts_free(&counts);
	return good;
}

static bool is_refused(const char *text, const char *why)
{
	struct counts counts;
	struct bee_error error = { 0 };
	int ret = read_text(text, strlen(text), &counts, &error);

	counts_free(&counts);
	return ret && strstr(error.text, why);
}

/* No text may crash the reader; what is cut off before its end is refused. */
static bool check_damaged(void)
{
	static const char with[] = "\0{}[]\":,9-n\xff";
	size_t end = strrchr(json, '}') - json, at, i;
	char text[sizeof(json)];
	struct counts counts;
	struct bee_error error;
	bool good = true;

	for (at = 0; at <= end; at++) {
		memcpy(text, json, at);
		text[at] = '\0';
		good &= is_refused(text, "not the output of");
	}
	for (at = 0; at < sizeof(json) - 1; at++)
		for (i = 0; i < sizeof(with); i++) {
			memcpy(text, json, sizeof(json));
			text[at] = with[i];
			read_text(text, sizeof(json) - 1, &counts, &error);
			counts_free(&counts);
		}
	return good;
}

static bool check_subtract(void)
{
	struct netlink_file files[3] = {
		{ .id = 7, .stop = { [BEEUNWIND_STOP_GAP] = 2 } },
		{ .id = 8, .stop = { [BEEUNWIND_STOP_GAP] = 4, [BEEUNWIND_STOP_NO_TABLE] = 3 } },
		{ .id = 9, .pid = 1, .stop = { [BEEUNWIND_STOP_GAP] = 6 } },
	};
	struct netlink_proc procs[3] = {
		{ .pid = 4, .stop = { [BEEUNWIND_STOP_OUTERMOST] = 15 } },
		{ .pid = 5, .stop = { [BEEUNWIND_STOP_OUTERMOST] = 20 } },
		/* Another process, with a pid that was in use. */
		{ .pid = 4, .stop = { [BEEUNWIND_STOP_OUTERMOST] = 9, [BEEUNWIND_STOP_GAP] = 5 } },
	};
	struct counts then, now = {
		.info = { .instance = 0xfedcba9876543210, .hook_hits = 1000 },
		.stats = { .stop = { [BEEUNWIND_STOP_OUTERMOST] = 5000000008 }, .frames = 501 },
		.files = { .file = files, .count = 3 }, .procs = { .proc = procs, .count = 3 },
	};
	struct bee_error error;
	bool good;

	read_text(json, strlen(json), &then, &error);
	good = !counts_subtract(&now, &then, &error) && now.info.hook_hits == 100 &&
	       now.stats.stop[BEEUNWIND_STOP_OUTERMOST] == 8 && now.stats.frames == 1 &&
	       !files[0].stop[BEEUNWIND_STOP_GAP] && files[1].stop[BEEUNWIND_STOP_GAP] == 10 &&
	       files[1].stop[BEEUNWIND_STOP_NO_TABLE] == 2 &&
	       files[2].stop[BEEUNWIND_STOP_GAP] == 6 &&
	       procs[0].stop[BEEUNWIND_STOP_OUTERMOST] == 5 &&
	       procs[1].stop[BEEUNWIND_STOP_OUTERMOST] == 20 &&
	       procs[2].stop[BEEUNWIND_STOP_OUTERMOST] == 9 && procs[2].stop[BEEUNWIND_STOP_GAP] == 5;
	now.info.instance++;
	good &= counts_subtract(&now, &then, &error) && strstr(error.text, "loaded anew");
	counts_free(&then);
	return good;
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		exit(KSFT_FAIL);
	close(fd);
	ksft_print_header();
	ksft_set_plan(5);
	ksft_test_result(check_read(), "the counters that beectl status has written are read\n");
	ksft_test_result(is_refused("", "not the output of") && is_refused("[1]", "not the output of") &&
			 is_refused("{ \"instance\": 5 }", "not the output of"),
			 "files without counters are refused\n");
	ksft_test_result(is_refused("{ \"instance\": \"0x5\", \"stops\": [] }", "another version of beectl"),
			 "counters of a beectl with other names are refused\n");
	ksft_test_result(check_damaged(), "counters that are truncated or altered are refused\n");
	ksft_test_result(check_subtract(), "differences of counters are taken modulo 2^32\n");
	unlink(path);
	ksft_finished();
}
