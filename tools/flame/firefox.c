// SPDX-License-Identifier: GPL-2.0
/*
 * Firefox profiler's processed profiles, version 48: tables of columns, whose rows name each other by
 * number (https://github.com/firefox-devtools/profiler, src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md).  What samples are told apart by at the root is a thread, with the times of
 * its samples if they were kept.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json_text.h"
#include "output.h"
#include "tracks.h"

/* A kind of code is a category of frames. */
static const struct { const char *name, *colour; } categories[FLAME_KINDS] = {
	[FLAME_USER] = { "User", "yellow" }, [FLAME_KERNEL] = { "Kernel", "orange" },
	[FLAME_INLINED] = { "Inlined", "green" }, [FLAME_JIT] = { "JIT", "purple" },
	[FLAME_UNKNOWN] = { "No name", "grey" }, [FLAME_COMM] = { "Thread", "transparent" },
};

/**
 * struct thread - a thread that is being written
 * @graph: it is a part of
 * @tracks: its samples
 * @track: its number there
 * @first: its node
 * @end: node after its last one
 * @number: for each name, which of the thread's functions it is, from 1; 0 for others
 * @name: for each function of the thread, its name
 * @count: entries in @name
 * @strings: the thread's
 * @modules: modules, which are its resources; numbers are in the order of their first function
 */
struct thread {
	const struct graph	*graph;
	const struct tracks	*tracks;
	u32			 track;
	size_t			 first;
	size_t			 end;
	u32			*number;
	u32			*name;
	u32			 count;
	struct texts		 strings;
	struct texts		 modules;
};

typedef void (*column_fn)(struct thread *thread, size_t row, FILE *out);

/* "name":[...]: what @put writes for each row, or @same. */
static void put_column(struct thread *thread, const char *name, size_t rows, column_fn put,
		       const char *same, FILE *out)
{
	size_t i;

	fprintf(out, ",\n\"%s\":[", name);
	for (i = 0; i < rows; i++) {
		if (i)
			putc(',', out);
		if (put)
			put(thread, i, out);
		else
			fputs(same, out);
	}
	putc(']', out);
}

static const struct flame_name *thread_name(const struct thread *thread, size_t function)
{
	return intern_item(thread->graph->names, thread->name[function]);
}

static u32 thread_string(struct thread *thread, u32 text)
{
	const char *string = texts_get(thread->graph->texts, text);

	return texts_add(&thread->strings, string, strlen(string));
}

static const struct graph_node *thread_node(const struct thread *thread, size_t row)
{
	return &thread->graph->node[thread->first + 1 + row];
}

static void put_prefix(struct thread *thread, size_t row, FILE *out)
{
	u32 parent = thread_node(thread, row)->parent;

	if (parent == thread->first)
		fputs("null", out);
	else
		fprintf(out, "%zu", parent - thread->first - 1);
}

static void put_frame(struct thread *thread, size_t row, FILE *out)
{
	fprintf(out, "%u", thread->number[thread_node(thread, row)->name] - 1);
}

static void put_node_category(struct thread *thread, size_t row, FILE *out)
{
	const struct flame_name *name = graph_name(thread->graph, thread->first + 1 + row);

	fprintf(out, "%u", name->kind);
}

static void put_category(struct thread *thread, size_t row, FILE *out)
{
	fprintf(out, "%u", thread_name(thread, row)->kind);
}

static void put_row(struct thread *thread, size_t row, FILE *out)
{
	(void)thread;
	fprintf(out, "%zu", row);
}

static void put_line(struct thread *thread, size_t row, FILE *out)
{
	if (thread_name(thread, row)->line)
		fprintf(out, "%u", thread_name(thread, row)->line);
	else
		fputs("null", out);
}

static void put_name(struct thread *thread, size_t row, FILE *out)
{
	fprintf(out, "%u", thread_string(thread, thread_name(thread, row)->text));
}

static void put_source(struct thread *thread, size_t row, FILE *out)
{
	if (thread_name(thread, row)->line)
		fprintf(out, "%u", thread_string(thread, thread_name(thread, row)->source));
	else
		fputs("null", out);
}

static void put_resource(struct thread *thread, size_t row, FILE *out)
{
	const char *module = texts_get(thread->graph->texts, thread_name(thread, row)->module);

	if (*module)
		fprintf(out, "%u", texts_add(&thread->modules, module, strlen(module)));
	else
		fputs("-1", out);
}

static void put_module(struct thread *thread, size_t row, FILE *out)
{
	const char *module = texts_get(&thread->modules, row);

	fprintf(out, "%u", texts_add(&thread->strings, module, strlen(module)));
}

/* Which functions the thread has. */
static void thread_find_names(struct thread *thread)
{
	size_t i;

	for (i = thread->first + 1; i < thread->end; i++) {
		u32 name = thread->graph->node[i].name;

		if (thread->number[name])
			continue;
		thread->name[thread->count] = name;
		thread->number[name] = ++thread->count;
	}
}

static void put_ms(u64 ns, FILE *out)
{
	fprintf(out, "%llu.%06llu", ns / 1000000ull, ns % 1000000ull);
}

/* What a sample weighs: milliseconds, or the number that it counts. */
static void put_weight(const struct graph *graph, u64 value, FILE *out)
{
	if (!strcmp(graph->unit, "ns"))
		put_ms(value, out);
	else
		fprintf(out, "%llu", (unsigned long long)value);
}

static void put_stack(const struct thread *thread, size_t at, FILE *out)
{
	u32 node = tracks_node(thread->tracks, at);

	if (node == thread->first)
		fputs("null", out);
	else
		fprintf(out, "%zu", node - thread->first - 1);
}

/* Without times there is a sample for each stack, and the times add up what they weigh. */
static void thread_put_samples(const struct thread *thread, FILE *out)
{
	const char *const columns[] = { "stack", "time", "weight" };
	const struct tracks *tracks = thread->tracks;
	size_t first = tracks->start[thread->track], end = tracks->start[thread->track + 1], at, column;

	fprintf(out, ",\n\"samples\":{\"weightType\":\"%s\"",
		strcmp(thread->graph->unit, "ns") ? "samples" : "tracing-ms");
	for (column = 0; column < 3; column++) {
		u64 sum = 0;

		fprintf(out, ",\n\"%s\":[", columns[column]);
		for (at = first; at < end; at++) {
			u64 weight = tracks_weight(tracks, at);

			if (at > first)
				putc(',', out);
			if (column == 0)
				put_stack(thread, at, out);
			else if (column == 1 && tracks->timed)
				put_ms(tracks_time(tracks, at), out);
			else
				put_weight(thread->graph, column == 1 ? sum : weight, out);
			sum += weight;
		}
		putc(']', out);
	}
	fprintf(out, ",\n\"length\":%zu}", end - first);
}

static void thread_put_tables(struct thread *thread, FILE *out)
{
	size_t nodes = thread->end - thread->first - 1, count = thread->count;

	fprintf(out, ",\n\"stackTable\":{\"length\":%zu", nodes);
	put_column(thread, "prefix", nodes, put_prefix, NULL, out);
	put_column(thread, "frame", nodes, put_frame, NULL, out);
	put_column(thread, "category", nodes, put_node_category, NULL, out);
	put_column(thread, "subcategory", nodes, NULL, "0", out);
	fprintf(out, "},\n\"frameTable\":{\"length\":%zu", count);
	put_column(thread, "address", count, NULL, "-1", out);
	put_column(thread, "inlineDepth", count, NULL, "0", out);
	put_column(thread, "category", count, put_category, NULL, out);
	put_column(thread, "subcategory", count, NULL, "0", out);
	put_column(thread, "func", count, put_row, NULL, out);
	put_column(thread, "nativeSymbol", count, NULL, "null", out);
	put_column(thread, "innerWindowID", count, NULL, "0", out);
	put_column(thread, "implementation", count, NULL, "null", out);
	put_column(thread, "line", count, put_line, NULL, out);
	put_column(thread, "column", count, NULL, "null", out);
	fprintf(out, "},\n\"funcTable\":{\"length\":%zu", count);
	put_column(thread, "name", count, put_name, NULL, out);
	put_column(thread, "isJS", count, NULL, "false", out);
	put_column(thread, "relevantForJS", count, NULL, "false", out);
	put_column(thread, "resource", count, put_resource, NULL, out);
	put_column(thread, "fileName", count, put_source, NULL, out);
	put_column(thread, "lineNumber", count, NULL, "null", out);
	put_column(thread, "columnNumber", count, NULL, "null", out);
	count = thread->modules.index.count;
	fprintf(out, "},\n\"resourceTable\":{\"length\":%zu", count);
	put_column(thread, "name", count, put_module, NULL, out);
	put_column(thread, "lib", count, NULL, "null", out);
	put_column(thread, "host", count, NULL, "null", out);
	put_column(thread, "type", count, NULL, "1", out);
	putc('}', out);
}

/* "NAME-PID/TID", as threads are called that are told apart by both, or any name.  The numbers are @number then. */
static char *thread_split(const char *label, u32 number, u32 *pid, u32 *tid)
{
	const char *dash = strrchr(label, '-');
	char slash, end;

	if (!dash || sscanf(dash, "-%u%c%u%c", pid, &slash, tid, &end) != 3 || slash != '/') {
		*pid = *tid = number;
		return alloc_text(label);
	}
	return alloc_check(strndup(label, dash - label), 0);
}

static void thread_put(struct thread *thread, unsigned int number, FILE *out)
{
	u32 i, pid, tid;
	char *name = thread_split(graph_text(thread->graph, thread->first), number, &pid, &tid);

	texts_open(&thread->strings);
	texts_open(&thread->modules);
	thread_find_names(thread);
	fputs("{\"name\":", out);
	json_put_text(name, out);
	fputs(",\"processName\":", out);
	json_put_text(name, out);
	free(name);
	fprintf(out, ",\"pid\":\"%u\",\"tid\":%u,\"isMainThread\":%s,\"processType\":\"default\",\n"
		"\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
		"\"unregisterTime\":null,\"pausedRanges\":[],\n\"markers\":{\"length\":0,\"data\":[],"
		"\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[]},\n"
		"\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
		"\"functionSize\":[]}", pid, tid, pid == tid ? "true" : "false");
	thread_put_samples(thread, out);
	thread_put_tables(thread, out);
	fputs(",\n\"stringArray\":[", out);
	for (i = 0; i < thread->strings.index.count; i++) {
		if (i)
			fputs(",\n", out);
		json_put_text(texts_get(&thread->strings, i), out);
	}
	fputs("]}", out);
	for (i = 0; i < thread->count; i++)
		thread->number[thread->name[i]] = 0;
	thread->count = 0;
	texts_close(&thread->strings);
	texts_close(&thread->modules);
}

static void firefox_put_meta(const struct graph *graph, FILE *out)
{
	int i;

	fputs("{\"meta\":{\"version\":27,\"preprocessedProfileVersion\":48,\"interval\":1,"
	      "\"startTime\":0,\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,\n"
	      "\"importedFrom\":\"beectl flame\",\"sourceCodeIsNotOnSearchfox\":true,"
	      "\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,\n\"product\":", out);
	json_put_text(*graph->cmdline ? graph->cmdline : graph->event, out);
	fputs(",\n\"extra\":[{\"label\":\"Weights\",\"entries\":[{\"label\":\"Unit\",\"format\":\"string\",\"value\":",
	      out);
	json_put_text(graph->unit, out);
	fputs("}]}],\n\"markerSchema\":[],\"categories\":[", out);
	for (i = 0; i < FLAME_KINDS; i++)
		fprintf(out, "%s\n{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			i ? "," : "", categories[i].name, categories[i].colour);
	fputs("]},\n\"libs\":[],\n\"threads\":[", out);
}

/** output_firefox() - write a graph for Firefox profiler */
void output_firefox(const struct graph *graph, FILE *out)
{
	struct thread thread = { .graph = graph };
	struct tracks tracks;

	tracks_open(&tracks, graph);
	thread.tracks = &tracks;
	thread.number = alloc_zero(graph->names->count + 1, sizeof(*thread.number));
	thread.name = alloc_zero(graph->names->count + 1, sizeof(*thread.name));
	firefox_put_meta(graph, out);
	for (; thread.track < tracks.count; thread.track++) {
		thread.first = tracks.first[thread.track];
		thread.end = tracks.first[thread.track + 1];
		fputs(thread.track ? ",\n" : "\n", out);
		thread_put(&thread, thread.track + 1, out);
	}
	fputs("]}\n", out);
	free(thread.number);
	free(thread.name);
	tracks_close(&tracks);
}
