/* SPDX-License-Identifier: GPL-2.0 */
/* What the module announces, and the kernel about the module: two multicast groups. */
#ifndef NETLINK_EVENTS_H
#define NETLINK_EVENTS_H

#include "netlink.h"

/*
 * Messages that a caller takes in a row before it sees to everything else: users can have the module send
 * them faster than they are read.
 */
#define NETLINK_EVENTS_TURN	256

/* A listener, to the module or to the kernel's list of families */
struct netlink_events;

/**
 * enum netlink_event_kind - what netlink_events_next() or netlink_family_next() found
 * @NETLINK_EVENT_NONE: nothing to read, or nothing about the module
 * @NETLINK_EVENT_LOST: messages were dropped.  If they were the module's: netlink_files_get() lists
 *	its files; if the kernel's: the module may have been loaded or unloaded
 * @NETLINK_EVENT_FILE: a file has no table; the module sends it once for each
 * @NETLINK_EVENT_REMOVED: somebody has removed a file's table on purpose
 * @NETLINK_EVENT_CODE: a process has code without a file
 * @NETLINK_EVENT_OTHER: something else about the module's tables
 * @NETLINK_EVENT_UNLOADED: the module has been unloaded, and not loaded since
 * @NETLINK_EVENT_LOADED: the module has been loaded
 */
enum netlink_event_kind {
	NETLINK_EVENT_NONE,
	NETLINK_EVENT_LOST,
	NETLINK_EVENT_FILE,
	NETLINK_EVENT_REMOVED,
	NETLINK_EVENT_CODE,
	NETLINK_EVENT_OTHER,
	NETLINK_EVENT_UNLOADED,
	NETLINK_EVENT_LOADED,
};

struct netlink_events *netlink_events_open(struct bee_error *error);
struct netlink_events *netlink_family_open(struct bee_error *error);
void netlink_events_close(struct netlink_events *events);
int netlink_events_fd(const struct netlink_events *events);
enum netlink_event_kind netlink_events_next(struct netlink_events *events,
					    struct netlink_file *file);
enum netlink_event_kind netlink_family_next(struct netlink_events *family);

#endif /* NETLINK_EVENTS_H */
