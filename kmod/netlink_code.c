// SPDX-License-Identifier: GPL-2.0
/* CODE_UPDATE, CODE_GET. */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "code.h"
#include "compat.h"
#include "netlink_impl.h"
#include "store.h"

static const struct nla_policy range_policy[BEEUNWIND_A_RANGE_MAX + 1] = {
	[BEEUNWIND_A_RANGE_START]  = { .type = NLA_U64 },
	[BEEUNWIND_A_RANGE_END]	   = { .type = NLA_U64 },
	[BEEUNWIND_A_RANGE_OFFSET] = { .type = NLA_U64 },
	[BEEUNWIND_A_RANGE_FILE]   = { .type = NLA_U32 },
};

const struct nla_policy bee_netlink_code_policy[BEEUNWIND_A_CODE_MAX + 1] = {
	[BEEUNWIND_A_CODE_PID]	      = NLA_POLICY_MIN(NLA_U32, 1),
	[BEEUNWIND_A_CODE_GENERATION] = { .type = NLA_U64 },
	[BEEUNWIND_A_CODE_DEL]	      = NLA_POLICY_NESTED(range_policy),
	[BEEUNWIND_A_CODE_ADD]	      = NLA_POLICY_NESTED(range_policy),
	[BEEUNWIND_A_CODE_HEAPS]      = { .type = NLA_BINARY, .len = sizeof(struct bee_code_heaps) },
};

/* The ranges of all attributes of type @attr; kvfree(). */
static int diff_parse(struct genl_info *info, int attr, struct bee_code_edit **list, u32 *nr)
{
	struct nlattr *tb[BEEUNWIND_A_RANGE_MAX + 1];
	struct nlattr *nla;
	u32 n = 0;
	int rem, i, err;

	nlmsg_for_each_attr(nla, info->nlhdr, GENL_HDRLEN, rem)
		n += nla_type(nla) == attr;
	if (n > BEE_CODE_MOST) {
		NL_SET_ERR_MSG(info->extack, "more ranges than a process may have");
		return -E2BIG;
	}
	*list = n ? kvcalloc(n, sizeof(**list), GFP_KERNEL_ACCOUNT) : NULL;
	if (n && !*list)
		return -ENOMEM;
	nlmsg_for_each_attr(nla, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nla) != attr)
			continue;
		err = nla_parse_nested(tb, BEEUNWIND_A_RANGE_MAX, nla, range_policy, info->extack);
		if (err)
			return err;
		for (i = BEEUNWIND_A_RANGE_START; i <= BEEUNWIND_A_RANGE_FILE; i++) {
			if (tb[i])
				continue;
			NL_SET_ERR_MSG_ATTR(info->extack, nla,
					    "a range has start, end, offset and file");
			return -EINVAL;
		}
		(*list)[(*nr)++] = (struct bee_code_edit) {
			.start = nla_get_u64(tb[BEEUNWIND_A_RANGE_START]),
			.end = nla_get_u64(tb[BEEUNWIND_A_RANGE_END]),
			.offset = nla_get_u64(tb[BEEUNWIND_A_RANGE_OFFSET]),
			.file = nla_get_u32(tb[BEEUNWIND_A_RANGE_FILE]),
		};
	}
	return 0;
}

static int heaps_parse(struct genl_info *info, struct bee_code_diff *diff)
{
	const struct nlattr *nla = info->attrs[BEEUNWIND_A_CODE_HEAPS];

	diff->set_heaps = nla;
	if (!nla || !nla_len(nla))
		return 0;
	/* Attributes are aligned to 4 bytes only, as the fields of x86 may be. */
	diff->heaps = nla_data(nla);
	if (nla_len(nla) == sizeof(*diff->heaps))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, nla, "heaps has another size than struct bee_code_heaps");
	return -EINVAL;
}

static int code_update(struct genl_info *info, const struct bee_code_diff *diff,
		       struct sk_buff *reply)
{
	struct task_struct *task;
	u64 generation;
	u32 nr;
	int err;

	task = bee_netlink_get_task(info->attrs[BEEUNWIND_A_CODE_PID], info->extack);
	if (IS_ERR(task))
		return PTR_ERR(task);
	err = bee_code_update(task, diff, &generation, &nr, info->extack);
	put_task_struct(task);
	return err ?: bee_netlink_put_u64(reply, BEEUNWIND_A_CODE_GENERATION, generation) ||
		      nla_put_u32(reply, BEEUNWIND_A_CODE_RANGES, nr);
}

int bee_netlink_code_update(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *generation = info->attrs[BEEUNWIND_A_CODE_GENERATION];
	struct bee_code_diff diff = { .generation = generation ? nla_get_u64(generation) : 0 };
	struct sk_buff *reply;
	void *hdr;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, BEEUNWIND_A_CODE_PID)) {
		NL_SET_ERR_MSG(info->extack, "pid is missing");
		return -EINVAL;
	}
	reply = bee_netlink_reply_begin(info, BEEUNWIND_CMD_CODE_UPDATE, &hdr);
	if (!reply)
		return -ENOMEM;
	err = diff_parse(info, BEEUNWIND_A_CODE_DEL, &diff.del, &diff.nr_del) ?:
	      diff_parse(info, BEEUNWIND_A_CODE_ADD, &diff.add, &diff.nr_add) ?:
	      heaps_parse(info, &diff) ?:
	      code_update(info, &diff, reply);
	kvfree(diff.del);
	kvfree(diff.add);
	return bee_netlink_reply_end(info, reply, hdr, err);
}

/**
 * struct code_dump - state of a dump of code in memory, in cb->ctx
 * @generation: of the process whose ranges are being told, or that was told last
 * @range: the first range that may come next; 0: of the next process
 * @last: generations above are not told: so the dump ends
 * @pid: number of the only process that is wanted, in the initial pid namespace; or 0
 * @begun: the request has been looked at
 */
struct code_dump {
	u64	generation;
	u64	last;
	u32	range;
	u32	pid;
	bool	begun;
};

static int range_put(struct sk_buff *skb, const struct bee_range *range)
{
	struct nlattr *nest = nla_nest_start(skb, BEEUNWIND_A_CODE_RANGE);

	if (!nest)
		return -EMSGSIZE;
	if (bee_netlink_put_u64(skb, BEEUNWIND_A_RANGE_START, range->start) ||
	    bee_netlink_put_u64(skb, BEEUNWIND_A_RANGE_END, range->end) ||
	    bee_netlink_put_u64(skb, BEEUNWIND_A_RANGE_OFFSET, range->offset) ||
	    nla_put_u32(skb, BEEUNWIND_A_RANGE_FILE, range->file->id)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* One message, with as many ranges as fit.  Caller holds bee_store_mutex. */
static int code_put(struct sk_buff *skb, struct netlink_callback *cb, const struct bee_code *c)
{
	const struct bee_code_ranges *ranges = rcu_dereference_protected(c->ranges, true);
	const struct bee_code_vm *vm = rcu_dereference_protected(c->vm, true);
	struct code_dump *dump = (void *)cb->ctx;
	u32 i = dump->range, nr = ranges ? ranges->nr : 0;
	void *hdr = bee_netlink_dump_message(skb, cb, BEEUNWIND_CMD_CODE_GET);

	if (!hdr || nla_put_u32(skb, BEEUNWIND_A_CODE_PID, pid_vnr(c->pid)) ||
	    bee_netlink_put_u64(skb, BEEUNWIND_A_CODE_GENERATION, c->generation) ||
	    nla_put_u32(skb, BEEUNWIND_A_CODE_RANGES, nr) ||
	    (vm && !dump->range && nla_put(skb, BEEUNWIND_A_CODE_HEAPS, sizeof(vm->heaps), &vm->heaps)))
		goto full;
	while (i < nr && !range_put(skb, &ranges->at[i]))
		i++;
	if (i == dump->range && nr)
		goto full;
	genlmsg_end(skb, hdr);
	dump->range = i < nr ? i : 0;
	return 0;
full:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/*
 * A generation tells whether messages are of the same ranges.  A process that changes its ranges meanwhile may be
 * left out, and asked for by itself.
 */
int bee_netlink_code_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct code_dump *dump = (void *)cb->ctx;
	int err = dump->begun ? 0 : bee_netlink_dump_begin(cb, BEEUNWIND_A_CODE_PID, &dump->pid);
	const struct bee_code *c;

	if (err)
		return err;
	mutex_lock(&bee_store_mutex);
	if (!dump->begun)
		dump->last = bee_code_generation;
	dump->begun = true;
	while (!err && (c = bee_code_next(dump->range ? dump->generation - 1 : dump->generation)) &&
	       c->generation <= dump->last) {
		/* Begin a process anew if its ranges have changed since their first message. */
		if (c->generation != dump->generation)
			dump->range = 0;
		dump->generation = c->generation;
		if (!dump->pid || pid_nr(c->pid) == dump->pid)
			err = code_put(skb, cb, c);
		if (err && !dump->range)
			dump->generation--;
	}
	mutex_unlock(&bee_store_mutex);
	return skb->len || !err ? skb->len : err;
}
