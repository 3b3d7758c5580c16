/* SPDX-License-Identifier: GPL-2.0 */
/* All that the module has counted: until one moment, or between two. */
#ifndef COUNTS_H
#define COUNTS_H

#include "netlink.h"

/**
 * struct counts - the module's counters, and what they count
 * @info: state of the module
 * @stats: walks by stop reason
 * @files: that the module knows
 * @procs: processes that were sampled last
 */
struct counts {
	struct netlink_info	info;
	struct netlink_stats	stats;
	struct netlink_files	files;
	struct netlink_procs	procs;
};

int counts_get(struct netlink *nl, struct counts *counts, struct bee_error *error);
int counts_read(const char *path, struct counts *counts, struct bee_error *error);
int counts_subtract(struct counts *counts, const struct counts *then, struct bee_error *error);
void counts_free(struct counts *counts);

#endif /* COUNTS_H */
