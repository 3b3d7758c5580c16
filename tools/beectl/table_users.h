/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes use the table of a file, for beectl status and unload. */
#ifndef TABLE_USERS_H
#define TABLE_USERS_H

#include <stdbool.h>

#include "json.h"
#include "netlink.h"

int table_users_find(struct netlink *nl, const char *word, struct netlink_files *files,
		     struct bee_error *error);
int table_users_show(struct netlink *nl, const struct netlink_file *file,
		     struct json_object *array, struct bee_error *error);
int table_users_kill(struct netlink *nl, const struct netlink_file *file, bool quiet,
		     struct bee_error *error);

#endif /* TABLE_USERS_H */
