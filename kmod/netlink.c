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
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "code.h"
#include "compat.h"
#include "hook.h"
#include "netlink.h"
#include "netlink_impl.h"
#include "news.h"
#include "percpu.h"
#include "recent.h"
#include "store.h"

static u64 netlink_instance;

/**
 * bee_netlink_admit() - whether the sender of a request may make it
 * @skb: the request
 * @extack: the reason of a refusal
 *
 * For the first message of a dump; netlink_pre_doit() is for all other requests.
 *
 * Context: Process.
 * Return: 0 or -EPERM.
 */
int bee_netlink_admit(const struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_PERFMON) || netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_PERFMON or CAP_SYS_ADMIN");
	return -EPERM;
}

/**
 * bee_netlink_get_task() - the task that an attribute names
 * @attr: a number in the sender's pid namespace
 * @extack: the reason of a refusal
 *
 * Context: Process.
 * Return: the task with a reference, or ERR_PTR(-ESRCH).
 */
struct task_struct *bee_netlink_get_task(const struct nlattr *attr,
					 struct netlink_ext_ack *extack)
{
	struct pid *pid = find_get_pid(nla_get_u32(attr));
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);

	put_pid(pid);
	if (task)
		return task;
	NL_SET_ERR_MSG_ATTR(extack, attr, "no such process");
	return ERR_PTR(-ESRCH);
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
 * @cb: the dump
 * @cmd: the command that the message has
 *
 * Context: Process.
 * Return: what genlmsg_end() takes, or NULL if @skb has no room for it.
 */
void *bee_netlink_dump_message(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &bee_netlink_family,
			   NLM_F_MULTI, cmd);
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
		u32 walks = atomic_read(&tally->count[i]);

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
	struct bee_store_totals store;
	u64 code = bee_code_bytes(), walks = 0;
	struct bee_stats sum;
	struct sk_buff *skb;
	void *hdr;
	int i, err;

	skb = bee_netlink_reply_begin(info, BEEUNWIND_CMD_INFO_GET, &hdr);
	if (!skb)
		return -ENOMEM;
	bee_stats_sum(&sum);
	bee_store_sum(&store);
	for (i = 0; i <= BEEUNWIND_STOP_MAX; i++)
		walks += sum.stop[i];
	err = nla_put_string(skb, BEEUNWIND_A_INFO_MODULE_VERSION, BEE_VERSION) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_TABLE_VERSION, BEE_TABLE_VERSION) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_HOOK, bee_hook_state()) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_HOOK_HITS, sum.hits) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_WALKS, walks) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_FILES, store.files) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_TABLES, store.tables) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_TABLE_BYTES,
				  store.bytes - min(code, store.bytes)) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_CODE_PROCS, bee_code_count()) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_CODE_BYTES, code) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_CACHE_BYTES, bee_percpu_bytes()) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_BUDGET, store.budget) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_SHARE, store.share) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_INSTANCE, netlink_instance) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_LISTENERS,
			  genl_has_listeners(&bee_netlink_family, &init_net, 0)) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_INFO_NEWS, bee_news_last());
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

/**
 * bee_netlink_dump_begin() - look at the request of a dump of processes
 * @cb: the dump
 * @attr: the attribute by which it may ask for one process
 * @pid: filled: number of that process in the initial pid namespace, or 0
 *
 * Context: Process.
 * Return: 0 or -errno.
 */
int bee_netlink_dump_begin(struct netlink_callback *cb, int attr, u32 *pid)
{
	struct nlattr **attrs = bee_compat_dump_attrs(cb);
	int err = bee_netlink_admit(cb->skb, cb->extack);
	struct task_struct *task;

	*pid = 0;
	if (err || !attrs || !attrs[attr])
		return err;
	task = bee_netlink_get_task(attrs[attr], cb->extack);
	if (IS_ERR(task))
		return PTR_ERR(task);
	*pid = task->tgid;
	put_task_struct(task);
	return 0;
}

/**
 * struct proc_dump - state of a dump of processes, in cb->ctx
 * @next: the first place that may come next
 * @pid: of the only process that is wanted; or 0
 * @begun: the request has been looked at
 */
struct proc_dump {
	u32	next;
	u32	pid;
	bool	begun;
};

static int netlink_proc_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct proc_dump *dump = (void *)cb->ctx;
	int err = dump->begun ? 0 : bee_netlink_dump_begin(cb, BEEUNWIND_A_PROC_PID, &dump->pid);

	if (err)
		return err;
	dump->begun = true;
	for (; dump->next < BEE_RECENT_NR; dump->next++) {
		const struct bee_recent *r = &bee_recent[dump->next];
		u32 pid = READ_ONCE(r->pid);
		void *hdr;

		if (!pid || pid == BEE_RECENT_TAKEN || (dump->pid && pid != dump->pid))
			continue;
		hdr = bee_netlink_dump_message(skb, cb, BEEUNWIND_CMD_PROC_GET);
		if (!hdr || nla_put_u32(skb, BEEUNWIND_A_PROC_PID, pid) ||
		    bee_netlink_put_stops(skb, BEEUNWIND_A_PROC_STOP, &r->tally)) {
			genlmsg_cancel(skb, hdr);
			return skb->len ?: -EMSGSIZE;
		}
		genlmsg_end(skb, hdr);
	}
	return skb->len;
}

/**
 * struct news_dump - state of a dump of news, in cb->ctx
 * @after: number of the last one that was told
 * @last: number of the last one that is to be told
 * @begun: the request has been looked at
 */
struct news_dump {
	u64	after;
	u64	last;
	bool	begun;
};

static int news_dump_begin(struct news_dump *dump, struct netlink_callback *cb)
{
	struct nlattr **attrs = bee_compat_dump_attrs(cb);

	dump->begun = true;
	dump->last = bee_news_last();
	if (attrs && attrs[BEEUNWIND_A_NEWS_ITEM_SEQ])
		dump->after = nla_get_u64(attrs[BEEUNWIND_A_NEWS_ITEM_SEQ]);
	return bee_netlink_admit(cb->skb, cb->extack);
}

static int news_put(struct sk_buff *skb, const struct bee_news *news)
{
	char *name = bee_news_get_name(news->seq);
	int err = bee_netlink_put_u64(skb, BEEUNWIND_A_NEWS_ITEM_SEQ, news->seq) ||
		  nla_put_u32(skb, BEEUNWIND_A_NEWS_ITEM_KIND, news->kind) ||
		  nla_put_u32(skb, BEEUNWIND_A_NEWS_ITEM_PID, news->pid) ||
		  bee_netlink_put_u64(skb, BEEUNWIND_A_NEWS_ITEM_START, news->start) ||
		  bee_netlink_put_u64(skb, BEEUNWIND_A_NEWS_ITEM_END, news->end) ||
		  (name && nla_put_string(skb, BEEUNWIND_A_NEWS_ITEM_NAME, name));

	kfree(name);
	return err;
}

static int netlink_news_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct news_dump *dump = (void *)cb->ctx;
	int err = dump->begun ? 0 : news_dump_begin(dump, cb);
	struct bee_news news;

	if (err)
		return err;
	while (bee_news_next(dump->after, dump->last, &news)) {
		void *hdr = bee_netlink_dump_message(skb, cb, BEEUNWIND_CMD_NEWS_GET);

		if (!hdr || news_put(skb, &news)) {
			genlmsg_cancel(skb, hdr);
			return skb->len ?: -EMSGSIZE;
		}
		genlmsg_end(skb, hdr);
		dump->after = news.seq;
	}
	return skb->len;
}

static bool netlink_is_listened_to(void)
{
	return genl_has_listeners(&bee_netlink_family, &init_net, 0);
}

/* Send NEWS_NTF: there is news up to @seq. */
static void netlink_tell(u64 seq)
{
	struct sk_buff *skb;
	void *hdr;

	skb = genlmsg_new(nla_total_size_64bit(sizeof(seq)), GFP_KERNEL);
	hdr = skb ? genlmsg_put(skb, 0, 0, &bee_netlink_family, 0, BEEUNWIND_CMD_NEWS_NTF) : NULL;
	if (!hdr || bee_netlink_put_u64(skb, BEEUNWIND_A_NEWS_ITEM_SEQ, seq)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast(&bee_netlink_family, skb, 0, 0, GFP_KERNEL);
}

const struct bee_news_listeners bee_netlink_listeners = {
	.any = netlink_is_listened_to,
	.tell = netlink_tell,
};

static DEFINE_MUTEX(config_mutex);

/* The limit that a CONFIG_SET would raise, or NULL. */
static const struct nlattr *config_raised(const struct genl_info *info)
{
	const struct nlattr *budget = info->attrs[BEEUNWIND_A_CONFIG_BUDGET];
	const struct nlattr *share = info->attrs[BEEUNWIND_A_CONFIG_SHARE];
	struct bee_store_totals store;

	bee_store_sum(&store);
	if (budget && nla_get_u64(budget) > store.budget)
		return budget;
	return share && nla_get_u32(share) > store.share ? share : NULL;
}

static int config_set_locked(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *budget = info->attrs[BEEUNWIND_A_CONFIG_BUDGET];
	struct nlattr *share = info->attrs[BEEUNWIND_A_CONFIG_SHARE];
	struct nlattr *hook = info->attrs[BEEUNWIND_A_CONFIG_HOOK];
	const struct nlattr *raised = config_raised(info);
	int err = 0;

	if (!budget && !share && !hook) {
		NL_SET_ERR_MSG(info->extack, "nothing to set");
		return -EINVAL;
	}
	if (raised && !netlink_capable(request, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG_ATTR(info->extack, raised, "to raise a limit needs CAP_SYS_ADMIN");
		return -EPERM;
	}
	if (budget)
		err = bee_store_set_budget(nla_get_u64(budget), info->extack);
	if (!err && hook)
		bee_hook_set_state(nla_get_u32(hook));
	if (!err && share)
		bee_store_set_share(nla_get_u32(share));
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

static const struct nla_policy netlink_config_policy[BEEUNWIND_A_CONFIG_MAX + 1] = {
	[BEEUNWIND_A_CONFIG_BUDGET] = { .type = NLA_U64 },
	[BEEUNWIND_A_CONFIG_SHARE]  = NLA_POLICY_RANGE(NLA_U32, 1, 100),
	[BEEUNWIND_A_CONFIG_HOOK]   = NLA_POLICY_MAX(NLA_U32, BEEUNWIND_HOOK_STATE_ON),
};

static const struct nla_policy netlink_proc_policy[BEEUNWIND_A_PROC_MAX + 1] = {
	[BEEUNWIND_A_PROC_PID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy netlink_news_policy[BEEUNWIND_A_NEWS_ITEM_MAX + 1] = {
	[BEEUNWIND_A_NEWS_ITEM_SEQ] = { .type = NLA_U64 },
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
#define NETLINK_CODE	.policy = bee_netlink_code_policy, .maxattr = BEEUNWIND_A_CODE_MAX
#define NETLINK_PROC	.policy = netlink_proc_policy, .maxattr = BEEUNWIND_A_PROC_MAX
#define NETLINK_CONFIG	.policy = netlink_config_policy, .maxattr = BEEUNWIND_A_CONFIG_MAX
#define NETLINK_NEWS	.policy = netlink_news_policy, .maxattr = BEEUNWIND_A_NEWS_ITEM_MAX

static const struct genl_ops netlink_ops[] = {
	NETLINK_DO(INFO_GET, netlink_info_get),
	NETLINK_DO(TABLE_ADD, bee_netlink_table_add, NETLINK_FILE),
	NETLINK_DO(TABLE_DEL, bee_netlink_table_del, NETLINK_FILE),
	NETLINK_DUMP(FILE_GET, bee_netlink_file_dump, NETLINK_FILE,
		     .doit = bee_netlink_file_get),
	NETLINK_DO(CODE_UPDATE, bee_netlink_code_update, NETLINK_CODE),
	NETLINK_DUMP(CODE_GET, bee_netlink_code_dump, NETLINK_CODE),
	NETLINK_DUMP(PROC_GET, netlink_proc_dump, NETLINK_PROC),
	NETLINK_DO(STATS_GET, netlink_stats_get),
	NETLINK_DO(CONFIG_SET, netlink_config_set, NETLINK_CONFIG),
	NETLINK_DUMP(NEWS_GET, netlink_news_dump, NETLINK_NEWS),
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

/** bee_netlink_init() - accept requests.  Context: Process, may sleep.  Return: 0 or -errno. */
int bee_netlink_init(void)
{
	netlink_instance = get_random_u64();
	return genl_register_family(&bee_netlink_family);
}

/** bee_netlink_exit() - end requests; waits for those at work.  Context: Process, may sleep. */
void bee_netlink_exit(void)
{
	genl_unregister_family(&bee_netlink_family);
}
