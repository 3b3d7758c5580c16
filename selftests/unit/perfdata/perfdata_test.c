// SPDX-License-Identifier: GPL-2.0
/* Recordings: what is read of them, in which order, and what of broken ones. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest.h"
#include "made_perfdata.h"
#include "perfdata.h"
#include "random.h"

/* What the handler has seen, as text. */
struct seen {
	char	text[4096];
	size_t	length;
	size_t	samples;
	u64	sum;		/* of all bytes handed out, so that they are read */
};

static void seen_add(struct seen *seen, const char *what, u64 number)
{
	if (seen->length < sizeof(seen->text) - 64)
		seen->length += snprintf(seen->text + seen->length, 64, "%s %llx;", what,
					 (unsigned long long)number);
}

static void seen_sample(void *arg, const struct perfdata_sample *sample)
{
	struct seen *seen = arg;
	u64 i;

	seen->samples++;
	for (i = 0; i < sample->depth; i++)
		seen->sum += sample->chain[i];
	seen_add(seen, "sample", sample->depth ? sample->chain[sample->depth - 1] : sample->ip);
}

static void seen_map(void *arg, const struct perfdata_map *map)
{
	struct seen *seen = arg;

	seen->sum += strlen(map->path) + map->build_id.bytes[0];
	seen_add(seen, "map", map->start);
}

static void seen_symbol(void *arg, const struct perfdata_symbol *symbol)
{
	struct seen *seen = arg;

	seen->sum += strlen(symbol->name);
	seen_add(seen, "symbol", symbol->start);
}

static void seen_comm(void *arg, const struct perfdata_task *task)
{
	struct seen *seen = arg;

	seen->sum += strlen(task->comm);
	seen_add(seen, "comm", task->tid);
}

static void seen_fork(void *arg, const struct perfdata_task *task)
{
	seen_add(arg, "fork", task->pid);
}

static void seen_exit(void *arg, const struct perfdata_task *task)
{
	seen_add(arg, "exit", task->pid);
}

/* Read @size bytes.  Return: as perfdata_read(). */
static int read_made(const void *bytes, size_t size, struct seen *seen, struct perfdata *data,
		     struct bee_error *error)
{
	const struct perfdata_handler handler = {
		.arg = seen, .sample = seen_sample, .map = seen_map, .symbol = seen_symbol,
		.comm = seen_comm, .fork = seen_fork, .exit = seen_exit,
	};
	int fd = memfd_create("perfdata", MFD_CLOEXEC), ret;
	struct stream stream;

	*seen = (struct seen){ 0 };
	*data = (struct perfdata){ 0 };
	*error = (struct bee_error){ 0 };
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	stream_open(&stream, fd);
	ret = perfdata_read(data, &stream, &handler, error);
	stream_close(&stream);
	close(fd);
	return ret;
}

/* Two CPUs' buffers, copied in rounds: times go back at the end of each buffer. */
static void made_records(struct made *made)
{
	const uint64_t a[] = { PERF_CONTEXT_USER, 0x1010, 0x1aaa }, b[] = { PERF_CONTEXT_USER, 0x1bbb };

	made_comm(made, 5, 10, "five");
	made_map(made, 5, 20, 0x1000, 0x1000, 0, "/bin/five");
	made_sample(made, 5, 50, a, 3);
	made_sample(made, 5, 30, b, 2);
	made_round(made);
	made_sample(made, 5, 60, b, 2);
	made_map(made, 5, 40, 0x3000, 0x1000, 0, "/lib/five");
	made_round(made);
}

static const char expected[] = "comm 5;map 1000;sample 1bbb;map 3000;sample 1aaa;sample 1bbb;";

static void expect(const struct made *made, size_t nevents, const char *what)
{
	struct perfdata data;
	struct bee_error error;
	struct seen seen;
	int ret = read_made(made->bytes, made->size, &seen, &data, &error);

	if (ret || strcmp(seen.text, expected))
		ksft_print_msg("%s, %s\n", error.text, seen.text);
	ksft_test_result(!ret && !strcmp(seen.text, expected) && !data.unfinished &&
			 data.nevents == nevents, "%s\n", what);
	perfdata_free(&data);
}

/*
 * Cut at each byte: an error of one line, or as many samples as are whole, and it is said.
 * @readable: with so many bytes, and as many records as follow, it is no error.
 */
static void test_truncated(const struct made *made, size_t readable, const char *what)
{
	size_t size, samples = 0, wrong = 0;
	struct perfdata data;
	struct bee_error error;
	struct seen seen;
	int ret;

	for (size = 0; size < made->size; size++) {
		ret = read_made(made->bytes, size, &seen, &data, &error);
		if (ret ? !*error.text || !!strchr(error.text, '\n') : seen.samples < samples)
			wrong++;
		wrong += size >= readable && (ret || !data.unfinished);
		samples = seen.samples;
		perfdata_free(&data);
	}
	ksft_test_result(!wrong, "a recording in %s, cut at each byte, is read as far as it goes\n", what);
}

static void test_mutated(const struct made *made, const char *what)
{
	static struct made broken;
	size_t round, n, wrong = 0;
	struct perfdata data;
	struct bee_error error;
	struct seen seen;

	for (round = 0; round < 20000; round++) {
		broken = *made;
		for (n = 1 + random_u64() % 3; n; n--) {
			u64 at = random_u64() % made->size, value = random_u64();

			if (random_u64() % 2)
				broken.bytes[at] = value;
			else if (at + 8 <= made->size)
				memcpy(broken.bytes + at, &value, 8);
		}
		if (read_made(broken.bytes, broken.size, &seen, &data, &error) && !*error.text)
			wrong++;
		perfdata_free(&data);
	}
	ksft_test_result(!wrong, "a recording in %s, broken in 20,000 ways, is read or refused\n", what);
}

/* @size bytes at @at say @value: refused, in words with @why. */
static void test_lie(const struct made *made, size_t at, u64 value, size_t size, const char *why)
{
	static struct made lying;
	struct perfdata data;
	struct bee_error error;
	struct seen seen;
	int ret;

	lying = *made;
	memcpy(lying.bytes + at, &value, size);
	ret = read_made(lying.bytes, lying.size, &seen, &data, &error);
	if (!ret || !strstr(error.text, why))
		ksft_print_msg("%d, %s\n", ret, error.text);
	ksft_test_result(ret && strstr(error.text, why), "a recording is refused: %s\n", why);
	perfdata_free(&data);
}

/* What stands behind the records is cut off: build-ids are said to be there. */
static void test_no_features(const struct made *made)
{
	static struct made cut;
	struct perfdata data;
	struct bee_error error;
	struct seen seen;
	int ret;

	cut = *made;
	cut.bytes[72] = 1 << 2;
	ret = read_made(cut.bytes, cut.size, &seen, &data, &error);
	ksft_test_result(!ret && data.unfinished && !strcmp(seen.text, expected),
			 "a recording in a file without its end is read as unfinished\n");
	perfdata_free(&data);
}

int main(void)
{
	const struct perf_event_attr attr = made_attr();
	struct perf_event_attr first = attr;
	static struct made file, pipe, two;

	ksft_print_header();
	ksft_set_plan(8 + 7);
	made_begin_file(&file);
	made_records(&file);
	made_finish(&file);
	made_begin_pipe(&pipe);
	made_event(&pipe, &attr, MADE_ID);
	made_records(&pipe);
	first.sample_type |= PERF_SAMPLE_CPU;
	made_begin_pipe(&two);
	made_event(&two, &first, MADE_ID + 1);
	made_event(&two, &attr, MADE_ID);
	made_records(&two);
	expect(&file, 1, "records of a file are read in the order of times");
	expect(&pipe, 1, "records of a pipe are read in the order of times");
	expect(&two, 2, "records of another event than the first are read");
	test_truncated(&file, MADE_RECORDS, "a file");
	test_truncated(&pipe, pipe.size, "a pipe");
	test_no_features(&file);
	test_mutated(&file, "a file");
	test_mutated(&pipe, "a pipe");
	test_lie(&file, 0, 0x50455246494c4532ull, 8, "another byte order");
	test_lie(&file, 16, 1 << 20, 8, "an event has");
	test_lie(&file, 24, ~0ull - 8, 8, "cut off");
	test_lie(&file, 40, 1ull << 60, 8, "its records begin");
	test_lie(&file, MADE_RECORDS + 6, 4, 2, "is said to have 4 bytes");
	test_lie(&file, MADE_RECORDS + (8 + 8 + 16 + 24) + (8 + 8 + 24 + 24 + 8 + 64 + 24) + 8 + 40,
		 1ull << 61, 8, "a sample is cut off");
	test_lie(&pipe, 16 + 6, 22, 2, "of an event is cut off");
	ksft_finished();
}
