/* SPDX-License-Identifier: GPL-2.0 */
/* Code that processes have in memory, without a file behind it, its tables, and code heaps. */
#ifndef BEE_CODE_H
#define BEE_CODE_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/beeunwind_heaps.h>

#include "range.h"

struct bee_file;
struct file;
struct mm_struct;
struct netlink_ext_ack;
struct pid;
struct task_struct;

/**
 * struct bee_code_ranges - where a process has code in memory; never changed once published
 * @nr: length of @at
 * @rcu: frees it
 * @at: sorted, disjoint; each with a file of the process
 */
struct bee_code_ranges {
	u32			 nr;
	struct rcu_head		 rcu;
	struct bee_range	 at[];
};

/**
 * struct bee_code_vm - the code heaps of a process; never changed once published
 * @heaps: they
 * @rcu: frees it
 */
struct bee_code_vm {
	struct bee_code_heaps	heaps;
	struct rcu_head		rcu;
};

/**
 * struct bee_code - what is known of a process's code in memory
 * @by_mm: in bee_code_buckets (M, RCU for reading)
 * @mm: its address space, an address that is compared only: it can come back as another's
 * @born: start_boottime of the process
 * @execs: its self_exec_id
 * @pid: the process, with a reference
 * @uid: to whom its ranges are charged
 * @generation: number of the last change of @ranges or @vm, of all processes (M, READ_ONCE() for reading)
 * @ranges: or NULL (M, RCU for reading)
 * @vm: its Java virtual machine, or NULL (M, RCU for reading)
 * @files: its tables (M)
 * @rcu: frees it
 *
 * M: bee_store_mutex.
 */
struct bee_code {
	struct hlist_node		 by_mm;
	const struct mm_struct		*mm;
	u64				 born;
	u64				 execs;
	struct pid			*pid;
	u32				 uid;
	u64				 generation;
	struct bee_code_ranges __rcu	*ranges;
	struct bee_code_vm __rcu	*vm;
	struct list_head		 files;
	struct rcu_head			 rcu;
};

#define BEE_CODE_BITS	8
#define BEE_CODE_MOST	16384		/* ranges of a process */

extern struct hlist_head bee_code_buckets[1 << BEE_CODE_BITS];

/* Number of the last change of ranges and heaps (bee_store_mutex) */
extern u64 bee_code_generation;

/* For bee_code_count() (bee_store_mutex) */
extern u32 bee_code_nr;

/** bee_code_count() - number of processes with code in memory.  Context: Any, NMI-safe. */
static inline u32 bee_code_count(void)
{
	return READ_ONCE(bee_code_nr);
}

/**
 * struct bee_code_edit - a range to remove or to add, as a request has it
 * @start: first address
 * @end: address after the last
 * @offset: byte of what the table describes at @start
 * @file: id of the table
 */
struct bee_code_edit {
	u64	start;
	u64	end;
	u64	offset;
	u32	file;
};

/**
 * struct bee_code_diff - a change of a process's ranges, as a request has it
 * @generation: of the ranges that it changes
 * @nr_del: length of @del
 * @nr_add: length of @add
 * @del: ranges to remove
 * @add: ranges to add
 * @set_heaps: @heaps take the place of the process's
 * @heaps: code heaps, not checked yet; NULL: none
 */
struct bee_code_diff {
	u64			 generation;
	u32			 nr_del;
	u32			 nr_add;
	struct bee_code_edit	*del;
	struct bee_code_edit	*add;
	bool			 set_heaps;
	const struct bee_code_heaps *heaps;
};

const struct bee_code *bee_code_current(void);
const struct bee_range *bee_code_find(const struct bee_code_ranges *ranges, u64 ip);

int bee_code_update(struct task_struct *task, const struct bee_code_diff *diff, u64 *generation,
		    u32 *nr, struct netlink_ext_ack *extack);
int bee_code_add_table(struct task_struct *task, const char *name, struct file *table, u32 *id,
		       struct netlink_ext_ack *extack);
int bee_code_del_table(struct bee_file *f, struct netlink_ext_ack *extack);
const struct bee_code *bee_code_next(u64 after);
u64 bee_code_bytes(void);

void bee_code_exit(void);

#endif /* BEE_CODE_H */
