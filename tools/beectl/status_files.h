/* SPDX-License-Identifier: GPL-2.0 */
/* The files that the module knows, for beectl status. */
#ifndef STATUS_FILES_H
#define STATUS_FILES_H

#include "netlink.h"

struct json_object;

void status_print_files(const struct netlink_files *files);
void status_json_files(struct json_object *object, const struct netlink_files *files);
void status_print_incomplete(const struct netlink_files *files);
void status_json_incomplete(struct json_object *object, const struct netlink_files *files);

#endif /* STATUS_FILES_H */
