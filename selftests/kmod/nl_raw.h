/* SPDX-License-Identifier: GPL-2.0 */
/* Builds netlink messages byte by byte, for requests that no library would send. */
#ifndef NETLINK_RAW_H
#define NETLINK_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

enum spec_kind {
	SPEC_U32,
	SPEC_U64,
	SPEC_TEXT,
	SPEC_FD,
	SPEC_PID,
	SPEC_ADDRESS,
	SPEC_FLAG,
	SPEC_NEST,
};

struct spec_set;

struct spec_attr {
	uint16_t		 type;
	enum spec_kind		 kind;
	const struct spec_set	*nested;
};

struct spec_set {
	const struct spec_attr	*attrs;
	size_t			 count;
};

/* struct spec_op - an operation; @set: its attributes; @asks: those that a request may have */
struct spec_op {
	const char		*name;
	uint8_t			 cmd;
	bool			 can_do;
	bool			 can_dump;
	const struct spec_set	*set;
	const struct spec_set	*asks;
};

#include "nl_spec.h"

#define NOPS	(sizeof(spec_ops) / sizeof(spec_ops[0]))

/* struct raw_message - a message and room for its attributes */
struct raw_message {
	union {
		struct nlmsghdr	h;
		uint8_t		bytes[32768];
	};
};

/* struct raw_family - the id of the module's family, and that of its multicast group or 0 */
struct raw_family {
	uint16_t	id;
	uint32_t	group;
};

int raw_open(int old);
void raw_find_family(int sock, struct raw_family *family);
void raw_begin(struct raw_message *m, uint16_t type, uint16_t flags, uint8_t cmd);
void *raw_put(struct raw_message *m, uint16_t type, const void *data, uint32_t length);

#endif /* NETLINK_RAW_H */
