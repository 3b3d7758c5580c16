// SPDX-License-Identifier: GPL-2.0
/*
 * An oracle for walks: before each step that uses a table, checks that the page at the frame's
 * ip is the right page of the table's file.  It asks the process's page table, as the CPU
 * does, and nothing that the module has recorded.
 *
 * Linked into the module between bee_walk_next() and its caller (ld --wrap).  perf looks
 * up pages in NMI in the same way (perf_virt_to_phys(), kernel/events/core.c).
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/sched.h>

#include "mm.h"
#include "walk.h"

/**
 * enum mapped - what a step has found
 * @MAPPED_RIGHT: the right page of the file
 * @MAPPED_ABSENT: no page is present
 * @MAPPED_PRIVATE: an anonymous page: the process has written to it
 * @MAPPED_OVERTAKEN: another page, but the ranges have changed since the walk began
 * @MAPPED_WRONG: another page
 * @MAPPED_COUNT: number of these
 */
enum mapped {
	MAPPED_RIGHT,
	MAPPED_ABSENT,
	MAPPED_PRIVATE,
	MAPPED_OVERTAKEN,
	MAPPED_WRONG,
	MAPPED_COUNT
};

static const char * const mapped_names[MAPPED_COUNT] = {
	"right", "absent", "private", "overtaken", "wrong",
};

static atomic_long_t mapped_counts[MAPPED_COUNT];

static int mapped_get(char *to, const struct kernel_param *kp)
{
	int i, at = 0;

	for (i = 0; i < MAPPED_COUNT; i++)
		at += sysfs_emit_at(to, at, "%s %ld\n", mapped_names[i],
				    atomic_long_read(&mapped_counts[i]));
	return at;
}

static const struct kernel_param_ops mapped_ops = { .get = mapped_get };
module_param_cb(mapped, &mapped_ops, NULL, 0444);
MODULE_PARM_DESC(mapped, "steps that used a table, by what was mapped there");

static enum mapped mapped_is_page(struct page *page, const struct bee_range *range, u64 ip)
{
	struct folio *folio = page_folio(page);
	struct address_space *mapping = READ_ONCE(folio->mapping);

	if (folio_test_anon(folio))
		return MAPPED_PRIVATE;
	if (!mapping)			/* truncated under the mapping */
		return MAPPED_ABSENT;
	if (bee_file_is_inode(range->file, mapping->host) &&
	    folio->index + folio_page_idx(folio, page) == bee_range_offset(range, ip) >> PAGE_SHIFT)
		return MAPPED_RIGHT;
	return MAPPED_WRONG;
}

/* The vDSO's pages belong to the kernel, so compare its address. */
static enum mapped mapped_is_vdso(const struct bee_range *range, u64 ip)
{
	u64 vdso = (unsigned long)current->mm->context.vdso;

	return ip - vdso == bee_range_offset(range, ip) ? MAPPED_RIGHT : MAPPED_WRONG;
}

static enum mapped mapped_look(const struct bee_range *range, u64 ip)
{
	enum mapped is;
	struct page *page;

	if (!range->file->key.ino)
		return mapped_is_vdso(range, ip);
	if (get_user_pages_fast_only(ip & PAGE_MASK, 1, 0, &page) != 1)
		return MAPPED_ABSENT;
	is = mapped_is_page(page, range, ip);
	put_page(page);
	return is;
}

static void mapped_check(const struct bee_walk *walk)
{
	enum mapped is = mapped_look(walk->range, bee_frame_lookup_ip(&walk->frame));

	if (is == MAPPED_WRONG && bee_mm_lookup(current->mm) != walk->map)
		is = MAPPED_OVERTAKEN;
	atomic_long_inc(&mapped_counts[is]);
}

enum beeunwind_stop __real_bee_walk_next(struct bee_walk *walk);
enum beeunwind_stop __wrap_bee_walk_next(struct bee_walk *walk);

enum beeunwind_stop __wrap_bee_walk_next(struct bee_walk *walk)
{
	const struct bee_range *range = walk->range;

	if (range && range->file && rcu_access_pointer(range->file->table))
		mapped_check(walk);
	return __real_bee_walk_next(walk);
}
