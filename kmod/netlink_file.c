// SPDX-License-Identifier: GPL-2.0
/* TABLE_ADD, TABLE_DEL, FILE_GET, FILE_NTF, TABLE_NTF. */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "mm.h"
#include "netlink.h"
#include "netlink_impl.h"
#include "news.h"
#include "rmap.h"
#include "store.h"

const struct nla_policy bee_netlink_file_policy[BEEUNWIND_A_FILE_MAX + 1] = {
	[BEEUNWIND_A_FILE_ID]	    = { .type = NLA_U32 },
	[BEEUNWIND_A_FILE_TABLE_FD] = NLA_POLICY_MIN(NLA_S32, 0),
	[BEEUNWIND_A_FILE_EXE_FD]   = NLA_POLICY_MIN(NLA_S32, 0),
	[BEEUNWIND_A_FILE_VDSO]	    = { .type = NLA_FLAG },
	[BEEUNWIND_A_FILE_FORCE]    = { .type = NLA_FLAG },
	[BEEUNWIND_A_FILE_NAME]	    = { .type = NLA_NUL_STRING, .len = 255 },
	[BEEUNWIND_A_FILE_PID]	    = NLA_POLICY_MIN(NLA_U32, 1),
	[BEEUNWIND_A_FILE_COUNTS]   = { .type = NLA_FLAG },
};

/*
 * struct file_told - a file that somebody was told of, so that FILE_GET has an answer when it was
 * unmapped meanwhile, and forgotten: its table is of use when it is mapped again
 * @id: of the file
 * @size: bytes of @attrs
 * @attrs: the answer; kfree(); NULL if there is none
 */
struct file_told {
	u32	 id;
	u32	 size;
	void	*attrs;
};

/* About as many messages as a receive buffer has room for. */
#define FILE_TOLD	256

static DEFINE_SPINLOCK(file_told_lock);
static struct file_told file_told[FILE_TOLD];	/* file_told_lock */
static u32 file_told_next;			/* file_told_lock; the oldest one */

/* An open file of the sender, which is current.  The caller drops it by fput(). */
static struct file *netlink_get_file(struct genl_info *info, int attr)
{
	struct file *file = fget(nla_get_s32(info->attrs[attr]));

	if (file)
		return file;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr], "no such open file");
	return ERR_PTR(-EBADF);
}

/*
 * The file that a request names by one of three attributes, with a reference.  ERR_PTR(-ENOENT),
 * without a sentence: it is named by an id that no file has.
 */
static struct bee_file *netlink_named_file(struct genl_info *info)
{
	struct nlattr *id = info->attrs[BEEUNWIND_A_FILE_ID];
	struct bee_file *f = NULL;
	struct file *exe;

	if (!!info->attrs[BEEUNWIND_A_FILE_EXE_FD] + !!id +
	    !!info->attrs[BEEUNWIND_A_FILE_VDSO] != 1) {
		NL_SET_ERR_MSG(info->extack, "just one of exe-fd, id and vdso, please");
		return ERR_PTR(-EINVAL);
	}
	if (id)
		return bee_file_get_id(nla_get_u32(id)) ?: ERR_PTR(-ENOENT);
	if (info->attrs[BEEUNWIND_A_FILE_VDSO]) {
		f = bee_file_get_vdso();
	} else {
		exe = netlink_get_file(info, BEEUNWIND_A_FILE_EXE_FD);
		if (IS_ERR(exe))
			return ERR_CAST(exe);
		f = bee_file_get(exe);
		fput(exe);
	}
	if (IS_ERR(f))
		NL_SET_ERR_MSG(info->extack, "out of memory, over budget or over the user's share");
	return f;
}

static void file_say_unknown(struct genl_info *info)
{
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[BEEUNWIND_A_FILE_ID], "no such file");
}

static int file_put_identity(struct sk_buff *skb, const struct bee_file *f)
{
	return nla_put_u32(skb, BEEUNWIND_A_FILE_ID, f->id) ||
	       nla_put_string(skb, BEEUNWIND_A_FILE_NAME, f->name) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_DEVICE, f->key.dev) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_INODE, f->key.ino) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_SIZE, f->key.size) ||
	       (f->owner && bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_OWNER, f->owner));
}

static int file_put_news(struct sk_buff *skb, const struct bee_news *news)
{
	return nla_put_u32(skb, BEEUNWIND_A_FILE_PID, news->tgid) ||
	       nla_put_u32(skb, BEEUNWIND_A_FILE_UID, news->uid) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_START, news->start) ||
	       bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_END, news->end);
}

/*
 * Keep @told, which says what a file was when listeners were told of it.  In exchange @told gets
 * the oldest of those that were kept, for the caller to free.
 */
static void file_told_keep(struct file_told *told)
{
	spin_lock(&file_told_lock);
	swap(file_told[file_told_next % FILE_TOLD], *told);
	file_told_next++;
	spin_unlock(&file_told_lock);
}

/*
 * The message about file @id had no listener: take what file_told_keep() has kept out again, and
 * put back the one in @told.  If another request has kept something since, all stays as it is.
 */
static void file_told_undo(struct file_told *told, u32 id)
{
	struct file_told *last;

	spin_lock(&file_told_lock);
	last = &file_told[(file_told_next - 1) % FILE_TOLD];
	if (last->id == id) {
		swap(*last, *told);
		file_told_next--;
	}
	spin_unlock(&file_told_lock);
}

/* What FILE_GET is to say of a file when it has been forgotten; @attrs may be NULL. */
static struct file_told file_told_make(const struct bee_file *f)
{
	struct sk_buff *skb = alloc_skb(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	const struct bee_news *news = bee_news_of(f);
	struct file_told told = { .id = f->id };

	if (skb && !file_put_identity(skb, f) && !(news && file_put_news(skb, news)) &&
	    !nla_put_u32(skb, BEEUNWIND_A_FILE_MISSED,
			 bee_tally_sum(&f->tally, BEE_TALLY_MISSED))) {
		told.size = skb->len;
		told.attrs = kmemdup(skb->data, skb->len, GFP_ATOMIC);
	}
	kfree_skb(skb);
	return told;
}

/* Send TABLE_NTF: the table of @f was replaced, or removed by force; @procs used it.  May sleep. */
static void table_tell(const struct bee_file *f, bool loaded, u32 procs)
{
	struct file_told told;
	struct sk_buff *skb;
	void *hdr;

	if (!genl_has_listeners(&bee_netlink_family, &init_net, 0))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	hdr = skb ? genlmsg_put(skb, 0, 0, &bee_netlink_family, 0, BEEUNWIND_CMD_TABLE_NTF) : NULL;
	if (!hdr || nla_put_u32(skb, BEEUNWIND_A_FILE_ID, f->id) ||
	    (loaded && nla_put_flag(skb, BEEUNWIND_A_FILE_LOADED)) ||
	    nla_put_u32(skb, BEEUNWIND_A_FILE_PROCS, procs)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	/* Without a table a file that is not mapped is forgotten at the end of this request. */
	if (!loaded) {
		told = file_told_make(f);
		file_told_keep(&told);
		kfree(told.attrs);
	}
	genlmsg_multicast(&bee_netlink_family, skb, 0, 0, GFP_KERNEL);
}

/*
 * The table of @f has been changed.  @tell: listeners are told, unless nobody used it: then only if
 * it was removed, and is not one of code in memory, which is removed so if it could not be laid
 * over a range.
 * Return: 0, or not if @reply has no room.
 */
static int table_answer(struct sk_buff *reply, const struct bee_file *f, bool tell, bool loaded)
{
	u32 procs = bee_mm_count_users(f);

	if (tell && (procs || (!loaded && !f->owner)))
		table_tell(f, loaded, procs);
	return nla_put_u32(reply, BEEUNWIND_A_FILE_ID, f->id) ||
	       nla_put_u32(reply, BEEUNWIND_A_FILE_PROCS, procs);
}

/*
 * The file that a TABLE_ADD names, with a reference.  If the request has a pid it is a new one,
 * which stands for code in that process's memory.
 */
static struct bee_file *netlink_table_file(struct genl_info *info)
{
	struct bee_file *f;

	if (!info->attrs[BEEUNWIND_A_FILE_PID]) {
		f = netlink_named_file(info);
		if (f == ERR_PTR(-ENOENT))
			file_say_unknown(info);
		return f;
	}
	if (info->attrs[BEEUNWIND_A_FILE_EXE_FD] || info->attrs[BEEUNWIND_A_FILE_ID] ||
	    info->attrs[BEEUNWIND_A_FILE_VDSO]) {
		NL_SET_ERR_MSG(info->extack, "with pid there is no exe-fd, id or vdso");
		return ERR_PTR(-EINVAL);
	}
	return bee_netlink_new_file(info);
}

/*
 * Give a file its table.  If the share of the user who pays for the file has no room, another user
 * who has the file mapped is to pay.  Return: as bee_store_add().
 */
static int table_store(struct bee_file *f, struct file *file, bool *replaced,
		       struct netlink_ext_ack *extack)
{
	u64 bytes = bee_store_bytes(i_size_read(file_inode(file)));
	int err = bee_store_add(f, file, replaced, extack);

	if (err != -EDQUOT)
		return err;
	/* First: a user who maps the file from now on is found below, or finds this. */
	bee_rmap_set_refused(f, true);
	if (!bee_mm_move_file(f, bytes))
		return err;
	/* That of the refusal, which a reply without an error would have too. */
	if (extack)
		extack->_msg = NULL;
	err = bee_store_add(f, file, replaced, extack);
	bee_rmap_set_refused(f, err == -EDQUOT);
	return err;
}

int bee_netlink_table_add(struct sk_buff *request, struct genl_info *info)
{
	struct sk_buff *reply;
	struct bee_file *f;
	struct file *file;
	bool replaced;
	void *hdr;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, BEEUNWIND_A_FILE_TABLE_FD)) {
		NL_SET_ERR_MSG(info->extack, "table-fd is missing");
		return -EINVAL;
	}
	file = netlink_get_file(info, BEEUNWIND_A_FILE_TABLE_FD);
	if (IS_ERR(file))
		return PTR_ERR(file);
	f = netlink_table_file(info);
	err = PTR_ERR_OR_ZERO(f);
	if (err)
		goto put_file;
	reply = bee_netlink_reply_begin(info, BEEUNWIND_CMD_TABLE_ADD, &hdr);
	if (reply) {
		err = table_store(f, file, &replaced, info->extack);
		err = err ?: table_answer(reply, f, replaced, true);
		err = bee_netlink_reply_end(info, reply, hdr, err);
	} else {
		err = -ENOMEM;
	}
	bee_file_put(f);
put_file:
	fput(file);
	return err;
}

int bee_netlink_table_del(struct sk_buff *request, struct genl_info *info)
{
	bool force = info->attrs[BEEUNWIND_A_FILE_FORCE];
	struct sk_buff *reply;
	struct bee_file *f;
	int err = -ENOMEM;
	void *hdr;
	u32 id;

	if (GENL_REQ_ATTR_CHECK(info, BEEUNWIND_A_FILE_ID)) {
		NL_SET_ERR_MSG(info->extack, "id of the file is missing");
		return -EINVAL;
	}
	id = nla_get_u32(info->attrs[BEEUNWIND_A_FILE_ID]);
	f = bee_file_get_id(id);
	if (!f) {
		NL_SET_ERR_MSG_FMT(info->extack, "no file %u", id);
		return -ENOENT;
	}
	reply = bee_netlink_reply_begin(info, BEEUNWIND_CMD_TABLE_DEL, &hdr);
	if (reply) {
		err = bee_store_del(f, force, info->extack);
		if (!err) {
			err = table_answer(reply, f, force, false);
			/* Listeners get TABLE_NTF first, and then perhaps FILE_NTF again. */
			bee_news_reset(f);
		}
		err = bee_netlink_reply_end(info, reply, hdr, err);
	}
	bee_file_put(f);
	return err;
}

/* @held: how many references the request itself holds; they do not count as users. */
static int file_put(struct sk_buff *skb, const struct bee_file *f, u32 held)
{
	const struct bee_stored *stored = rcu_dereference(f->table);
	const struct bee_news *news = stored ? NULL : bee_news_of(f);
	/* A walk may set it to a later jiffy meanwhile. */
	long idle = max_t(long, jiffies - READ_ONCE(f->used), 0);
	int err;

	err = file_put_identity(skb, f) ||
	      nla_put_u32(skb, BEEUNWIND_A_FILE_USERS, bee_file_users(f) - held) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_IDLE_MS, jiffies64_to_msecs(idle)) ||
	      nla_put_u32(skb, BEEUNWIND_A_FILE_HITS,
			  bee_tally_sum(&f->tally, BEE_TALLY_HITS)) ||
	      nla_put_u32(skb, BEEUNWIND_A_FILE_MISSED,
			  bee_tally_sum(&f->tally, BEE_TALLY_MISSED)) ||
	      bee_netlink_put_stops(skb, BEEUNWIND_A_FILE_STOP, &f->tally) ||
	      bee_netlink_put_u64(skb, BEEUNWIND_A_FILE_BYTES,
				  bee_file_bytes(f));
	if (!err && stored) {
		const struct bee_table *t = &stored->table;

		err = nla_put_flag(skb, BEEUNWIND_A_FILE_LOADED) ||
		      nla_put(skb, BEEUNWIND_A_FILE_IDENTITY, t->header->id_len, t->header->id) ||
		      nla_put_u32(skb, BEEUNWIND_A_FILE_ROWS, t->nrows) ||
		      nla_put_u32(skb, BEEUNWIND_A_FILE_FLAGS, t->header->flags);
	}
	return err || (news && file_put_news(skb, news));
}

/* What file @id was when it was announced last, if that is not too many announcements ago. */
static int file_told_put(struct sk_buff *reply, struct genl_info *info)
{
	u32 id = nla_get_u32(info->attrs[BEEUNWIND_A_FILE_ID]), i;
	int err = -ENOENT;

	spin_lock(&file_told_lock);
	for (i = 1; err == -ENOENT && i <= FILE_TOLD; i++) {
		const struct file_told *told = &file_told[(file_told_next - i) % FILE_TOLD];

		if (told->attrs && told->id == id)
			err = nla_append(reply, told->size, told->attrs);
	}
	spin_unlock(&file_told_lock);
	if (err == -ENOENT)
		file_say_unknown(info);
	return err;
}

int bee_netlink_file_get(struct sk_buff *request, struct genl_info *info)
{
	struct bee_file *f = netlink_named_file(info);
	struct sk_buff *reply;
	int err = -ENOMEM;
	void *hdr;

	if (IS_ERR(f) && PTR_ERR(f) != -ENOENT)
		return PTR_ERR(f);
	reply = bee_netlink_reply_begin(info, BEEUNWIND_CMD_FILE_GET, &hdr);
	if (reply) {
		rcu_read_lock();
		err = IS_ERR(f) ? file_told_put(reply, info) : file_put(reply, f, 1);
		rcu_read_unlock();
		err = bee_netlink_reply_end(info, reply, hdr, err);
	}
	if (!IS_ERR(f))
		bee_file_put(f);
	return err;
}

/**
 * struct file_dump - state of a dump of files, in cb->ctx
 * @next: the first id that may come next
 * @counts: only files that say how complete stacks are
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

/* So many files are passed over before others may have the CPU. */
#define FILE_DUMP_BATCH	256

/* The next file that is to be told.  Under RCU, which it leaves and enters again. */
static const struct bee_file *file_dump_next(struct file_dump *dump)
{
	const struct bee_file *f;
	u32 passed = 0;

	while ((f = bee_file_next(dump->next))) {
		if (!dump->counts || bee_tally_has_stops(&f->tally) || bee_news_of(f))
			break;
		dump->next = f->id + 1ul;
		if (++passed % FILE_DUMP_BATCH)
			continue;
		rcu_read_unlock();
		cond_resched();
		rcu_read_lock();
	}
	return f;
}

int bee_netlink_file_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct file_dump *dump = (void *)cb->ctx;
	const struct bee_file *f;
	void *hdr;
	int err = dump->begun ? 0 : file_dump_begin(cb);

	if (err)
		return err;
	cb->seq = bee_file_seq();
	rcu_read_lock();
	while ((f = file_dump_next(dump))) {
		hdr = bee_netlink_dump_message(skb, cb, BEEUNWIND_CMD_FILE_GET);
		if (!hdr || file_put(skb, f, 0)) {
			genlmsg_cancel(skb, hdr);
			err = -EMSGSIZE;
			break;
		}
		genlmsg_end(skb, hdr);
		dump->next = f->id + 1ul;
	}
	rcu_read_unlock();
	return skb->len || !err ? skb->len : err;
}

/**
 * bee_netlink_tell() - send FILE_NTF about a file without a table
 * @f: the file; announced
 *
 * Whoever begins to listen later asks for all files first, so without a listener none is sent.
 *
 * Context: Process, under RCU; one call at a time.
 * Return: false if there was no memory for it.
 */
bool bee_netlink_tell(const struct bee_file *f)
{
	struct file_told told;
	struct sk_buff *skb;
	void *hdr;

	if (!genl_has_listeners(&bee_netlink_family, &init_net, 0))
		return true;
	told = file_told_make(f);
	skb = told.attrs ? genlmsg_new(nla_total_size(sizeof(u32)), GFP_ATOMIC) : NULL;
	hdr = skb ? genlmsg_put(skb, 0, 0, &bee_netlink_family, 0, BEEUNWIND_CMD_FILE_NTF) : NULL;
	if (!hdr || nla_put_u32(skb, BEEUNWIND_A_FILE_ID, f->id)) {
		nlmsg_free(skb);
		kfree(told.attrs);
		return false;
	}
	genlmsg_end(skb, hdr);
	/*
	 * Before the message, whose receiver may ask at once.  -ESRCH: nobody had room for it.  A
	 * socket that is full keeps the oldest messages, so others do not take their place here.
	 */
	file_told_keep(&told);
	if (genlmsg_multicast(&bee_netlink_family, skb, 0, 0, GFP_ATOMIC) == -ESRCH)
		file_told_undo(&told, f->id);
	kfree(told.attrs);
	return true;
}

/** bee_netlink_file_exit() - after the last request and announcement.  Context: Process. */
void bee_netlink_file_exit(void)
{
	struct file_told *told;

	for (told = file_told; told < file_told + FILE_TOLD; told++)
		kfree(told->attrs);
}
