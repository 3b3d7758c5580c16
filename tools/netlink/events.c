// SPDX-License-Identifier: GPL-2.0
/* Two multicast groups: one tells that there are news, the other that the module comes and goes. */
#include <errno.h>
#include <stdlib.h>

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include "alloc.h"
#include "events.h"

/**
 * struct netlink_events - a listener
 * @sock: in one multicast group
 * @family: what the kernel's messages have said last
 */
struct netlink_events {
	struct nl_sock			*sock;
	enum netlink_family_news	 family;
};

/* A message of the module says only that there is something to ask for. */
static int events_take(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

static int family_take(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct netlink_events *family = arg;
	const struct nlattr *name;

	if (header->cmd != CTRL_CMD_NEWFAMILY && header->cmd != CTRL_CMD_DELFAMILY)
		return NL_OK;
	name = nla_find(genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0),
			CTRL_ATTR_FAMILY_NAME);
	if (name && !nla_strcmp(name, BEEUNWIND_FAMILY_NAME))
		family->family = header->cmd == CTRL_CMD_NEWFAMILY ? NETLINK_FAMILY_LOADED :
								     NETLINK_FAMILY_UNLOADED;
	return NL_OK;
}

/* Listen to @group of @family; @take gets its messages.  NULL: error filled, of @whom. */
static struct netlink_events *group_join(const char *family, const char *group,
					 nl_recvmsg_msg_cb_t take, const char *whom,
					 struct bee_error *error)
{
	struct netlink_events *events = alloc_zero(1, sizeof(*events));
	struct nl_sock *sock = alloc_check(nl_socket_alloc(), 0);
	int ret = genl_connect(sock);

	events->sock = sock;
	if (ret >= 0)
		ret = genl_ctrl_resolve_grp(sock, family, group);
	if (ret >= 0) {
		nl_socket_disable_seq_check(sock);
		nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take, events);
		ret = nl_socket_add_membership(sock, ret);
	}
	if (ret >= 0)
		ret = nl_socket_set_nonblocking(sock);
	if (ret >= 0)
		return events;
	error_set(error, ret == -NLE_PERM ? EPERM : EIO, "listening to the %s: %s", whom,
		  ret == -NLE_PERM ? "needs root (CAP_SYS_ADMIN), of the initial user namespace" :
		  nl_geterror(ret));
	netlink_events_close(events);
	return NULL;
}

/** netlink_events_open() - have the module tell that there are news; NULL: @error filled */
struct netlink_events *netlink_events_open(struct bee_error *error)
{
	return group_join(BEEUNWIND_FAMILY_NAME, BEEUNWIND_MCGRP_EVENTS, events_take, "module", error);
}

/** netlink_family_open() - have the kernel tell when the module comes and goes; NULL: @error filled */
struct netlink_events *netlink_family_open(struct bee_error *error)
{
	return group_join("nlctrl", "notify", family_take, "kernel", error);
}

/** netlink_events_close() - stop listening; NULL is fine */
void netlink_events_close(struct netlink_events *events)
{
	if (!events)
		return;
	nl_socket_free(events->sock);
	free(events);
}

/** netlink_events_fd() - for poll(): readable when there is something */
int netlink_events_fd(const struct netlink_events *events)
{
	return nl_socket_get_fd(events->sock);
}

/* Read all messages.  Return: as nl_recvmsgs_default(), of the last attempt. */
static int events_read(struct netlink_events *events)
{
	int ret;

	do
		ret = nl_recvmsgs_default(events->sock);
	while (ret >= 0);
	return ret;
}

/**
 * netlink_events_drain() - read all messages of the module; does not wait
 * @events: from netlink_events_open()
 *
 * To be called before netlink_news_get(), which has all that they are about, and what dropped ones are about.
 */
void netlink_events_drain(struct netlink_events *events)
{
	/* NLE_NOMEM: messages were dropped, others may follow. */
	while (events_read(events) == -NLE_NOMEM)
		;
}

/**
 * netlink_family_next() - read all messages of the kernel; does not wait
 * @family: from netlink_family_open()
 *
 * Return: what happened to the module last.
 */
enum netlink_family_news netlink_family_next(struct netlink_events *family)
{
	family->family = NETLINK_FAMILY_SAME;
	return events_read(family) == -NLE_AGAIN ? family->family : NETLINK_FAMILY_LOST;
}
