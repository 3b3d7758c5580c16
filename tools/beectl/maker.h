/* SPDX-License-Identifier: GPL-2.0 */
/* What commands that make tables for the module need. */
#ifndef MAKER_H
#define MAKER_H

#include <stdio.h>

#include "table_jobs.h"

/* Said where tables would change nothing. */
#define MAKER_HOOK_OFF \
	"the module's hook is off, so perf's stacks are as without it; " \
	"switch it on with: beectl config hook on"

int maker_connect(struct table_maker *maker, struct bee_error *error);
int maker_open(struct table_maker *maker, struct bee_error *error);
void maker_close(struct table_maker *maker);
void maker_warn(const struct table_maker *maker, const char *command);
void maker_warn_hook(const struct table_maker *maker, const char *command);
void maker_print_wrong(FILE *out, uint64_t wrong, uint64_t text);

#endif /* MAKER_H */
