/* SPDX-License-Identifier: GPL-2.0 */
/* What users have of the budget, for beectl status. */
#ifndef STATUS_USERS_H
#define STATUS_USERS_H

#include "netlink.h"

struct json_object;

void status_show_users(const struct netlink_files *files, const struct netlink_info *info,
		       struct json_object *json);

#endif /* STATUS_USERS_H */
