// SPDX-License-Identifier: GPL-2.0
/* beectl flame: from a program or a recording to its flame graph. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "clock.h"
#include "collect.h"
#include "commands.h"
#include "diff.h"
#include "flame_options.h"
#include "flame_summary.h"
#include "forward.h"
#include "identify.h"
#include "io.h"
#include "memory_code.h"
#include "messages.h"
#include "output.h"
#include "parallel.h"
#include "perf_options.h"
#include "progress.h"
#include "raw.h"
#include "recording.h"
#include "text.h"
#include "text_input.h"
#include "unpack.h"
#include "view.h"
#include "whole_file.h"

#define FLAME_FILE		"flame.svg"
#define FLAME_MAX_SECONDS	86400
#define FLAME_MANY_NAMELESS	5	/* percent of all samples */

static const char flame_help[] =
	"Usage: beectl flame [OPTIONS] [PERF OPTIONS] -- CMD [ARG...]\n"
	"       beectl flame [OPTIONS] [PERF OPTIONS] -p PID[,PID...] [-- CMD [ARG...]]\n"
	"       beectl flame [OPTIONS] [PERF OPTIONS] -a [-- CMD [ARG...]]\n"
	"       beectl flame [OPTIONS] [FILE|-]\n"
	"\n"
	"Record as \"beectl record\" does, or read what perf record has written\n"
	"(perf.data, or its pipe), what perf script prints, or folded stacks, and draw a\n"
	"flame graph.  Names are looked up once for each address: in symbols, debug\n"
	"files, kallsyms, jitdump and /tmp/perf-PID.map.  Without -o, write flame.svg;\n"
	"of a FILE print which functions take the most.\n"
	"\n"
	"Options:\n"
	"  -o, --output FILE      Write FILE; its suffix says how: .svg (interactive),\n"
	"                         .folded, .speedscope.json, .profile.json (Firefox\n"
	"                         profiler), .pb.gz (pprof), .raw\n"
	"      --format FORMAT    svg, folded, speedscope, firefox, pprof or raw,\n"
	"                         whatever the suffix; without -o, to standard output;\n"
	"                         summary: print which functions take the most\n"
	"      --raw              Look up no names: write files, build-ids and offsets\n"
	"                         (--format raw)\n"
	"      --diff BEFORE      Compare with BEFORE, any file that can be read, by shares\n"
	"      --enrich FILE      Read what --raw has written, and look up the names\n"
	"      --inlines          Show inlined calls, from debug information\n"
	"      --lines            Tell functions apart by source file and line\n"
	"      --time A,B         Only samples from A to B, in seconds after the first one\n"
	"      --comm NAME        Only samples of threads of this name (NAME,NAME,...)\n"
	"      --tid N, --cpu N   Only of these threads, or on these CPUs (1,3-5)\n"
	"      --around FUNCTION  Show what it calls, with --reverse what calls it\n"
	"      --reverse          Begin with the innermost functions\n"
	"      --show EVENT       Show this event (default: the first that has samples)\n"
	"      --java-names       Ask Java virtual machines (JDK 17 on) for names at the end\n"
	"      --samples          Count samples, instead of what they stand for\n"
	"      --split HOW        Tell apart at the root: comm (default), pid or tid\n"
	"      --symfs DIR        Look for files below DIR\n"
	"      --kallsyms FILE    The kernel's symbols, if another one was recorded\n"
	"      --checkpoint SECS  Write the output every SECS seconds while perf records\n"
	"      --jobs N           Look up names in N files at a time\n"
	"      --json             Print the summary as one object; keys: JSON in beectl(8)\n"
	"  -h, --help             Show this text\n"
	"\n"
	"All other options are those of perf-record(1), with which -g need not be given.\n"
	"Without the module, or for others' recordings, stacks are as perf has them.  ^C\n"
	"ends the recording, and the output is written; so do SIGTERM and SIGHUP.  The\n"
	"exit status is 0 if there is an output, whatever that of CMD; if nothing could\n"
	"be recorded, that of \"beectl record\".\n"
	"\n"
	"Examples:\n"
	"  beectl flame -o git.svg --inlines -- git log\n"
	"  beectl flame -o all.svg -F 99 -a -- sleep 10\n"
	"  perf record -g -o - -- xz file | beectl flame -\n";

/**
 * struct flame - the work
 * @options: from the command line
 * @collect: how to read
 * @output: the format; NULL: a summary
 * @profile: what was read
 * @resolve: its names
 * @graph: what is shown
 * @others: graphs of the other events, for outputs that have several
 * @before: the recording to compare with, read; or NULL
 * @stops: how walks ended, or NULL
 * @title: what was recorded, or NULL: as the recording says
 * @end: how the recording has ended; shared with the process that runs perf
 * @reading: the pipe of perf's recording
 * @every: seconds between checkpoints, or 0
 * @last: when the last one was due, CLOCK_MONOTONIC, ms
 * @writer: process that writes it; 0: none
 * @is_writer: this process is @writer
 * @error: why something failed
 */
struct flame {
	struct flame_options	 options;
	struct collect		 collect;
	const struct output	*output;
	struct profile		 profile;
	struct resolve		 resolve;
	struct graph		 graph;
	struct graph		*others;
	struct flame		*before;
	char			*stops;
	char			*title;
	struct recording_end	*end;
	int			 reading;
	unsigned int		 every;
	int64_t			 last;
	pid_t			 writer;
	bool			 is_writer;
	struct bee_error	 error;
};

static void flame_warn(const char *path, const char *why)
{
	progress_end();
	message_warning("flame", path, why);
}

static bool flame_has_view(const struct flame_options *options)
{
	return options->around || options->reverse;
}

static int flame_check_output(struct flame *flame)
{
	struct flame_options *options = &flame->options;

	if (options->raw && options->format && strcmp(options->format, "raw"))
		return message_usage("flame", "--raw is a format: it goes with no other --format");
	if (options->raw)
		options->format = "raw";
	if (!options->input && !options->output && !options->format && !options->json)
		options->output = FLAME_FILE;
	/* What is printed without an output. */
	if (options->format && !strcmp(options->format, "summary") && !options->output)
		return EXIT_OK;
	if (options->format) {
		flame->output = output_find(options->format);
		options->output = options->output ?: "-";
	} else if (options->output) {
		flame->output = output_of_path(options->output);
	}
	if (flame->output && flame_has_view(options) && !flame->output->views)
		return message_usage("flame", "--around and --reverse: not for %s", flame->output->name);
	if (flame->output && options->diff && !flame->output->diff)
		return message_usage("flame", "--diff: %s cannot show two recordings",
				     flame->output->name);
	if (!flame->output && options->around && (options->diff || options->reverse))
		return message_usage("flame", "--around: with --diff and --reverse only for files (-o, --format)");
	if (options->json && options->output)
		return message_usage("flame", "--json: only without -o and --format");
	if (flame->output || !options->output)
		return EXIT_OK;
	if (options->format)
		return message_usage("flame", "%s: no such format", options->format);
	return message_usage("flame", "%s: no known suffix; say --format", options->output);
}

static int flame_check(struct flame *flame)
{
	static const char *const splits[] = { "comm", "pid", "tid" };
	const struct flame_options *options = &flame->options;
	size_t i;

	for (i = 0; options->split && i < 3 && strcmp(options->split, splits[i]); i++)
		;
	if (i == 3)
		return message_usage("flame", "--split: %s is not comm, pid or tid", options->split);
	flame->collect.times = flame->output && flame->output->times && !flame_has_view(options) && !options->diff;
	flame->collect.roots = flame->collect.times && !options->split ? COLLECT_TID : i;
	if (options->jobs && text_parse_number(options->jobs, PARALLEL_MAX_JOBS,
					       &flame->resolve.jobs))
		return message_usage("flame", "--jobs needs a number from 1 to %d",
				     PARALLEL_MAX_JOBS);
	if (options->checkpoint && text_parse_number(options->checkpoint, FLAME_MAX_SECONDS,
						     &flame->every))
		return message_usage("flame", "--checkpoint needs a number of seconds, at most %d",
				     FLAME_MAX_SECONDS);
	if (options->time && filter_set_time(&flame->collect.filter, options->time))
		return message_usage("flame", "--time needs A,B: seconds after the first sample, of which one "
				     "may be left out");
	if ((options->tid && !filter_list_is_good(options->tid)) ||
	    (options->cpu && !filter_list_is_good(options->cpu)))
		return message_usage("flame", "--tid and --cpu need numbers, as 1,3-5");
	flame->collect.filter.comm = options->comm;
	flame->collect.filter.tids = options->tid;
	flame->collect.filter.cpus = options->cpu;
	if (options->checkpoint && (options->input || !options->output ||
				    !strcmp(options->output, "-")))
		return message_usage("flame", "--checkpoint: only while recording, and with -o");
	flame->resolve.inlines = options->inlines;
	flame->resolve.lines = options->lines;
	flame->resolve.root = options->symfs ?: "";
	flame->resolve.kallsyms = options->kallsyms;
	flame->resolve.warn = flame_warn;
	flame->resolve.progress = progress_count;
	return EXIT_OK;
}

static int flame_read_stream(struct flame *flame, struct stream *stream)
{
	const u8 *raw = stream_peek(stream, strlen(RAW_MAGIC)), *start = stream_peek(stream, 8);
	bool is_raw = raw && !memcmp(raw, RAW_MAGIC, strlen(RAW_MAGIC));
	const struct flame_options *options = &flame->options;

	if (stream->failed)
		return error_set(&flame->error, stream->failed, "%s", strerror(stream->failed));
	if (start && unpack_program(start))
		return error_set(&flame->error, EINVAL, "it is compressed, and comes from a pipe: use %s",
				 unpack_program(start));
	if (options->enrich && !is_raw)
		return error_set(&flame->error, EINVAL, "--enrich reads what --raw has written, and "
				 "this is something else");
	if (start && perfdata_is(start, 8))
		return collect_perfdata(&flame->collect, stream, &flame->profile, &flame->error);
	if ((options->split || filter_is_set(&flame->collect.filter)) && options->input)
		flame_warn(options->input, "--split, --time, --comm, --tid and --cpu have no effect: only "
			   "recordings of perf have threads; give them with --raw");
	if (start && !memcmp(start, "\177ELF", 4))
		return error_set(&flame->error, EINVAL, "it is a program or library, and no recording; "
				 "to record a command: beectl flame -- COMMAND");
	if (is_raw)
		return raw_read(stream, &flame->profile, &flame->error);
	if (text_input_read(stream, &(struct text_wish){ options->show, options->samples }, &flame->profile,
			    &flame->resolve, &flame->graph, &flame->error))
		return -1;
	if (options->input && (options->show || options->samples) && !flame->profile.shown_event)
		flame_warn(options->input, "--show and --samples have no effect on folded stacks");
	return 0;
}

/* Read @fd into the profile, and the files beside it in @folder, which perf record --threads has written; or -1. */
static int flame_read(struct flame *flame, int fd, int folder)
{
	struct stream stream, *last = &stream, *part;
	struct bee_error why;
	char name[32];
	unsigned int i;
	int file, ret;

	stream_open(&stream, fd);
	for (i = 0; folder >= 0; i++) {
		snprintf(name, sizeof(name), "data.%u", i);
		file = openat(folder, name, O_RDONLY | O_CLOEXEC);
		if (file < 0)
			break;
		last = last->next = alloc_zero(1, sizeof(*last));
		stream_open(last, file);
	}
	ret = folder < 0 || errno == ENOENT ? flame_read_stream(flame, &stream) :
	      error_set(&flame->error, errno, "%s: %s", name, strerror(errno));
	while ((part = stream.next)) {
		stream.next = part->next;
		close(part->fd);
		stream_close(part);
		free(part);
	}
	stream_close(&stream);
	if (!ret && flame->profile.waits_unknown && !flame->options.samples)
		flame_warn(flame->options.input, "it says when threads stop and not when they run again, so each "
			   "switch counts as one: record with --switch-events, or -a, to see for how long");
	if (!ret && flame->profile.forgotten) {
		error_set(&why, 0, "processes had too much code mapped: the addresses of %llu mappings "
			  "are [unknown]", (unsigned long long)flame->profile.forgotten);
		flame_warn(flame->options.input, why.text);
	}
	return ret;
}

/* What is there will be shown, but perhaps it is not what the user wants to see. */
static void flame_warn_input(const struct flame *flame)
{
	const struct profile *profile = &flame->profile;
	struct bee_error why;
	size_t i;

	if (profile->left_out) {
		error_set(&why, 0, "samples of other events than %s are left out (--show EVENT shows another "
			  "one): %llu",
			  profile_get_text(profile, profile->shown_event),
			  (unsigned long long)profile->left_out);
		flame_warn(flame->options.input, why.text);
	}
	if (profile->lines_left) {
		error_set(&why, 0, "%llu line%s left out, the first is line %llu: neither of perf script nor "
			  "a folded stack", (unsigned long long)profile->lines_left,
			  profile->lines_left == 1 ? " is" : "s are",
			  (unsigned long long)profile->first_line_left);
		flame_warn(flame->options.input, why.text);
	}
	if (profile->frames_cut) {
		error_set(&why, 0, "stacks have more than %u frames: %llu are left out", PROFILE_MAX_DEPTH,
			  (unsigned long long)profile->frames_cut);
		flame_warn(flame->options.input, why.text);
	}
	if (profile->copies)
		flame_warn(flame->options.input, "it has copies of user stacks in place of their "
			   "callchains, so each of these is one function: record with "
			   "perf record --call-graph fp");
	for (i = 0; profile->is_flat && i < profile->nevents; i++) {
		if (!profile->event[i].samples)
			continue;
		flame_warn(flame->options.input, "it has no callchains, so each stack is one function: "
			   "record with perf record -g");
		return;
	}
}

/* @hint: what the message adds if there is no such file */
static int flame_read_input(struct flame *flame, const char *hint)
{
	const char *path = flame->options.input;
	int file = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, fd, ret;
	int folder = -1;
	struct stat st;

	if (file > STDIN_FILENO && !fstat(file, &st) && S_ISDIR(st.st_mode)) {
		folder = file;
		file = openat(folder, "data", O_RDONLY | O_CLOEXEC);
		hint = "; no recording of perf record --threads";
	}
	if (file < 0) {
		error_set(&flame->error, errno, "%s%s", strerror(errno), errno == ENOENT ? hint : "");
		return message_error("flame", path, flame->error.text);
	}
	progress_begin("reading the recording");
	fd = unpack(file, &flame->error);
	ret = fd < 0 ? -1 : flame_read(flame, fd, folder);
	progress_end();
	if (folder >= 0)
		close(folder);
	if (fd >= 0 && fd != file)
		close(fd);
	if (file != STDIN_FILENO)
		close(file);
	if (ret)
		return message_error("flame", path, flame->error.text);
	flame_warn_input(flame);
	return EXIT_OK;
}

/* What was recorded just now would be lost if nothing were shown. */
static int flame_refuse_event(const struct flame *flame)
{
	const struct profile *profile = &flame->profile;
	const char *show = flame->options.show;
	int status = EXIT_OK;
	size_t i, size;
	char *why;
	FILE *out = open_memstream(&why, &size);

	alloc_check(out, 0);
	fputs("the recording has no such event; it has: ", out);
	for (i = 0; i < profile->nevents; i++)
		fprintf(out, "%s%s", i ? ", " : "", profile_get_text(profile, profile->event[i].name));
	fclose(out);
	if (flame->options.input)
		status = message_error("flame", show, why);
	else if (flame->resolve.warn)
		flame->resolve.warn(show, why);
	free(why);
	return status;
}

/* The event that was asked for by its name; the number of events if there is none. */
static size_t flame_named_event(const struct flame *flame)
{
	const struct profile *profile = &flame->profile;
	const char *show = flame->options.show;
	size_t i, found = profile->nevents;

	for (i = profile->nevents; show && i-- > 0;) {
		const char *name = profile_get_text(profile, profile->event[i].name);

		if (!strcmp(name, show))
			return i;
		if (profile_event_is(name, show))
			found = i;
	}
	return found;
}

/* The event to show: the one that was asked for, or the first that has samples; the number of events if none has. */
static size_t flame_shown_event(const struct flame *flame)
{
	const struct profile *profile = &flame->profile;
	size_t i, found = flame_named_event(flame);

	for (i = 0; found == profile->nevents && i < profile->nevents; i++)
		if (profile->event[i].samples > 0)
			found = i;
	return found;
}

/* Say that what was read, or recorded, has nothing to show. */
static int flame_refuse_empty(const struct flame *flame)
{
	const char *path = flame->options.input;

	if (filter_is_set(&flame->collect.filter))
		return message_error("flame", path, "no sample is left by --time, --comm, --tid and --cpu");
	return message_error("flame", path, path ? "the recording has no samples" :
			     "perf took no sample: record for longer, or with a higher -F");
}

/* Say it if there is nothing to show. */
static int flame_find_event(struct flame *flame, size_t *event)
{
	size_t count = flame->profile.nevents;

	if (flame->options.show && flame_named_event(flame) == count && flame_refuse_event(flame))
		return EXIT_FAILED;
	*event = flame_shown_event(flame);
	return *event < count ? EXIT_OK : flame_refuse_empty(flame);
}

/* Write the output; called by whole_file_write(). */
static void flame_put(const void *arg, FILE *out)
{
	const struct flame *flame = arg;

	if (flame->output->write)
		flame->output->write(&flame->graph, out);
	else
		raw_write(&flame->profile, out);
}

/* What was recorded is in memory only: if @path has become another user's or a directory, write PATH.PID. */
static void flame_write_beside(const struct flame *flame, const char *path)
{
	struct bee_error error;
	char *beside;

	if (asprintf(&beside, "%s.%d", path, getpid()) < 0)
		alloc_check(NULL, 0);
	if (!whole_file_write(beside, 0600, true, flame_put, flame, &error))
		message_warning("flame", beside, "it is there instead");
	free(beside);
}

/* Say in one line what was written, if it was recorded just now. */
static void flame_say_written(const struct flame *flame, const char *path)
{
	if (flame->options.input || flame->is_writer)
		return;
	fputs("beectl: flame: wrote ", stderr);
	text_put_name(stderr, path);
	if (flame->graph.node) {
		fputs(": ", stderr);
		flame_summary_facts(&flame->graph, stderr);
	}
	putc('\n', stderr);
}

/*
 * Write the file that was asked for.  A new one is for its owner only, as perf.data: it has command
 * lines and addresses of the kernel.
 */
static int flame_write(struct flame *flame)
{
	const char *path = flame->options.output;

	if (!strcmp(path, "-")) {
		flame_put(flame, stdout);
		return EXIT_OK;
	}
	if (!whole_file_write(path, 0600, true, flame_put, flame, &flame->error)) {
		flame_say_written(flame, path);
		return EXIT_OK;
	}
	message_error("flame", path, flame->error.text);
	if (!flame->options.input && !flame->is_writer)
		flame_write_beside(flame, path);
	return EXIT_FAILED;
}

/* Write the profile, with addresses.  Text input has names only, and is refused. */
static int flame_write_raw(struct flame *flame)
{
	size_t event;

	if (flame->graph.node)
		return message_error("flame", flame->options.input, "it has names and no addresses: "
				     "--raw needs a recording of perf");
	if (flame_find_event(flame, &event))
		return EXIT_FAILED;
	if (identify_files(&flame->profile, flame->resolve.root, flame->resolve.jobs))
		return message_error("flame", "cannot start a process", strerror(errno));
	return flame_write(flame);
}

/*
 * Say which events have samples and are not shown: without -e, perf record opens one for each kind of cores
 * that the machine has.
 */
static void flame_warn_others(const struct flame *flame, size_t shown)
{
	const struct profile *profile = &flame->profile;
	struct bee_error why;
	char *names;
	size_t i, size, count = 0;
	FILE *out = open_memstream(&names, &size);

	alloc_check(out, 0);
	for (i = 0; i < profile->nevents; i++)
		if (i != shown && profile->event[i].samples)
			fprintf(out, "%s%s (%llu)", count++ ? ", " : "",
				profile_get_text(profile, profile->event[i].name),
				(unsigned long long)profile->event[i].samples);
	fclose(out);
	if (count) {
		error_set(&why, 0, "shown is %s; --show EVENT shows the samples of: %s",
			  profile_get_text(profile, profile->event[shown].name), names);
		flame->resolve.warn(flame->options.input, why.text);
	}
	free(names);
}

/* Say how to get names, if many are missing. */
static void flame_warn_nameless(const struct flame *flame)
{
	const struct graph *graph = &flame->graph;
	double share = percent(graph->nameless, graph->node[0].total);
	struct bee_error why;

	if (share < FLAME_MANY_NAMELESS || !flame->resolve.warn)
		return;
	error_set(&why, 0, "%.0f %% of the samples have functions without names, most of them in this "
		  "file: its debug symbols have the names (Debian's package ends with -dbgsym), and so "
		  "has a server in DEBUGINFOD_URLS", share);
	flame->resolve.warn(graph->nameless_file, why.text);
}

/* Graphs of the events beside @shown. */
static void flame_make_others(struct flame *flame, size_t shown)
{
	const struct profile *profile = &flame->profile;
	struct graph *last = &flame->graph;
	size_t i;

	flame->others = alloc_zero(profile->nevents, sizeof(*flame->others));
	for (i = 0; i < profile->nevents; i++) {
		if (i == shown || !profile->event[i].samples)
			continue;
		graph_make(&flame->others[i], &flame->resolve, i, !flame->options.samples);
		last->next = &flame->others[i];
		last = &flame->others[i];
	}
}

/* Names, and the graph. */
static int flame_make_graph(struct flame *flame)
{
	size_t event = 0;
	int status = flame_find_event(flame, &event);

	if (status)
		return status;
	flame->resolve.profile = &flame->profile;
	if (resolve_run(&flame->resolve, &flame->error))
		return message_error("flame", NULL, flame->error.text);
	progress_end();
	graph_make(&flame->graph, &flame->resolve, event, !flame->options.samples);
	flame_warn_nameless(flame);
	if (flame->options.show)
		return EXIT_OK;
	if (flame->output && flame->output->all_events)
		flame_make_others(flame, event);
	else if (flame->resolve.warn)
		flame_warn_others(flame, event);
	return EXIT_OK;
}

static void flame_free(struct flame *flame)
{
	graph_free(&flame->graph);
	while (flame->others && flame->profile.nevents)
		graph_free(&flame->others[--flame->profile.nevents]);
	free(flame->others);
	resolve_free(&flame->resolve);
	free(flame->stops);
	free(flame->title);
	profile_close(&flame->profile);
	if (flame->before)
		flame_free(flame->before);
	free(flame->before);
}

/* Have the graphs show what was asked for. */
static int flame_make_view(struct flame *flame)
{
	const struct flame_options *options = &flame->options;
	const struct view view = { options->around, options->reverse };
	struct graph *graph = &flame->graph;
	size_t i;

	if (!flame_has_view(options))
		return EXIT_OK;
	/* The summary shows callers and callees itself. */
	if (!options->around || flame->output) {
		graph_view(graph, &view);
		for (i = 0; flame->others && i < flame->profile.nevents; i++)
			if (flame->others[i].node)
				graph_view(&flame->others[i], &view);
	}
	for (i = 1; i < graph->count && options->around; i++)
		if (graph_has_around(graph, i, options->around))
			return EXIT_OK;
	return options->around ? message_error("flame", options->around, "no function of this name is in the "
					       "stacks") : EXIT_OK;
}

/* Read what to compare with. */
static int flame_read_before(struct flame *flame)
{
	struct flame *before = alloc_zero(1, sizeof(*before));
	int status;

	flame->before = before;
	before->options = flame->options;
	before->options.input = flame->options.diff;
	before->options.enrich = NULL;
	before->options.checkpoint = NULL;
	profile_open(&before->profile);
	status = flame_check(before) ?: flame_read_input(before, "");
	status = status || before->graph.node ? status : flame_make_graph(before);
	return status ?: flame_make_view(before);
}

/* Write or print what was asked for.  Text was read into a graph; a profile becomes one here. */
static int flame_show(struct flame *flame)
{
	int status;

	if (!flame->options.input)
		identify_kernel(&flame->profile);
	/* Instead of the command line in the recording, to which beectl has added words. */
	if (flame->title)
		flame->profile.cmdline = profile_text(&flame->profile, flame->title);
	if (flame->stops)
		flame->profile.stops = profile_text(&flame->profile, flame->stops);
	if (flame->output && !flame->output->write)
		return flame_write_raw(flame);
	status = flame->graph.node ? EXIT_OK : flame_make_graph(flame);
	if (status)
		return status;
	status = flame_make_view(flame);
	if (status)
		return status;
	if (flame->before) {
		flame->resolve.profile = &flame->profile;
		graph_diff(&flame->graph, &flame->resolve, &flame->before->graph);
	}
	if (!flame->graph.node[0].total)
		return flame_refuse_empty(flame);
	if (flame->output)
		return flame_write(flame);
	if (flame->options.json)
		flame_summary_json(&flame->graph, flame->options.around);
	else if (flame->options.around)
		flame_summary_print_around(&flame->graph, flame->options.around);
	else
		flame_summary_print(&flame->graph);
	return EXIT_OK;
}

/* Signals are no longer perf's: what follows may be interrupted as usual, but needs no terminal. */
static void flame_take_signals(void)
{
	forward_end();
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);
}

/* Whether it is time for a checkpoint, and the last one is written. */
static bool flame_checkpoint_is_due(void *arg)
{
	struct flame *flame = arg;
	int64_t now = clock_ms();
	int status;

	flame->last = flame->last ?: now;
	if (flame->writer && waitpid(flame->writer, &status, WNOHANG) == flame->writer)
		flame->writer = 0;
	if (flame->writer || now < flame->last + flame->every * 1000ll)
		return false;
	flame->last = now;
	return true;
}

/* In a copy of this process, so that reading goes on meanwhile. */
static void flame_checkpoint(void *arg, struct profile *profile)
{
	struct flame *flame = arg;
	pid_t beectl = getpid(), writer;
	size_t event = flame_shown_event(flame);

	if (event == profile->nevents || !profile->event[event].samples)
		return;
	fflush(NULL);
	writer = fork();
	/* Without a process for it this checkpoint is left out. */
	flame->writer = writer > 0 ? writer : 0;
	if (writer)
		return;
	/* If beectl is killed perf gets SIGPIPE; and signals for perf are not sent twice. */
	close(flame->reading);
	flame_take_signals();
	if (!child_end_with(beectl))
		_exit(EXIT_FAILED);
	flame->is_writer = true;
	flame->resolve.warn = NULL;
	flame->resolve.progress = NULL;
	_exit(flame_show(flame));
}

/* In a child, which keeps no descriptor to read from: if beectl is killed, perf gets SIGPIPE. */
static int flame_run_perf(struct flame *flame, const int data[2], int stops)
{
	static char output[] = "-o", to_pipe[] = "-";
	const struct flame_options *options = &flame->options;
	struct recording recording = {
		.command = "flame", .count = options->words + 2, .output = data[1],
		.java_names = options->java_names, .without_module = true, .end = flame->end,
		.stops = fdopen(stops, "w"),
	};

	close(data[0]);
	/* CMD must not write into the middle of what flame itself writes there. */
	if (options->json || (options->output && !strcmp(options->output, "-"))) {
		close(STDOUT_FILENO);
		fcntl(STDERR_FILENO, F_DUPFD, STDOUT_FILENO);
	}
	recording.words = alloc_zero(recording.count + 1, sizeof(*recording.words));
	recording.words[0] = output;
	recording.words[1] = to_pipe;
	memcpy(recording.words + 2, options->perf, options->words * sizeof(*options->perf));
	return recording_run(&recording);
}

/*
 * Start the child that runs perf.  Signals that end a recording are passed on to it: perf ends,
 * and with it the pipe.
 *
 * Return: the child, to be waited for; -1 and errno.
 */
static pid_t flame_start_perf(struct flame *flame, int data[2], int stops)
{
	static const int forwarded[] = { SIGINT, SIGTERM, SIGUSR2, 0 };
	pid_t pid;

	if (pipe2(data, O_CLOEXEC))
		return -1;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		int status = flame_run_perf(flame, data, stops);

		fflush(NULL);
		_exit(status);
	}
	close(data[1]);
	if (pid < 0) {
		close(data[0]);
		return -1;
	}
	forward_signals(forwarded, pid);
	forward_hangup();
	return pid;
}

static char *read_text(int fd)
{
	char text[4096];
	ssize_t got = io_read_at(fd, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	return alloc_text(text);
}

/* What was recorded: CMD, or the words for perf; without the words that beectl adds. */
static char *flame_title(const struct flame_options *options)
{
	struct perf_options perf;
	char **word, *title;
	size_t size;
	FILE *out = open_memstream(&title, &size);

	alloc_check(out, 0);
	perf_options_read(&perf, options->perf);
	word = perf.command && !perf_options_have_target(&perf) ? perf.command : options->perf;
	for (; *word; word++)
		fprintf(out, "%s%s", *word, word[1] ? " " : "");
	fclose(out);
	return title;
}

/* Record, and read what perf writes while it does. */
static int flame_record(struct flame *flame)
{
	const char *output = flame->options.output;
	int data[2], stops, ret, status = 0;
	char killed[96];
	pid_t pid;

	/* Afterwards it would be too late. */
	if (output && strcmp(output, "-") && whole_file_try(output, &flame->error))
		return message_error("flame", output, flame->error.text);
	signal(SIGCHLD, SIG_DFL);
	flame->title = flame_title(&flame->options);
	flame->collect.is_due = flame_checkpoint_is_due;
	flame->collect.checkpoint = flame->every ? flame_checkpoint : NULL;
	flame->collect.arg = flame;
	flame->end = alloc_shared(sizeof(*flame->end));
	stops = io_memfd("stops", NULL, 0);
	pid = stops < 0 ? -1 : flame_start_perf(flame, data, stops);
	if (pid < 0)
		return message_error("flame", "cannot start a process", strerror(errno));
	flame->reading = data[0];
	ret = flame_read(flame, data[0], -1);
	close(data[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	flame_take_signals();
	if (flame->writer)
		waitpid(flame->writer, NULL, 0);
	flame->stops = read_text(stops);
	close(stops);
	/* The child has said what is wrong. */
	if (flame->end->no_command)
		return WEXITSTATUS(status);
	flame->profile.unfinished |= flame->end->failed || WIFSIGNALED(status);
	if (!ret && *flame->stops)
		memory_code_put(stderr, &flame->profile);
	if (WIFSIGNALED(status)) {
		snprintf(killed, sizeof(killed), "the recording process was killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
		if (ret)
			return message_error("flame", NULL, killed);
		/* What perf has recorded is there all the same. */
		flame_warn(NULL, killed);
		return EXIT_OK;
	}
	/* From EXIT_NOT_RUN on the child has already said what is wrong. */
	if (ret && WEXITSTATUS(status) < EXIT_NOT_RUN)
		message_error("flame", "perf", flame->error.text);
	return ret ? (WEXITSTATUS(status) ?: EXIT_FAILED) : EXIT_OK;
}

int cmd_flame(int argc, char **argv)
{
	struct flame flame = { 0 };
	int status;

	(void)argc;
	status = flame_options_read(&flame.options, argv + 1);
	if (status == EXIT_OK && flame.options.help) {
		fputs(flame_help, stdout);
	} else if (status == EXIT_OK) {
		profile_open(&flame.profile);
		status = flame_check_output(&flame) ?: flame_check(&flame);
		/* Before anything is recorded; but whoever writes to a pipe cannot wait. */
		if (status == EXIT_OK && flame.options.input)
			status = flame_read_input(&flame, flame.options.enrich ? "" :
						  "; to record a command: beectl flame -- COMMAND");
		if (status == EXIT_OK && flame.options.diff)
			status = flame_read_before(&flame);
		if (status == EXIT_OK && !flame.options.input)
			status = flame_record(&flame);
		status = status ?: flame_show(&flame);
		flame_free(&flame);
	}
	flame_options_free(&flame.options);
	return status;
}
