/* SPDX-License-Identifier: GPL-2.0 */
/* The files that the module knows, for beectl status. */
#ifndef BEE_STATUS_TABLES_H
#define BEE_STATUS_TABLES_H

#include "netlink.h"

struct json_object;

void print_tables(const struct netlink_files *tables);
void json_tables(struct json_object *object, const struct netlink_files *tables);
void print_incomplete(const struct netlink_files *tables);
void json_incomplete(struct json_object *object, const struct netlink_files *tables);

#endif /* BEE_STATUS_TABLES_H */
