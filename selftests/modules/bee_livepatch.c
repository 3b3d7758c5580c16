// SPDX-License-Identifier: GPL-2.0
/*
 * A live patch of perf_callchain_user(), which beeunwind hooks.  Instead of perf's entries
 * it stores one that no program can have as a return address.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#define LIVEPATCH_MARK	0x5eed0000beefull

static void livepatch_callchain_user(struct perf_callchain_entry_ctx *entry, struct pt_regs *regs)
{
	perf_callchain_store(entry, LIVEPATCH_MARK);
}

static struct klp_func livepatch_funcs[] = {
	{ .old_name = "perf_callchain_user", .new_func = livepatch_callchain_user },
	{ }
};

static struct klp_object livepatch_objects[] = {
	{ .funcs = livepatch_funcs },	/* of vmlinux */
	{ }
};

static struct klp_patch livepatch = {
	.mod = THIS_MODULE,
	.objs = livepatch_objects,
};

static int __init bee_livepatch_init(void)
{
	return klp_enable_patch(&livepatch);
}

static void __exit bee_livepatch_exit(void)
{
}

module_init(bee_livepatch_init);
module_exit(bee_livepatch_exit);

MODULE_DESCRIPTION("Live patch of perf_callchain_user, for beeunwind's tests");
MODULE_INFO(livepatch, "Y");
MODULE_LICENSE("GPL");
