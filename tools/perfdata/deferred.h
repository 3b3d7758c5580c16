/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples whose user stacks come later: "perf record --call-graph fp,defer".  Their callchains end
 * with PERF_CONTEXT_USER_DEFERRED and a cookie; a record with the same cookie has the rest, once the
 * thread returns to user mode.
 */
#ifndef DEFERRED_H
#define DEFERRED_H

#include "contents.h"
#include "cursor.h"

bool deferred_add(struct perfdata *data, struct perfdata_sample *sample);
void deferred_deliver(struct perfdata *data, struct cursor body,
		      const struct perfdata_handler *handler);
void deferred_flush(struct perfdata *data, const struct perfdata_handler *handler);

#endif /* DEFERRED_H */
