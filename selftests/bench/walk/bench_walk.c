// SPDX-License-Identifier: GPL-2.0
/*
 * Time of a walk: stacks of real programs are recorded by ptrace and replayed through kmod's own
 * walk, table and step, and through other unwinders, in turns.
 *
 *	bench_walk [--stacks N] [--turns N] [--json FILE] [--data FILE] [--framehop FILE]
 *		   [--unlike] [NAME COMMAND]...
 *
 * Each COMMAND is for the shell.  --unlike: show where other unwinders find other frames.
 *
 * If framehop's library is given, only stacks are timed in which it finds the same frames as our
 * walk: a walk that ends early would look cheap, or expensive.
 *
 * Three figures for each unwinder, in ns of a frame:
 *
 * pass  all stacks one after the other; the unwinder's caches are emptied before, but not the CPU's
 * hot   the same stack again
 * cold  the CPU's caches are emptied before each stack
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "bench/median.h"
#include "json.h"
#include "walk.h"

#define WARM_TIMES	3
#define HOT_TIMES	8
#define COLD_STACKS	60
#define COLD_BYTES	(48u << 20)

enum { PASS, HOT, COLD, FIGURES };

static const char *const figure_names[FIGURES] = { "pass", "hot", "cold" };

#define MAX_UNWINDERS	5

/* The first one is ours; those that are not there are left out. */
static const struct bench_unwinder *unwinders[MAX_UNWINDERS] = { &bench_ours };
static unsigned int nr_unwinders = 1;

static struct {
	unsigned int	stacks;
	unsigned int	turns;
	const char	*json;
	const char	*data;
	const char	*framehop;
	bool		 unlike;
} run = { .stacks = 300, .turns = 9 };

/**
 * struct program - the figures of one program
 * @name: to show
 * @nstacks: recorded stacks
 * @timed: those of them that are timed
 * @frames: what our walks found in these
 * @same: by unwinder, stacks in which it finds the same frames as our walk
 * @ns: by figure and unwinder, of a frame
 */
struct program {
	const char	*name;
	size_t		 nstacks;
	size_t		 timed;
	size_t		 frames;
	size_t		 same[MAX_UNWINDERS];
	double		 ns[FIGURES][MAX_UNWINDERS];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
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
	int again;

	/* So that it makes no difference what ran before. */
	for (again = 0; again < WARM_TIMES; again++)
		for (i = 0; i < n; i++)
			u->walk(&stacks[i], ips);
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

/* @depth: frames of our walk; @n: of which @u finds this many. */
static void show_unlike(const char *program, const struct bench_unwinder *u,
			const struct bench_stack *stack, const uint64_t *ips, size_t depth,
			size_t n)
{
	const struct bench_map *map = bench_find_map(stack->space, ips[n - !!n]);

	printf("%s %s: %s frame %zu of %zu, in %s at 0x%llx\n", program, u->name,
	       n < depth ? "another caller of" : "more behind", n, depth,
	       map ? map->file->path : "no file",
	       map ? (unsigned long long)(ips[n - !!n] - map->start + map->offset) : 0);
}

/* Whether @u finds the same frames as our walk. */
static bool is_same(const struct program *program, const struct bench_unwinder *u,
		    const struct bench_stack *stack)
{
	static uint64_t ours[BENCH_MAX_DEPTH], theirs[BENCH_MAX_DEPTH];
	size_t depth = bench_ours.walk(stack, ours), other = u->walk(stack, theirs), n = 0;

	while (n < depth && n < other && ours[n] == theirs[n])
		n++;
	if (n == depth && n == other)
		return true;
	if (run.unlike)
		show_unlike(program->name, u, stack, ours, depth, n);
	return false;
}

/* Count the stacks that are the same, and move those to the front that are to be timed. */
static void compare(struct program *program, struct bench_stack *stacks)
{
	static uint64_t ips[BENCH_MAX_DEPTH];
	size_t i;
	unsigned int u;

	for (i = 0; i < program->nstacks; i++) {
		struct bench_stack stack = stacks[i];
		bool timed = true, same;

		for (u = 0; u < nr_unwinders; u++) {
			same = is_same(program, unwinders[u], &stack);
			program->same[u] += same;
			timed &= same || unwinders[u] != &bench_framehop;
		}
		if (!timed)
			continue;
		program->frames += bench_ours.walk(&stack, ips);
		stacks[i] = stacks[program->timed];
		stacks[program->timed++] = stack;
	}
}

static void time_all(struct program *program, const struct bench_stack *stacks, size_t n)
{
	static double (*const time_figure[FIGURES])(const struct bench_unwinder *,
						    const struct bench_stack *, size_t) = {
		time_pass, time_hot, time_cold,
	};
	double *ns[FIGURES][MAX_UNWINDERS];
	unsigned int turn, f, u, i;

	for (f = 0; f < FIGURES; f++)
		for (u = 0; u < nr_unwinders; u++)
			ns[f][u] = alloc_array(NULL, run.turns, sizeof(double));
	for (turn = 0; turn < run.turns; turn++)
		for (f = 0; f < FIGURES; f++)
			for (i = 0; i < nr_unwinders; i++) {
				/* In both directions, since none is the best to come after. */
				u = turn % 2 ? i : nr_unwinders - 1 - i;
				ns[f][u][turn] = f == COLD && turn % 3 ? ns[f][u][turn - 1] :
					time_figure[f](unwinders[u], stacks, n);
			}
	for (f = 0; f < FIGURES; f++)
		for (u = 0; u < nr_unwinders; u++) {
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
		for (u = 0; u < nr_unwinders; u++)
			if (!i || stacks[i].space != stacks[i - 1].space)
				unwinders[u]->prepare(stacks[i].space);
	compare(program, stacks);
	time_all(program, stacks, program->timed);
	return true;
}

/* In brackets: our time by theirs. */
static void print_program(const struct program *p)
{
	unsigned int f, u;

	printf("%s: %zu stacks, %zu timed, %.1f frames\n", p->name, p->nstacks, p->timed,
	       (double)p->frames / (p->timed ?: 1));
	for (u = 0; u < nr_unwinders; u++) {
		printf("  %-17s %6zu", unwinders[u]->name, p->same[u]);
		for (f = 0; f < FIGURES; f++)
			printf("  %7.1f (%5.3f)", p->ns[f][u], p->ns[f][0] / p->ns[f][u]);
		printf("\n");
	}
	fflush(stdout);
}

static void print_medians(const struct program *programs, size_t n)
{
	double *values = alloc_array(NULL, n, sizeof(*values));
	double *ratios = alloc_array(NULL, n, sizeof(*ratios));
	unsigned int f, u;
	size_t i;

	printf("median of the programs\n");
	for (u = 0; u < nr_unwinders; u++) {
		printf("  %-17s %6s", unwinders[u]->name, "");
		for (f = 0; f < FIGURES; f++) {
			for (i = 0; i < n; i++) {
				values[i] = programs[i].ns[f][u];
				ratios[i] = programs[i].ns[f][0] / values[i];
			}
			printf("  %7.1f (%5.3f)", median(values, n), median(ratios, n));
		}
		printf("\n");
	}
	free(values);
	free(ratios);
}

static struct json_object *json_same(const struct program *program)
{
	struct json_object *same = json_object_new_object();
	unsigned int u;

	for (u = 0; u < nr_unwinders; u++)
		json_add_uint(same, unwinders[u]->name, program->same[u]);
	return same;
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
		json_add_uint(object, "timed", programs[i].timed);
		json_add_uint(object, "frames", programs[i].frames);
		json_object_object_add(object, "same", json_same(&programs[i]));
		for (f = 0; f < FIGURES; f++) {
			struct json_object *ns = json_object_new_object();

			for (u = 0; u < nr_unwinders; u++)
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
			for (u = 0; u < nr_unwinders; u++)
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
		{ "framehop", required_argument, NULL, 'f' },
		{ "unlike", no_argument, NULL, 'u' },
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
		else if (c == 'f')
			run.framehop = optarg;
		else if (c == 'u')
			run.unlike = true;
		else
			*(c == 's' ? &run.stacks : &run.turns) = strtoul(optarg, NULL, 0) ?: 1;
	}
	if ((argc - optind) % 2) {
		fprintf(stderr, "usage: bench_walk [--stacks N] [--turns N] [--json FILE] "
			"[--data FILE] [--framehop FILE] [--unlike] [NAME COMMAND]...\n");
		exit(2);
	}
}

static void find_unwinders(void)
{
	if (&bench_before)
		unwinders[nr_unwinders++] = &bench_before;
	if (run.framehop && bench_framehop_open(run.framehop))
		unwinders[nr_unwinders++] = &bench_framehop;
	unwinders[nr_unwinders++] = &bench_libunwind;
	unwinders[nr_unwinders++] = &bench_libdwfl;
}

int main(int argc, char **argv)
{
	struct program *programs;
	size_t n = 0;
	int i;

	parse(argc, argv);
	programs = alloc_array(NULL, argc, sizeof(*programs));
	find_unwinders();
	printf("%-19s %6s  %-15s  %-15s  %s\n", "ns of a frame", "same", figure_names[PASS],
	       figure_names[HOT], figure_names[COLD]);
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
