// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family, its replies, and the requests about the module as a whole.
 * Spec: Documentation/netlink/specs/beeunwind.yaml.
 *
 * Every refusal but ENOMEM sets an extack sentence.  parallel_ops, so that a slow request does not
 * block other families on genl_mutex; genl_ops, since 6.1 has no split ops.
 */
#include <linux/capability.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/random.h>
#include <net/genetlink.h>

#include "budget.h"
#include "compat.h"
#include "follow.h"
#include "hook.h"
#include "manage.h"
#include "mm.h"
#include "netlink.h"
#include "netlink_impl.h"
#include "payer.h"
#include "percpu.h"
#include "store.h"

static u64 netlink_instance;

/**
 * bee_netlink_admit() - whether the sender of a request may make it
 * @skb: the request
 * @extack: the reason of a refusal
 *
 * For the first message of a dump; netlink_pre_doit() is for all other requests.  What callbacks
 * have left to do is done first.
 *
 * Context: Process.
 * Return: 0 or -EPERM.
 */
int bee_netlink_admit(const struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (!netlink_capable(skb, CAP_PERFMON) && !netlink_capable(skb, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG(extack, "needs CAP_PERFMON or CAP_SYS_ADMIN");
		return -EPERM;
	}
	bee_manage_settle();
	return 0;
}

/**
 * bee_netlink_reply_begin() - begin a reply
 * @info: the request
 * @cmd: operation
 * @hdr: filled, for bee_netlink_reply_end()
 *
 * To be called before the request changes anything, as it can fail.
 *
 * Context: Process, may sleep.
 * Return: the message, or NULL: out of memory.
 */
struct sk_buff *bee_netlink_reply_begin(struct genl_info *info, u8 cmd, void **hdr)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	*hdr = genlmsg_put_reply(skb, info, &bee_netlink_family, 0, cmd);
	if (*hdr)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

/**
 * bee_netlink_reply_end() - send a reply, or free it if the request failed
 * @info: the request
 * @skb: the message
 * @hdr: from bee_netlink_reply_begin()
 * @err: 0; negative errno of a refusal; positive if an attribute did not fit @skb
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno.
 */
int bee_netlink_reply_end(struct genl_info *info, struct sk_buff *skb, void *hdr, int err)
{
	if (err) {
		nlmsg_free(skb);
		return err < 0 ? err : -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/**
 * bee_netlink_dump_message() - begin a message of a dump
 * @skb: gets it
 * @cb: the dump, with its seq set
 * @cmd: the command that the message has
 *
 * Context: Process.
 * Return: what genlmsg_end() takes, or NULL if @skb has no room for it.
 */
void *bee_netlink_dump_message(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&bee_netlink_family, NLM_F_MULTI, cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

static int netlink_put_stop(struct sk_buff *skb, int attr, u32 reason, u64 walks)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest || nla_put_u32(skb, BEEUNWIND_A_STOP_COUNT_REASON, reason) ||
	    bee_netlink_put_u64(skb, BEEUNWIND_A_STOP_COUNT_WALKS, walks))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * bee_netlink_put_stops() - put a nest of the set stop-count for each reason that has walks
 * @skb: gets them
 * @attr: the attribute that each nest is
 * @tally: the counts
 *
 * Context: Any.
 * Return: 0 or -EMSGSIZE.
 */
int bee_netlink_put_stops(struct sk_buff *skb, int attr, const struct bee_tally *tally)
{
	int i, err = 0;

	for (i = BEEUNWIND_STOP_NONE + 1; !err && i <= BEEUNWIND_STOP_MAX; i++) {
		u32 walks = bee_tally_sum(tally, i);

		if (walks)
			err = netlink_put_stop(skb, attr, i, walks);
	}
	return err;
}

static int netlink_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			    struct genl_info *info)
{
	return bee_netlink_admit(skb, info->extack);
}

static int netlink_info_get(struct sk_buff *request, struct genl_info *info)
{
	struct bee_mm_totals mm;
	struct bee_stats sum;
	struct sk_buff *skb;
	char uncalled[160];
	u64 walks = 0;
	void *hdr;
	int i, err;

	skb = bee_netlink_reply_begin(info, BEEUNWIND_CMD_INFO_GET, &hdr);
	if (!skb)
		return -ENOMEM;
	bee_stats_sum(&sum);
	bee_mm_sum(&mm);
	bee_hook_list_uncalled(uncalled, sizeof(uncalled));
	for (i = 0; i <= BEEUNWIND_STOP_MAX; i++)
		walks += sum.stop[i];
	err = nla_put_string(skb, BEEUNWIND_A_INFO_MODULE_VERSION, BEE_VERSION) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_TABLE_VERSION, BEE_TABLE_VERSION) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_HOOK, bee_hook_state()) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_HOOK_HITS, sum.hits) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_WALKS, walks) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_FILES, bee_file_count()) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_TABLES, bee_store_count()) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_TABLE_BYTES,
				  bee_budget_used(BEE_BUDGET_FILES)) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_PROCS, mm.mms) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_RANGES, mm.ranges) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_RANGE_BYTES,
				  bee_budget_used(BEE_BUDGET_MMS)) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_BUDGET, bee_budget_limit()) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_FOLLOW_LOST, mm.lost) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_FOLLOW, READ_ONCE(bee_follow_mode)) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_ANNOUNCE, READ_ONCE(bee_follow_announce)) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_INSTANCE, netlink_instance) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_LISTENERS,
			  genl_has_listeners(&bee_netlink_family, &init_net, 0)) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_CACHE_BYTES,
				  bee_budget_used(BEE_BUDGET_CACHES)) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_SHARE, bee_payer_share()) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_MOST_RANGES, bee_map_most()) ||
	      nla_put_string(skb, BEEUNWIND_A_INFO_UNCALLED, uncalled);
	return bee_netlink_reply_end(info, skb, hdr, err);
}

static int netlink_stats_get(struct sk_buff *request, struct genl_info *info)
{
	struct bee_stats sum;
	struct sk_buff *skb;
	void *hdr;
	int i, err = 0;

	skb = bee_netlink_reply_begin(info, BEEUNWIND_CMD_STATS_GET, &hdr);
	if (!skb)
		return -ENOMEM;
	bee_stats_sum(&sum);
	for (i = BEEUNWIND_STOP_NONE + 1; !err && i <= BEEUNWIND_STOP_MAX; i++)
		err = netlink_put_stop(skb, BEEUNWIND_A_STATS_STOP, i, sum.stop[i]);
	err = err ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_STATS_FRAMES, sum.frames) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_STATS_FP_STEPS, sum.fp_steps);
	return bee_netlink_reply_end(info, skb, hdr, err);
}

static int user_put(struct sk_buff *skb, const struct bee_payer_state *user)
{
	return nla_put_u32(skb, BEEUNWIND_A_USER_UID, user->uid) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_USER_BYTES, user->bytes) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_USER_MOST, user->most) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_USER_REFUSED, user->refused);
}

/**
 * struct user_dump - state of a dump of users, in cb->ctx
 * @next: the first uid that may come next; beyond 32 bits at the end
 * @begun: the sender's capabilities have been checked
 */
struct user_dump {
	u64	next;
	bool	begun;
};

/* No cb->seq: a user that comes or goes meanwhile makes no other entry of the dump wrong. */
static int netlink_user_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct user_dump *dump = (void *)cb->ctx;
	int err = dump->begun ? 0 : bee_netlink_admit(cb->skb, cb->extack);
	struct bee_payer_state user;
	void *hdr;

	if (err)
		return err;
	dump->begun = true;
	while (dump->next <= U32_MAX && bee_payer_next(dump->next, &user)) {
		hdr = bee_netlink_dump_message(skb, cb, BEEUNWIND_CMD_USER_GET);
		if (!hdr || user_put(skb, &user)) {
			genlmsg_cancel(skb, hdr);
			return skb->len ?: -EMSGSIZE;
		}
		genlmsg_end(skb, hdr);
		dump->next = user.uid + 1ull;
	}
	return skb->len;
}

/* The value of an attribute of CONFIG_SET, at @value, or NULL if the request does not have it. */
static const u32 *config_get_u32(const struct genl_info *info, int attr, u32 *value)
{
	if (!info->attrs[attr])
		return NULL;
	*value = nla_get_u32(info->attrs[attr]);
	return value;
}

static DEFINE_MUTEX(config_mutex);

/* The limit that a CONFIG_SET would raise, or NULL. */
static const struct nlattr *config_raised(const struct genl_info *info)
{
	const struct nlattr *budget = info->attrs[BEEUNWIND_A_CONFIG_BUDGET];
	const struct nlattr *share = info->attrs[BEEUNWIND_A_CONFIG_SHARE];
	const struct nlattr *ranges = info->attrs[BEEUNWIND_A_CONFIG_MOST_RANGES];

	if (budget && nla_get_u64(budget) > bee_budget_limit())
		return budget;
	if (share && nla_get_u32(share) > bee_payer_share())
		return share;
	return ranges && nla_get_u32(ranges) > bee_map_most() ? ranges : NULL;
}

static int config_set_locked(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *budget = info->attrs[BEEUNWIND_A_CONFIG_BUDGET];
	struct nlattr *share = info->attrs[BEEUNWIND_A_CONFIG_SHARE];
	struct nlattr *ranges = info->attrs[BEEUNWIND_A_CONFIG_MOST_RANGES];
	struct nlattr *hook = info->attrs[BEEUNWIND_A_CONFIG_HOOK];
	struct nlattr *until_close = info->attrs[BEEUNWIND_A_CONFIG_UNTIL_CLOSE];
	struct nlattr *code = info->attrs[BEEUNWIND_A_CONFIG_CODE];
	struct bee_follow_settings set;
	const u32 *follow = config_get_u32(info, BEEUNWIND_A_CONFIG_FOLLOW, &set.follow);
	const u32 *announce = config_get_u32(info, BEEUNWIND_A_CONFIG_ANNOUNCE, &set.announce);
	const struct nlattr *raised;
	int err = 0;

	if (!budget && !share && !ranges && !hook && !follow && !announce && !code) {
		NL_SET_ERR_MSG(info->extack, "nothing to set");
		return -EINVAL;
	}
	if (until_close && (budget || share || ranges || hook)) {
		NL_SET_ERR_MSG_ATTR(info->extack, until_close,
				    "only follow, announce and code can be held until a close");
		return -EINVAL;
	}
	if (code && !until_close) {
		NL_SET_ERR_MSG_ATTR(info->extack, code, "code needs until-close");
		return -EINVAL;
	}
	raised = config_raised(info);
	if (raised && !netlink_capable(request, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG_ATTR(info->extack, raised, "to raise a limit needs CAP_SYS_ADMIN");
		return -EPERM;
	}
	if (until_close)
		return bee_follow_hold(info->snd_portid, follow, announce, code);
	if (budget)
		err = bee_budget_set_limit(nla_get_u64(budget), info->extack);
	if (!err && hook) {
		err = nla_get_u32(hook) == BEEUNWIND_HOOK_STATE_ON ? bee_hook_enable() :
								     bee_hook_disable();
		if (err)
			NL_SET_ERR_MSG_FMT(info->extack, "hook: %s", bee_hook_advice(err));
	}
	if (!err && share)
		bee_payer_set_share(nla_get_u32(share));
	if (!err && ranges)
		bee_map_set_most(nla_get_u32(ranges));
	if (!err)
		bee_follow_set(follow, announce);
	return err;
}

/*
 * One request at a time: no other may change a limit between config_raised(), which compares with
 * it, and the change.
 */
static int netlink_config_set(struct sk_buff *request, struct genl_info *info)
{
	int err;

	mutex_lock(&config_mutex);
	err = config_set_locked(request, info);
	mutex_unlock(&config_mutex);
	return err;
}

/*
 * NLA_POLICY_RANGE() takes at most S16_MAX.  Not const, as 6.1's struct nla_policy takes none that
 * is.
 */
static struct netlink_range_validation netlink_most_ranges __ro_after_init = {
	.min = 1, .max = BEE_MAP_MAX_RANGES,
};

static const struct nla_policy netlink_config_policy[BEEUNWIND_A_CONFIG_MAX + 1] = {
	[BEEUNWIND_A_CONFIG_BUDGET]   = { .type = NLA_U64 },
	[BEEUNWIND_A_CONFIG_HOOK]     = NLA_POLICY_MAX(NLA_U32, BEEUNWIND_HOOK_STATE_ON),
	[BEEUNWIND_A_CONFIG_FOLLOW]   = NLA_POLICY_MAX(NLA_U32, BEEUNWIND_FOLLOW_MAX),
	[BEEUNWIND_A_CONFIG_ANNOUNCE] = NLA_POLICY_MAX(NLA_U32, BEEUNWIND_ANNOUNCE_MAX),
	[BEEUNWIND_A_CONFIG_UNTIL_CLOSE] = { .type = NLA_FLAG },
	[BEEUNWIND_A_CONFIG_SHARE]    = NLA_POLICY_RANGE(NLA_U32, 1, 100),
	[BEEUNWIND_A_CONFIG_CODE]     = { .type = NLA_FLAG },
	[BEEUNWIND_A_CONFIG_MOST_RANGES] = NLA_POLICY_FULL_RANGE(NLA_U32, &netlink_most_ranges),
};

/*
 * Dumps have no start(): 6.1 calls it without an extack (__netlink_dump_start(),
 * net/netlink/af_netlink.c), so a refusal would carry no sentence.  The first dumpit() refuses,
 * in NLMSG_DONE.
 */
#define NETLINK_DO(command, handler, ...) \
	{ .cmd = BEEUNWIND_CMD_##command, .doit = handler, ##__VA_ARGS__ }
#define NETLINK_DUMP(command, handler, ...) \
	{ .cmd = BEEUNWIND_CMD_##command, .dumpit = handler, ##__VA_ARGS__ }
#define NETLINK_FILE	.policy = bee_netlink_file_policy, .maxattr = BEEUNWIND_A_FILE_MAX
#define NETLINK_PROC	.policy = bee_netlink_proc_policy, .maxattr = BEEUNWIND_A_PROC_MAX
#define NETLINK_CONFIG	.policy = netlink_config_policy, .maxattr = BEEUNWIND_A_CONFIG_MAX

static const struct genl_ops netlink_ops[] = {
	NETLINK_DO(INFO_GET, netlink_info_get),
	NETLINK_DO(TABLE_ADD, bee_netlink_table_add, NETLINK_FILE),
	NETLINK_DO(TABLE_DEL, bee_netlink_table_del, NETLINK_FILE),
	NETLINK_DUMP(FILE_GET, bee_netlink_file_dump, NETLINK_FILE,
		     .doit = bee_netlink_file_get),
	NETLINK_DO(PROC_ADD, bee_netlink_proc_add, NETLINK_PROC),
	NETLINK_DO(PROC_UPDATE, bee_netlink_proc_update, NETLINK_PROC),
	NETLINK_DO(PROC_DEL, bee_netlink_proc_del, NETLINK_PROC),
	NETLINK_DUMP(PROC_GET, bee_netlink_proc_dump, NETLINK_PROC,
		     .done = bee_netlink_proc_dump_done),
	NETLINK_DO(STATS_GET, netlink_stats_get),
	NETLINK_DO(CONFIG_SET, netlink_config_set, NETLINK_CONFIG),
	NETLINK_DUMP(USER_GET, netlink_user_dump),
};

static const struct genl_multicast_group netlink_groups[] = {
	{ .name = BEEUNWIND_MCGRP_EVENTS, BEE_COMPAT_MCAST_SYS_ADMIN },
};

struct genl_family bee_netlink_family = {
	.name		= BEEUNWIND_FAMILY_NAME,
	.version	= BEEUNWIND_FAMILY_VERSION,
	.module		= THIS_MODULE,
	.ops		= netlink_ops,
	.n_ops		= ARRAY_SIZE(netlink_ops),
	.mcgrps		= netlink_groups,
	.n_mcgrps	= ARRAY_SIZE(netlink_groups),
	.parallel_ops	= true,
	.pre_doit	= netlink_pre_doit,
};

/*
 * A netlink socket is being closed: netlink_release() (net/netlink/af_netlink.c), in process
 * context.  The family is in the initial network namespace only.
 */
static int netlink_closed(struct notifier_block *block, unsigned long event, void *data)
{
	const struct netlink_notify *closed = data;

	if (event == NETLINK_URELEASE && closed->protocol == NETLINK_GENERIC &&
	    net_eq(closed->net, &init_net))
		bee_follow_release(closed->portid);
	return NOTIFY_DONE;
}

static struct notifier_block netlink_closed_block = {
	.notifier_call = netlink_closed,
};

/** bee_netlink_init() - accept requests.  Context: Process, may sleep.  Return: 0 or -errno. */
int bee_netlink_init(void)
{
	int err = netlink_register_notifier(&netlink_closed_block);

	if (err)
		return err;
	netlink_instance = get_random_u64();
	err = genl_register_family(&bee_netlink_family);
	if (err)
		netlink_unregister_notifier(&netlink_closed_block);
	return err;
}

/** bee_netlink_exit() - end requests; waits for those at work.  Context: Process, may sleep. */
void bee_netlink_exit(void)
{
	genl_unregister_family(&bee_netlink_family);
	netlink_unregister_notifier(&netlink_closed_block);
	bee_netlink_file_exit();
	bee_follow_exit();
}
