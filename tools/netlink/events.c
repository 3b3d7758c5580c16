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

/**
 * struct netlink_events - a listener
 * @sock: in one multicast group
 * @nl: to ask the module what a message is about; NULL for the kernel's messages
 * @kind: of the last message that counts
 * @file: of the last message, what the module sends: numbers
 */
struct netlink_events {
	struct nl_sock		*sock;
	struct netlink		*nl;
	enum netlink_event_kind	 kind;
	struct netlink_file	 file;
};

static int events_take(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = genlmsg_hdr(nlmsg_hdr(msg));
	struct netlink_events *events = arg;
	struct netlink_proc proc = {};

	if (header->cmd == BEEUNWIND_CMD_CODE_NTF) {
		netlink_proc_parse(genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0), &proc);
		events->file = (struct netlink_file){ .owner = proc.cookie };
		events->kind = NETLINK_EVENT_CODE;
		return NL_STOP;
	}
	if (header->cmd != BEEUNWIND_CMD_FILE_NTF && header->cmd != BEEUNWIND_CMD_TABLE_NTF) {
		events->kind = NETLINK_EVENT_OTHER;
		return NL_STOP;
	}
	memset(&events->file, 0, sizeof(events->file));
	netlink_file_parse(genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0), &events->file);
	if (header->cmd == BEEUNWIND_CMD_FILE_NTF)
		events->kind = NETLINK_EVENT_FILE;
	else
		events->kind = events->file.loaded ? NETLINK_EVENT_OTHER : NETLINK_EVENT_REMOVED;
	return NL_STOP;
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
		family->kind = header->cmd == CTRL_CMD_NEWFAMILY ? NETLINK_EVENT_LOADED :
								   NETLINK_EVENT_UNLOADED;
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

/** netlink_events_open() - have the module tell of files without a table; NULL: @error filled */
struct netlink_events *netlink_events_open(struct bee_error *error)
{
	struct netlink_events *events = group_join(BEEUNWIND_FAMILY_NAME, BEEUNWIND_MCGRP_EVENTS,
						   events_take, "module", error);

	if (!events)
		return NULL;
	events->nl = netlink_open(error);
	if (events->nl)
		return events;
	netlink_events_close(events);
	return NULL;
}

/** netlink_family_open() - have the kernel tell when the module comes and goes; NULL: likewise */
struct netlink_events *netlink_family_open(struct bee_error *error)
{
	return group_join("nlctrl", "notify", family_take, "kernel", error);
}

/** netlink_events_close() - stop listening; NULL is fine */
void netlink_events_close(struct netlink_events *events)
{
	if (!events)
		return;
	netlink_close(events->nl);
	nl_socket_free(events->sock);
	free(events);
}

/** netlink_events_fd() - for poll(): readable when there is something */
int netlink_events_fd(const struct netlink_events *events)
{
	return nl_socket_get_fd(events->sock);
}

/* What became meanwhile of a thing that a message is about. */
static enum netlink_event_kind events_outdated(const struct bee_error *error)
{
	return error->code == ENOENT ? NETLINK_EVENT_OTHER : NETLINK_EVENT_LOST;
}

/* Ask for the file of a message. */
static enum netlink_event_kind events_find_file(struct netlink_events *events)
{
	struct netlink_file *file = &events->file;
	uint32_t procs = file->procs;
	struct bee_error error;

	if (netlink_file_get_id(events->nl, file->id, file, &error))
		return events_outdated(&error);
	file->procs = procs;
	/* Somebody was faster. */
	if (events->kind == NETLINK_EVENT_FILE && (file->loaded || !file->pid))
		return NETLINK_EVENT_OTHER;
	return events->kind;
}

/* Ask for a process in the address space of a message. */
static enum netlink_event_kind events_find_process(struct netlink_events *events)
{
	struct netlink_procs procs;
	struct bee_error error;
	int ret = netlink_proc_find(events->nl, events->file.owner, &procs, &error);

	if (!ret && procs.count)
		events->file.pid = procs.proc[0].pid;
	netlink_procs_free(&procs);
	if (ret)
		return events_outdated(&error);
	return events->file.pid ? NETLINK_EVENT_CODE : NETLINK_EVENT_OTHER;
}

/**
 * netlink_events_next() - the next message of the module; does not wait
 * @events: from netlink_events_open()
 * @file: on NETLINK_EVENT_FILE, the file, and where it is mapped; on NETLINK_EVENT_REMOVED, the file
 *	and how many processes had it mapped; on NETLINK_EVENT_CODE, only pid and owner, the address
 *	space
 *
 * Return: what it is.
 */
enum netlink_event_kind netlink_events_next(struct netlink_events *events,
					    struct netlink_file *file)
{
	int ret;

	events->kind = NETLINK_EVENT_NONE;
	ret = nl_recvmsgs_default(events->sock);
	if (events->kind == NETLINK_EVENT_NONE && ret < 0 && ret != -NLE_AGAIN)
		events->kind = NETLINK_EVENT_LOST;
	else if (events->kind == NETLINK_EVENT_FILE || events->kind == NETLINK_EVENT_REMOVED)
		events->kind = events_find_file(events);
	else if (events->kind == NETLINK_EVENT_CODE)
		events->kind = events_find_process(events);
	*file = events->file;
	return events->kind;
}

/**
 * netlink_family_next() - read all messages of the kernel; does not wait
 * @family: from netlink_family_open()
 *
 * Return: what happened to the module last.
 */
enum netlink_event_kind netlink_family_next(struct netlink_events *family)
{
	int ret;

	family->kind = NETLINK_EVENT_NONE;
	do
		ret = nl_recvmsgs_default(family->sock);
	while (ret >= 0);
	return ret == -NLE_AGAIN ? family->kind : NETLINK_EVENT_LOST;
}
