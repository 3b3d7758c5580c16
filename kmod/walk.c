// SPDX-License-Identifier: GPL-2.0
/* The walk: frame by frame through a process's ranges until a stop reason. */
#include "walk.h"
#include "map.h"
#include "news.h"
#include "store.h"

static const struct bee_range *walk_find_range(const struct bee_walk *walk, u64 ip)
{
	if (walk->range && bee_range_contains(walk->range, ip))
		return walk->range;
	return bee_map_find(walk->map, ip);
}

static bool walk_has_table(const struct bee_range *range)
{
	return range && range->file && rcu_access_pointer(range->file->table);
}

/**
 * bee_walk_start() - begin at the interrupted instruction
 * @walk: the walk; walk->frame is the topmost frame afterwards
 * @map: ranges of current->mm, kept by the RCU read lock
 * @regs: user registers of current
 *
 * Context: Any, NMI-safe. Caller holds the RCU read lock. Does not fault,
 * sleep, allocate, lock or print.
 */
void bee_walk_start(struct bee_walk *walk, const struct bee_map *map, const struct pt_regs *regs)
{
	bee_arch_topmost(regs, walk->gpr, &walk->frame);
	bee_uread_init(&walk->mem);
	walk->fp_steps = 0;
	walk->switches = (struct bee_switches) {};
	walk->probes = (struct bee_uprobes) {};
	walk->map = map;
	walk->range = bee_map_find(map, walk->frame.ip);
	if (!walk_has_table(walk->range)) {
		bee_uprobe_locate(&walk->frame);
		walk->range = walk_find_range(walk, walk->frame.ip);
	}
	walk->file = walk->range ? walk->range->file : NULL;
	if (walk->file)
		atomic_inc(&walk->file->hits);
}

/*
 * A uretprobe's trampoline is at the start of the page that the kernel has for
 * probes in each address space; the address of that it keeps to itself.
 */
static void walk_find_return(struct bee_walk *walk)
{
	struct bee_frame *f = &walk->frame;

	if (PAGE_ALIGNED(f->ip) && f->slot && !walk_has_table(bee_map_find(walk->map, f->ip)))
		bee_uprobe_return(&walk->probes, f->slot, &f->ip);
}

/* The caller is there: is it one?  @sp is its callee's. */
static enum beeunwind_stop walk_arrive(struct bee_walk *walk, u64 sp)
{
	walk_find_return(walk);
	walk->range = walk_find_range(walk, bee_frame_lookup_ip(&walk->frame));
	if (!walk->range)
		return BEEUNWIND_STOP_BAD_RA;
	if (bee_frame_repeats(&walk->switches, sp, &walk->frame))
		return BEEUNWIND_STOP_NO_PROGRESS;
	return BEEUNWIND_STOP_NONE;
}

/* Trampolines of the kernel: they are code without rows, and what they return to is known. */
static bool walk_step_trampoline(struct bee_walk *walk)
{
	struct bee_frame *f = &walk->frame;

	return bee_frame_step_sigreturn(&walk->mem, f) ||
	       (f->activation && bee_uprobe_step(&walk->probes, &walk->mem, f));
}

/*
 * Without a row: a trampoline, or else the frame pointer, which is believed only if
 * it leads to an executable mapping.  Otherwise the walk ends, for the reason that
 * made it try.
 */
static enum beeunwind_stop walk_step_guess(struct bee_walk *walk, enum beeunwind_stop why)
{
	bool by_fp = false;
	u64 sp = walk->frame.sp;

	if (!walk_step_trampoline(walk)) {
		by_fp = bee_frame_step_fp(&walk->mem, &walk->frame);
		if (!by_fp)
			return why;
	}
	if (walk_arrive(walk, sp))
		return why;
	walk->fp_steps += by_fp;
	return BEEUNWIND_STOP_NONE;
}

static enum beeunwind_stop walk_step_row(struct bee_walk *walk)
{
	u64 sp = walk->frame.sp;
	enum beeunwind_stop stop;

	stop = bee_frame_step(&walk->mem, &walk->row, &walk->frame);
	return stop ? stop : walk_arrive(walk, sp);
}

/**
 * bee_walk_next() - go to the caller of the current frame
 * @walk: a started walk; walk->frame is the caller on success and of no meaning
 *	otherwise
 *
 * Context: Any, NMI-safe. Caller holds the RCU read lock. Does not fault,
 * sleep, allocate, lock or print. One range search, one table lookup and a few
 * words of user memory.
 *
 * Return: BEEUNWIND_STOP_NONE, or why the walk ended.
 */
enum beeunwind_stop bee_walk_next(struct bee_walk *walk)
{
	const struct bee_range *range = walk->range;
	const struct bee_stored *stored;
	u64 ip = bee_frame_lookup_ip(&walk->frame);

	walk->file = range ? range->file : NULL;
	if (!range)
		return walk_step_guess(walk, BEEUNWIND_STOP_NO_MAPPING);
	if (!range->file)
		return walk_step_guess(walk, BEEUNWIND_STOP_NO_TABLE);
	stored = rcu_dereference(range->file->table);
	if (!stored) {
		atomic_inc(&range->file->missed);
		bee_news_announce(range->file, range->start, range->end);
		return walk_step_guess(walk, BEEUNWIND_STOP_NO_TABLE);
	}

	bee_file_touch(range->file);
	bee_table_lookup(&stored->table, bee_stored_pc(stored, bee_range_offset(range, ip)),
			 &walk->row);
	switch (walk->row.kind) {
	case BEE_RULE_KNOWN:
		return walk_step_row(walk);
	case BEE_RULE_GAP:
		return walk_step_guess(walk, BEEUNWIND_STOP_GAP);
	}
	return BEEUNWIND_STOP_UNSUPPORTED;
}
