/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of a file that other processes may truncate or rewrite at any time.  They are copied,
 * not mapped: a copy does not change while it is used, and reading it raises no SIGBUS.
 */
#ifndef BEE_READER_H
#define BEE_READER_H

#include <linux/types.h>

#include "error.h"

#define READER_MAX_BYTES		(512u << 20)	/* at once */
#define READER_MAX_WINDOW	(64u << 10)
#define READER_MAX_SPOT		64

struct reader;

struct reader *reader_open(int fd, struct bee_error *error);
void reader_close(struct reader *reader);
u64 reader_size(const struct reader *reader);
const u8 *reader_bytes(struct reader *reader, u64 offset, u64 size);
const u8 *reader_part(struct reader *reader, u64 offset, u64 size);
bool reader_parts_end(struct reader *reader);
const u8 *reader_window(struct reader *reader, u64 offset, u64 size);
const u8 *reader_spot(struct reader *reader, u64 offset, u64 size);
int reader_check(struct reader *reader, struct bee_error *error);

#endif /* BEE_READER_H */
