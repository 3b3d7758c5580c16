// SPDX-License-Identifier: GPL-2.0
/* PROC_ADD, PROC_UPDATE, PROC_DEL, PROC_GET. */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "code_news.h"
#include "compat.h"
#include "manage.h"
#include "netlink.h"
#include "netlink_impl.h"

static const struct nla_policy netlink_range_policy[BEEUNWIND_A_RANGE_MAX + 1] = {
	[BEEUNWIND_A_RANGE_START]  = { .type = NLA_U64 },
	[BEEUNWIND_A_RANGE_END]	   = { .type = NLA_U64 },
	[BEEUNWIND_A_RANGE_OFFSET] = { .type = NLA_U64 },
	[BEEUNWIND_A_RANGE_FILE]   = { .type = NLA_U32 },
};

const struct nla_policy bee_netlink_proc_policy[BEEUNWIND_A_PROC_MAX + 1] = {
	[BEEUNWIND_A_PROC_PID]	      = NLA_POLICY_MIN(NLA_U32, 1),
	[BEEUNWIND_A_PROC_COOKIE]     = { .type = NLA_U64 },
	[BEEUNWIND_A_PROC_GENERATION] = { .type = NLA_U64 },
	[BEEUNWIND_A_PROC_DEL]	      = NLA_POLICY_NESTED(netlink_range_policy),
	[BEEUNWIND_A_PROC_ADD]	      = NLA_POLICY_NESTED(netlink_range_policy),
	[BEEUNWIND_A_PROC_FILE]	      = NLA_POLICY_MIN(NLA_U32, 1),
	[BEEUNWIND_A_PROC_COUNTS]     = { .type = NLA_FLAG },
	[BEEUNWIND_A_PROC_NOWAIT]     = { .type = NLA_FLAG },
};

static int diff_parse_list(struct genl_info *info, int type, struct bee_map_edit **list, u32 *nr)
{
	struct nlattr *tb[BEEUNWIND_A_RANGE_MAX + 1];
	const struct nlattr *attr;
	int rem, err;
	u32 n = 0;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		n += nla_type(attr) == type;
	if (n > BEE_MAP_MAX_RANGES) {
		NL_SET_ERR_MSG(info->extack, "too many ranges in one request");
		return -E2BIG;
	}
	if (!n)
		return 0;
	*list = kvcalloc(n, sizeof(**list), GFP_KERNEL);
	if (!*list)
		return -ENOMEM;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != type)
			continue;
		err = nla_parse_nested(tb, BEEUNWIND_A_RANGE_MAX, attr, netlink_range_policy,
				       info->extack);
		if (err)
			return err;
		if (!tb[BEEUNWIND_A_RANGE_START] || !tb[BEEUNWIND_A_RANGE_END] ||
		    !tb[BEEUNWIND_A_RANGE_OFFSET] || !tb[BEEUNWIND_A_RANGE_FILE]) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "range without start, end, offset or file");
			return -EINVAL;
		}
		(*list)[(*nr)++] = (struct bee_map_edit) {
			.start = nla_get_u64(tb[BEEUNWIND_A_RANGE_START]),
			.end = nla_get_u64(tb[BEEUNWIND_A_RANGE_END]),
			.offset = nla_get_u64(tb[BEEUNWIND_A_RANGE_OFFSET]),
			.file = nla_get_u32(tb[BEEUNWIND_A_RANGE_FILE]),
		};
	}
	return 0;
}

/* Return: with mm_users held, or an error pointer. */
static struct mm_struct *task_get_mm(struct task_struct *task, struct netlink_ext_ack *extack)
{
	struct mm_struct *mm;

	if (task->flags & PF_KTHREAD) {
		NL_SET_ERR_MSG(extack, "a kernel thread has no user stack");
		return ERR_PTR(-EINVAL);
	}
	mm = bee_manage_get_mm(task);
	if (mm)
		return mm;
	NL_SET_ERR_MSG(extack, "the process is exiting");
	return ERR_PTR(-ESRCH);
}

static struct task_struct *netlink_get_task(const struct nlattr *attr,
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

/*
 * A process that a request changes: its task with a reference, and its mm with mm_users held.
 * @blocked: exec waits until the change is done.
 */
struct proc_held {
	struct task_struct	*task;
	struct mm_struct	*mm;
	bool			 blocked;
};

static void proc_release(struct proc_held *held)
{
	if (!IS_ERR(held->mm))
		mmput_async(held->mm);
	if (held->blocked)
		mutex_unlock(&held->task->signal->cred_guard_mutex);
	put_task_struct(held->task);
}

/* For a second. */
#define PROC_EXEC_TRIES		100
#define PROC_EXEC_TRY_MS	10

/*
 * Hold the process that @attr names, until proc_release().
 *
 * Takes cred_guard_mutex, which blocks exec, as ptrace_attach() does: exec decides early whether
 * its new mm is managed (bee_follow_exec()) but switches to it late, and a change of the old mm
 * in between would be lost.  Goes on without it if it is not free within a second: an exec holds
 * it while it waits for its other threads to end, which a debugger can delay without limit.  With
 * @nowait it does not wait, nor go on without it.
 *
 * Return: 0 or -errno, and nothing is held.
 */
static int proc_hold(const struct nlattr *attr, bool nowait, struct netlink_ext_ack *extack,
		     struct proc_held *held)
{
	int tries, err;

	held->task = netlink_get_task(attr, extack);
	if (IS_ERR(held->task))
		return PTR_ERR(held->task);
	held->blocked = false;
	for (tries = 0; tries < PROC_EXEC_TRIES && !held->blocked; tries++) {
		held->blocked = mutex_trylock(&held->task->signal->cred_guard_mutex);
		if (!held->blocked && nowait) {
			NL_SET_ERR_MSG(extack, "the process is executing a program; try again");
			put_task_struct(held->task);
			return -EBUSY;
		}
		if (!held->blocked)
			msleep(PROC_EXEC_TRY_MS);
	}
	held->mm = task_get_mm(held->task, extack);
	err = PTR_ERR_OR_ZERO(held->mm);
	if (err)
		proc_release(held);
	return err;
}

/* With @diff: apply it.  Without: manage the process with the ranges that are mapped. */
static int proc_change(struct genl_info *info, struct bee_map_diff *diff,
		       struct bee_mm_state *state)
{
	bool nowait = info->attrs[BEEUNWIND_A_PROC_NOWAIT];
	struct proc_held held;
	struct pid *tgid;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, BEEUNWIND_A_PROC_PID)) {
		NL_SET_ERR_MSG(info->extack, "pid is missing");
		return -EINVAL;
	}
	err = proc_hold(info->attrs[BEEUNWIND_A_PROC_PID], nowait, info->extack, &held);
	if (err)
		return err;
	tgid = get_task_pid(held.task, PIDTYPE_TGID);
	err = diff ? bee_manage_update(held.mm, tgid, diff, state, info->extack) :
		     bee_manage_scan(held.mm, tgid, nowait, state, info->extack);
	put_pid(tgid);
	proc_release(&held);
	return err;
}

static int proc_change_and_reply(struct genl_info *info, u8 cmd, struct bee_map_diff *diff,
				 struct bee_mm_state *state)
{
	struct sk_buff *skb;
	void *hdr;
	int err;

	skb = bee_netlink_reply_begin(info, cmd, &hdr);
	if (!skb)
		return -ENOMEM;
	err = proc_change(info, diff, state);
	if (!err)
		err = bee_netlink_put_u64(skb, BEEUNWIND_A_PROC_COOKIE, state->cookie) ||
		      bee_netlink_put_u64(skb, BEEUNWIND_A_PROC_GENERATION, state->generation) ||
		      nla_put_u32(skb, BEEUNWIND_A_PROC_RANGES, state->ranges);
	return bee_netlink_reply_end(info, skb, hdr, err);
}

int bee_netlink_proc_add(struct sk_buff *request, struct genl_info *info)
{
	struct bee_mm_state state;

	return proc_change_and_reply(info, BEEUNWIND_CMD_PROC_ADD, NULL, &state);
}

static u64 netlink_optional_u64(struct genl_info *info, int attr)
{
	return info->attrs[attr] ? nla_get_u64(info->attrs[attr]) : 0;
}

int bee_netlink_proc_update(struct sk_buff *request, struct genl_info *info)
{
	struct bee_mm_state state = {
		.cookie = netlink_optional_u64(info, BEEUNWIND_A_PROC_COOKIE),
		.generation = netlink_optional_u64(info, BEEUNWIND_A_PROC_GENERATION),
	};
	struct bee_map_diff diff = {};
	int err;

	err = diff_parse_list(info, BEEUNWIND_A_PROC_DEL, &diff.del, &diff.nr_del) ?:
	      diff_parse_list(info, BEEUNWIND_A_PROC_ADD, &diff.add, &diff.nr_add);
	if (!err)
		err = proc_change_and_reply(info, BEEUNWIND_CMD_PROC_UPDATE, &diff, &state);
	kvfree(diff.del);
	kvfree(diff.add);
	return err;
}

int bee_netlink_proc_del(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *cookie = info->attrs[BEEUNWIND_A_PROC_COOKIE];
	struct nlattr *pid = info->attrs[BEEUNWIND_A_PROC_PID];
	struct proc_held held;
	bool found;
	int err;

	if (!pid == !cookie) {
		NL_SET_ERR_MSG(info->extack, "either pid or cookie, please");
		return -EINVAL;
	}
	if (cookie) {
		found = bee_manage_stop_cookie(nla_get_u64(cookie));
	} else {
		err = proc_hold(pid, false, info->extack, &held);
		if (err)
			return err;
		found = bee_manage_stop(held.mm);
		proc_release(&held);
	}
	if (found)
		return 0;
	NL_SET_ERR_MSG(info->extack, "the process is not managed");
	return -ENOENT;
}

/**
 * bee_netlink_new_file() - a file that stands for memory of the process that a TABLE_ADD names
 * @info: the request, with pid
 *
 * Context: Process, may sleep.
 * Return: the file with a reference, or an error pointer and a sentence.
 */
struct bee_file *bee_netlink_new_file(struct genl_info *info)
{
	struct nlattr *name = info->attrs[BEEUNWIND_A_FILE_NAME];
	struct task_struct *task;
	struct bee_file *f;
	struct mm_struct *mm;

	if (!name || nla_len(name) <= 1) {
		NL_SET_ERR_MSG(info->extack, "name of the code is missing");
		return ERR_PTR(-EINVAL);
	}
	task = netlink_get_task(info->attrs[BEEUNWIND_A_FILE_PID], info->extack);
	if (IS_ERR(task))
		return ERR_CAST(task);
	mm = task_get_mm(task, info->extack);
	put_task_struct(task);
	if (IS_ERR(mm))
		return ERR_CAST(mm);
	f = bee_manage_new_file(mm, nla_data(name), info->extack);
	mmput_async(mm);
	return f;
}

/**
 * struct proc_dump - state of a dump of processes, in cb->ctx
 * @only: if not NULL: none but this address space; with a reference of mmgrab()
 * @users: if not NULL: none but those with these cookies, ascending; kvfree()
 * @cookie: the next address space
 * @nr: length of @users
 * @at: the first of @users that may come next
 * @file: if not 0: only ranges of the file with this id
 * @addr: of the address space, ranges that end after this address are next
 * @counts: without ranges
 * @begun: proc_dump_begin() was called
 */
struct proc_dump {
	struct mm_struct	*only;
	u64			*users;
	u64			 cookie;
	u64			 addr;
	u32			 nr;
	u32			 at;
	u32			 file;
	bool			 counts;
	bool			 begun;
};

/* Sets cb->prev_seq, so that the first message is marked if ranges change during the search. */
static int proc_dump_find_users(struct netlink_callback *cb, const struct nlattr *id)
{
	struct proc_dump *dump = (void *)cb->ctx;
	struct bee_file *f = bee_file_get_id(nla_get_u32(id));
	int err;

	if (!f) {
		NL_SET_ERR_MSG_ATTR(cb->extack, id, "no such file");
		return -ENOENT;
	}
	dump->file = f->id;
	err = bee_mm_list_users(f, &dump->users, &dump->nr, &cb->prev_seq);
	bee_file_put(f);
	return err;
}

static int proc_dump_set_cookie(struct proc_dump *dump, u64 cookie)
{
	dump->users = kvmalloc(sizeof(*dump->users), GFP_KERNEL_ACCOUNT);
	if (!dump->users)
		return -ENOMEM;
	dump->users[dump->nr++] = cookie;
	return 0;
}

static int proc_dump_begin(struct netlink_callback *cb)
{
	struct proc_dump *dump = (void *)cb->ctx;
	struct nlattr **attrs = bee_compat_dump_attrs(cb);
	struct task_struct *task;
	struct mm_struct *mm;
	int err;

	BUILD_BUG_ON(sizeof(*dump) > sizeof(cb->ctx));
	dump->begun = true;
	err = bee_netlink_admit(cb->skb, cb->extack);
	if (err || !attrs)
		return err;
	dump->counts = attrs[BEEUNWIND_A_PROC_COUNTS];
	if (!!attrs[BEEUNWIND_A_PROC_FILE] + !!attrs[BEEUNWIND_A_PROC_PID] +
	    !!attrs[BEEUNWIND_A_PROC_COOKIE] > 1) {
		NL_SET_ERR_MSG(cb->extack, "either pid, cookie or file, please");
		return -EINVAL;
	}
	if (attrs[BEEUNWIND_A_PROC_FILE])
		return proc_dump_find_users(cb, attrs[BEEUNWIND_A_PROC_FILE]);
	if (attrs[BEEUNWIND_A_PROC_COOKIE])
		return proc_dump_set_cookie(dump, nla_get_u64(attrs[BEEUNWIND_A_PROC_COOKIE]));
	if (!attrs[BEEUNWIND_A_PROC_PID])
		return 0;
	task = netlink_get_task(attrs[BEEUNWIND_A_PROC_PID], cb->extack);
	if (IS_ERR(task))
		return PTR_ERR(task);
	mm = task_get_mm(task, cb->extack);
	put_task_struct(task);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	mmgrab(mm);
	mmput_async(mm);
	dump->only = mm;
	return 0;
}

int bee_netlink_proc_dump_done(struct netlink_callback *cb)
{
	struct proc_dump *dump = (void *)cb->ctx;

	if (dump->only)
		mmdrop(dump->only);
	kvfree(dump->users);
	return 0;
}

static bool task_runs_in(struct task_struct *task, const struct mm_struct *mm)
{
	return READ_ONCE(task->mm) == mm && !(task->flags & PF_KTHREAD);
}

/*
 * A process that runs in the address space.  Forked children have no m->pid, as bee_mm_fork() does
 * not know it; and who it names may have ended, so that the number is another's now.  The search
 * is for the rare case that the owner has ended and others share the address space.
 */
static u32 proc_find_pid(const struct bee_mm *m, struct pid_namespace *ns)
{
	struct task_struct *leader, *task = pid_task(m->pid, PIDTYPE_PID);

	if (task && task_runs_in(task, m->mm))
		return pid_nr_ns(m->pid, ns);
	task = bee_compat_mm_owner(m->mm);
	if (task && task_runs_in(task, m->mm))
		return task_tgid_nr_ns(task, ns);
	for_each_process_thread(leader, task)
		if (task_runs_in(task, m->mm))
			return task_tgid_nr_ns(task, ns);
	/* No task has this mm: the process is in the midst of an exec, or is ending. */
	return pid_nr_ns(m->pid, ns);
}

static int range_put(struct sk_buff *skb, const struct bee_range *range)
{
	u64 end = READ_ONCE(range->end);
	struct nlattr *nest;

	/* It has gone since it was found. */
	if (end == range->start)
		return 0;
	nest = nla_nest_start(skb, BEEUNWIND_A_PROC_RANGE);
	if (!nest)
		return -EMSGSIZE;
	if (bee_netlink_put_u64(skb, BEEUNWIND_A_RANGE_START, range->start) ||
	    bee_netlink_put_u64(skb, BEEUNWIND_A_RANGE_END, end) ||
	    bee_netlink_put_u64(skb, BEEUNWIND_A_RANGE_OFFSET, range->offset) ||
	    nla_put_u32(skb, BEEUNWIND_A_RANGE_FILE, range->file ? range->file->id : 0)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* The next range to send. */
static const struct bee_range *proc_next_range(const struct proc_dump *dump,
					       struct bee_map_cursor *cursor)
{
	const struct bee_range *range = bee_map_next(cursor);

	while (range && dump->file && (!range->file || range->file->id != dump->file))
		range = bee_map_next(cursor);
	return range;
}

/* One message, with as many of the address space's ranges as fit; the first has its walks, too. */
static int proc_put(struct sk_buff *skb, struct netlink_callback *cb, const struct bee_mm *m)
{
	struct proc_dump *dump = (void *)cb->ctx;
	/* Read before the map: otherwise a diff against older ranges would be accepted later. */
	u64 generation = smp_load_acquire(&m->generation);
	const struct bee_map *map = rcu_dereference(m->map);
	u64 begin = dump->cookie == m->cookie ? dump->addr : 0;
	struct pid_namespace *ns = task_active_pid_ns(current);
	const struct bee_range *range, *first;
	struct bee_map_cursor cursor;
	void *hdr;
	u32 pid;

	bee_map_seek(&cursor, map, begin);
	first = proc_next_range(dump, &cursor);
	range = first;
	/* The file is no longer mapped here, or all its ranges have been sent. */
	if (dump->file && !range)
		goto next;
	hdr = bee_netlink_dump_message(skb, cb, BEEUNWIND_CMD_PROC_GET);
	if (!hdr)
		return -EMSGSIZE;
	pid = proc_find_pid(m, ns);
	if (nla_put_u32(skb, BEEUNWIND_A_PROC_PID, pid) ||
	    bee_netlink_put_u64(skb, BEEUNWIND_A_PROC_COOKIE, m->cookie) ||
	    bee_netlink_put_u64(skb, BEEUNWIND_A_PROC_GENERATION, generation) ||
	    nla_put_u32(skb, BEEUNWIND_A_PROC_RANGES, map ? READ_ONCE(map->nr) : 0) ||
	    (!begin && bee_netlink_put_stops(skb, BEEUNWIND_A_PROC_STOP, &m->tally)))
		goto full;
	if (dump->counts)
		range = NULL;
	while (range && !range_put(skb, range))
		range = proc_next_range(dump, &cursor);
	if (range && range == first)
		goto full;
	if (!bee_mm_is_unchanged(m, generation)) {
		/* Some ranges of this message may be older than others. */
		cb->prev_seq = cb->seq + 2;
		genl_dump_check_consistent(cb, hdr);
	}
	genlmsg_end(skb, hdr);
next:
	dump->addr = range ? range->start : 0;
	dump->cookie = range ? m->cookie : m->cookie + 1;
	return 0;
full:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/* The next address space, if it is managed still. */
static const struct bee_mm *proc_dump_next(struct proc_dump *dump)
{
	const struct bee_mm *m;

	if (!dump->users)
		return bee_mm_next(dump->cookie, dump->only);
	for (; dump->at < dump->nr; dump->at++) {
		u64 cookie = dump->users[dump->at];

		m = cookie < dump->cookie ? NULL : bee_mm_next(cookie, NULL);
		if (m && m->cookie == cookie)
			return m;
	}
	return NULL;
}

int bee_netlink_proc_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct proc_dump *dump = (void *)cb->ctx;
	const struct bee_mm *m;
	int err = dump->begun ? 0 : proc_dump_begin(cb);

	if (err)
		return err;
	rcu_read_lock();
	m = dump->only ? bee_mm_find(dump->only) : NULL;
	/*
	 * Odd, as bee_mm_seq() is.  Of the cookie, too: a process that is forgotten and added again
	 * has another bee_mm, whose generation can be the same.
	 */
	cb->seq = m ? 2 * hash_64(m->cookie ^ READ_ONCE(m->generation) << 32, 31) + 1 :
		      bee_mm_seq();
	while (!err && (m = proc_dump_next(dump)))
		err = proc_put(skb, cb, m);
	rcu_read_unlock();
	return skb->len || !err ? skb->len : err;
}

/**
 * bee_netlink_tell_code() - send CODE_NTF about an address space
 * @news: the address space
 *
 * Context: Process, may sleep.
 */
void bee_netlink_tell_code(const struct bee_code_news *news)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &bee_netlink_family, 0, BEEUNWIND_CMD_CODE_NTF);
	if (!hdr || bee_netlink_put_u64(skb, BEEUNWIND_A_PROC_COOKIE, news->cookie)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast(&bee_netlink_family, skb, 0, 0, GFP_KERNEL);
}
