// SPDX-License-Identifier: GPL-2.0
/* The files in which walks were cut short, as beectl status lists them. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest.h"
#include "status_files.h"

static struct netlink_file made(uint32_t id, const char *name, char identity, uint32_t gap,
				uint32_t bad_ra)
{
	struct netlink_file file = { .id = id, .loaded = !!identity, .identity_len = !!identity };

	snprintf(file.name, sizeof(file.name), "%s", name);
	file.identity[0] = identity;
	file.stop[BEEUNWIND_STOP_GAP] = gap;
	file.stop[BEEUNWIND_STOP_BAD_RA] = bad_ra;
	file.stop[BEEUNWIND_STOP_OUTERMOST] = 1000;
	return file;
}

/* Of 100 walks more these were cut short elsewhere, that many had too many frames, and these are not proven. */
static uint32_t elsewhere, deep, unproven;

/* The list as text must be @want. */
static bool prints(struct netlink_file *file, size_t count, const char *want)
{
	struct netlink_files files = { .file = file, .count = count };
	struct netlink_stats stats = { .stop = { [BEEUNWIND_STOP_OUTERMOST] = 100,
						 [BEEUNWIND_STOP_NO_MAPPING] = elsewhere,
						 [BEEUNWIND_STOP_DEPTH] = deep,
						 [BEEUNWIND_STOP_UNPROVEN] = unproven } };
	size_t i;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool same;

	for (i = 0; i < count; i++) {
		stats.stop[BEEUNWIND_STOP_GAP] += file[i].stop[BEEUNWIND_STOP_GAP];
		stats.stop[BEEUNWIND_STOP_BAD_RA] += file[i].stop[BEEUNWIND_STOP_BAD_RA];
	}
	status_show_incomplete(out, &files, &stats, NULL);
	fclose(out);
	same = !strcmp(text, want);
	if (!same)
		printf("# printed:\n%s# wanted:\n%s", text, want);
	free(text);
	return same;
}

static bool check_worst_first(void)
{
	struct netlink_file file[] = {
		made(1, "/a", 1, 5, 0), made(2, "/b", 2, 0, 0), made(3, "/c", 0, 0, 15),
	};

	return prints(file, 3, "incomplete stacks end in:\n"
			       "            15  75.0%  /c, which has no table (bad-ra 15)\n"
			       "             5  25.0%  /a (gap 5)\n") &&
	       prints(file + 1, 1, "");
}

/* Copies come to be one line, in its place by their sum; what differs in anything does not. */
static bool check_copies(void)
{
	struct netlink_file file[] = {
		made(1, "/lib", 1, 3, 0), made(2, "/lib", 2, 6, 0), made(3, "/lib", 1, 4, 1),
		made(4, "/else", 1, 2, 0), made(5, "/none", 0, 1, 0), made(6, "/none", 0, 5, 0),
		made(7, "/jit", 4, 1, 0), made(8, "/jit", 4, 2, 0),
	};

	file[6].pid = 1;
	file[7].pid = 2;
	return prints(file, 3, "incomplete stacks end in:\n"
			       "             8  57.1%  /lib (gap 7, bad-ra 1)\n"
			       "             6  42.9%  /lib (gap 6)\n") &&
	       prints(file + 3, 3, "incomplete stacks end in:\n"
				   "             5  62.5%  /none, which has no table (gap 5)\n"
				   "             2  25.0%  /else (gap 2)\n"
				   "             1  12.5%  /none, which has no table (gap 1)\n") &&
	       prints(file + 6, 2, "incomplete stacks end in:\n"
				   "             2  66.7%  /jit (gap 2)\n"
				   "             1  33.3%  /jit (gap 1)\n");
}

/* Shares are of all walks that are not complete, also of those that ended in no file, and of those too deep. */
static bool check_elsewhere(void)
{
	struct netlink_file file[] = { made(1, "/a", 1, 5, 0) };
	bool good;

	elsewhere = 10;
	deep = 5;
	good = prints(file, 1, "incomplete stacks end in:\n"
			       "             5  25.0%  /a (gap 5)\n"
			       "            10  50.0%  elsewhere: in code without a file, or in files that "
			       "are mapped no longer\n");
	good &= prints(file, 0, "incomplete stacks end in:\n"
				"            10  66.7%  elsewhere: in code without a file, or in files that "
				"are mapped no longer\n");
	elsewhere = 0;
	good &= prints(file, 0, "");
	deep = 0;
	unproven = 15;
	good &= prints(file, 0, "");
	good &= prints(file, 1, "incomplete stacks end in:\n"
			       "             5  25.0%  /a (gap 5)\n");
	unproven = 0;
	return good;
}

/* The JSON is per file: "status --since" subtracts it by id. */
static bool check_json(void)
{
	struct netlink_file file[] = { made(1, "/lib", 1, 3, 0), made(3, "/lib", 1, 4, 0) };
	struct netlink_files files = { .file = file, .count = 2 };
	struct json_object *json = json_object_new_object(), *array = NULL;
	bool good;

	status_show_incomplete(stdout, &files, &(struct netlink_stats){}, json);
	good = json_object_object_get_ex(json, "incomplete", &array) &&
	       json_object_array_length(array) == 2;
	json_object_put(json);
	return good;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(4);
	ksft_test_result(check_worst_first(), "status lists files in which stacks end, the worst first, with why\n");
	ksft_test_result(check_copies(), "copies of a file are one line\n");
	ksft_test_result(check_elsewhere(), "walks that ended in no file, and shares of all walks\n");
	ksft_test_result(check_json(), "as JSON each copy of a file is an entry\n");
	ksft_finished();
}
