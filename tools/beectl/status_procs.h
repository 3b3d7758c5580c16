/* SPDX-License-Identifier: GPL-2.0 */
/* Processes, their files and their walks, for beectl status. */
#ifndef STATUS_PROCS_H
#define STATUS_PROCS_H

#include <stdbool.h>

#include "netlink.h"

struct json_object;

int status_show_pid(struct netlink *nl, pid_t pid, struct json_object *json,
		    struct bee_error *error);
void status_show_procs(const struct netlink_procs *procs, bool all, struct json_object *json);

#endif /* STATUS_PROCS_H */
