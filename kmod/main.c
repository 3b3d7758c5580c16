// SPDX-License-Identifier: GPL-2.0
/* Module parameters, and the order in which the layers start and stop. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "code.h"
#include "hook.h"
#include "netlink.h"
#include "news.h"
#include "percpu.h"
#include "store.h"
#include "vma.h"

static unsigned int budget_mb = 256;
module_param(budget_mb, uint, 0444);
MODULE_PARM_DESC(budget_mb, "most MiB that tables, and ranges of code in memory, may take (default 256)");

static int __init beeunwind_init(void)
{
	int ret = bee_vma_prove() ?: bee_store_init((u64)budget_mb << 20);

	if (ret)
		return ret;
	ret = bee_percpu_init();
	if (ret)
		goto exit_store;
	ret = bee_hook_init();
	if (ret)
		goto exit_percpu;
	ret = bee_netlink_init();
	if (ret)
		goto exit_hook;
	bee_news_start(&bee_netlink_listeners);
	return 0;

exit_hook:
	bee_store_stop();
	bee_hook_exit();
	bee_news_exit();
	bee_percpu_exit();
	bee_store_exit();
	return ret;
exit_percpu:
	bee_news_exit();
	bee_percpu_exit();
exit_store:
	bee_store_stop();
	bee_store_exit();
	return ret;
}

/* First end requests, then callbacks; what they have left is released when both have ended. */
static void __exit beeunwind_exit(void)
{
	bee_news_stop();
	bee_netlink_exit();
	bee_store_stop();
	bee_hook_exit();
	bee_news_exit();
	bee_percpu_exit();
	bee_code_exit();
	bee_store_exit();
}

module_init(beeunwind_init);
module_exit(beeunwind_exit);

MODULE_DESCRIPTION("User stacks from unwind tables in perf's callchains");
MODULE_AUTHOR("The beeunwind developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(BEE_VERSION);
