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
#define ____cacheline_aligned	__aligned(64)
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
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))

typedef unsigned int gfp_t;
typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic64_t;
typedef struct { atomic_t refs; } refcount_t;

#define atomic_read(v)			READ_ONCE((v)->counter)
#define atomic_read_acquire(v)		__atomic_load_n(&(v)->counter, __ATOMIC_ACQUIRE)
#define atomic_set(v, i)		WRITE_ONCE((v)->counter, i)
#define atomic_set_release(v, i)	__atomic_store_n(&(v)->counter, i, __ATOMIC_RELEASE)
#define atomic_inc(v)			((void)__atomic_add_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST))
#define atomic_inc_return(v)		__atomic_add_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_cmpxchg(v, old, new)	__sync_val_compare_and_swap(&(v)->counter, old, new)
#define refcount_read(r)		atomic_read(&(r)->refs)

static inline bool atomic_inc_not_zero(atomic_t *v)
{
	return v->counter && ++v->counter;
}

struct list_head { struct list_head *next, *prev; };
struct llist_node { struct llist_node *next; };
struct llist_head { struct llist_node *first; };
struct rhash_head { struct rhash_head *next; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
struct rcu_head { void *next, *func; };
struct irq_work { int unused; };
struct rb_node { int unused; };
typedef struct { int unused; } spinlock_t, raw_spinlock_t;
#define REFCOUNT_INIT(n)	{ { n } }

#define this_cpu_inc(v)			((void)++(v))
#define smp_store_release(p, value)	__atomic_store_n(p, value, __ATOMIC_RELEASE)

#define rcu_dereference(p)	READ_ONCE(p)
#define rcu_dereference_raw(p)	READ_ONCE(p)
#define rcu_access_pointer(p)	READ_ONCE(p)
#define hlist_first_rcu(head)	((head)->first)
#define hlist_next_rcu(node)	((node)->next)

#define cond_resched()		((void)0)

static inline void irq_work_queue(struct irq_work *work)
{
	(void)work;
}

static inline bool llist_add(struct llist_node *node, struct llist_head *head)
{
	node->next = head->first;
	head->first = node;
	return !node->next;
}

extern const unsigned long jiffies;
extern const struct test_task { u32 tgid; } *const current;

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
