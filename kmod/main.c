// SPDX-License-Identifier: GPL-2.0
/* Module parameters, and the order in which the layers start and stop. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "ask.h"
#include "code_news.h"
#include "file.h"
#include "hook.h"
#include "manage.h"
#include "mm.h"
#include "netlink.h"
#include "news.h"
#include "payer.h"
#include "percpu.h"
#include "reserve.h"
#include "rmap.h"
#include "store.h"

static unsigned int budget_mb = 256;
module_param(budget_mb, uint, 0444);
MODULE_PARM_DESC(budget_mb, "most MiB that tables and ranges may take (default 256)");

static struct workqueue_struct *main_wq;

/* What walks ask for. */
static void main_answer(enum bee_ask_kind kind, u64 id)
{
	switch (kind) {
	case BEE_ASK_LOOK:
		bee_manage_look(id);
		break;
	case BEE_ASK_SPREAD_MM:
		bee_mm_spread(id);
		break;
	case BEE_ASK_SPREAD_FILE:
		bee_file_spread(id);
		break;
	case BEE_ASK_STRAY:
		bee_manage_stray(id);
		break;
	}
}

static int __init beeunwind_init(void)
{
	int ret;

	main_wq = alloc_workqueue("beeunwind", WQ_UNBOUND, 0);
	if (!main_wq)
		return -ENOMEM;
	ret = bee_file_init(main_wq);
	if (ret)
		goto destroy_wq;
	bee_budget_init((u64)budget_mb << 20, &bee_store_reclaim, main_wq);
	bee_reserve_init();
	bee_ask_init(main_wq, main_answer);
	bee_news_init(main_wq, bee_netlink_tell);
	bee_code_init(main_wq, bee_netlink_tell_code);
	ret = bee_store_init();
	if (ret)
		goto exit_file;
	ret = bee_rmap_init();
	if (ret)
		goto exit_store;
	ret = bee_percpu_init();
	if (ret)
		goto exit_rmap;
	bee_mm_init(main_wq, &bee_manage_rescan, &bee_manage_settle_work);
	bee_manage_init(main_wq);
	ret = bee_hook_init();
	if (ret)
		goto exit_percpu;
	ret = bee_hook_enable();
	if (ret)
		goto exit_hook;
	ret = bee_netlink_init();
	if (ret)
		goto exit_hook;
	return 0;

exit_hook:
	bee_hook_exit();
exit_percpu:
	bee_ask_exit();
	bee_percpu_exit();
	bee_manage_exit();
	bee_mm_exit();
exit_rmap:
	bee_rmap_exit();
exit_store:
	bee_store_exit();
	bee_code_exit();
	bee_news_exit();
exit_file:
	bee_file_exit();
	bee_payer_exit();
	bee_reserve_exit();
	bee_budget_exit();
destroy_wq:
	destroy_workqueue(main_wq);
	return ret;
}

/* First end requests, then callbacks; what they hold is released when both have ended. */
static void __exit beeunwind_exit(void)
{
	bee_news_stop();
	bee_code_stop();
	bee_netlink_exit();
	bee_hook_exit();
	bee_ask_exit();
	bee_percpu_exit();
	bee_manage_exit();
	bee_mm_exit();
	bee_rmap_exit();
	bee_store_exit();
	bee_code_exit();
	bee_news_exit();
	bee_file_exit();
	bee_payer_exit();
	bee_reserve_exit();
	bee_budget_exit();
	destroy_workqueue(main_wq);
}

module_init(beeunwind_init);
module_exit(beeunwind_exit);

MODULE_DESCRIPTION("User stacks from unwind tables in perf's callchains");
MODULE_AUTHOR("The beeunwind developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(BEE_VERSION);
MODULE_ALIAS_GENL_FAMILY(BEEUNWIND_FAMILY_NAME);
