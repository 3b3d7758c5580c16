// SPDX-License-Identifier: GPL-2.0
/* What users have of the budget, for beectl status. */
#include <stdio.h>

#include "json.h"
#include "messages.h"
#include "status_users.h"
#include "text.h"

typedef unsigned long long ull;

/**
 * status_show_users() - users whose processes are managed, and their memory
 * @users: the users
 * @json: gets them as "users"; if NULL, they are printed
 */
void status_show_users(const struct netlink_users *users, struct json_object *json)
{
	struct json_object *array = json ? json_object_new_array() : NULL;
	size_t i;

	if (json)
		json_add(json, "users", array);
	else
		printf("%10s %11s %11s %10s\n", "uid", "memory", "at most", "refused");
	for (i = 0; i < users->count; i++) {
		const struct netlink_user *user = &users->user[i];

		if (json) {
			struct json_object *object = json_append(array);

			json_add_uint(object, "uid", user->uid);
			json_add_uint(object, "bytes", user->bytes);
			json_add_uint(object, "most", user->most);
			json_add_uint(object, "refusals", user->refused);
		} else {
			printf("%10u %11s %11s %10llu\n", user->uid, text_size(user->bytes).text,
			       text_size(user->most).text, (ull)user->refused);
		}
	}
}

/** status_show_refusals() - print how often users at their share were refused memory, unless none was */
void status_show_refusals(const struct netlink_users *users)
{
	const struct netlink_user *worst = users->user;
	size_t i, refused = 0;
	uint64_t sum = 0;

	for (i = 0; i < users->count; i++) {
		sum += users->user[i].refused;
		refused += !!users->user[i].refused;
		if (users->user[i].refused > worst->refused)
			worst = &users->user[i];
	}
	if (!sum)
		return;
	printf("refused:   %llu time%s memory to ", (ull)sum, plural(sum));
	if (refused == 1)
		printf("user %u, whose share was", worst->uid);
	else
		printf("%zu users, most often user %u, whose shares were", refused, worst->uid);
	printf(" used up; see beectl status --users; more: beectl config share PERCENT\n");
}
