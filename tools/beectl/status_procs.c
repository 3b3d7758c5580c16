// SPDX-License-Identifier: GPL-2.0
/* Processes, their files and their walks, for beectl status. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "hotspot.h"
#include "jit_jobs.h"
#include "json.h"
#include "mapped.h"
#include "maps.h"
#include "messages.h"
#include "status_procs.h"
#include "stops.h"
#include "table_jobs.h"
#include "text.h"

/* What status says of a file for which load, or another maker of tables, has found that there can be none. */
#define HAS_NONE	"has none"

/* Processes that plain "beectl status" lists under "incomplete stacks by process". */
#define MAX_INCOMPLETE	10

typedef unsigned long long ull;

static uint64_t proc_incomplete(const struct netlink_proc *proc)
{
	return stops_sum(proc->stop) - proc->stop[BEEUNWIND_STOP_OUTERMOST];
}

/* "98.3%", or "-" without walks. */
static void proc_share(const struct netlink_proc *proc, char *to, size_t size)
{
	uint64_t walks = stops_sum(proc->stop);

	if (walks)
		snprintf(to, size, "%.1f%%",
			 percent(proc->stop[BEEUNWIND_STOP_OUTERMOST], walks));
	else
		snprintf(to, size, "-");
}

static void json_walks(struct json_object *object, const struct netlink_proc *proc)
{
	json_add_uint(object, "walks", stops_sum(proc->stop));
	json_add_uint(object, "complete", proc->stop[BEEUNWIND_STOP_OUTERMOST]);
	json_add(object, "stops", stops_json(proc->stop));
}

/* What the module has for an executable mapping. */
static const char *mapped_state(struct netlink *nl, const struct mapped *mapped, const struct netlink_codes *codes,
				struct netlink_file *file)
{
	bool vdso = !strcmp(mapped->path, MAPS_VDSO);
	struct bee_error error;
	size_t i, k;
	int ret;

	*file = (struct netlink_file){ 0 };
	for (i = 0; i < codes->count && !mapped->inode && !vdso; i++) {
		for (k = 0; k < codes->code[i].heaps.nr; k++) {
			const struct bee_code_heap *heap = &codes->code[i].heaps.heap[k];

			if (heap->start <= mapped->mapping.start && mapped->mapping.start < heap->end)
				return "code heap";
		}
		for (k = 0; k < codes->code[i].ranges.count; k++) {
			const struct range *range = &codes->code[i].ranges.range[k];

			if (range->start < mapped->mapping.end && mapped->mapping.start < range->end &&
			    !netlink_file_get_id(nl, range->file, file, &error))
				return "table";
		}
	}
	if (!mapped->inode && !vdso)
		return "no table";
	ret = table_jobs_ask(nl, mapped, file);
	if (ret < 0)
		return "unknown: cannot be opened";
	return file->written ? "was written to" : file->loaded ? "table" : ret ? "not made yet" : HAS_NONE;
}

/* Where mapped code comes from, or the name of the table of code in memory; else empty. */
static const char *mapped_name(const struct mapped *mapped, const struct netlink_file *file)
{
	return mapped->inode || *mapped->path || !file->loaded ? mapped->path : file->name;
}

/*
 * struct shown_process - what is shown of a process
 * @java: whether the module knows the code of its Java virtual machine, or why not; "" without one
 * @why: for each entry of @list that has no table, why; or NULL
 */
struct shown_process {
	char			name[64];
	char			java[256];
	struct netlink_proc	proc;
	struct mapped_list	list;
	char			**why;
	struct netlink_codes	codes;
};

/* Fill in @shown->java. */
static void shown_find_java(struct shown_process *shown)
{
	struct bee_error error;
	bool has = false;
	size_t i;

	for (i = 0; i < shown->list.count; i++)
		has |= hotspot_is_named(shown->list.at[i].path);
	if (!has)
		return;
	if (shown->codes.count && shown->codes.code[0].heaps.nr)
		strcpy(shown->java, "its code heaps are known");
	else if (!jit_jobs_find_java(shown->proc.pid, &error))
		snprintf(shown->java, sizeof(shown->java), "its code heaps are not known: \"beectl load %u\" makes them known",
			 shown->proc.pid);
	else
		snprintf(shown->java, sizeof(shown->java), "its code heaps are not known: %s", error.text);
}

/* A table_maker's done() */
static void explain_done(void *arg, const struct table_want *want, const struct table_result *result)
{
	struct shown_process *shown = arg;
	char can[64];
	size_t i;

	snprintf(can, sizeof(can), "there can be one: \"beectl load %u\" makes it", shown->proc.pid);
	for (i = 0; i < shown->list.count; i++)
		if (shown->list.at[i].mapping.start == want->mapping.start)
			shown->why[i] = alloc_text(result->source == TABLE_NONE ? result->error.text : can);
}

/* Fill in @shown->why. */
static void shown_explain(struct netlink *nl, struct shown_process *shown)
{
	const struct table_maker maker = { .arg = shown, .done = explain_done };
	struct mapped_list none = { .at = alloc_array(NULL, shown->list.count + 1, sizeof(*none.at)) };
	struct table_wants wants = { 0 };
	struct netlink_file file;
	size_t i;

	shown->why = alloc_zero(shown->list.count + 1, sizeof(*shown->why));
	for (i = 0; i < shown->list.count; i++)
		if (!strcmp(mapped_state(nl, &shown->list.at[i], &shown->codes, &file), HAS_NONE))
			none.at[none.count++] = shown->list.at[i];
	table_wants_add_mapped(&wants, &none, nl);
	table_jobs_explain(&maker, &wants);
	table_wants_free(&wants);
	/* The paths are those of @shown->list. */
	free(none.at);
}

static void json_process(struct json_object *process, struct netlink *nl, const struct shown_process *shown)
{
	struct json_object *array = json_object_new_array(), *range;
	struct netlink_file file;
	size_t i;

	json_add_uint(process, "pid", shown->proc.pid);
	json_add_string(process, "name", shown->name);
	json_walks(process, &shown->proc);
	for (i = 0; i < shown->list.count; i++) {
		const struct mapped *mapped = &shown->list.at[i];
		const char *state = mapped_state(nl, mapped, &shown->codes, &file);

		range = json_append(array);
		json_add_hex(range, "start", mapped->mapping.start);
		json_add_hex(range, "end", mapped->mapping.end);
		json_add_hex(range, "offset", mapped->offset);
		json_add_uint(range, "file_id", file.id);
		json_add_bool(range, "loaded", file.loaded);
		json_add_string(range, "state", state);
		json_add_string(range, "why", shown->why[i] ?: "");
		json_add_uint(range, "rows", file.rows);
		json_add_string(range, "path", mapped_name(mapped, &file));
	}
	json_add(process, "ranges", array);
	json_add_string(process, "java", shown->java);
}

static void print_process(struct netlink *nl, const struct shown_process *shown)
{
	uint64_t walks = stops_sum(shown->proc.stop);
	struct netlink_file file;
	char share[16];
	size_t i;

	proc_share(&shown->proc, share, sizeof(share));
	printf("%u ", shown->proc.pid);
	text_put_name(stdout, shown->name);
	printf(": %llu walk%s", (ull)walks, plural(walks));
	if (walks)
		printf(", %s complete ", share);
	stops_put(stdout, shown->proc.stop);
	putchar('\n');
	printf("  %-33s %12s %10s  %s\n", "start-end", "table", "rows", "path");
	for (i = 0; i < shown->list.count; i++) {
		const struct mapped *mapped = &shown->list.at[i];
		const char *state = mapped_state(nl, mapped, &shown->codes, &file);

		printf("  %016llx-%016llx %12s ", (ull)mapped->mapping.start, (ull)mapped->mapping.end, state);
		if (file.loaded)
			printf("%10u  ", file.rows);
		else
			printf("%10s  ", "-");
		if (*mapped_name(mapped, &file))
			text_put_name(stdout, mapped_name(mapped, &file));
		else
			fputs(strcmp(state, "code heap") ? "(code in memory)" : "(Java)", stdout);
		putchar('\n');
	}
	for (i = 0; i < shown->list.count; i++) {
		if (!shown->why[i])
			continue;
		fputs("  no table: ", stdout);
		text_put_name(stdout, shown->list.at[i].path);
		fputs(": ", stdout);
		text_put_name(stdout, shown->why[i]);
		putchar('\n');
	}
	if (shown->java[0])
		printf("  Java: %s\n", shown->java);
}

/**
 * status_show_pid() - which of the files that a process has mapped have tables, and how its walks ended
 * @nl: the connection
 * @pid: the process
 * @json: gets them as "process"; if NULL, they are printed
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int status_show_pid(struct netlink *nl, pid_t pid, struct json_object *json,
		    struct bee_error *error)
{
	struct shown_process shown = { .proc.pid = pid };
	struct json_object *process;
	struct netlink_procs procs;
	pid_t thread = process_check(pid, error);
	size_t i;
	int ret = thread < 0 ? -1 : mapped_add(&shown.list, thread, error);

	process_name(pid, shown.name, sizeof(shown.name));
	ret = ret ?: netlink_codes_get(nl, pid, &shown.codes, error) ?: netlink_procs_get(nl, pid, &procs, error);
	if (!ret) {
		if (procs.count)
			memcpy(shown.proc.stop, procs.proc[0].stop, sizeof(shown.proc.stop));
		netlink_procs_free(&procs);
		shown_find_java(&shown);
		shown_explain(nl, &shown);
		if (json) {
			process = json_object_new_object();
			json_process(process, nl, &shown);
			json_add(json, "process", process);
		} else {
			print_process(nl, &shown);
		}
	}
	for (i = 0; shown.why && i < shown.list.count; i++)
		free(shown.why[i]);
	free(shown.why);
	mapped_free(&shown.list);
	netlink_codes_free(&shown.codes);
	return ret;
}

/* Most incomplete walks first, then most walks, then as the module has them. */
static int compare_procs(const void *a, const void *b)
{
	const struct netlink_proc *x = *(const struct netlink_proc **)a;
	const struct netlink_proc *y = *(const struct netlink_proc **)b;
	uint64_t of_x = proc_incomplete(x), of_y = proc_incomplete(y);

	if (of_x == of_y) {
		of_x = stops_sum(x->stop);
		of_y = stops_sum(y->stop);
	}
	if (of_x == of_y)
		return x->pid < y->pid ? -1 : 1;
	return of_x > of_y ? -1 : 1;
}

/* "     4711         1234    93.1%  server (no-table 12, gap 3)" */
static void print_proc(const struct netlink_proc *proc)
{
	char name[64], share[16];

	process_name(proc->pid, name, sizeof(name));
	proc_share(proc, share, sizeof(share));
	printf("%8u %12llu %8s  ", proc->pid, (ull)stops_sum(proc->stop), share);
	text_put_name(stdout, name);
	if (proc_incomplete(proc))
		putchar(' ');
	stops_put(stdout, proc->stop);
	putchar('\n');
}

static void json_proc(struct json_object *object, const struct netlink_proc *proc)
{
	char name[64];

	process_name(proc->pid, name, sizeof(name));
	json_add_uint(object, "pid", proc->pid);
	json_add_string(object, "name", name);
	json_walks(object, proc);
}

/**
 * status_show_procs() - the processes that were sampled last, those with most incomplete walks first
 * @procs: the processes
 * @all: print all, not only the first MAX_INCOMPLETE that have incomplete walks
 * @json: gets all as "processes"; if NULL, they are printed
 */
void status_show_procs(const struct netlink_procs *procs, bool all, struct json_object *json)
{
	const struct netlink_proc **list = alloc_array(NULL, procs->count + 1, sizeof(*list));
	struct json_object *array = NULL;
	size_t i, wanted = 0;

	for (i = 0; i < procs->count; i++) {
		list[i] = &procs->proc[i];
		wanted += all || proc_incomplete(list[i]);
	}
	qsort(list, procs->count, sizeof(*list), compare_procs);
	if (json) {
		array = json_object_new_array();
		json_add(json, "processes", array);
		for (i = 0; i < procs->count; i++)
			json_proc(json_append(array), list[i]);
	} else if (all || wanted) {
		printf("%s%8s %12s %8s  %s\n", all ? "" : "incomplete stacks by process:\n",
		       "pid", "walks", "complete", "name");
		for (i = 0; i < wanted && (all || i < MAX_INCOMPLETE); i++)
			print_proc(list[i]);
		if (i < wanted)
			printf("  and %zu more; \"beectl status --processes\" lists all\n",
			       wanted - i);
	}
	free(list);
}
