// SPDX-License-Identifier: GPL-2.0
/* The managed processes, for beectl status. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "json.h"
#include "manage.h"
#include "messages.h"
#include "status_procs.h"
#include "stops.h"
#include "text.h"

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

static struct json_object *json_process(const struct netlink_proc *proc, const char *name,
					const struct netlink_files *files)
{
	struct json_object *process = json_object_new_object();
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < proc->ranges.count; i++) {
		const struct range *r = &proc->ranges.range[i];
		const struct netlink_file *file = netlink_files_find(files, r->file);
		struct json_object *range = json_append(array);

		json_add_hex(range, "start", r->start);
		json_add_hex(range, "end", r->end);
		json_add_hex(range, "offset", r->offset);
		json_add_uint(range, "file_id", r->file);
		json_add_bool(range, "loaded", file && file->loaded);
		json_add_uint(range, "rows", file ? file->rows : 0);
		json_add_string(range, "path", file ? file->name : "");
	}
	json_add_uint(process, "pid", proc->pid);
	json_add_string(process, "name", name);
	json_add_uint(process, "cookie", proc->cookie);
	json_add_uint(process, "generation", proc->generation);
	json_walks(process, proc);
	json_add(process, "ranges", array);
	return process;
}

static void print_process(const struct netlink_proc *proc, const char *name,
			  const struct netlink_files *files)
{
	uint64_t walks = stops_sum(proc->stop);
	char share[16];
	size_t i;

	proc_share(proc, share, sizeof(share));
	printf("%u ", proc->pid);
	text_put_name(stdout, name);
	printf(": %zu range%s, %llu walk%s", proc->ranges.count, plural(proc->ranges.count),
	       (ull)walks, plural(walks));
	if (walks)
		printf(", %s complete ", share);
	stops_put(stdout, proc->stop);
	putchar('\n');
	printf("  %-33s %18s %8s %10s  %s\n", "start-end", "offset", "file", "rows", "path");
	for (i = 0; i < proc->ranges.count; i++) {
		const struct range *r = &proc->ranges.range[i];
		const struct netlink_file *file = netlink_files_find(files, r->file);

		printf("  %016llx-%016llx ", (ull)r->start, (ull)r->end);
		if (!r->file) {
			printf("%18s %8s %10s  (executable memory without a file)\n", "-", "-",
			       "-");
			continue;
		}
		printf("%#18llx %8u ", (ull)r->offset, r->file);
		if (file && file->loaded)
			printf("%10u  ", file->rows);
		else
			printf("%10s  ", "no table");
		text_put_name(stdout, file ? file->name : "?");
		putchar('\n');
	}
}

/* The files that @ranges refer to, each once; one that was forgotten meanwhile is left out. */
static int get_files_of(struct netlink *nl, const struct ranges *ranges, struct netlink_files *files,
			struct bee_error *error)
{
	size_t i;

	for (i = 0; i < ranges->count; i++) {
		uint32_t id = ranges->range[i].file;

		if (!id || netlink_files_find(files, id))
			continue;
		files->file = alloc_room(files->file, files->count, &files->room,
					 sizeof(*files->file));
		if (!netlink_file_get_id(nl, id, &files->file[files->count], error))
			files->count++;
		else if (error->code != ENOENT)
			return -1;
	}
	return 0;
}

/**
 * status_show_pid() - the ranges of a process, and how its walks ended
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
	struct netlink_files files = { 0 };
	struct netlink_procs procs = { 0 };
	char name[64];
	int ret;

	ret = netlink_procs_get(nl, pid, &procs, error);
	if (!ret && !procs.count)
		ret = error_set(error, 0, "no ranges known; load them with: beectl load %d", pid);
	ret = ret ?: get_files_of(nl, &procs.proc[0].ranges, &files, error);
	if (!ret) {
		manage_process_name(procs.proc[0].pid, name, sizeof(name));
		if (json)
			json_add(json, "process", json_process(&procs.proc[0], name, &files));
		else
			print_process(&procs.proc[0], name, &files);
	}
	netlink_procs_free(&procs);
	netlink_files_free(&files);
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
		return x->cookie < y->cookie ? -1 : 1;
	return of_x > of_y ? -1 : 1;
}

/* "     4711         1234    93.1%     31  server (no-table 12, gap 3)" */
static void print_proc(const struct netlink_proc *proc)
{
	char name[64], share[16];

	manage_process_name(proc->pid, name, sizeof(name));
	proc_share(proc, share, sizeof(share));
	printf("%8u %12llu %8s %8u  ", proc->pid, (ull)stops_sum(proc->stop), share,
	       proc->nranges);
	text_put_name(stdout, name);
	if (proc_incomplete(proc))
		putchar(' ');
	stops_put(stdout, proc->stop);
	putchar('\n');
}

static void json_proc(struct json_object *object, const struct netlink_proc *proc)
{
	char name[64];

	manage_process_name(proc->pid, name, sizeof(name));
	json_add_uint(object, "pid", proc->pid);
	json_add_string(object, "name", name);
	json_add_uint(object, "cookie", proc->cookie);
	json_add_uint(object, "ranges", proc->nranges);
	json_walks(object, proc);
}

/**
 * status_show_procs() - the managed processes, those with most incomplete walks first
 * @procs: the processes
 * @all: print all, not only the first MAX_INCOMPLETE that have incomplete walks
 * @json: gets all as "managed"; if NULL, they are printed
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
		json_add(json, "managed", array);
		for (i = 0; i < procs->count; i++)
			json_proc(json_append(array), list[i]);
	} else if (all || wanted) {
		printf("%s%8s %12s %8s %8s  %s\n", all ? "" : "incomplete stacks by process:\n",
		       "pid", "walks", "complete", "ranges", "name");
		for (i = 0; i < wanted && (all || i < MAX_INCOMPLETE); i++)
			print_proc(list[i]);
		if (i < wanted)
			printf("  and %zu more; \"beectl status --processes\" lists all\n",
			       wanted - i);
	}
	free(list);
}
