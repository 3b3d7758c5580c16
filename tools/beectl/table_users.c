// SPDX-License-Identifier: GPL-2.0
/* Which processes use the table of a file, for beectl status and unload. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "io.h"
#include "mapped.h"
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
	known = !netlink_file_get(nl, fd, file, &error);
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
	if (netlink_files_get(nl, false, files, error))
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

/* Whether a mapping is of a file.  What looks like it is opened, and the module asked. */
static bool mapping_is_of(struct netlink *nl, const struct mapped *mapped, const struct netlink_file *file, int *fd)
{
	struct netlink_file found;
	struct bee_error ignored;
	char name[256];

	*fd = -1;
	if (!file->inode && !file->pid)
		return !strcmp(mapped->path, file->name);
	if (!mapped->inode || (mapped->inode != file->inode && strcmp(basename(mapped->path), basename(file->name))))
		return false;
	*fd = map_file_open(&mapped->mapping, name, sizeof(name), &ignored);
	return *fd >= 0 && !netlink_file_get(nl, *fd, &found, &ignored) && found.id == file->id;
}

/*
 * Find who has a file mapped.  @users: filled: a part of @list, which has all that is mapped, sorted; code in
 * memory has the process that the module names.  @fd: filled: the file, open, for close(), or -1.
 */
static void find_users(struct netlink *nl, const struct netlink_file *file, struct mapped_list *list,
		       struct mapped_list *users, int *fd)
{
	struct netlink_codes codes;
	struct bee_error ignored;
	bool is = false;
	size_t i, k;

	*users = (struct mapped_list){ 0 };
	*fd = -1;
	if (file->pid && !netlink_codes_get(nl, file->pid, &codes, &ignored)) {
		for (i = 0; i < codes.count; i++)
			for (k = 0; k < codes.code[i].ranges.count; k++) {
				const struct range *range = &codes.code[i].ranges.range[k];

				if (range->file != file->id)
					continue;
				users->at = alloc_room(users->at, users->count, &users->room, sizeof(*users->at));
				users->at[users->count++] = (struct mapped){
					.mapping = { file->pid, range->start, range->end },
					.offset = range->offset,
				};
			}
		netlink_codes_free(&codes);
	}
	for (i = 0; i < list->count && !file->pid; i++) {
		if (!i || !mapped_is_same(&list->at[i], &list->at[i - 1])) {
			int found;

			is = mapping_is_of(nl, &list->at[i], file, &found);
			if (is && *fd < 0)
				*fd = found;
			else if (found >= 0)
				close(found);
		}
		if (!is)
			continue;
		users->at = alloc_room(users->at, users->count, &users->room, sizeof(*users->at));
		users->at[users->count] = list->at[i];
		users->at[users->count++].path = NULL;
	}
}

static size_t count_processes(const struct mapped_list *users)
{
	size_t i, count = 0;

	for (i = 0; i < users->count; i++)
		count += !i || users->at[i].mapping.pid != users->at[i - 1].mapping.pid;
	return count;
}

static void json_users(struct json_object *object, const struct netlink_file *file,
		       const struct mapped_list *users)
{
	struct json_object *array = json_object_new_array(), *process, *ranges = NULL, *range;
	char name[64];
	size_t i;

	json_add_uint(object, "id", file->id);
	json_add_string(object, "path", file->name);
	json_add_bool(object, "loaded", file->loaded);
	json_add_uint(object, "rows", file->rows);
	json_add_uint(object, "bytes", file->bytes);
	json_add(object, "processes", array);
	for (i = 0; i < users->count; i++) {
		const struct mapping *at = &users->at[i].mapping;

		if (!i || at->pid != users->at[i - 1].mapping.pid) {
			process = json_append(array);
			process_name(at->pid, name, sizeof(name));
			json_add_uint(process, "pid", at->pid);
			json_add_string(process, "name", name);
			ranges = json_object_new_array();
			json_add(process, "ranges", ranges);
		}
		range = json_append(ranges);
		json_add_hex(range, "start", at->start);
		json_add_hex(range, "end", at->end);
		json_add_hex(range, "offset", users->at[i].offset);
	}
}

/* A heading, and one line for each range. */
static void print_users(const struct netlink_file *file, const char *what, const struct mapped_list *users)
{
	size_t i, processes = count_processes(users);
	char name[64];

	text_put_name(stdout, file->name);
	printf(": %s, %zu process%s\n", what, processes, processes == 1 ? "" : "es");
	if (users->count)
		printf("%8s  %-33s %18s  %s\n", "pid", "start-end", "offset", "name");
	for (i = 0; i < users->count; i++) {
		const struct mapping *at = &users->at[i].mapping;

		process_name(at->pid, name, sizeof(name));
		printf("%8u  %016llx-%016llx %#18llx  ", at->pid, (ull)at->start, (ull)at->end,
		       (ull)users->at[i].offset);
		text_put_name(stdout, name);
		putchar('\n');
	}
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
	struct mapped_list list = { 0 }, users;
	char what[64] = "no table";
	int fd, ret = mapped_add_all(&list, NULL, error);

	if (!ret) {
		mapped_sort(&list);
		find_users(nl, file, &list, &users, &fd);
		if (fd >= 0)
			close(fd);
		if (file->loaded)
			snprintf(what, sizeof(what), "%u rows, %s", file->rows,
				 text_size(file->bytes).text);
		if (array)
			json_users(json_append(array), file, &users);
		else
			print_users(file, what, &users);
		free(users.at);
	}
	mapped_free(&list);
	return ret;
}

/**
 * table_users_kill() - remove the table of a file, and print the processes that have it mapped
 * @nl: the connection
 * @file: the file.  If it can be opened it is news no more, so that its table is not made again; what cannot is
 *	forgotten
 * @quiet: print nothing
 * @error: filled on failure
 *
 * Return: 0, or -1.
 */
int table_users_kill(struct netlink *nl, const struct netlink_file *file, bool quiet,
		     struct bee_error *error)
{
	struct mapped_list list = { 0 }, users;
	int fd, opened, ret = mapped_add_all(&list, NULL, error);
	struct netlink_file found;
	uint32_t id;

	if (ret)
		return ret;
	mapped_sort(&list);
	find_users(nl, file, &list, &users, &fd);
	opened = fd;
	if (opened < 0 && !file->pid && file->inode) {
		fd = io_open_regular(file->name);
		if (fd >= 0 && !netlink_file_get(nl, fd, &found, error) && found.id == file->id)
			opened = fd;
	}
	if (opened >= 0 || (!file->pid && !file->inode))
		ret = netlink_table_add(nl, NETLINK_NO_TABLE, opened, file->uid, &id, error);
	else
		ret = netlink_table_del(nl, file->id, error);
	if (!ret && !quiet)
		print_users(file, "table removed", &users);
	if (fd >= 0)
		close(fd);
	free(users.at);
	mapped_free(&list);
	return ret;
}
