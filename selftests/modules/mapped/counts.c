// SPDX-License-Identifier: GPL-2.0
/*
 * Counts requests by kind, and the changes of ranges that callbacks have reported.  Wraps the
 * functions that it counts by ld --wrap, as mapped.c does.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "mm.h"
#include "netlink_impl.h"

enum { TABLE_ADD, TABLE_DEL, PROC_ADD, PROC_UPDATE, PROC_DEL, ATTACH, UNMAP, FORK, COUNT };

static const char * const count_names[COUNT] = {
	"table-add", "table-del", "proc-add", "proc-update", "proc-del",
	"attach", "unmap", "fork",
};

static atomic_long_t counts[COUNT];

static int counts_get(char *to, const struct kernel_param *kp)
{
	int i, at = 0;

	for (i = 0; i < COUNT; i++)
		at += sysfs_emit_at(to, at, "%s %ld\n", count_names[i],
				    atomic_long_read(&counts[i]));
	return at;
}

static const struct kernel_param_ops counts_ops = { .get = counts_get };
module_param_cb(counts, &counts_ops, NULL, 0444);
MODULE_PARM_DESC(counts, "requests and followed changes");

#define COUNTED(which, type, name, parameters, ...)	\
type __real_##name parameters;				\
type __wrap_##name parameters;				\
type __wrap_##name parameters				\
{							\
	atomic_long_inc(&counts[which]);		\
	return __real_##name(__VA_ARGS__);		\
}

#define REQUEST(which, name)	\
	COUNTED(which, int, name, (struct sk_buff *skb, struct genl_info *info), skb, info)

REQUEST(TABLE_ADD, bee_netlink_table_add)
REQUEST(TABLE_DEL, bee_netlink_table_del)
REQUEST(PROC_ADD, bee_netlink_proc_add)
REQUEST(PROC_UPDATE, bee_netlink_proc_update)
REQUEST(PROC_DEL, bee_netlink_proc_del)
COUNTED(ATTACH, void, bee_mm_attach,
	(const struct vm_area_struct *vma, u64 start, u64 end, u64 offset, bool announce),
	vma, start, end, offset, announce)
COUNTED(UNMAP, void, bee_mm_unmap, (const struct mm_struct *mm, u64 start, u64 end), mm, start, end)
COUNTED(FORK, void, bee_mm_fork, (const struct mm_struct *parent, struct mm_struct *child),
	parent, child)
