/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the supported kernels, from 6.1 on.  No other file tests the kernel's
 * version.
 */
#ifndef BEE_COMPAT_H
#define BEE_COMPAT_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/version.h>
#include <net/genetlink.h>

/*
 * 6.1 before 6.1.68, and 6.2 to 6.6.6, let every user join a multicast group, whatever capability
 * it asks for.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 68) || \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 7))
#error "beeunwind needs Linux 6.1.68 or a later 6.1, or Linux 6.6.7 or later"
#endif
#if !defined(CONFIG_X86_64) || !defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) || \
	!defined(CONFIG_UPROBES) || !defined(CONFIG_PERF_EVENTS)
#error "beeunwind needs x86-64, CONFIG_DYNAMIC_FTRACE_WITH_ARGS, CONFIG_UPROBES, CONFIG_PERF_EVENTS"
#endif

/* With it the compiler may inline a hooked function into callers in other files. */
#ifdef CONFIG_LTO
#error "beeunwind is not for kernels with link-time optimization: it may inline a hooked function"
#endif

#define BEE_COMPAT_RT	IS_ENABLED(CONFIG_PREEMPT_RT)

/* Before 6.12 struct ftrace_regs has no accessor for arguments. */
#ifndef ftrace_regs_get_argument
#define ftrace_regs_get_argument(fregs, n) \
	regs_get_kernel_argument(&(fregs)->regs, n)
#endif

/* Before 6.13 registers are members of struct ftrace_regs. */
#ifndef arch_ftrace_regs
#define arch_ftrace_regs(fregs)	(fregs)
#endif

/*
 * Since 6.19 perf can have user stacks walked on the way back to user space, by unwind_user().
 * A callback on that function which has walked the stack itself calls bee_compat_unwind_take(): the
 * function then walks into @none, which has no room for a frame.
 */
#ifdef CONFIG_UNWIND_USER
#include <linux/unwind_user.h>
#define BEE_COMPAT_DEFERRED	1

static_assert(__same_type(unwind_user, int(struct unwind_stacktrace *, unsigned int)));

static inline void bee_compat_unwind_take(struct ftrace_regs *fregs, struct unwind_stacktrace *none)
{
	arch_ftrace_regs(fregs)->regs.di = (unsigned long)none;
	arch_ftrace_regs(fregs)->regs.si = 0;
}
#else
#define BEE_COMPAT_DEFERRED	0
#endif

/*
 * The sequence count of an mm's mmap_lock: odd while somebody has the lock for writing.  Upstream has it
 * since 6.13, Debian's 6.12 too; before, mm_lock_seq is a plain number, or there is none.  Then 1: nobody
 * can tell.
 */
#ifdef CONFIG_PER_VMA_LOCK
#define BEE_COMPAT_MM_SEQ	__same_type(((struct mm_struct *)0)->mm_lock_seq, seqcount_t)
#else
#define BEE_COMPAT_MM_SEQ	0
#endif

static __always_inline u32 bee_compat_mm_seq(const struct mm_struct *mm)
{
#ifdef CONFIG_PER_VMA_LOCK
	if (BEE_COMPAT_MM_SEQ)
		return smp_load_acquire((const u32 *)&mm->mm_lock_seq);
#endif
	return 1;
}

/*
 * A number that is another one after the mapping was changed, or replaced by another one, while mmap_lock was held for
 * writing: whoever does so locks the VMA before, by setting vm_lock_seq.  fork() does it, too.  Before 6.4 always 0.
 */
#ifdef CONFIG_PER_VMA_LOCK
#define bee_compat_vma_mark(vma)	((u32)(vma)->vm_lock_seq)
#else
#define bee_compat_vma_mark(vma)	0u
#endif

/* The word of a struct rw_semaphore that says whether somebody has it for writing. */
#if BEE_COMPAT_RT
#define bee_compat_rwsem_word(sem)	(*(const u32 *)&(sem)->rwbase.readers)
#define bee_compat_write_locked(word)	((u32)(word) == WRITER_BIAS)
#else
#define bee_compat_rwsem_word(sem)	(*(const unsigned long *)&(sem)->count)
/* RWSEM_WRITER_LOCKED, kernel/locking/rwsem.c */
#define bee_compat_write_locked(word)	((word) & 1)
#endif

/* With RCU mode a reader without a lock finds no node of the tree of mappings that is freed. */
static_assert(MM_MT_FLAGS & MT_FLAGS_USE_RCU);

/* Older kernels, 6.1.170 among them, say by a bit which capability a multicast group requires. */
#ifdef GENL_MCAST_CAP_SYS_ADMIN
#define BEE_COMPAT_MCAST_SYS_ADMIN	.flags = GENL_MCAST_CAP_SYS_ADMIN
#else
#define BEE_COMPAT_MCAST_SYS_ADMIN	.cap_sys_admin = 1
#endif

/* Before 6.2 pre_doit() of a netlink family gets a struct genl_ops. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define genl_split_ops	genl_ops
#endif

/* Before 6.4 io-wq workers, PF_IO_WORKER, are the only user workers. */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER	0
#endif

/* Since 6.6 the parsed attributes of a dump are in its genl_info. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define bee_compat_dump_attrs(cb)	(genl_dumpit_info(cb)->info.attrs)
#else
#define bee_compat_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#endif

typedef unsigned long (*bee_compat_shrinker_fn)(struct shrinker *shrinker,
						struct shrink_control *sc);

/*
 * Since 6.7 i_mtime is private, f_path of an overlayfs mapping is in the layer below, and shrinkers are
 * allocated.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define bee_compat_inode_mtime(inode)	inode_get_mtime(inode)
#define bee_compat_file_user_path(file)	file_user_path(file)
#define bee_compat_shrinker_unregister(shrinker)	shrinker_free(shrinker)

static inline struct shrinker *bee_compat_shrinker_register(bee_compat_shrinker_fn count,
							    bee_compat_shrinker_fn scan)
{
	struct shrinker *shrinker = shrinker_alloc(0, "beeunwind");

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker_register(shrinker);
	return shrinker;
}
#else
#define bee_compat_inode_mtime(inode)	((inode)->i_mtime)
#define bee_compat_file_user_path(file)	(&(file)->f_path)
#define bee_compat_shrinker_unregister(shrinker)	unregister_shrinker(shrinker)

static inline struct shrinker *bee_compat_shrinker_register(bee_compat_shrinker_fn count,
							    bee_compat_shrinker_fn scan)
{
	static struct shrinker shrinker = { .seeks = DEFAULT_SEEKS };

	shrinker.count_objects = count;
	shrinker.scan_objects = scan;
	return register_shrinker(&shrinker, "beeunwind") ? NULL : &shrinker;
}
#endif

/*
 * Before 6.3 an extack message must be constant, as it is sent after the handler has returned.
 * Sentences with arguments are kept in a ring; one is overwritten only if as many refusals as
 * the ring has slots happen before it is sent.
 */
#ifndef NL_SET_ERR_MSG_FMT
static inline char *bee_compat_extack_slot(void)
{
	static char ring[64][128];
	static atomic_t next;

	return ring[(unsigned int)atomic_inc_return(&next) % ARRAY_SIZE(ring)];
}

#define NL_SET_ERR_MSG_FMT(extack, fmt, ...) do {			\
	char *__slot;							\
									\
	if (!(extack))							\
		break;							\
	__slot = bee_compat_extack_slot();				\
	snprintf(__slot, 128, fmt, ##__VA_ARGS__);			\
	do_trace_netlink_extack(__slot);				\
	(extack)->_msg = __slot;					\
} while (0)
#endif

#endif /* BEE_COMPAT_H */
