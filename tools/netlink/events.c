// SPDX-License-Identifier: GPL-2.0
/* What the module announces, and the kernel about the module: two multicast groups. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include "alloc.h"
#include "events.h"
#include "exchange.h"

struct netlink_events {
	struct nl_sock		*sock;
	enum netlink_event_kind	 kind;
	struct netlink_file	 file;
};

static int events_take(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct netlink_events *events = arg;

	if (header->cmd != BEEUNWIND_CMD_FILE_NTF)
		return NL_SKIP;
	memset(&events->file, 0, sizeof(events->file));
	netlink_file_parse(genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0), &events->file);
	events->kind = NETLINK_EVENT_FILE;
	return NL_STOP;
}

/* A socket in @group of @family, whose messages @take gets.  Return: 0, or a code of libnl. */
static int group_join(struct nl_sock *sock, const char *family, const char *group,
		      nl_recvmsg_msg_cb_t take, void *arg)
{
	int ret = genl_connect(sock);

	if (ret >= 0)
		ret = genl_ctrl_resolve_grp(sock, family, group);
	if (ret < 0)
		return ret;
	nl_socket_disable_seq_check(sock);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take, arg);
	ret = nl_socket_add_membership(sock, ret);
	return ret < 0 ? ret : nl_socket_set_nonblocking(sock);
}

/**
 * netlink_events_open() - listen to the module
 * @error: filled on failure
 *
 * Return: a listener for netlink_events_close(), or NULL.
 */
struct netlink_events *netlink_events_open(struct bee_error *error)
{
	struct netlink_events *events = alloc_zero(1, sizeof(*events));
	int ret;

	events->sock = alloc_check(nl_socket_alloc(), 0);
	ret = group_join(events->sock, BEEUNWIND_FAMILY_NAME, BEEUNWIND_MCGRP_EVENTS, events_take,
			 events);
	if (ret >= 0)
		return events;
	error_set(error, ret == -NLE_PERM ? EPERM : EIO, "listening to the module: %s",
		  ret == -NLE_PERM ? "needs root (CAP_SYS_ADMIN), of the initial user namespace" :
		  nl_geterror(ret));
	netlink_events_close(events);
	return NULL;
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

/**
 * netlink_events_next() - the next message; does not wait
 * @events: the listener
 * @file: on NETLINK_EVENT_FILE, the file, and where it is mapped
 *
 * Return: what it is.
 */
enum netlink_event_kind netlink_events_next(struct netlink_events *events,
					    struct netlink_file *file)
{
	int ret;

	events->kind = NETLINK_EVENT_NONE;
	ret = nl_recvmsgs_default(events->sock);
	*file = events->file;
	if (events->kind == NETLINK_EVENT_NONE && ret < 0 && ret != -NLE_AGAIN)
		return NETLINK_EVENT_LOST;
	return events->kind;
}

/**
 * struct netlink_family - tells when the module comes or goes
 * @sock: in the multicast group of the kernel's list of families
 * @news: since somebody asked
 */
struct netlink_family {
	struct nl_sock		*sock;
	enum netlink_family_news	 news;
};

static int family_take(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct netlink_family *family = arg;
	const struct nlattr *name;

	if (header->cmd != CTRL_CMD_NEWFAMILY && header->cmd != CTRL_CMD_DELFAMILY)
		return NL_OK;
	name = nla_find(genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0),
			CTRL_ATTR_FAMILY_NAME);
	if (name && !nla_strcmp(name, BEEUNWIND_FAMILY_NAME))
		family->news = header->cmd == CTRL_CMD_NEWFAMILY ? NETLINK_FAMILY_COME :
								   NETLINK_FAMILY_GONE;
	return NL_OK;
}

/**
 * netlink_family_open() - be told when the module comes and goes
 * @error: filled on failure
 *
 * Return: for netlink_family_close(), or NULL.
 */
struct netlink_family *netlink_family_open(struct bee_error *error)
{
	struct netlink_family *family = alloc_zero(1, sizeof(*family));
	int ret;

	family->sock = alloc_check(nl_socket_alloc(), 0);
	ret = group_join(family->sock, "nlctrl", "notify", family_take, family);
	if (ret >= 0)
		return family;
	error_set(error, EIO, "listening to the kernel: %s", nl_geterror(ret));
	netlink_family_close(family);
	return NULL;
}

/** netlink_family_close() - stop listening; NULL is fine */
void netlink_family_close(struct netlink_family *family)
{
	if (!family)
		return;
	nl_socket_free(family->sock);
	free(family);
}

/** netlink_family_fd() - for poll(): readable when some module has come or gone */
int netlink_family_fd(const struct netlink_family *family)
{
	return nl_socket_get_fd(family->sock);
}

/**
 * netlink_family_next() - whether the module has come or gone; does not wait
 * @family: the listener
 *
 * Return: what happened last.
 */
enum netlink_family_news netlink_family_next(struct netlink_family *family)
{
	int ret;

	family->news = NETLINK_FAMILY_SAME;
	do
		ret = nl_recvmsgs_default(family->sock);
	while (ret >= 0);
	return ret == -NLE_AGAIN ? family->news : NETLINK_FAMILY_LOST;
}
