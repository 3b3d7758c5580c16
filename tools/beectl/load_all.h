/* SPDX-License-Identifier: GPL-2.0 */
/* beectl load --all. */
#ifndef BEE_LOAD_ALL_H
#define BEE_LOAD_ALL_H

#include <stdbool.h>

#include "table_jobs.h"

/* struct load_all_options: as in "beectl load --help" */
struct load_all_options {
	bool	quiet;
	bool	verbose;
	bool	json;
};

int load_all(const struct table_maker *maker, const struct load_all_options *options);

#endif /* BEE_LOAD_ALL_H */
