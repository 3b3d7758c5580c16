/* SPDX-License-Identifier: GPL-2.0 */
/* Recordings of perf record: perf.data, or its pipe. */
#ifndef PERFDATA_H
#define PERFDATA_H

#include "contents.h"
#include "error.h"
#include "stream.h"

bool perfdata_is(const void *start, size_t size);
int perfdata_read(struct perfdata *data, struct stream *stream,
		  const struct perfdata_handler *handler, struct bee_error *error);
const struct perfdata_build_id *perfdata_find_build_id(struct perfdata *data, const char *path);
void perfdata_free(struct perfdata *data);

#endif /* PERFDATA_H */
