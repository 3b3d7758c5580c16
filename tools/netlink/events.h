/* SPDX-License-Identifier: GPL-2.0 */
/* What the module announces, and the kernel about the module: two multicast groups. */
#ifndef NETLINK_EVENTS_H
#define NETLINK_EVENTS_H

#include "netlink.h"

struct netlink_events;

/**
 * enum netlink_event_kind - what netlink_events_next() found
 * @NETLINK_EVENT_NONE: nothing to read now
 * @NETLINK_EVENT_FILE: a file has no table; sent once for each
 * @NETLINK_EVENT_LOST: messages were dropped: netlink_files_get() has what they said
 */
enum netlink_event_kind {
	NETLINK_EVENT_NONE,
	NETLINK_EVENT_FILE,
	NETLINK_EVENT_LOST,
};

struct netlink_events *netlink_events_open(struct bee_error *error);
void netlink_events_close(struct netlink_events *events);
int netlink_events_fd(const struct netlink_events *events);
enum netlink_event_kind netlink_events_next(struct netlink_events *events,
					    struct netlink_file *file);

struct netlink_family;

/**
 * enum netlink_family_news - what netlink_family_next() found
 * @NETLINK_FAMILY_SAME: nothing about the module
 * @NETLINK_FAMILY_GONE: it has been unloaded, and not loaded since
 * @NETLINK_FAMILY_COME: it has been loaded
 * @NETLINK_FAMILY_LOST: messages were dropped: it may be either
 */
enum netlink_family_news {
	NETLINK_FAMILY_SAME,
	NETLINK_FAMILY_GONE,
	NETLINK_FAMILY_COME,
	NETLINK_FAMILY_LOST,
};

struct netlink_family *netlink_family_open(struct bee_error *error);
void netlink_family_close(struct netlink_family *family);
int netlink_family_fd(const struct netlink_family *family);
enum netlink_family_news netlink_family_next(struct netlink_family *family);

#endif /* NETLINK_EVENTS_H */
