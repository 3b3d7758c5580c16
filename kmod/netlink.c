// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: parse, check, say why not, call store.c and mm.c.
 * Spec: Documentation/netlink/specs/beeunwind.yaml.
 *
 * The family is parallel (its requests do not hold up other families behind
 * genl_mutex) and written with genl_ops, for 6.1 has no split ops.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include <linux/beeunwind.h>

#include "compat.h"
#include "follow.h"
#include "hook.h"
#include "mm.h"
#include "netlink.h"
#include "percpu.h"
#include "store.h"

static struct genl_family netlink_family;

static int netlink_check_caps(const struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_PERFMON) || netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_PERFMON or CAP_SYS_ADMIN");
	return -EPERM;
}

/*
 * Replies
 */

static struct sk_buff *reply_begin(struct genl_info *info, u8 cmd, void **hdr)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	*hdr = genlmsg_put_reply(skb, info, &netlink_family, 0, cmd);
	if (*hdr)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

static int reply_end(struct genl_info *info, struct sk_buff *skb, void *hdr, int err)
{
	if (err) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/*
 * INFO_GET, STATS_GET, CONFIG_SET
 */

static int info_put_sums(struct sk_buff *skb)
{
	struct bee_mm_totals mm;

	bee_mm_sum(&mm);
	return nla_put_u32(skb, BEEUNWIND_A_INFO_FILES, bee_file_count()) ||
	       nla_put_u32(skb, BEEUNWIND_A_INFO_TABLES, bee_store_count()) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_INFO_TABLE_BYTES,
				 bee_budget_used(BEE_BUDGET_FILES), BEEUNWIND_A_INFO_PAD) ||
	       nla_put_u32(skb, BEEUNWIND_A_INFO_PROCS, mm.mms) ||
	       nla_put_u32(skb, BEEUNWIND_A_INFO_RANGES, mm.ranges) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_INFO_RANGE_BYTES,
				 bee_budget_used(BEE_BUDGET_MMS), BEEUNWIND_A_INFO_PAD) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_INFO_BUDGET, bee_budget_limit(),
				 BEEUNWIND_A_INFO_PAD) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_INFO_FOLLOW_LOST, mm.lost,
				 BEEUNWIND_A_INFO_PAD) ||
	       nla_put_u32(skb, BEEUNWIND_A_INFO_FOLLOW, bee_follow_mode()) ||
	       nla_put_u32(skb, BEEUNWIND_A_INFO_ANNOUNCE, bee_follow_announce());
}

static int netlink_info_get(struct sk_buff *request, struct genl_info *info)
{
	struct bee_stats sum;
	struct sk_buff *skb;
	void *hdr;
	int err;

	err = netlink_check_caps(request, info->extack);
	if (err)
		return err;
	skb = reply_begin(info, BEEUNWIND_CMD_INFO_GET, &hdr);
	if (!skb)
		return -ENOMEM;
	bee_stats_sum(&sum);
	err = nla_put_string(skb, BEEUNWIND_A_INFO_MODULE_VERSION, BEE_VERSION) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_TABLE_VERSION, BEE_TABLE_VERSION) ||
	      nla_put_u32(skb, BEEUNWIND_A_INFO_HOOK, bee_hook_state()) ||
	      nla_put_u64_64bit(skb, BEEUNWIND_A_INFO_HOOK_HITS, sum.hits,
				BEEUNWIND_A_INFO_PAD) ||
	      nla_put_u64_64bit(skb, BEEUNWIND_A_INFO_WALKS, bee_stats_walks(&sum),
				BEEUNWIND_A_INFO_PAD) ||
	      info_put_sums(skb);
	return reply_end(info, skb, hdr, err);
}

static int stop_put(struct sk_buff *skb, int attr, u32 reason, u64 walks)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest || nla_put_u32(skb, BEEUNWIND_A_STOP_COUNT_REASON, reason) ||
	    nla_put_u64_64bit(skb, BEEUNWIND_A_STOP_COUNT_WALKS, walks,
			      BEEUNWIND_A_STOP_COUNT_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int netlink_stats_get(struct sk_buff *request, struct genl_info *info)
{
	struct bee_stats sum;
	struct sk_buff *skb;
	void *hdr;
	int i, err;

	err = netlink_check_caps(request, info->extack);
	if (err)
		return err;
	skb = reply_begin(info, BEEUNWIND_CMD_STATS_GET, &hdr);
	if (!skb)
		return -ENOMEM;
	bee_stats_sum(&sum);
	for (i = BEEUNWIND_STOP_NONE + 1; !err && i <= BEEUNWIND_STOP_MAX; i++)
		err = stop_put(skb, BEEUNWIND_A_STATS_STOP, i, sum.stop[i]);
	err = err ||
	      nla_put_u64_64bit(skb, BEEUNWIND_A_STATS_FRAMES, sum.frames,
				BEEUNWIND_A_STATS_PAD) ||
	      nla_put_u64_64bit(skb, BEEUNWIND_A_STATS_FP_STEPS, sum.fp_steps,
				BEEUNWIND_A_STATS_PAD);
	return reply_end(info, skb, hdr, err);
}

static int config_set_hook(struct nlattr *attr, struct netlink_ext_ack *extack)
{
	bool on = nla_get_u32(attr) == BEEUNWIND_HOOK_STATE_ON;
	int err = on ? bee_hook_enable() : bee_hook_disable();

	if (err)
		NL_SET_ERR_MSG_FMT(extack, "hook: %s", bee_hook_advice(err));
	return err;
}

static int netlink_config_set(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *budget = info->attrs[BEEUNWIND_A_CONFIG_BUDGET];
	struct nlattr *hook = info->attrs[BEEUNWIND_A_CONFIG_HOOK];
	struct nlattr *follow = info->attrs[BEEUNWIND_A_CONFIG_FOLLOW];
	struct nlattr *announce = info->attrs[BEEUNWIND_A_CONFIG_ANNOUNCE];
	int err;

	err = netlink_check_caps(request, info->extack);
	if (err)
		return err;
	if (!budget && !hook && !follow && !announce) {
		NL_SET_ERR_MSG(info->extack, "nothing to set");
		return -EINVAL;
	}
	if (budget)
		err = bee_store_set_budget(nla_get_u64(budget), info->extack);
	if (!err && hook)
		err = config_set_hook(hook, info->extack);
	if (!err && follow)
		bee_follow_set_mode(nla_get_u32(follow));
	if (!err && announce)
		bee_follow_set_announce(nla_get_u32(announce));
	return err;
}

/*
 * TABLE_ADD, TABLE_DEL, TABLE_GET
 */

/* A file by the number it has in the sender, which is current. */
static struct file *netlink_get_file(struct genl_info *info, int attr)
{
	struct file *file = fget(nla_get_s32(info->attrs[attr]));

	if (file)
		return file;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr], "no such open file");
	return ERR_PTR(-EBADF);
}

static int table_reply_id(struct genl_info *info, u32 id)
{
	struct sk_buff *skb;
	void *hdr;

	skb = reply_begin(info, BEEUNWIND_CMD_TABLE_ADD, &hdr);
	if (!skb)
		return -ENOMEM;
	return reply_end(info, skb, hdr, nla_put_u32(skb, BEEUNWIND_A_TABLE_ID, id));
}

/* The file that a table is for, with a reference. */
static struct bee_file *table_get_file(struct genl_info *info)
{
	struct nlattr *id = info->attrs[BEEUNWIND_A_TABLE_ID];
	struct bee_file *f = NULL;
	struct file *exe;

	if (!!info->attrs[BEEUNWIND_A_TABLE_EXE_FD] + !!id +
	    !!info->attrs[BEEUNWIND_A_TABLE_VDSO] != 1) {
		NL_SET_ERR_MSG(info->extack, "just one of exe-fd, id and vdso, please");
		return ERR_PTR(-EINVAL);
	}
	if (id) {
		f = bee_file_get_id(nla_get_u32(id));
		if (!f)
			NL_SET_ERR_MSG_ATTR(info->extack, id, "no such file");
		return f ?: ERR_PTR(-ENOENT);
	}
	if (info->attrs[BEEUNWIND_A_TABLE_VDSO])
		return bee_file_get_vdso();
	exe = netlink_get_file(info, BEEUNWIND_A_TABLE_EXE_FD);
	if (IS_ERR(exe))
		return ERR_CAST(exe);
	f = bee_file_get(exe);
	fput(exe);
	return f;
}

static int table_add(struct genl_info *info, struct file *file)
{
	struct bee_file *f = table_get_file(info);
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	err = bee_store_add(f, file, info->extack);
	if (!err)
		err = table_reply_id(info, f->id);
	bee_file_put(f);
	return err;
}

static int netlink_table_add(struct sk_buff *request, struct genl_info *info)
{
	struct file *file;
	int err;

	err = netlink_check_caps(request, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, BEEUNWIND_A_TABLE_FD)) {
		NL_SET_ERR_MSG(info->extack, "fd of the table is missing");
		return -EINVAL;
	}
	file = netlink_get_file(info, BEEUNWIND_A_TABLE_FD);
	if (IS_ERR(file))
		return PTR_ERR(file);
	err = table_add(info, file);
	fput(file);
	return err;
}

static int netlink_table_del(struct sk_buff *request, struct genl_info *info)
{
	int err;

	err = netlink_check_caps(request, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, BEEUNWIND_A_TABLE_ID)) {
		NL_SET_ERR_MSG(info->extack, "id of the table is missing");
		return -EINVAL;
	}
	return bee_store_del(nla_get_u32(info->attrs[BEEUNWIND_A_TABLE_ID]),
			     info->attrs[BEEUNWIND_A_TABLE_FORCE], info->extack);
}

static int table_put_stored(struct sk_buff *skb, const struct bee_stored *stored)
{
	const struct bee_table *t = &stored->table;

	return nla_put_flag(skb, BEEUNWIND_A_TABLE_LOADED) ||
	       nla_put(skb, BEEUNWIND_A_TABLE_FILE_ID, t->header->id_len, t->header->id) ||
	       nla_put_u32(skb, BEEUNWIND_A_TABLE_ROWS, t->nrows) ||
	       nla_put_u32(skb, BEEUNWIND_A_TABLE_FLAGS, t->header->flags);
}

/* Which file it is. */
static int table_put_file(struct sk_buff *skb, const struct bee_file *f)
{
	return nla_put_u32(skb, BEEUNWIND_A_TABLE_ID, f->id) ||
	       nla_put_string(skb, BEEUNWIND_A_TABLE_NAME, f->name) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_TABLE_DEVICE, f->key.dev,
				 BEEUNWIND_A_TABLE_PAD) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_TABLE_INODE, f->key.ino,
				 BEEUNWIND_A_TABLE_PAD) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_TABLE_SIZE, f->key.size,
				 BEEUNWIND_A_TABLE_PAD);
}

/* What has become of it. */
static int table_put_use(struct sk_buff *skb, const struct bee_file *f)
{
	int i, err;

	err = nla_put_u32(skb, BEEUNWIND_A_TABLE_USERS, bee_file_users(f)) ||
	      nla_put_u64_64bit(skb, BEEUNWIND_A_TABLE_IDLE_MS,
				jiffies_to_msecs(jiffies - READ_ONCE(f->used)),
				BEEUNWIND_A_TABLE_PAD) ||
	      nla_put_u32(skb, BEEUNWIND_A_TABLE_HITS, atomic_read(&f->hits)) ||
	      nla_put_u32(skb, BEEUNWIND_A_TABLE_MISSED, atomic_read(&f->missed));
	for (i = BEEUNWIND_STOP_NONE + 1; !err && i <= BEEUNWIND_STOP_MAX; i++)
		if (atomic_read(&f->stop[i]))
			err = stop_put(skb, BEEUNWIND_A_TABLE_STOP, i, atomic_read(&f->stop[i]));
	return err;
}

/* Where it was seen. */
static int table_put_hint(struct sk_buff *skb, const struct bee_file *f)
{
	return nla_put_u32(skb, BEEUNWIND_A_TABLE_PID, f->hint.tgid) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_TABLE_START, f->hint.start,
				 BEEUNWIND_A_TABLE_PAD) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_TABLE_END, f->hint.end, BEEUNWIND_A_TABLE_PAD);
}

static int table_put(struct sk_buff *skb, const struct bee_file *f)
{
	const struct bee_stored *stored = rcu_dereference(f->table);
	u64 bytes = bee_file_bytes(f) + bee_stored_bytes(stored);

	return table_put_file(skb, f) || table_put_use(skb, f) ||
	       nla_put_u64_64bit(skb, BEEUNWIND_A_TABLE_BYTES, bytes, BEEUNWIND_A_TABLE_PAD) ||
	       (stored && table_put_stored(skb, stored)) ||
	       (!stored && atomic_read_acquire(&f->news) >= BEE_NEWS_READY &&
		table_put_hint(skb, f));
}

static int netlink_table_dump_start(struct netlink_callback *cb)
{
	return netlink_check_caps(cb->skb, cb->extack);
}

static void *dump_message(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&netlink_family, NLM_F_MULTI, cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

/* struct table_dump - where a dump of tables is, in cb->ctx */
struct table_dump {
	u32 next;
};

static int table_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct bee_file *f)
{
	void *hdr = dump_message(skb, cb, BEEUNWIND_CMD_TABLE_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (table_put(skb, f)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int netlink_table_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct table_dump *dump = (void *)cb->ctx;
	const struct bee_file *f;
	int err = 0;

	cb->seq = bee_file_seq();
	rcu_read_lock();
	list_for_each_entry_rcu(f, &bee_file_list, node) {
		if (f->id < dump->next)
			continue;
		err = table_dump_one(skb, cb, f);
		if (err)
			break;
		dump->next = f->id + 1;
	}
	rcu_read_unlock();
	return skb->len || !err ? skb->len : err;
}

/*
 * PROC_ADD, PROC_UPDATE, PROC_DEL, PROC_GET
 */

static const struct nla_policy netlink_range_policy[BEEUNWIND_A_RANGE_MAX + 1] = {
	[BEEUNWIND_A_RANGE_START]  = { .type = NLA_U64 },
	[BEEUNWIND_A_RANGE_END]	   = { .type = NLA_U64 },
	[BEEUNWIND_A_RANGE_OFFSET] = { .type = NLA_U64 },
	[BEEUNWIND_A_RANGE_TABLE]  = { .type = NLA_U32 },
};

static int range_parse(const struct nlattr *nest, struct bee_map_range *range,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[BEEUNWIND_A_RANGE_MAX + 1];
	int err;

	err = nla_parse_nested(tb, BEEUNWIND_A_RANGE_MAX, nest, netlink_range_policy, extack);
	if (err)
		return err;
	if (!tb[BEEUNWIND_A_RANGE_START] || !tb[BEEUNWIND_A_RANGE_END] ||
	    !tb[BEEUNWIND_A_RANGE_OFFSET] || !tb[BEEUNWIND_A_RANGE_TABLE]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "range without start, end, offset or table");
		return -EINVAL;
	}
	range->start = nla_get_u64(tb[BEEUNWIND_A_RANGE_START]);
	range->end = nla_get_u64(tb[BEEUNWIND_A_RANGE_END]);
	range->offset = nla_get_u64(tb[BEEUNWIND_A_RANGE_OFFSET]);
	range->file = nla_get_u32(tb[BEEUNWIND_A_RANGE_TABLE]);
	return 0;
}

static int diff_parse_list(struct genl_info *info, int type, struct bee_map_range **list, u32 *nr)
{
	const struct nlattr *attr;
	int rem, err;
	u32 n = 0;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		n += nla_type(attr) == type;
	if (n > BEE_MAP_MAX_RANGES) {
		NL_SET_ERR_MSG(info->extack, "too many ranges in one request");
		return -E2BIG;
	}
	*list = kvcalloc(n, sizeof(**list), GFP_KERNEL);
	if (n && !*list)
		return -ENOMEM;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != type)
			continue;
		err = range_parse(attr, &(*list)[*nr], info->extack);
		if (err)
			return err;
		++*nr;
	}
	return 0;
}

static int diff_parse(struct genl_info *info, struct bee_map_diff *diff)
{
	int err = diff_parse_list(info, BEEUNWIND_A_PROC_DEL, &diff->del, &diff->nr_del);

	return err ?: diff_parse_list(info, BEEUNWIND_A_PROC_ADD, &diff->add, &diff->nr_add);
}

static struct mm_struct *task_get_mm(struct task_struct *task, struct netlink_ext_ack *extack)
{
	struct mm_struct *mm;

	if (task->flags & PF_KTHREAD) {
		NL_SET_ERR_MSG(extack, "a kernel thread has no user stack");
		return ERR_PTR(-EINVAL);
	}
	mm = get_task_mm(task);
	if (mm)
		return mm;
	NL_SET_ERR_MSG(extack, "the process is exiting");
	return ERR_PTR(-ESRCH);
}

/* The address space of a process, with mm_users held; and its thread group's pid. */
static struct mm_struct *netlink_get_mm(const struct nlattr *attr, struct pid **tgid,
					struct netlink_ext_ack *extack)
{
	struct pid *pid = find_get_pid(nla_get_u32(attr));
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	struct mm_struct *mm;

	put_pid(pid);
	if (!task) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "no such process");
		return ERR_PTR(-ESRCH);
	}
	mm = task_get_mm(task, extack);
	if (!IS_ERR(mm) && tgid)
		*tgid = get_task_pid(task, PIDTYPE_TGID);
	put_task_struct(task);
	return mm;
}

static int proc_reply(struct genl_info *info, u8 cmd, const struct bee_mm_state *state)
{
	struct sk_buff *skb;
	void *hdr;
	int err;

	skb = reply_begin(info, cmd, &hdr);
	if (!skb)
		return -ENOMEM;
	err = nla_put_u64_64bit(skb, BEEUNWIND_A_PROC_COOKIE, state->cookie,
				BEEUNWIND_A_PROC_PAD) ||
	      nla_put_u64_64bit(skb, BEEUNWIND_A_PROC_GENERATION, state->generation,
				BEEUNWIND_A_PROC_PAD) ||
	      nla_put_u32(skb, BEEUNWIND_A_PROC_RANGES, state->ranges);
	return reply_end(info, skb, hdr, err);
}

/* With @diff: change the ranges by it; without: to what is mapped. */
static int proc_change(struct genl_info *info, const struct bee_map_diff *diff,
		       struct bee_mm_state *state)
{
	struct mm_struct *mm;
	struct pid *tgid;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, BEEUNWIND_A_PROC_PID)) {
		NL_SET_ERR_MSG(info->extack, "pid is missing");
		return -EINVAL;
	}
	mm = netlink_get_mm(info->attrs[BEEUNWIND_A_PROC_PID], &tgid, info->extack);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	if (diff)
		err = bee_mm_update(mm, tgid, diff, state, info->extack);
	else
		err = bee_mm_scan(mm, tgid, state, info->extack);
	put_pid(tgid);
	mmput(mm);
	return err;
}

static int netlink_proc_add(struct sk_buff *request, struct genl_info *info)
{
	struct bee_mm_state state;
	int err;

	err = netlink_check_caps(request, info->extack);
	if (!err)
		err = proc_change(info, NULL, &state);
	return err ?: proc_reply(info, BEEUNWIND_CMD_PROC_ADD, &state);
}

static u64 netlink_optional_u64(struct genl_info *info, int attr)
{
	return info->attrs[attr] ? nla_get_u64(info->attrs[attr]) : 0;
}

static int netlink_proc_update(struct sk_buff *request, struct genl_info *info)
{
	struct bee_mm_state state = {
		.cookie = netlink_optional_u64(info, BEEUNWIND_A_PROC_COOKIE),
		.generation = netlink_optional_u64(info, BEEUNWIND_A_PROC_GENERATION),
	};
	struct bee_map_diff diff = {};
	int err;

	err = netlink_check_caps(request, info->extack);
	if (err)
		return err;
	err = diff_parse(info, &diff);
	if (!err)
		err = proc_change(info, &diff, &state);
	kvfree(diff.del);
	kvfree(diff.add);
	return err ?: proc_reply(info, BEEUNWIND_CMD_PROC_UPDATE, &state);
}

static int proc_del_by_pid(const struct nlattr *attr, struct netlink_ext_ack *extack, bool *found)
{
	struct mm_struct *mm = netlink_get_mm(attr, NULL, extack);

	if (IS_ERR(mm))
		return PTR_ERR(mm);
	*found = bee_mm_del(mm);
	mmput(mm);
	return 0;
}

static int netlink_proc_del(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *cookie = info->attrs[BEEUNWIND_A_PROC_COOKIE];
	struct nlattr *pid = info->attrs[BEEUNWIND_A_PROC_PID];
	bool found = false;
	int err;

	err = netlink_check_caps(request, info->extack);
	if (err)
		return err;
	if (!pid == !cookie) {
		NL_SET_ERR_MSG(info->extack, "either pid or cookie, please");
		return -EINVAL;
	}
	if (cookie)
		found = bee_mm_del_cookie(nla_get_u64(cookie));
	else
		err = proc_del_by_pid(pid, info->extack, &found);
	if (err || found)
		return err;
	NL_SET_ERR_MSG(info->extack, "the process is not managed");
	return -ENOENT;
}

/**
 * struct proc_dump - where a dump of processes is, in cb->ctx
 * @only: with mmgrab(): none but this address space; or NULL
 * @cookie: the next address space
 * @range: its next range
 */
struct proc_dump {
	struct mm_struct	*only;
	u64			 cookie;
	u32			 range;
};

static int netlink_proc_dump_start(struct netlink_callback *cb)
{
	struct proc_dump *dump = (void *)cb->ctx;
	struct nlattr **attrs = bee_dump_attrs(cb);
	struct mm_struct *mm;
	int err;

	BUILD_BUG_ON(sizeof(*dump) > sizeof(cb->ctx));
	err = netlink_check_caps(cb->skb, cb->extack);
	if (err || !attrs || !attrs[BEEUNWIND_A_PROC_PID])
		return err;
	mm = netlink_get_mm(attrs[BEEUNWIND_A_PROC_PID], NULL, cb->extack);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	mmgrab(mm);
	mmput(mm);
	dump->only = mm;
	return 0;
}

static int netlink_proc_dump_done(struct netlink_callback *cb)
{
	struct proc_dump *dump = (void *)cb->ctx;

	if (dump->only)
		mmdrop(dump->only);
	return 0;
}

/* A forked child's entry has no pid yet: whoever runs in the address space. */
static u32 proc_find_pid(const struct mm_struct *mm, struct pid_namespace *ns)
{
	struct task_struct *leader, *task;

	for_each_process_thread(leader, task)
		if (READ_ONCE(task->mm) == mm && !(task->flags & PF_KTHREAD))
			return task_tgid_nr_ns(task, ns);
	return 0;
}

static u32 proc_pid(const struct bee_mm *m)
{
	struct pid_namespace *ns = task_active_pid_ns(current);

	return m->pid ? pid_nr_ns(m->pid, ns) : proc_find_pid(m->mm, ns);
}

static int range_put(struct sk_buff *skb, const struct bee_range *range)
{
	struct nlattr *nest = nla_nest_start(skb, BEEUNWIND_A_PROC_RANGE);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, BEEUNWIND_A_RANGE_START, range->start,
			      BEEUNWIND_A_RANGE_PAD) ||
	    nla_put_u64_64bit(skb, BEEUNWIND_A_RANGE_END, range->end, BEEUNWIND_A_RANGE_PAD) ||
	    nla_put_u64_64bit(skb, BEEUNWIND_A_RANGE_OFFSET, range->offset,
			      BEEUNWIND_A_RANGE_PAD) ||
	    nla_put_u32(skb, BEEUNWIND_A_RANGE_TABLE, range->file ? range->file->id : 0)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* One message: as many of the address space's ranges as there is room for. */
static int proc_put(struct sk_buff *skb, struct netlink_callback *cb, const struct bee_mm *m)
{
	struct proc_dump *dump = (void *)cb->ctx;
	/* First the generation: with older ranges than it says, a diff could be applied. */
	u64 generation = smp_load_acquire(&m->generation);
	const struct bee_map *map = rcu_dereference(m->map);
	void *hdr = dump_message(skb, cb, BEEUNWIND_CMD_PROC_GET);
	u32 nr = map ? map->nr : 0, i = dump->cookie == m->cookie ? dump->range : 0;
	u32 first = i;

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, BEEUNWIND_A_PROC_PID, proc_pid(m)) ||
	    nla_put_u64_64bit(skb, BEEUNWIND_A_PROC_COOKIE, m->cookie, BEEUNWIND_A_PROC_PAD) ||
	    nla_put_u64_64bit(skb, BEEUNWIND_A_PROC_GENERATION, generation,
			      BEEUNWIND_A_PROC_PAD) ||
	    nla_put_u32(skb, BEEUNWIND_A_PROC_RANGES, nr))
		goto full;
	while (i < nr && !range_put(skb, &map->ranges[i]))
		i++;
	if (i < nr && i == first)
		goto full;
	genlmsg_end(skb, hdr);
	dump->range = i < nr ? i : 0;
	dump->cookie = i < nr ? m->cookie : m->cookie + 1;
	return 0;
full:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

static int netlink_proc_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct proc_dump *dump = (void *)cb->ctx;
	const struct bee_mm *m;
	int err = 0;

	rcu_read_lock();
	m = dump->only ? bee_mm_find(dump->only) : NULL;
	/* Odd, for 0 means "no check". */
	cb->seq = m ? 2 * (unsigned int)READ_ONCE(m->generation) + 1 : bee_mm_seq();
	while (!err && (m = bee_mm_next(dump->cookie, dump->only)))
		err = proc_put(skb, cb, m);
	rcu_read_unlock();
	return skb->len || !err ? skb->len : err;
}

/**
 * bee_netlink_tell() - announce a file without a table
 * @f: the file
 *
 * Who begins to listen later asks for all files first.
 *
 * Context: Process, under RCU.
 * Return: false if there was no memory for it.
 */
bool bee_netlink_tell(const struct bee_file *f)
{
	struct sk_buff *skb;
	void *hdr;

	if (!genl_has_listeners(&netlink_family, &init_net, 0))
		return true;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return false;
	hdr = genlmsg_put(skb, 0, 0, &netlink_family, 0, BEEUNWIND_CMD_TABLE_NTF);
	if (!hdr || table_put_file(skb, f) || table_put_hint(skb, f)) {
		nlmsg_free(skb);
		return false;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast(&netlink_family, skb, 0, 0, GFP_ATOMIC);
	return true;
}

/*
 * The family
 */

static const struct nla_policy netlink_table_policy[BEEUNWIND_A_TABLE_MAX + 1] = {
	[BEEUNWIND_A_TABLE_ID]	   = { .type = NLA_U32 },
	[BEEUNWIND_A_TABLE_FD]	   = NLA_POLICY_MIN(NLA_S32, 0),
	[BEEUNWIND_A_TABLE_EXE_FD] = NLA_POLICY_MIN(NLA_S32, 0),
	[BEEUNWIND_A_TABLE_VDSO]   = { .type = NLA_FLAG },
	[BEEUNWIND_A_TABLE_FORCE]  = { .type = NLA_FLAG },
};

static const struct nla_policy netlink_proc_policy[BEEUNWIND_A_PROC_MAX + 1] = {
	[BEEUNWIND_A_PROC_PID]	      = NLA_POLICY_MIN(NLA_U32, 1),
	[BEEUNWIND_A_PROC_COOKIE]     = { .type = NLA_U64 },
	[BEEUNWIND_A_PROC_GENERATION] = { .type = NLA_U64 },
	[BEEUNWIND_A_PROC_DEL]	      = NLA_POLICY_NESTED(netlink_range_policy),
	[BEEUNWIND_A_PROC_ADD]	      = NLA_POLICY_NESTED(netlink_range_policy),
};

static const struct nla_policy netlink_config_policy[BEEUNWIND_A_CONFIG_MAX + 1] = {
	[BEEUNWIND_A_CONFIG_BUDGET]   = { .type = NLA_U64 },
	[BEEUNWIND_A_CONFIG_HOOK]     = NLA_POLICY_MAX(NLA_U32, BEEUNWIND_HOOK_STATE_ON),
	[BEEUNWIND_A_CONFIG_FOLLOW]   = NLA_POLICY_MAX(NLA_U32, BEEUNWIND_FOLLOW_MAX),
	[BEEUNWIND_A_CONFIG_ANNOUNCE] = NLA_POLICY_MAX(NLA_U32, BEEUNWIND_ANNOUNCE_MAX),
};

static const struct genl_ops netlink_ops[] = {
	{
		.cmd	= BEEUNWIND_CMD_INFO_GET,
		.doit	= netlink_info_get,
	},
	{
		.cmd	 = BEEUNWIND_CMD_TABLE_ADD,
		.doit	 = netlink_table_add,
		.policy	 = netlink_table_policy,
		.maxattr = BEEUNWIND_A_TABLE_MAX,
	},
	{
		.cmd	 = BEEUNWIND_CMD_TABLE_DEL,
		.doit	 = netlink_table_del,
		.policy	 = netlink_table_policy,
		.maxattr = BEEUNWIND_A_TABLE_MAX,
	},
	{
		.cmd	= BEEUNWIND_CMD_TABLE_GET,
		.start	= netlink_table_dump_start,
		.dumpit	= netlink_table_dump,
	},
	{
		.cmd	 = BEEUNWIND_CMD_PROC_ADD,
		.doit	 = netlink_proc_add,
		.policy	 = netlink_proc_policy,
		.maxattr = BEEUNWIND_A_PROC_MAX,
	},
	{
		.cmd	 = BEEUNWIND_CMD_PROC_UPDATE,
		.doit	 = netlink_proc_update,
		.policy	 = netlink_proc_policy,
		.maxattr = BEEUNWIND_A_PROC_MAX,
	},
	{
		.cmd	 = BEEUNWIND_CMD_PROC_DEL,
		.doit	 = netlink_proc_del,
		.policy	 = netlink_proc_policy,
		.maxattr = BEEUNWIND_A_PROC_MAX,
	},
	{
		.cmd	 = BEEUNWIND_CMD_PROC_GET,
		.start	 = netlink_proc_dump_start,
		.dumpit	 = netlink_proc_dump,
		.done	 = netlink_proc_dump_done,
		.policy	 = netlink_proc_policy,
		.maxattr = BEEUNWIND_A_PROC_MAX,
	},
	{
		.cmd	= BEEUNWIND_CMD_STATS_GET,
		.doit	= netlink_stats_get,
	},
	{
		.cmd	 = BEEUNWIND_CMD_CONFIG_SET,
		.doit	 = netlink_config_set,
		.policy	 = netlink_config_policy,
		.maxattr = BEEUNWIND_A_CONFIG_MAX,
	},
};

static const struct genl_multicast_group netlink_groups[] = {
	{ .name = BEEUNWIND_MCGRP_EVENTS, .flags = GENL_MCAST_CAP_SYS_ADMIN },
};

static struct genl_family netlink_family = {
	.name		= BEEUNWIND_FAMILY_NAME,
	.version	= BEEUNWIND_FAMILY_VERSION,
	.module		= THIS_MODULE,
	.ops		= netlink_ops,
	.n_ops		= ARRAY_SIZE(netlink_ops),
	.mcgrps		= netlink_groups,
	.n_mcgrps	= ARRAY_SIZE(netlink_groups),
	.parallel_ops	= true,
};

/**
 * bee_netlink_init() - begin to take requests
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno.
 */
int bee_netlink_init(void)
{
	return genl_register_family(&netlink_family);
}

/**
 * bee_netlink_exit() - take no more requests; none is at work when it returns
 *
 * Context: Process, may sleep.
 */
void bee_netlink_exit(void)
{
	genl_unregister_family(&netlink_family);
}
