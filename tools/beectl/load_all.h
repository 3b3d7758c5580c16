/* SPDX-License-Identifier: GPL-2.0 */
/* beectl load --all. */
#ifndef LOAD_ALL_H
#define LOAD_ALL_H

#include <stdbool.h>

#include "table_jobs.h"

/* struct load_all_options: as in "beectl load --help" */
struct load_all_options {
	bool	quiet;
	bool	verbose;
	bool	json;
};

int load_all(const struct table_maker *as, const struct load_all_options *options);

#endif /* LOAD_ALL_H */
