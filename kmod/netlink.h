/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family; spec: Documentation/netlink/specs/beeunwind.yaml. */
#ifndef BEE_NETLINK_H
#define BEE_NETLINK_H

#include "news.h"

#define BEE_VERSION	"0.1.0"

int bee_netlink_init(void);
void bee_netlink_exit(void);
extern const struct bee_news_listeners bee_netlink_listeners;

#endif /* BEE_NETLINK_H */
