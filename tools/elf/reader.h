/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of a file that others may cut or rewrite at any time: copied when they are
 * needed, never mapped, so that they stay what they were and reading them cannot fault.
 */
#ifndef BEE_INPUT_H
#define BEE_INPUT_H

#include <linux/types.h>

#define INPUT_MAX_BYTES		(512u << 20)	/* at once */
#define INPUT_MAX_WINDOW	(64u << 10)

struct input;

struct input *input_open(int fd, char *why, size_t size);
void input_close(struct input *input);
u64 input_size(const struct input *input);
const u8 *input_bytes(struct input *input, u64 offset, u64 size);
const u8 *input_window(struct input *input, u64 offset, u64 size);
const char *input_trouble(struct input *input);

#endif /* BEE_INPUT_H */
