/* SPDX-License-Identifier: GPL-2.0 */
/* The records of the kernel and of perf. */
#ifndef RECORDS_H
#define RECORDS_H

#include "contents.h"
#include "cursor.h"
#include "error.h"

#define RECORD_HEADER	8	/* bytes of struct perf_event_header */

/* struct record_header - struct perf_event_header */
struct record_header {
	u32	type;
	u16	misc;
	u16	size;
};

struct record_header record_header(const u8 *record);
u64 record_time(const struct perfdata *data, const u8 *record);
int record_deliver(struct perfdata *data, const struct perfdata_handler *handler, const u8 *record,
		   struct bee_error *error);

#endif /* RECORDS_H */
