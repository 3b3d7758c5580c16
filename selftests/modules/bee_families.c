// SPDX-License-Identifier: GPL-2.0
/*
 * Registers generic netlink families until the next one needs memory for its id: an IDR
 * allocates a node for every 64 ids.
 */
#include <linux/module.h>
#include <linux/radix-tree.h>
#include <net/genetlink.h>

static struct genl_family family = {
	.name = "bee_families",
	.version = 1,
	.module = THIS_MODULE,
};

static int __init families_init(void)
{
	int ret;

	do {
		ret = genl_register_family(&family);
		if (ret)
			return ret;
		ret = genl_unregister_family(&family);
		if (ret)
			return ret;
	} while (family.id % RADIX_TREE_MAP_SIZE != RADIX_TREE_MAP_SIZE - 1);
	return 0;
}

static void __exit families_exit(void)
{
}

module_init(families_init);
module_exit(families_exit);

MODULE_DESCRIPTION("The next generic netlink family needs memory for its number");
MODULE_LICENSE("GPL");
