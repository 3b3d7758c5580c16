/* SPDX-License-Identifier: GPL-2.0 */
/* The files that the module knows, for beectl status. */
#ifndef STATUS_FILES_H
#define STATUS_FILES_H

#include <stdio.h>

#include "netlink.h"

struct json_object;

void status_show_files(const struct netlink_files *files, struct json_object *json);
void status_show_incomplete(FILE *out, const struct netlink_files *files,
			    const struct netlink_stats *stats,
			    struct json_object *json);

#endif /* STATUS_FILES_H */
