/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the sampling path of kmod/ takes from the kernel's headers, for user space and one thread;
 * unit/kmod/include/linux/ has a file for each header.
 */
#ifndef SELFTESTS_KERNEL_H
#define SELFTESTS_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define __user
#define __rcu
#define __percpu
#define __aligned(n)		__attribute__((aligned(n)))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile typeof(x) *)&(x) = (value))
#define noinline		__attribute__((noinline))
#define __maybe_unused		__attribute__((unused))
#ifndef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#endif

#define PAGE_SIZE		4096ul
#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define PAGE_ALIGNED(addr)	(!((addr) & ~PAGE_MASK))
#define offset_in_page(addr)	((addr) & ~PAGE_MASK)
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))

typedef struct { int counter; } atomic_t;

#define atomic_read(v)			READ_ONCE((v)->counter)
#define atomic_inc(v)			((void)__atomic_add_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST))

struct list_head { struct list_head *next, *prev; };
struct llist_node { struct llist_node *next; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
struct rcu_head { void *next, *func; };
struct mutex { int unused; };

#define smp_rmb()			asm volatile("" ::: "memory")
#define smp_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)

#define rcu_dereference(p)	READ_ONCE(p)
#define rcu_dereference_raw(p)	READ_ONCE(p)

#define cond_resched()		((void)0)

extern const unsigned long jiffies;

/* What an index selects is not read behind a wrong guess (arch/x86/include/asm/barrier.h). */
static inline unsigned long array_index_nospec(unsigned long index, unsigned long size)
{
	unsigned long mask;

	asm volatile("cmp %1,%2; sbb %0,%0" : "=r" (mask) : "g" (size), "r" (index) : "cc");
	return index & mask;
}

/* kernel: include/linux/hash.h */
static inline u32 hash_32(u32 value, unsigned int bits)
{
	return value * 0x61c88647u >> (32 - bits);
}

static inline u32 hash_ptr(const void *ptr, unsigned int bits)
{
	return (unsigned long)ptr * 0x61c8864680b583ebull >> (64 - bits);
}

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

unsigned long copy_from_user_nmi(void *to, const void *from, unsigned long n);

#define TASK_SIZE_MAX		((1ul << 47) - PAGE_SIZE)
#define pagefault_disable()	((void)0)
#define pagefault_enable()	((void)0)
#define __uaccess_begin()	((void)0)
#define __uaccess_end()		((void)0)
#ifndef unsafe_get_user
#define unsafe_get_user(x, ptr, label) do {			\
	if (copy_from_user_nmi(&(x), ptr, sizeof(*(ptr))))	\
		goto label;					\
} while (0)
#endif

#endif /* SELFTESTS_KERNEL_H */
