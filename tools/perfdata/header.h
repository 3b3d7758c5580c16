/* SPDX-License-Identifier: GPL-2.0 */
/* What a recording says of itself: its events, command line, build-ids. */
#ifndef HEADER_H
#define HEADER_H

#include "contents.h"
#include "cursor.h"
#include "error.h"

/* "PERFILE2" */
#define HEADER_MAGIC		0x32454c4946524550ull
#define HEADER_PIPE_SIZE	16

int header_add_event(struct perfdata *data, struct cursor attr, struct cursor ids,
		     struct bee_error *error);
void header_sort_ids(struct perfdata *data);
void header_add_build_id(struct perfdata *data, struct cursor record);
void header_take_feature(struct perfdata *data, unsigned int feature, struct cursor content);
bool header_find_event(const struct perfdata *data, u64 id, u32 *event);
void header_name_event(struct perfdata *data, struct cursor update);
int header_read_file(struct perfdata *data, int fd, u64 *start, u64 *end,
		     struct bee_error *error);

#endif /* HEADER_H */
