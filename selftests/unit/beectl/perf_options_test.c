// SPDX-License-Identifier: GPL-2.0
/* What is read from command lines of perf record. */
#include <stdio.h>
#include <string.h>

#include "kselftest.h"
#include "perf_options.h"

/* A command line, and what must be read from it: as in struct perf_options, NULL is "". */
static const struct line {
	const char	*words;
	const char	*found;
} lines[] = {
	{ "", "" },
	{ "-- ls -a", "command=ls" },
	{ "-F 99 -g -- ls", "callchain command=ls" },
	{ "-p 12,13 -o out", "tasks=12,13 output=out" },
	{ "-gp 12", "callchain tasks=12" },
	{ "-p12 -oout", "tasks=12 output=out" },
	{ "--pid 12 --output=out", "tasks=12 output=out" },
	{ "--tid=12", "tasks=12" },
	{ "-ag -- sleep 1", "all callchain command=sleep" },
	{ "--all-cpus", "all" },
	{ "-C 0-1", "all" },
	{ "-u -a -o x", "all output=x" },
	{ "--cgroup x", "all" },
	{ "-e -a -- ls", "command=ls" },
	{ "-Fa -- ls", "command=ls" },
	{ "-o -p", "output=-p" },
	{ "--all-user --all-kernel --per-thread", "" },
	{ "--call-graph dwarf,1024 -- ls", "callchain other command=ls" },
	{ "--call-graph=fp -- ls", "callchain command=ls" },
	{ "--call-graph lbr -- ls", "callchain other command=ls" },
	{ "-D 5", "delayed" },
	{ "--control=fd:3", "delayed" },
	{ "-Sa -Ip -z9 -q", "quiet" },
	{ "--help", "help" },
	{ "-- ls --help", "command=ls" },
	{ "-p", "" },
	{ "--pid", "" },
	{ "-", "" },
	{ "-o --", "output=--" },
	{ "--", "command=" },
};

struct found {
	const char	*name;
	bool		 there;
	const char	*value;
};

static bool check(const struct line *line)
{
	char text[128], found[256] = "", *words[16] = { NULL }, **at = words;
	struct perf_options options;
	const struct found *read;
	char *word;

	strcpy(text, line->words);
	for (word = strtok(text, " "); word; word = strtok(NULL, " "))
		*at++ = word;
	perf_options_read(&options, words);
	read = (struct found[]) {
		{ "all", options.all, "" }, { "callchain", options.callchain, "" },
		{ "other", options.other, "" }, { "tasks=", options.tasks, options.tasks },
		{ "delayed", options.delayed, "" }, { "quiet", options.quiet, "" },
		{ "help", options.help, "" }, { "output=", options.output, options.output },
		{ "command=", options.command, options.command ? *options.command : NULL }, { 0 },
	};
	for (; read->name; read++)
		if (read->there)
			strcat(strcat(strcat(found, *found ? " " : ""), read->name),
			       read->value ?: "");
	if (!strcmp(found, line->found))
		return true;
	ksft_print_msg("\"%s\": \"%s\", not \"%s\"\n", line->words, found, line->found);
	return false;
}

int main(void)
{
	bool good = true;
	size_t i;

	ksft_print_header();
	ksft_set_plan(1);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		good &= check(&lines[i]);
	ksft_test_result(good, "perf's words say what is recorded, and how\n");
	ksft_finished();
}
