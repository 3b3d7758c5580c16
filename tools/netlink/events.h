/* SPDX-License-Identifier: GPL-2.0 */
/* Two multicast groups: one tells that there are news, the other that the module comes and goes. */
#ifndef NETLINK_EVENTS_H
#define NETLINK_EVENTS_H

#include <stdbool.h>

#include "netlink.h"

/* A listener, to the module or to the kernel's list of families */
struct netlink_events;

/**
 * enum netlink_family_news - what has become of the module
 * @NETLINK_FAMILY_SAME: nothing that a message says
 * @NETLINK_FAMILY_LOST: messages were dropped: it may have been loaded or unloaded
 * @NETLINK_FAMILY_UNLOADED: it has been unloaded, and not loaded since
 * @NETLINK_FAMILY_LOADED: it has been loaded
 */
enum netlink_family_news {
	NETLINK_FAMILY_SAME,
	NETLINK_FAMILY_LOST,
	NETLINK_FAMILY_UNLOADED,
	NETLINK_FAMILY_LOADED,
};

struct netlink_events *netlink_events_open(struct bee_error *error);
struct netlink_events *netlink_family_open(struct bee_error *error);
void netlink_events_close(struct netlink_events *events);
int netlink_events_fd(const struct netlink_events *events);
void netlink_events_drain(struct netlink_events *events);
enum netlink_family_news netlink_family_next(struct netlink_events *family);

#endif /* NETLINK_EVENTS_H */
