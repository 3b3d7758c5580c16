// SPDX-License-Identifier: GPL-2.0
/* TABLE_ADD, TABLE_DEL, FILE_GET. */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/skbuff.h>

#include "code.h"
#include "compat.h"
#include "netlink_impl.h"
#include "store.h"
#include "vma.h"

const struct nla_policy bee_netlink_file_policy[BEEUNWIND_A_FILE_MAX + 1] = {
	[BEEUNWIND_A_FILE_ID]	    = { .type = NLA_U32 },
	[BEEUNWIND_A_FILE_TABLE_FD] = NLA_POLICY_MIN(NLA_S32, 0),
	[BEEUNWIND_A_FILE_EXE_FD]   = NLA_POLICY_MIN(NLA_S32, 0),
	[BEEUNWIND_A_FILE_VDSO]	    = { .type = NLA_FLAG },
	[BEEUNWIND_A_FILE_PID]	    = NLA_POLICY_MIN(NLA_U32, 1),
	[BEEUNWIND_A_FILE_UID]	    = { .type = NLA_U32 },
	[BEEUNWIND_A_FILE_NAME]	    = { .type = NLA_NUL_STRING, .len = 255 },
	[BEEUNWIND_A_FILE_COUNTS]   = { .type = NLA_FLAG },
};

/*
 * An open file of the sender, which is current, until netlink_put_file(); NULL: the request names none.
 * @get: fget(), or fget_raw() for what may be open with O_PATH only
 */
static struct file *netlink_get_file(struct genl_info *info, int attr,
				     struct file *(*get)(unsigned int fd))
{
	struct file *file;

	if (!info->attrs[attr])
		return NULL;
	file = get(nla_get_s32(info->attrs[attr]));
	if (file)
		return file;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr], "no such open file");
	return ERR_PTR(-EBADF);
}

static void netlink_put_file(struct file *file)
{
	if (!IS_ERR_OR_NULL(file))
		fput(file);
}

/* The request names just one of exe-fd, vdso and @other, if that is an attribute. */
static int netlink_named_once(struct genl_info *info, int other)
{
	if (!!info->attrs[BEEUNWIND_A_FILE_EXE_FD] + !!info->attrs[BEEUNWIND_A_FILE_VDSO] +
	    !!info->attrs[other] == 1)
		return 0;
	if (other == BEEUNWIND_A_FILE_PID)
		NL_SET_ERR_MSG(info->extack, "just one of exe-fd, vdso and pid, please");
	else
		NL_SET_ERR_MSG(info->extack, "just one of exe-fd, vdso and id, please");
	return -EINVAL;
}

static int table_add_code(struct genl_info *info, struct file *table, u32 *id)
{
	struct nlattr *name = info->attrs[BEEUNWIND_A_FILE_NAME];
	struct task_struct *task;
	int err;

	if (!table || !name || nla_len(name) <= 1) {
		NL_SET_ERR_MSG(info->extack, "code in memory has a table-fd and a name");
		return -EINVAL;
	}
	task = bee_netlink_get_task(info->attrs[BEEUNWIND_A_FILE_PID], info->extack);
	if (IS_ERR(task))
		return PTR_ERR(task);
	err = bee_code_add_table(task, nla_data(name), table, id, info->extack);
	put_task_struct(task);
	return err;
}

static int table_add(struct genl_info *info, struct file *exe, struct file *table, u32 *id)
{
	struct nlattr *uid = info->attrs[BEEUNWIND_A_FILE_UID];

	if (info->attrs[BEEUNWIND_A_FILE_PID])
		return table_add_code(info, table, id);
	return bee_store_add(exe, table, uid ? nla_get_u32(uid) : 0, id, info->extack);
}

int bee_netlink_table_add(struct sk_buff *request, struct genl_info *info)
{
	struct file *exe, *table;
	struct sk_buff *reply;
	void *hdr;
	u32 id;
	int err = netlink_named_once(info, BEEUNWIND_A_FILE_PID);

	if (err)
		return err;
	exe = netlink_get_file(info, BEEUNWIND_A_FILE_EXE_FD, fget);
	table = netlink_get_file(info, BEEUNWIND_A_FILE_TABLE_FD, fget);
	err = PTR_ERR_OR_ZERO(exe) ?: PTR_ERR_OR_ZERO(table);
	reply = err ? NULL : bee_netlink_reply_begin(info, BEEUNWIND_CMD_TABLE_ADD, &hdr);
	if (reply) {
		err = table_add(info, exe, table, &id) ?: nla_put_u32(reply, BEEUNWIND_A_FILE_ID, id);
		err = bee_netlink_reply_end(info, reply, hdr, err);
	} else {
		err = err ?: -ENOMEM;
	}
	netlink_put_file(table);
	netlink_put_file(exe);
	return err;
}

int bee_netlink_table_del(struct sk_buff *request, struct genl_info *info)
{
	struct bee_file *f;
	int err = 0;

	if (GENL_REQ_ATTR_CHECK(info, BEEUNWIND_A_FILE_ID)) {
		NL_SET_ERR_MSG(info->extack, "id of the file is missing");
		return -EINVAL;
	}
	mutex_lock(&bee_store_mutex);
	f = bee_store_get(nla_get_u32(info->attrs[BEEUNWIND_A_FILE_ID]));
	if (!f) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[BEEUNWIND_A_FILE_ID], "no such file");
		err = -ENOENT;
	} else if (f->code) {
		err = bee_code_del_table(f, info->extack);
	} else {
		bee_store_remove(f);
	}
	mutex_unlock(&bee_store_mutex);
	return err;
}

static int table_put(struct sk_buff *skb, const struct bee_table *t)
{
	return nla_put_flag(skb, BEEUNWIND_A_FILE_LOADED) ||
	       nla_put(skb, BEEUNWIND_A_FILE_IDENTITY, t->header->id_len, t->header->id) ||
	       nla_put_u32(skb, BEEUNWIND_A_FILE_ROWS, t->nrows) ||
	       nla_put_u32(skb, BEEUNWIND_A_FILE_FLAGS, t->header->flags);
}

/* Whether a file was written to since its table was added. */
static bool file_is_written(const struct bee_file *f)
{
	bool written;

	/* An inode is freed a grace period after its file is gone. */
	rcu_read_lock();
	written = !READ_ONCE(f->gone) && bee_file_differs(f);
	rcu_read_unlock();
	return written;
}

/* Caller holds bee_store_mutex. */
static int file_put(struct sk_buff *skb, const struct bee_file *f)
{
	/* A walk may set it to a later jiffy meanwhile. */
	long idle = max_t(long, jiffies - READ_ONCE(f->used), 0);

	return nla_put_u32(skb, BEEUNWIND_A_FILE_ID, f->id) ||
	       nla_put_string(skb, BEEUNWIND_A_FILE_NAME, f->name) ||
	       nla_put_u32(skb, BEEUNWIND_A_FILE_UID, f->uid) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_BYTES, f->bytes) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_IDLE_MS, jiffies64_to_msecs(idle)) ||
	       nla_put_u32(skb, BEEUNWIND_A_FILE_HITS,
			   atomic_read(&f->tally.count[BEE_TALLY_HITS])) ||
	       bee_netlink_put_stops(skb, BEEUNWIND_A_FILE_STOP, &f->tally) ||
	       (file_is_written(f) && nla_put_flag(skb, BEEUNWIND_A_FILE_WRITTEN)) ||
	       (bee_file_is_mapped(f) && nla_put_flag(skb, BEEUNWIND_A_FILE_MAPPED)) ||
	       (f->stored.serial && table_put(skb, &f->stored.table)) ||
	       (f->code ? nla_put_u32(skb, BEEUNWIND_A_FILE_PID, pid_vnr(f->code->pid)) :
		bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_DEVICE, f->device) ||
		bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_INODE, f->ino) ||
		bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_SIZE, f->size));
}

int bee_netlink_file_get(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *id = info->attrs[BEEUNWIND_A_FILE_ID];
	const struct bee_file *f;
	struct sk_buff *reply;
	struct file *exe;
	void *hdr;
	int err = netlink_named_once(info, BEEUNWIND_A_FILE_ID);

	if (err)
		return err;
	exe = netlink_get_file(info, BEEUNWIND_A_FILE_EXE_FD, fget_raw);
	if (IS_ERR(exe))
		return PTR_ERR(exe);
	reply = bee_netlink_reply_begin(info, BEEUNWIND_CMD_FILE_GET, &hdr);
	if (!reply) {
		netlink_put_file(exe);
		return -ENOMEM;
	}
	mutex_lock(&bee_store_mutex);
	f = id ? bee_store_get(nla_get_u32(id)) : bee_store_find(exe);
	if (f) {
		err = file_put(reply, f);
	} else {
		NL_SET_ERR_MSG(info->extack, "the module does not know that file");
		err = -ENOENT;
	}
	mutex_unlock(&bee_store_mutex);
	netlink_put_file(exe);
	return bee_netlink_reply_end(info, reply, hdr, err);
}

/**
 * struct file_dump - state of a dump of files, in cb->ctx
 * @next: the first id that may come next
 * @counts: only files in which walks have ended
 * @begun: file_dump_begin() was called
 */
struct file_dump {
	unsigned long	next;
	bool		counts;
	bool		begun;
};

static int file_dump_begin(struct netlink_callback *cb)
{
	struct file_dump *dump = (void *)cb->ctx;
	struct nlattr **attrs = bee_compat_dump_attrs(cb);

	dump->begun = true;
	dump->counts = attrs && attrs[BEEUNWIND_A_FILE_COUNTS];
	return bee_netlink_admit(cb->skb, cb->extack);
}

/* A file that comes or goes meanwhile makes no other entry of the dump wrong. */
int bee_netlink_file_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct file_dump *dump = (void *)cb->ctx;
	int err = dump->begun ? 0 : file_dump_begin(cb);
	const struct bee_file *f;

	if (err)
		return err;
	mutex_lock(&bee_store_mutex);
	for (; !err && (f = bee_store_next(dump->next)); dump->next = f->id + 1ul) {
		void *hdr;

		if (dump->counts && !bee_tally_has_stops(&f->tally))
			continue;
		hdr = bee_netlink_dump_message(skb, cb, BEEUNWIND_CMD_FILE_GET);
		if (!hdr || file_put(skb, f)) {
			genlmsg_cancel(skb, hdr);
			err = -EMSGSIZE;
			break;
		}
		genlmsg_end(skb, hdr);
	}
	mutex_unlock(&bee_store_mutex);
	return skb->len || !err ? skb->len : err;
}
