// SPDX-License-Identifier: GPL-2.0
/* Which programs have stacks that end in code without a file. */
#include <stdlib.h>
#include <string.h>

#include "kselftest.h"
#include "memory_code.h"

static struct profile profile;
static u32 event, threads, file, memory;

/* Samples of a thread whose stack is one frame of @outer, and one of @inner below it. */
static void add(const char *name, u32 outer, u32 inner, u64 samples)
{
	u32 node = profile_add_node(&profile, INTERN_NONE, profile_add_frame(&profile, event, 0, true));

	node = profile_add_node(&profile, node, profile_add_frame(&profile, threads,
								  profile_text(&profile, name), true));
	node = profile_add_node(&profile, node, profile_add_frame(&profile, outer, 0x10, false));
	node = profile_add_node(&profile, node, profile_add_frame(&profile, inner, 0x20, true));
	profile_node(&profile, node)->samples += samples;
}

static bool prints(const char *want)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);
	bool same;

	memory_code_put(out, &profile);
	fclose(out);
	same = !strcmp(text, want);
	if (!same)
		printf("# printed: %s# wanted: %s", text, want);
	free(text);
	return same;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(3);
	profile_open(&profile);
	event = profile_add_file(&profile, PROFILE_EVENT, 0);
	threads = profile_add_file(&profile, PROFILE_COMM, 0);
	file = profile_add_file(&profile, PROFILE_ELF, profile_text(&profile, "/bin/qemu"));
	memory = profile_add_file(&profile, PROFILE_JIT, 0);
	add("node", file, memory, 7);
	ksft_test_result(prints(""), "stacks that begin in a file do not count, whatever is in them\n");
	add("qemu", memory, file, 5);
	add("qemu", memory, memory, 1);
	add("chez", memory, memory, 8);
	ksft_test_result(prints("of 21 samples, those whose stacks end in code without a file: chez 8, qemu 6\n"),
			 "threads with code without a file are named, those with most samples first\n");
	add("a", memory, file, 100);
	add("b", memory, file, 99);
	ksft_test_result(prints("of 220 samples, those whose stacks end in code without a file: a 100, b 99, chez 8\n"),
			 "of threads with code without a file the first three are named\n");
	profile_close(&profile);
	ksft_finished();
}
