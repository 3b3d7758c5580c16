// SPDX-License-Identifier: GPL-2.0
/* Which processes use the table of a file, for beectl status and unload. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "io.h"
#include "manage.h"
#include "messages.h"
#include "table_users.h"
#include "text.h"

typedef unsigned long long ull;

/* The file that can be opened under this name.  Return: whether the module knows it. */
static bool find_open(struct netlink *nl, const char *path, struct netlink_file *file)
{
	int fd = io_open_regular(path);
	struct bee_error error;
	bool known;

	if (fd < 0)
		return false;
	known = !netlink_file_get(nl, fd, file, &error) && (file->users || file->loaded);
	close(fd);
	return known;
}

/* Whether @word is the file's name, or what status prints for it. */
static bool name_is(const struct netlink_file *file, const char *word)
{
	char *shown;
	size_t size;
	FILE *out;
	bool is;

	if (!strcmp(file->name, word))
		return true;
	out = open_memstream(&shown, &size);
	alloc_check(out, 0);
	text_put_name(out, file->name);
	fclose(out);
	is = !strcmp(shown, word);
	free(shown);
	return is;
}

/**
 * table_users_find() - the files that a word of the command line means
 * @nl: the connection
 * @word: a path; or if nothing that the module knows is there, a name as it shows them, say of a
 *	file that was replaced since or is in a container.  Only then all files are asked for
 * @files: filled with one or more; netlink_files_free() releases it, after an error as well
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int table_users_find(struct netlink *nl, const char *word, struct netlink_files *files,
		     struct bee_error *error)
{
	struct netlink_file file;
	size_t i, count = 0;

	memset(files, 0, sizeof(*files));
	if (find_open(nl, word, &file)) {
		files->file = alloc_room(NULL, 0, &files->room, sizeof(file));
		files->file[files->count++] = file;
		return 0;
	}
	if (netlink_files_get(nl, files, error))
		return -1;
	for (i = 0; i < files->count; i++)
		if (name_is(&files->file[i], word))
			files->file[count++] = files->file[i];
	files->count = count;
	if (count)
		return 0;
	return error_set(error, ENOENT, "the module knows no such file; it knows those of: "
			 "beectl status --files");
}

static void json_users(struct json_object *object, const struct netlink_file *file,
		       const struct netlink_procs *procs)
{
	struct json_object *array = json_object_new_array(), *process, *ranges, *range;
	char name[64];
	size_t i, k;

	json_add_uint(object, "id", file->id);
	json_add_string(object, "path", file->name);
	json_add_bool(object, "loaded", file->loaded);
	json_add_uint(object, "rows", file->rows);
	json_add_uint(object, "bytes", file->bytes);
	json_add(object, "processes", array);
	for (i = 0; i < procs->count; i++) {
		const struct netlink_proc *proc = &procs->proc[i];

		process = json_append(array);
		manage_process_name(proc->pid, name, sizeof(name));
		json_add_uint(process, "pid", proc->pid);
		json_add_string(process, "name", name);
		json_add_uint(process, "cookie", proc->cookie);
		ranges = json_object_new_array();
		json_add(process, "ranges", ranges);
		for (k = 0; k < proc->ranges.count; k++) {
			range = json_append(ranges);
			json_add_hex(range, "start", proc->ranges.range[k].start);
			json_add_hex(range, "end", proc->ranges.range[k].end);
			json_add_hex(range, "offset", proc->ranges.range[k].offset);
		}
	}
}

/* One line for each range. */
static void print_users(const struct netlink_procs *procs)
{
	char name[64];
	size_t i, k;

	if (procs->count)
		printf("%8s  %-33s %18s  %s\n", "pid", "start-end", "offset", "name");
	for (i = 0; i < procs->count; i++) {
		const struct netlink_proc *proc = &procs->proc[i];

		manage_process_name(proc->pid, name, sizeof(name));
		for (k = 0; k < proc->ranges.count; k++) {
			const struct range *r = &proc->ranges.range[k];

			printf("%8u  %016llx-%016llx %#18llx  ", proc->pid, (ull)r->start,
			       (ull)r->end, (ull)r->offset);
			text_put_name(stdout, name);
			putchar('\n');
		}
	}
}

static void print_heading(const struct netlink_file *file, const char *what, size_t procs)
{
	text_put_name(stdout, file->name);
	printf(": %s, %zu process%s\n", what, procs, procs == 1 ? "" : "es");
}

/**
 * table_users_show() - the processes that have a file mapped, and where
 * @nl: the connection
 * @file: the file
 * @array: gets an object; if NULL, they are printed
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int table_users_show(struct netlink *nl, const struct netlink_file *file,
		     struct json_object *array, struct bee_error *error)
{
	struct netlink_procs procs;
	char what[64] = "no table";
	int ret = netlink_procs_get_users(nl, file->id, &procs, error);

	if (!ret && array) {
		json_users(json_append(array), file, &procs);
	} else if (!ret) {
		if (file->loaded)
			snprintf(what, sizeof(what), "%u rows, %s", file->rows,
				 text_size(file->bytes).text);
		print_heading(file, what, procs.count);
		print_users(&procs);
	}
	netlink_procs_free(&procs);
	return ret;
}

/**
 * table_users_kill() - remove the table of a file, and print the processes that have it mapped
 * @nl: the connection
 * @file: the file
 * @quiet: print nothing
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int table_users_kill(struct netlink *nl, const struct netlink_file *file, bool quiet,
		     struct bee_error *error)
{
	struct netlink_procs procs;
	uint32_t used;
	int ret;

	if (netlink_table_del_used(nl, file->id, &used, error))
		return -1;
	if (quiet)
		return 0;
	ret = netlink_procs_get_users(nl, file->id, &procs, error);
	/* Not mapped anywhere: the module has forgotten the file together with its table. */
	if (ret && error->code == ENOENT)
		ret = 0;
	if (!ret) {
		print_heading(file, "table removed", procs.count);
		print_users(&procs);
	}
	netlink_procs_free(&procs);
	return ret;
}
