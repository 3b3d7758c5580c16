// SPDX-License-Identifier: GPL-2.0
/* What the module announces: multicast group "events".  With nl.c the only user of libnl. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include "nl_events.h"

struct bee_nl_events {
	struct nl_sock		*sock;
	enum bee_nl_event_kind	 kind;
	struct bee_nl_table	 table;
};

static int events_take(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct bee_nl_events *events = arg;

	memset(&events->table, 0, sizeof(events->table));
	if (header->cmd != BEEUNWIND_CMD_TABLE_NTF ||
	    bee_nl_table_parse(genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0),
			       &events->table))
		return NL_SKIP;
	events->kind = BEE_NL_EVENT_TABLE;
	return NL_STOP;
}

static int events_join(struct bee_nl_events *events)
{
	int group = genl_connect(events->sock);

	if (group >= 0)
		group = genl_ctrl_resolve_grp(events->sock, BEEUNWIND_FAMILY_NAME,
					      BEEUNWIND_MCGRP_EVENTS);
	if (group < 0)
		return group;
	nl_socket_disable_seq_check(events->sock);
	nl_socket_modify_cb(events->sock, NL_CB_VALID, NL_CB_CUSTOM, events_take, events);
	group = nl_socket_add_membership(events->sock, group);
	return group < 0 ? group : nl_socket_set_nonblocking(events->sock);
}

/**
 * bee_nl_events_open() - listen to the module
 * @error: filled on failure
 *
 * Return: a listener for bee_nl_events_close(), or NULL.
 */
struct bee_nl_events *bee_nl_events_open(struct bee_nl_error *error)
{
	struct bee_nl_events *events = calloc(1, sizeof(*events));
	int ret = -NLE_NOMEM;

	if (events)
		events->sock = nl_socket_alloc();
	if (events && events->sock)
		ret = events_join(events);
	if (ret >= 0)
		return events;
	error->code = ret == -NLE_PERM ? EPERM : EIO;
	snprintf(error->text, sizeof(error->text), "listening to the module: %s",
		 nl_geterror(ret));
	bee_nl_events_close(events);
	return NULL;
}

/** bee_nl_events_close() - stop listening; NULL is fine */
void bee_nl_events_close(struct bee_nl_events *events)
{
	if (events && events->sock)
		nl_socket_free(events->sock);
	free(events);
}

/** bee_nl_events_fd() - for poll(): readable when there is something */
int bee_nl_events_fd(const struct bee_nl_events *events)
{
	return nl_socket_get_fd(events->sock);
}

/**
 * bee_nl_events_next() - the next message; does not wait
 * @events: the listener
 * @table: on BEE_NL_EVENT_TABLE, the file, and where it is mapped
 *
 * Return: what it is.
 */
enum bee_nl_event_kind bee_nl_events_next(struct bee_nl_events *events,
					  struct bee_nl_table *table)
{
	int ret;

	events->kind = BEE_NL_EVENT_NONE;
	ret = nl_recvmsgs_default(events->sock);
	*table = events->table;
	if (events->kind == BEE_NL_EVENT_NONE && ret < 0 && ret != -NLE_AGAIN)
		return BEE_NL_EVENT_LOST;
	return events->kind;
}
