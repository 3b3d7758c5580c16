// SPDX-License-Identifier: GPL-2.0
/*
 * Time of a walk: stacks of real programs are recorded by ptrace and replayed through kmod's own
 * walk, table and step, and through other unwinders, in turns.
 *
 *	bench_walk [--stacks N] [--turns N] [--json FILE] [--data FILE] [NAME COMMAND]...
 *
 * Each COMMAND is for the shell.  Three figures for each unwinder, in ns of a frame:
 *
 * pass  all stacks one after the other; the unwinder's caches are emptied before
 * hot   the same stack again
 * cold  the CPU's caches are emptied before each stack
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "json.h"
#include "walk.h"

#define HOT_TIMES	8
#define COLD_STACKS	60
#define COLD_BYTES	(48u << 20)

enum { PASS, HOT, COLD, FIGURES };

static const char *const figure_names[FIGURES] = { "pass", "hot", "cold" };

static const struct bench_unwinder *const unwinders[] = {
	&bench_ours, &bench_libunwind, &bench_libdwfl,
};
#define UNWINDERS	(sizeof(unwinders) / sizeof(unwinders[0]))

static struct {
	unsigned int	stacks;
	unsigned int	turns;
	const char	*json;
	const char	*data;
} run = { .stacks = 300, .turns = 9 };

/**
 * struct program - the figures of one program
 * @name: to show
 * @nstacks: recorded stacks
 * @frames: what our walks found
 * @same: stacks in which libdwfl finds the same frames as our walk
 * @ns: by figure and unwinder, of a frame
 */
struct program {
	const char	*name;
	size_t		 nstacks;
	size_t		 frames;
	size_t		 same;
	double		 ns[FIGURES][UNWINDERS];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n ? values[n / 2] : 0;
}

static void empty_cpu_caches(void)
{
	static volatile uint8_t *buffer;
	size_t i;

	if (!buffer) {
		buffer = alloc_array(NULL, COLD_BYTES, 1);
		memset((void *)buffer, 1, COLD_BYTES);
	}
	for (i = 0; i < COLD_BYTES; i += 64)
		(void)buffer[i];
}

static void forget_all(const struct bench_unwinder *u, const struct bench_stack *stacks, size_t n)
{
	size_t i;

	for (i = 0; u->forget && i < n; i++)
		if (!i || stacks[i].space != stacks[i - 1].space)
			u->forget(stacks[i].space);
}

static double time_pass(const struct bench_unwinder *u, const struct bench_stack *stacks, size_t n)
{
	static uint64_t ips[BENCH_MAX_DEPTH];
	size_t i, frames = 0;
	uint64_t start;

	forget_all(u, stacks, n);
	start = now_ns();
	for (i = 0; i < n; i++)
		frames += u->walk(&stacks[i], ips);
	return (double)(now_ns() - start) / (frames ?: 1);
}

static double time_hot(const struct bench_unwinder *u, const struct bench_stack *stacks, size_t n)
{
	static uint64_t ips[BENCH_MAX_DEPTH];
	uint64_t ns = 0, start;
	size_t i, frames = 0;
	int again;

	for (i = 0; i < n; i += 4) {
		u->walk(&stacks[i], ips);
		start = now_ns();
		for (again = 0; again < HOT_TIMES; again++)
			frames += u->walk(&stacks[i], ips);
		ns += now_ns() - start;
	}
	return (double)ns / (frames ?: 1);
}

static double time_cold(const struct bench_unwinder *u, const struct bench_stack *stacks, size_t n)
{
	static uint64_t ips[BENCH_MAX_DEPTH];
	uint64_t ns = 0, start;
	size_t i, frames = 0, step = n / COLD_STACKS ?: 1;

	for (i = 0; i < n; i += step) {
		empty_cpu_caches();
		start = now_ns();
		frames += u->walk(&stacks[i], ips);
		ns += now_ns() - start;
	}
	return (double)ns / (frames ?: 1);
}

static size_t count_same(const struct bench_stack *stacks, size_t n, size_t *frames)
{
	static uint64_t ours[BENCH_MAX_DEPTH], theirs[BENCH_MAX_DEPTH];
	size_t i, same = 0;

	*frames = 0;
	for (i = 0; i < n; i++) {
		size_t depth = bench_ours.walk(&stacks[i], ours);
		size_t other = bench_libdwfl.walk(&stacks[i], theirs);

		same += depth == other && !memcmp(ours, theirs, depth * sizeof(ours[0]));
		*frames += depth;
	}
	return same;
}

static void time_all(struct program *program, const struct bench_stack *stacks, size_t n)
{
	static double (*const time_figure[FIGURES])(const struct bench_unwinder *,
						    const struct bench_stack *, size_t) = {
		time_pass, time_hot, time_cold,
	};
	double *ns[FIGURES][UNWINDERS];
	unsigned int turn, f, u;

	for (f = 0; f < FIGURES; f++)
		for (u = 0; u < UNWINDERS; u++)
			ns[f][u] = alloc_array(NULL, run.turns, sizeof(double));
	for (turn = 0; turn < run.turns; turn++)
		for (f = 0; f < FIGURES; f++)
			for (u = 0; u < UNWINDERS; u++)
				ns[f][u][turn] = f == COLD && turn % 3 ? ns[f][u][turn - 1] :
					time_figure[f](unwinders[u], stacks, n);
	for (f = 0; f < FIGURES; f++)
		for (u = 0; u < UNWINDERS; u++) {
			program->ns[f][u] = median(ns[f][u], run.turns);
			free(ns[f][u]);
		}
}

static bool measure(struct program *program, const char *command)
{
	struct bench_stack *stacks = alloc_array(NULL, run.stacks, sizeof(*stacks));
	char *argv[] = { "/bin/sh", "-c", NULL, NULL };
	size_t i;
	unsigned int u;

	if (asprintf(&argv[2], "exec %s", command) < 0)
		abort();
	program->nstacks = bench_record(argv, stacks, run.stacks);
	free(argv[2]);
	if (program->nstacks < run.stacks / 4) {
		printf("SKIP %s: only %zu stacks, is it installed?\n", program->name,
		       program->nstacks);
		return false;
	}
	for (i = 0; i < program->nstacks; i++)
		for (u = 0; u < UNWINDERS; u++)
			if (!i || stacks[i].space != stacks[i - 1].space)
				unwinders[u]->prepare(stacks[i].space);
	program->same = count_same(stacks, program->nstacks, &program->frames);
	time_all(program, stacks, program->nstacks);
	return true;
}

static void print_program(const struct program *p)
{
	unsigned int f, u;

	printf("%-12s %4zu stacks, %5.1f frames, %4zu as libdwfl", p->name, p->nstacks,
	       (double)p->frames / p->nstacks, p->same);
	for (f = 0; f < FIGURES; f++) {
		printf(" | %s", figure_names[f]);
		for (u = 0; u < UNWINDERS; u++)
			printf(" %6.1f", p->ns[f][u]);
		printf(" %5.3f", p->ns[f][0] / p->ns[f][1]);
	}
	printf("\n");
	fflush(stdout);
}

static void print_medians(const struct program *programs, size_t n)
{
	double *values = alloc_array(NULL, n, sizeof(*values));
	unsigned int f, u;
	size_t i;

	for (f = 0; f < FIGURES; f++) {
		printf("median %-5s", figure_names[f]);
		for (u = 0; u < UNWINDERS; u++) {
			for (i = 0; i < n; i++)
				values[i] = programs[i].ns[f][u];
			printf("  %s %.1f", unwinders[u]->name, median(values, n));
		}
		printf("\n");
	}
	free(values);
}

static int write_json(const struct program *programs, size_t n)
{
	struct json_object *array = json_object_new_array();
	unsigned int f, u;
	size_t i;
	int ret;

	for (i = 0; i < n; i++) {
		struct json_object *object = json_object_new_object();

		json_add_string(object, "name", programs[i].name);
		json_add_uint(object, "stacks", programs[i].nstacks);
		json_add_uint(object, "frames", programs[i].frames);
		json_add_uint(object, "same", programs[i].same);
		for (f = 0; f < FIGURES; f++) {
			struct json_object *ns = json_object_new_object();

			for (u = 0; u < UNWINDERS; u++)
				json_object_object_add(ns, unwinders[u]->name,
					json_object_new_double(programs[i].ns[f][u]));
			json_object_object_add(object, figure_names[f], ns);
		}
		json_object_array_add(array, object);
	}
	ret = json_object_to_file_ext(run.json, array, JSON_C_TO_STRING_PRETTY);
	json_object_put(array);
	return ret;
}

/* For a plot: name, and for each figure the ns of each unwinder. */
static int write_data(const struct program *programs, size_t n)
{
	FILE *out = fopen(run.data, "we");
	unsigned int f, u;
	size_t i;

	if (!out)
		return -1;
	for (i = 0; i < n; i++) {
		fprintf(out, "%s", programs[i].name);
		for (f = 0; f < FIGURES; f++)
			for (u = 0; u < UNWINDERS; u++)
				fprintf(out, " %.1f", programs[i].ns[f][u]);
		fprintf(out, "\n");
	}
	return fclose(out);
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "stacks", required_argument, NULL, 's' },
		{ "turns", required_argument, NULL, 't' },
		{ "json", required_argument, NULL, 'j' },
		{ "data", required_argument, NULL, 'd' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == '?')
			exit(2);
		if (c == 'j')
			run.json = optarg;
		else if (c == 'd')
			run.data = optarg;
		else
			*(c == 's' ? &run.stacks : &run.turns) = strtoul(optarg, NULL, 0) ?: 1;
	}
	if ((argc - optind) % 2) {
		fprintf(stderr, "usage: bench_walk [--stacks N] [--turns N] [--json FILE] "
			"[--data FILE] [NAME COMMAND]...\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct program *programs;
	size_t n = 0;
	int i;

	parse(argc, argv);
	programs = alloc_array(NULL, argc, sizeof(*programs));
	printf("ns of a frame, in each column: %s, %s, %s; first by second\n", unwinders[0]->name,
	       unwinders[1]->name, unwinders[2]->name);
	for (i = optind; i + 1 < argc; i += 2) {
		programs[n] = (struct program){ .name = argv[i] };
		if (!measure(&programs[n], argv[i + 1]))
			continue;
		print_program(&programs[n]);
		n++;
	}
	print_medians(programs, n);
	bench_own(40);
	if ((run.json && write_json(programs, n)) || (run.data && write_data(programs, n))) {
		perror("bench_walk");
		return 1;
	}
	return 0;
}
