// SPDX-License-Identifier: GPL-2.0
/*
 * Executable mappings of current->mm, found in mm->mm_mt without a lock, in any context.
 *
 * What is read of a VMA is believed only if the tree's bounds of the VMA are vm_start and vm_end,
 * vm_mm is the mm, and
 * - nobody had mmap_lock for writing meanwhile: mm_lock_seq was even, and the same afterwards; or
 * - all of it is the same at a second look, and then the leaf of the tree is alive and has it still.  So it
 *   is with a kernel that has no such sequence count, and in a sample that has interrupted a writer.
 * Whoever has mmap_lock for writing may be what an NMI has interrupted, so nobody is waited for: after
 * VMA_TRIES nobody can tell what is mapped.
 *
 * Lifetimes.  mm_mt is in RCU mode as long as a task has the mm, so a node is freed a grace period after
 * it was replaced.  A VMA is freed at once in 6.1, a grace period after it was removed from 6.4 on, and
 * from 6.15 on its memory may become another VMA at any time (SLAB_TYPESAFE_BY_RCU).  A struct file may
 * be freed, too, and that of an overlayfs layer at once (6.12: backing_file is freed by kfree()).
 * Therefore all of a VMA and a file is read by reads that may fail, of addresses of the direct map,
 * which all these are in; the inode's address is compared only.  Once the mapping is believed, it has
 * been there since the RCU read lock was taken, so the inode lives until that is dropped.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "maple.h"
#include "store.h"
#include "vma.h"
#include "work.h"

#define VMA_TRIES	3

/* A test's module leaves out checks, one at a time, to see whether its oracle notices. */
enum {
	VMA_SKIP_SEQ = 1,	/* ranges are kept though mappings have changed */
	VMA_SKIP_BOUNDS = 2,	/* the tree's bounds are not compared with the VMA's, nor its mm */
	VMA_SKIP_CONFIRM = 4,	/* there is no second look */
	VMA_SKIP_DEAD = 8,	/* dead nodes are like others */
	VMA_SKIP_MOVING = 16,	/* i_mmap_rwsem is not looked at */
};

#ifdef BEE_VMA_SABOTAGE
static unsigned int vma_skip;
module_param(vma_skip, uint, 0644);
#define vma_skips(check)	(READ_ONCE(vma_skip) & (check))
#else
#define vma_skips(check)	false
#endif

/* Whether there may be an object of a slab. */
static __always_inline bool vma_may_read(unsigned long addr)
{
	return addr >= PAGE_OFFSET && addr < VMALLOC_START && IS_ALIGNED(addr, sizeof(long));
}

/*
 * Read a word that may be absent.  copy_from_kernel_nofault() without its calls; it turns page faults off,
 * but that concerns user addresses only.  Into a variable of its own: gcc 12 crashes on others.
 */
#define vma_read_word(from, to, fault) do {						\
	unsigned long __word;								\
											\
	__get_kernel_nofault(&__word, (const unsigned long *)(from), unsigned long, fault); \
	(to) = __word;									\
} while (0)

/* Return: whether that is a mapping of @mm from @found's bounds. */
static __always_inline bool vma_read(const struct mm_struct *mm,
				     const struct bee_maple_found *found, struct bee_vma_seen *seen)
{
	const struct vm_area_struct *vma = found->entry;
	unsigned long of, start, end;

	if (!vma_may_read((unsigned long)vma))
		return false;
	vma_read_word(&vma->vm_mm, of, fault);
	vma_read_word(&vma->vm_start, start, fault);
	vma_read_word(&vma->vm_end, end, fault);
	if ((of != (unsigned long)mm || start != found->min || end - 1 != found->max) &&
	    !vma_skips(VMA_SKIP_BOUNDS))
		return false;
	vma_read_word(&vma->vm_flags, seen->flags, fault);
	vma_read_word(&vma->vm_pgoff, seen->pgoff, fault);
	vma_read_word(&vma->vm_file, seen->file, fault);
	if (!seen->file) {
#ifdef CONFIG_PER_VMA_LOCK
		vma_read_word(&vma->vm_lock_seq, seen->mark, fault);
#endif
		return true;
	}
	if (!vma_may_read(seen->file))
		return false;
	vma_read_word(&((const struct file *)seen->file)->f_inode, seen->inode, fault);
	return true;
fault:
	return false;
}

/*
 * Return: whether @seen is what was mapped at @ip, and @found where the tree has it, as far as one look can
 * tell.
 */
static __always_inline bool vma_see(const struct mm_struct *mm, u64 ip, bool dead_too,
				    struct bee_maple_found *found, struct bee_vma_seen *seen)
{
	*seen = (struct bee_vma_seen) {};
	if (!bee_maple_look(rcu_dereference_raw(mm->mm_mt.ma_root), ip, dead_too, found))
		return false;
	/* The writer may have cleared the slots of a dead node, so an empty one does not say that nothing is mapped. */
	return found->entry ? vma_read(mm, found, seen) : !dead_too;
}

/*
 * Whether vm_start and vm_pgoff may not belong together: whoever changes both of a file's mapping has
 * mmap_lock and i_mmap_rwsem of the file for writing meanwhile (6.1: __vma_adjust(), mm/mmap.c; later
 * ones: commit_merge(), mm/vma.c), and between the two stores all else may look sound.
 */
static bool vma_is_moving(const struct mm_struct *mm, const struct bee_maple_found *found,
			  const struct bee_vma_seen *seen)
{
	unsigned long mapping;
	unsigned long word;

	if (!bee_compat_write_locked(READ_ONCE(bee_compat_rwsem_word(&mm->mmap_lock))))
		return false;
	/* While a mapping gets other bounds, there can be a hole in the tree between two stores. */
	if (!found->entry)
		return true;
#ifdef CONFIG_PER_VMA_LOCK
	/* Whoever changes a VMA has first locked it: until mmap_lock is dropped it has the mm's number. */
	vma_read_word(&((const struct vm_area_struct *)found->entry)->vm_lock_seq, word, fault);
	if ((u32)word != READ_ONCE(*(const u32 *)&mm->mm_lock_seq))
		return false;
#endif
	if (!vma_may_read(seen->inode))
		return false;
	vma_read_word(&((const struct inode *)seen->inode)->i_mapping, mapping, fault);
	if (!vma_may_read(mapping))
		return true;
	vma_read_word(&bee_compat_rwsem_word(&((struct address_space *)mapping)->i_mmap_rwsem),
		      word, fault);
	return bee_compat_write_locked(word);
fault:
	return true;
}

/* Whether a second look sees the same, while the tree still has it. */
static noinline bool vma_confirm(const struct mm_struct *mm, bool dead_too,
				 struct bee_vma_ranges *ranges)
{
	const struct bee_maple_found *found = &ranges->found;
	const struct bee_vma_seen *seen = &ranges->seen;
	struct bee_vma_seen *again = &ranges->again;

	if (vma_skips(VMA_SKIP_CONFIRM))
		return true;
	/* After the first look. */
	smp_rmb();
	if (vma_is_moving(mm, found, seen) && !vma_skips(VMA_SKIP_MOVING))
		return false;
	smp_rmb();
	*again = (struct bee_vma_seen) {};
	return (!found->entry || vma_read(mm, found, again)) && again->flags == seen->flags &&
	       again->pgoff == seen->pgoff && again->file == seen->file &&
	       again->inode == seen->inode && again->mark == seen->mark && bee_maple_has(found, dead_too);
}

/* Whether nobody has changed mappings since bee_compat_mm_seq() was @seq. */
static __always_inline bool vma_is_quiet(const struct mm_struct *mm, u32 seq)
{
	if (seq & 1)
		return false;
	smp_rmb();
	return bee_compat_mm_seq(mm) == seq;
}

/* The place for a range; @seq: bee_compat_mm_seq() when it was found. */
static struct bee_range *vma_place(struct bee_vma_ranges *ranges, const struct bee_range *keep,
				   u32 seq)
{
	struct bee_range *r = &ranges->at[ranges->next];

	if (r == keep) {
		ranges->next = (ranges->next + 1) % BEE_VMA_RANGES;
		r = &ranges->at[ranges->next];
	}
	ranges->next = (ranges->next + 1) % BEE_VMA_RANGES;
	ranges->nr = max_t(u32, ranges->nr, r - ranges->at + 1);
	if (unlikely(seq != ranges->seq))
		ranges->seq = 1;
	return r;
}

/**
 * bee_file_differs() - whether a file has another size or mtime than when its table was added
 * @f: the file, whose inode has not ended
 *
 * Context: Any, NMI-safe.
 * Return: true if it has; false of the vDSO and code in memory.
 */
bool bee_file_differs(const struct bee_file *f)
{
	const struct inode *inode = f->inode;
	struct timespec64 mtime;

	if (!inode)
		return false;
	mtime = bee_compat_inode_mtime(inode);
	return f->size != i_size_read(inode) || f->mtime_sec != mtime.tv_sec ||
	       f->mtime_nsec != mtime.tv_nsec;
}

/*
 * The file of a mapped inode; NULL: the vDSO.  A file goes before the address of its inode can become that
 * of another, so device, inode number and generation need not be compared.
 */
static struct bee_file *file_of_inode(const struct inode *inode, u32 *work)
{
	struct bee_file *f;

	hlist_for_each_entry_rcu(f, bee_store_bucket(inode), by_inode) {
		if (f->inode == inode)
			return bee_file_differs(f) ? &bee_file_unknown : f;
		*work += BEE_WORK_SLOT;
	}
	return &bee_file_unknown;
}

/* The file of a mapping, and which byte of it is at the mapping's start. */
static void range_set_file(struct bee_range *r, const struct bee_vma_seen *seen, u32 *work)
{
	r->offset = 0;
	r->file = NULL;
	r->inode = (const struct inode *)seen->inode;
	r->mark = seen->mark;
	if (seen->file) {
		r->offset = (u64)seen->pgoff << PAGE_SHIFT;
		r->file = file_of_inode(r->inode, work);
	} else if (r->start == (unsigned long)current->mm->context.vdso) {
		r->file = file_of_inode(NULL, work);
	}
}

/**
 * bee_vma_look() - look for the mapping of an address in the kernel's tree
 * @ranges: as for bee_vma_find()
 * @keep: as there
 * @ip: as there
 *
 * Context, return: as there.
 */
const struct bee_range *bee_vma_look(struct bee_vma_ranges *ranges, const struct bee_range *keep,
				     u64 ip)
{
	const struct mm_struct *mm = current->mm;
	struct bee_maple_found *found = &ranges->found;
	struct bee_vma_seen *seen = &ranges->seen;
	struct bee_range *r = NULL;
	int tries = VMA_TRIES;
	u32 seq;

	ranges->busy = false;
	do {
		/* The last time dead nodes will do: on this CPU their writer may not go on before. */
		bool dead_too = tries == 1 || vma_skips(VMA_SKIP_DEAD);

		bool sound;

		seq = bee_compat_mm_seq(mm);
		sound = vma_see(mm, ip, dead_too, found, seen) &&
			(vma_is_quiet(mm, seq) || vma_confirm(mm, dead_too, ranges));
		ranges->work += BEE_WORK_LOOK + found->read * BEE_WORK_SLOT;
		if (!sound)
			continue;
		if (seen->flags & VM_EXEC) {
			r = vma_place(ranges, keep, seq);
			r->start = found->min;
			r->end = found->max + 1;
			range_set_file(r, seen, &ranges->work);
		}
		return r;
	} while (--tries);
	ranges->busy = true;
	return NULL;
}

/**
 * bee_vma_begin() - a walk begins: keep what was found for the walk before, if that still holds
 * @ranges: of this CPU and context level
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock; current->mm is not NULL.
 */
void bee_vma_begin(struct bee_vma_ranges *ranges)
{
	const struct mm_struct *mm = current->mm;
	u64 born = READ_ONCE(current->group_leader)->start_boottime;
	u64 execs = current->self_exec_id;
	u32 seq = bee_compat_mm_seq(mm), files = bee_store_generation(), now = READ_ONCE(jiffies);

	ranges->busy = false;
	/* Files can have been written to in place: that is looked for once in a second. */
	if (now - ranges->since < HZ && ((!(seq & 1) && ranges->seq == seq) || vma_skips(VMA_SKIP_SEQ)) && ranges->mm == mm &&
	    ranges->born == born && ranges->execs == execs && ranges->files == files)
		return;
	ranges->mm = mm;
	ranges->born = born;
	ranges->execs = execs;
	ranges->seq = seq;
	ranges->files = files;
	ranges->since = now;
	ranges->nr = 0;
	ranges->next = 0;
}

/* Whether a lookup finds @vma at @at, or nothing if that is NULL or holds no code. */
static bool __init vma_prove_at(const struct vm_area_struct *vma, unsigned long at)
{
	static struct bee_vma_ranges ranges __initdata;
	const struct bee_range *r;

	/* Nothing is kept. */
	ranges.mm = NULL;
	bee_vma_begin(&ranges);
	r = bee_vma_find(&ranges, NULL, at);
	if (!vma || !(vma->vm_flags & VM_EXEC))
		return !r && !ranges.busy;
	return r && r->start == vma->vm_start && r->end == vma->vm_end &&
	       r->offset == (vma->vm_file ? (u64)vma->vm_pgoff << PAGE_SHIFT : 0);
}

/**
 * bee_vma_prove() - compare lookups with find_vma(), at both ends of each mapping of current and before it
 *
 * Context: Process, may sleep; one call at a time.
 * Return: 0; -EINVAL: current has no address space; -EOPNOTSUPP: one differs.  Explained in the log.
 */
int __init bee_vma_prove(void)
{
	const struct vm_area_struct *vma;
	unsigned long at = 0;
	int wrong = 0, nr = 0;

	if (!current->mm) {
		pr_err("who loads the module has no address space to look mappings up in\n");
		return -EINVAL;
	}
	mmap_read_lock(current->mm);
	rcu_read_lock();
	for (; (vma = find_vma(current->mm, at)); at = vma->vm_end, nr++)
		wrong += (vma->vm_start > at && !vma_prove_at(NULL, vma->vm_start - 1)) ||
			 !vma_prove_at(vma, vma->vm_start) ||
			 !vma_prove_at(vma, vma->vm_end - 1);
	rcu_read_unlock();
	mmap_read_unlock(current->mm);
	if (nr && !wrong)
		return 0;
	pr_err("%d of %d mappings are not found in this kernel's tree; please report it\n", wrong,
	       nr);
	return -EOPNOTSUPP;
}
