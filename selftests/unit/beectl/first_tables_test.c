// SPDX-License-Identifier: GPL-2.0
/* What a command gets before it begins: all that the cache has, and of the others what is cheap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../process/fake_netlink.h"
#include "first_tables.h"
#include "kselftest.h"
#include "manage.h"

static char directory[] = "/tmp/first_tables_test.XXXXXX";
static struct first_tables first;
static char got[8];		/* names of the files that have got a table, in this order */

/* Instead of that of manage.c. */
pid_t manage_begin(struct netlink *nl, pid_t pid, struct bee_error *error)
{
	(void)nl;
	(void)error;
	return pid;
}

static void done(void *arg, const struct table_want *want, const struct table_result *result)
{
	(void)arg;
	first_tables_note(&first, want, result);
	if (result->source != TABLE_NONE)
		strncat(got, want->name + strlen(want->name) - 1, 1);
}

static struct table_maker maker = { .done = done, .jobs = 1 };

/* A copy of this program with another build-id, as the next file of the module. */
static bool add_file(const char *program, size_t size, char letter)
{
	struct netlink_file *file = &fake.file[fake.nfiles];
	static const char note[] = "\x14\0\0\0\3\0\0\0GNU";
	char *copy = alloc_array(NULL, size, 1), *id;
	struct stat st;
	FILE *out;
	bool good;

	memcpy(copy, program, size);
	id = memmem(copy, size, note, sizeof(note));
	*file = (struct netlink_file){ .id = letter, .device = 5, .size = size };
	snprintf(file->name, sizeof(file->name), "%s/%c", directory, letter);
	out = id ? fopen(file->name, "w") : NULL;
	if (id)
		id[sizeof(note)] = letter;
	good = out && fwrite(copy, 1, size, out) == size && !fclose(out) && !stat(file->name, &st);
	free(copy);
	file->inode = good ? st.st_ino : 0;
	fake.range[fake.nranges++] = (struct range){ letter << 12, (letter + 1) << 12, 0, letter };
	fake.nfiles++;
	return good;
}

/* Tables for the first @files files; @cheap bytes of them may be compiled. */
static bool make(size_t files, uint64_t cheap, const char *expected, uint64_t left)
{
	struct bee_error error;
	bool good;

	memset(got, 0, sizeof(got));
	fake.nfiles = fake.nranges = files;
	first = (struct first_tables){ .maker = &maker, .queue = table_queue_open(&maker),
				       .cheap = cheap };
	good = !first_tables_make(&first, getpid(), LAUNCH_AT_EXEC, 0, 0, &error) &&
	       !strcmp(got, expected) && first.cheap == left && !first.left.count;
	if (!good)
		ksft_print_msg("got: %s, left: %llu\n", got, (unsigned long long)first.cheap);
	table_queue_close(first.queue);
	return good;
}

int main(void)
{
	static char program[64 << 20];
	FILE *in = fopen("/proc/self/exe", "r");
	size_t size = in ? fread(program, 1, sizeof(program), in) : 0;
	char command[64];

	ksft_print_header();
	ksft_set_plan(3);
	if (!mkdtemp(directory) || !size || fclose(in))
		return 1;
	setenv("BEEUNWIND_CACHE", directory, 1);
	maker.cache = cache_open();
	fake_reset();
	fake.pid = getpid();
	if (!add_file(program, size, 'a') || !add_file(program, size, 'b') ||
	    !add_file(program, size, 'c'))
		return 1;
	ksft_test_result(make(1, size - 1, "", size - 1) && make(1, size, "a", 0),
			 "what is too large is left\n");
	ksft_test_result(make(1, 0, "a", 0), "what the cache has costs nothing\n");
	ksft_test_result(make(3, 2 * size - 1, "ab", size - 1),
			 "nor does it keep others from being compiled\n");
	cache_close(maker.cache);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command))
		ksft_print_msg("%s is left\n", directory);
	ksft_finished();
}
