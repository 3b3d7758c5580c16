/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family; spec: Documentation/netlink/specs/beeunwind.yaml. */
#ifndef BEE_NETLINK_H
#define BEE_NETLINK_H

#include <linux/types.h>

#define BEE_VERSION	"0.1.0"

struct bee_code_news;
struct bee_file;

int bee_netlink_init(void);
void bee_netlink_exit(void);
bool bee_netlink_tell(const struct bee_file *f);
void bee_netlink_tell_code(const struct bee_code_news *news);

#endif /* BEE_NETLINK_H */
