// SPDX-License-Identifier: GPL-2.0
/* What users have of the budget, for beectl status. */
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "json.h"
#include "messages.h"
#include "status_users.h"
#include "text.h"

/* struct user - a user, and the tables that were made for it */
struct user {
	uint32_t	uid;
	size_t		tables;
	uint64_t	bytes;
};

/* Most memory first. */
static int compare_users(const void *a, const void *b)
{
	const struct user *x = a, *y = b;

	return x->bytes < y->bytes ? 1 : -(x->bytes > y->bytes);
}

/**
 * status_show_users() - users for whose processes tables were made, and the memory of these
 * @files: all files
 * @info: budget and share
 * @json: gets them as "users"; if NULL, they are printed
 */
void status_show_users(const struct netlink_files *files, const struct netlink_info *info,
		       struct json_object *json)
{
	struct json_object *array = json ? json_object_new_array() : NULL, *object;
	struct user *users = alloc_zero(files->count + 1, sizeof(*users));
	size_t i, k, count = 0;

	for (i = 0; i < files->count; i++) {
		const struct netlink_file *file = &files->file[i];

		for (k = 0; k < count && users[k].uid != file->uid; k++)
			;
		count += k == count;
		users[k].uid = file->uid;
		users[k].tables += file->loaded;
		users[k].bytes += file->bytes;
	}
	qsort(users, count, sizeof(*users), compare_users);
	if (json)
		json_add(json, "users", array);
	else
		printf("%10s %8s %11s %11s\n", "uid", "tables", "memory", "at most");
	for (i = 0; i < count; i++) {
		uint64_t most = users[i].uid ? info->budget / 100 * info->share : info->budget;

		if (json) {
			object = json_append(array);
			json_add_uint(object, "uid", users[i].uid);
			json_add_uint(object, "tables", users[i].tables);
			json_add_uint(object, "bytes", users[i].bytes);
			json_add_uint(object, "most", most);
		} else {
			printf("%10u %8zu %11s %11s\n", users[i].uid, users[i].tables,
			       text_size(users[i].bytes).text, text_size(most).text);
		}
	}
	free(users);
}
