/* SPDX-License-Identifier: GPL-2.0 */
/* One request to the module and its answer, in libnl's types: for the .c files of this room. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "error.h"
#include "netlink.h"

/**
 * typedef reply_fn - what takes replies; called once for each message
 * @attrs: its attributes
 * @length: bytes of @attrs
 * @result: from exchange_request() or exchange_dump()
 *
 * Return: 0, or -1 if an attribute is malformed.
 */
typedef int (*reply_fn)(struct nlattr *attrs, int length, void *result);

/**
 * struct netlink - a connection
 * @sock: the socket; NULL if it broke and could not be opened again
 * @family: libnl's number for the module's family
 * @max_message: bytes of the longest request that the kernel takes
 */
struct netlink {
	struct nl_sock	*sock;
	int		 family;
	size_t		 max_message;
};

const char *exchange_other_version(bool newer);
struct nl_msg *exchange_begin(const struct netlink *nl, int command, size_t room);
void exchange_put(struct nl_msg *msg, int type, const void *data, size_t size);
void exchange_put_u32(struct nl_msg *msg, int type, uint32_t value);
void exchange_put_u64(struct nl_msg *msg, int type, uint64_t value);
int exchange_request(struct netlink *nl, struct nl_msg *msg, reply_fn parse, void *result,
		     struct bee_error *error);
int exchange_dump(struct netlink *nl, struct nl_msg *msg, reply_fn parse, void *result,
		  struct bee_error *error);

#endif /* EXCHANGE_H */
