/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the netlink family only. */
#ifndef BEE_NETLINK_IMPL_H
#define BEE_NETLINK_IMPL_H

#include <net/genetlink.h>
#include <linux/beeunwind.h>

struct bee_tally;

extern struct genl_family bee_netlink_family;

int bee_netlink_admit(const struct sk_buff *skb, struct netlink_ext_ack *extack);
struct sk_buff *bee_netlink_reply_begin(struct genl_info *info, u8 cmd, void **hdr);
int bee_netlink_reply_end(struct genl_info *info, struct sk_buff *skb, void *hdr, int err);
void *bee_netlink_dump_message(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
int bee_netlink_put_stops(struct sk_buff *skb, int attr, const struct bee_tally *tally);

/* nla_put_u64_64bit() for all attribute sets: their padding has the same number. */
#define BEE_NETLINK_PAD		1
static_assert(BEEUNWIND_A_INFO_PAD == BEE_NETLINK_PAD && BEEUNWIND_A_FILE_PAD == BEE_NETLINK_PAD &&
	      BEEUNWIND_A_RANGE_PAD == BEE_NETLINK_PAD && BEEUNWIND_A_CODE_PAD == BEE_NETLINK_PAD &&
	      BEEUNWIND_A_STATS_PAD == BEE_NETLINK_PAD &&
	      BEEUNWIND_A_STOP_COUNT_PAD == BEE_NETLINK_PAD &&
	      BEEUNWIND_A_NEWS_ITEM_PAD == BEE_NETLINK_PAD);

static inline int bee_netlink_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, BEE_NETLINK_PAD);
}

/*
 * Handlers of genl_ops, in process context, may sleep.  Return: 0 or -errno; dumps: bytes in @skb,
 * 0 at the end, or -errno.
 */

int bee_netlink_dump_begin(struct netlink_callback *cb, int attr, u32 *pid);
struct task_struct *bee_netlink_get_task(const struct nlattr *attr,
					 struct netlink_ext_ack *extack);

/* netlink_file.c */
extern const struct nla_policy bee_netlink_file_policy[];
int bee_netlink_table_add(struct sk_buff *request, struct genl_info *info);
int bee_netlink_table_del(struct sk_buff *request, struct genl_info *info);
int bee_netlink_file_get(struct sk_buff *request, struct genl_info *info);
int bee_netlink_file_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink_code.c */
extern const struct nla_policy bee_netlink_code_policy[];
int bee_netlink_code_update(struct sk_buff *request, struct genl_info *info);
int bee_netlink_code_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* BEE_NETLINK_IMPL_H */
