/* SPDX-License-Identifier: GPL-2.0 */
/* Every process of the machine. */
#ifndef BEE_ALL_H
#define BEE_ALL_H

#include <stddef.h>
#include <sys/types.h>

#include "netlink.h"

/**
 * struct all_result - what all_manage() found
 * @managed: processes that are managed now
 * @refused: processes that are not; those without 64-bit user code are not counted
 * @pid: the first of them
 * @why: and the reason
 */
struct all_result {
	size_t			managed;
	size_t			refused;
	pid_t			pid;
	struct bee_error	why;
};

int all_manage(struct netlink *nl, struct all_result *result);
int all_forget(struct netlink *nl, size_t *count, struct bee_error *error);

#endif /* BEE_ALL_H */
