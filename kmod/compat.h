/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the supported kernels, 6.1 and later.  No other file
 * of the module asks for a version.
 */
#ifndef BEE_COMPAT_H
#define BEE_COMPAT_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/version.h>
#include <net/genetlink.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "beeunwind needs Linux 6.1 or later"
#endif
#if !defined(CONFIG_X86_64) || !defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) || \
	!defined(CONFIG_UPROBES) || !defined(CONFIG_PERF_EVENTS)
#error "beeunwind needs x86-64, CONFIG_DYNAMIC_FTRACE_WITH_ARGS, CONFIG_UPROBES, CONFIG_PERF_EVENTS"
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#error "beeunwind is not made for Linux 7 yet: unmap_vmas() takes other arguments there"
#endif
#ifdef CONFIG_PREEMPT_RT
#error "beeunwind is not made for PREEMPT_RT: its callbacks allocate with preemption off"
#endif

/* 6.12 hides the registers behind accessors; earlier they are in the struct. */
#ifndef ftrace_regs_get_argument
#define ftrace_regs_get_argument(fregs, n) \
	regs_get_kernel_argument(&(fregs)->regs, n)
#endif

/* io-wq workers have their own flag before PF_USER_WORKER covered them. */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER	0
#endif

/* 6.7 put the parsed attributes of a dump into its genl_info. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static inline struct nlattr **bee_dump_attrs(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb)->info.attrs;
}
#else
static inline struct nlattr **bee_dump_attrs(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb)->attrs;
}
#endif

/* The arguments that both kinds of shrinker have. */
typedef unsigned long (*bee_shrinker_fn)(struct shrinker *shrinker, struct shrink_control *sc);

/* 6.7 made the inode's mtime private. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static inline struct timespec64 bee_inode_mtime(const struct inode *inode)
{
	return inode_get_mtime(inode);
}
#else
static inline struct timespec64 bee_inode_mtime(const struct inode *inode)
{
	return inode->i_mtime;
}
#endif

/* 6.7: vm_file of overlayfs has the path of the layer below; the user's is beside it. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static inline const struct path *bee_file_user_path(const struct file *file)
{
	return file_user_path((struct file *)file);
}
#else
static inline const struct path *bee_file_user_path(const struct file *file)
{
	return &file->f_path;
}
#endif

/* 6.7 has shrinkers that are allocated. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static inline struct shrinker *bee_shrinker_register(bee_shrinker_fn count, bee_shrinker_fn scan)
{
	struct shrinker *shrinker = shrinker_alloc(0, "beeunwind");

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker_register(shrinker);
	return shrinker;
}

static inline void bee_shrinker_unregister(struct shrinker *shrinker)
{
	shrinker_free(shrinker);
}
#else
static inline struct shrinker *bee_shrinker_register(bee_shrinker_fn count, bee_shrinker_fn scan)
{
	static struct shrinker shrinker = { .seeks = DEFAULT_SEEKS };

	shrinker.count_objects = count;
	shrinker.scan_objects = scan;
	return register_shrinker(&shrinker, "beeunwind") ? NULL : &shrinker;
}

static inline void bee_shrinker_unregister(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
}
#endif

/*
 * Before 6.3 an extack message had to be a constant, for it is sent after the
 * handler has returned.  A ring of sentences lives long enough: one is lost only
 * if as many refusals as it has places overtake the sending of the first.
 */
#ifndef NL_SET_ERR_MSG_FMT
#define BEE_EXTACK_RING	64
static inline char *bee_extack_slot(void)
{
	static char ring[BEE_EXTACK_RING][128];
	static atomic_t next;

	return ring[(unsigned int)atomic_inc_return(&next) % BEE_EXTACK_RING];
}

#define NL_SET_ERR_MSG_FMT(extack, fmt, ...) do {			\
	char *__slot = bee_extack_slot();				\
									\
	snprintf(__slot, 128, fmt, ##__VA_ARGS__);			\
	do_trace_netlink_extack(__slot);				\
	if (extack)							\
		(extack)->_msg = __slot;				\
} while (0)
#endif

#endif /* BEE_COMPAT_H */
