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
#include <linux/oom.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/uaccess.h>
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

/*
 * With it the compiler may inline a hooked function into callers in other files.  bee_prove() sees
 * that of two functions, by which mappings are followed; the others it cannot have called.
 */
#ifdef CONFIG_LTO
#error "beeunwind is not for kernels with link-time optimization: it may inline a hooked function"
#endif

/* With PREEMPT_RT spinlocks and the allocator sleep, which a callback must not: see reserve.c. */
#define BEE_COMPAT_RT	IS_ENABLED(CONFIG_PREEMPT_RT)

/* Before 6.12 struct ftrace_regs has no accessor for arguments. */
#ifndef ftrace_regs_get_argument
#define ftrace_regs_get_argument(fregs, n) \
	regs_get_kernel_argument(&(fregs)->regs, n)
#endif

/**
 * struct bee_compat_unmap - what unmap_vmas() is told to unmap
 * @vma: the first mapping
 * @start: first address
 * @end: address after the last
 */
struct bee_compat_unmap {
	struct vm_area_struct	*vma;
	unsigned long		start;
	unsigned long		end;
};

/* Before 6.19 the last argument is whether mmap_lock is held for writing; 6.1 may lack it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define BEE_COMPAT_UNMAP_IS(tree, ...) \
	__same_type(unmap_vmas, void(struct mmu_gather *, struct tree *, struct vm_area_struct *, \
				     unsigned long, unsigned long, ##__VA_ARGS__))
static_assert(BEE_COMPAT_UNMAP_IS(maple_tree) ||
	      BEE_COMPAT_UNMAP_IS(maple_tree, bool) ||
	      BEE_COMPAT_UNMAP_IS(ma_state, unsigned long, bool) ||
	      BEE_COMPAT_UNMAP_IS(ma_state, unsigned long),
	      "beeunwind does not know the arguments of this kernel's unmap_vmas()");

static inline bool bee_compat_unmap_args(struct ftrace_regs *fregs, struct bee_compat_unmap *args)
{
	args->vma = (void *)ftrace_regs_get_argument(fregs, 2);
	args->start = ftrace_regs_get_argument(fregs, 3);
	args->end = ftrace_regs_get_argument(fregs, 4);
	return true;
}
#else
/*
 * Since 7.0 there are two arguments, and the second is a struct unmap_desc, of mm/vma.h, which is
 * not among the headers for modules.  These are its first members; bee_prove() proves it.
 */
struct bee_compat_unmap_desc {
	struct ma_state		*mas;
	struct vm_area_struct	*first;
	unsigned long		pg_start;
	unsigned long		pg_end;
	unsigned long		vma_start;
	unsigned long		vma_end;
};

static inline bool bee_compat_unmap_args(struct ftrace_regs *fregs, struct bee_compat_unmap *args)
{
	struct bee_compat_unmap_desc desc;

	if (copy_from_kernel_nofault(&desc, (void *)ftrace_regs_get_argument(fregs, 1),
				     sizeof(desc)))
		return false;
	args->vma = desc.first;
	args->start = desc.vma_start;
	args->end = desc.vma_end;
	return true;
}
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

/**
 * bee_compat_is_whole() - whether all mappings of an address space are its own
 * @mm: the address space
 *
 * Those of a forked child are not until dup_mmap() has copied the last one.  Since 6.8 dup_mmap()
 * copies the parent's tree first, and then replaces each mapping in it by a copy.  If it fails in
 * between, the rest of the child's tree still leads to the parent's mappings.  Newer kernels set
 * MMF_UNSTABLE when it fails.  For older ones: dup_mmap() switches the tree's RCU mode off at the
 * begin, and on again only if it has succeeded.
 *
 * Context: Process, mmap_lock held.
 */
static inline bool bee_compat_is_whole(struct mm_struct *mm)
{
	return mm->map_count && !check_stable_address_space(mm) &&
	       (LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0) || mt_in_rcu(&mm->mm_mt));
}

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

/* Since 6.6 i_ctime is private, and the parsed attributes of a dump are in its genl_info. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define bee_compat_dump_attrs(cb)	(genl_dumpit_info(cb)->info.attrs)
#define bee_compat_inode_ctime(inode)	inode_get_ctime(inode)
#else
#define bee_compat_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#define bee_compat_inode_ctime(inode)	((inode)->i_ctime)
#endif

/* The task that an address space was made for; known with memory cgroups only.  Under RCU. */
static inline struct task_struct *bee_compat_mm_owner(const struct mm_struct *mm)
{
#ifdef CONFIG_MEMCG
	return rcu_dereference(mm->owner);
#else
	return NULL;
#endif
}

typedef unsigned long (*bee_compat_shrinker_fn)(struct shrinker *shrinker,
						struct shrink_control *sc);

/*
 * Since 6.7 i_mtime is private, f_path of an overlayfs mapping is in the layer below, and shrinkers
 * are allocated.
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
