// SPDX-License-Identifier: GPL-2.0
/* The walk of one user stack: from frame to caller until there is a stop reason. */
#include <linux/ptrace.h>
#include <asm/byteorder.h>
#include <asm/unistd.h>

#include "news.h"
#include "walk.h"

#define SYSCALL_BYTES	2	/* of the instruction */
#define WALK_JUMPS	2	/* that may be between a call and the code that it is for */

static bool walk_has_table(const struct bee_range *range)
{
	return range && range->file && bee_file_stored(range->file);
}

/* If the range has bytes of one of the file's segments only, that one is taken for all of them. */
static noinline void walk_enter_segment(struct bee_walk *walk, const struct bee_table *table,
					const struct bee_range *range)
{
	const struct bee_table_segment *s, *found = NULL;
	u64 last = range->offset + (range->end - 1 - range->start), vaddr;

	walk->mem.left -= BEE_WORK_SEGMENT * table->nsegments;
	walk->span = 0;
	for (s = table->segments; s < table->segments + table->nsegments; s++) {
		u64 offset = le64_to_cpu(s->offset);

		if (offset > last || (offset < range->offset && range->offset - offset >= le64_to_cpu(s->size)))
			continue;
		if (found)
			return;
		found = s;
	}
	if (!found)
		return;
	vaddr = le64_to_cpu(found->vaddr);
	walk->text = range->start - range->offset + le64_to_cpu(found->offset) - vaddr + table->base;
	walk->span = min(vaddr + le64_to_cpu(found->size) - table->base, (u64)table->span);
}

/* The walk comes to @range: note what all lookups there need. */
static void walk_enter(struct bee_walk *walk, const struct bee_range *range)
{
	const struct bee_stored *stored = NULL;

	if (range && range->file)
		stored = bee_file_stored(range->file);
	walk->range = range;
	walk->stored = stored;
	if (!stored)
		return;
	walk->met = true;
	bee_file_touch(range->file);
	walk->text = range->start - range->offset - stored->delta + stored->table.base;
	walk->span = stored->table.span;
	if (unlikely(!stored->one_segment))
		walk_enter_segment(walk, &stored->table, range);
}

/* Code in memory that has a table, as far as it is in @mapped, which has none and is as it was. */
static noinline const struct bee_range *walk_code_range(struct bee_walk *walk,
							const struct bee_range *mapped, u64 ip)
{
	struct bee_range *r = &walk->laid_part[walk->range == &walk->laid_part[0]];
	const struct bee_range *laid = bee_code_find(walk->laid, ip);

	if (!laid || laid->mark != mapped->mark)
		return mapped;
	*r = *laid;
	r->start = max(laid->start, mapped->start);
	r->end = min(laid->end, mapped->end);
	r->offset += r->start - laid->start;
	return r;
}

static __always_inline const struct bee_range *walk_range_at(struct bee_walk *walk, u64 ip)
{
	const struct bee_range *range;
	u32 work = walk->ranges.work;

	walk->mem.left -= BEE_WORK_RANGE;
	if (unlikely(walk->mem.left < 0))
		return NULL;
	range = bee_vma_find(&walk->ranges, walk->range, ip);
	walk->mem.left -= walk->ranges.work - work;
	if (unlikely(walk->laid) && range && !walk_has_table(range))
		return walk_code_range(walk, range, ip);
	return range;
}

/* Whether the current frame is in memory without a file, and that is a code heap of the process. */
static __always_inline bool walk_is_in_heap(const struct bee_walk *walk)
{
	return unlikely(walk->heaps) && walk->range && !walk->range->file &&
	       bee_heaps_have(walk->heaps, bee_frame_lookup_ip(&walk->frame));
}

/* Find the range of the current frame.  Return: whether there is one, and work left for it. */
static bool walk_find_range(struct bee_walk *walk)
{
	u64 ip = bee_frame_lookup_ip(&walk->frame);

	if (!walk->range || !bee_range_contains(walk->range, ip))
		walk_enter(walk, walk_range_at(walk, ip));
	if (walk_is_in_heap(walk))
		walk->met = true;
	return walk->range;
}

static void walk_set_topmost(struct bee_walk *walk, const struct pt_regs *regs)
{
	struct bee_frame *f = &walk->frame;

	f->ip = regs->ip;
	f->sp = regs->sp;
	f->fp = regs->bp;
	f->slot = 0;
	f->gpr = walk->gpr;
	f->saved = 0;
	f->callee_sp = 0;
	f->callee_gpr = NULL;
	f->callee_saved = 0;
	f->fp_known = true;
	f->activation = true;
}

/*
 * In rt_sigreturn() ip is behind the system call until the kernel has restored the registers.  That
 * is behind the trampoline, which ends there, and may be in the next function: go back to it.
 */
static noinline void walk_find_sigreturn(struct bee_walk *walk)
{
	walk->frame.ip -= SYSCALL_BYTES;
	if (!bee_frame_is_sigreturn(&walk->mem, &walk->frame))
		walk->frame.ip += SYSCALL_BYTES;
}

/*
 * Whether clone() has just made this thread, with a stack of its own.  Until the thread is in user
 * mode it has the registers of the one that called clone(), but for the stack pointer and the
 * result.  Its stack is empty, whatever the rule at ip says of the other's.
 */
static bool walk_is_new_thread(const struct pt_regs *regs)
{
	return unlikely(regs->orig_ax == __NR_clone) && !regs->ax && regs->si &&
	       regs->sp == regs->si;
}

/* A frame is in a mapping of a file that the store has not. */
static noinline void walk_tell(const struct bee_range *range)
{
	/* The vDSO has no inode. */
	bee_news_add(BEEUNWIND_NEWS_FILE, range->inode ?: (const void *)&bee_file_unknown, range->start,
		     range->end);
}

/**
 * bee_walk_look() - before bee_walk_start(): whether there is reason to walk
 * @walk: the walk
 * @ip: of the topmost frame
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock; current->mm is not NULL.
 * Return: true if @ip is in a file that the store has or in memory without a file, or if the store has had a file
 * and nobody can tell what is mapped at @ip.
 */
bool bee_walk_look(struct bee_walk *walk, u64 ip)
{
	const struct bee_code *code = unlikely(bee_code_count()) ? bee_code_current() : NULL;
	const struct bee_code_vm *vm = code ? rcu_dereference(code->vm) : NULL;
	const struct bee_range *range;

	walk->laid = code ? rcu_dereference(code->ranges) : NULL;
	walk->heaps = vm ? &vm->heaps : NULL;
	bee_vma_begin(&walk->ranges);
	range = bee_vma_find(&walk->ranges, NULL, ip);
	if (!range)
		return walk->ranges.busy && bee_store_generation();
	if (likely(range->file != &bee_file_unknown) || bee_code_find(walk->laid, ip))
		return true;
	walk_tell(range);
	return false;
}

/**
 * bee_walk_start() - start a walk at the topmost frame
 * @walk: the walk, after bee_walk_look(); walk->frame becomes the topmost frame; walk->stop tells if it has
 *	no caller
 * @regs: user registers of current, which stay until the walk's end
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock.
 */
void bee_walk_start(struct bee_walk *walk, const struct pt_regs *regs)
{
	walk_set_topmost(walk, regs);
	bee_uread_init(&walk->mem, walk->frame.sp);
	walk->fp_steps = 0;
	walk->met = false;
	walk->code = false;
	walk->unproven = false;
	walk->stop = walk_is_new_thread(regs) ? BEEUNWIND_STOP_OUTERMOST : BEEUNWIND_STOP_NONE;
	walk->switches = (struct bee_switches) {};
	walk->probes = (struct bee_uprobes) {};
	walk->regs = regs;
	walk->gpr_ready = false;
	walk->range = NULL;
	if (unlikely(regs->orig_ax == __NR_rt_sigreturn))
		walk_find_sigreturn(walk);
	walk_find_range(walk);
	if (!walk->stored) {
		bee_uprobe_locate(&walk->frame);
		walk_find_range(walk);
	}
	/* Perf's own steps by rbp could skip frames, and nothing would tell so. */
	if (unlikely(!walk->range && walk->ranges.busy)) {
		walk->stop = BEEUNWIND_STOP_BUSY;
		walk->met = true;
	}
	walk->file = walk->range ? walk->range->file : NULL;
	if (walk->file && walk->file->id)
		bee_tally_add(&walk->file->tally, BEE_TALLY_HITS);
}

/*
 * If the return address is a uretprobe's trampoline, take the true one.  The trampoline is at the
 * start of a page that the kernel maps in each address space; modules cannot ask for its address.
 */
static void walk_find_return(struct bee_walk *walk)
{
	struct bee_frame *f = &walk->frame;

	if (PAGE_ALIGNED(f->ip) && f->slot && !walk_has_table(walk_range_at(walk, f->ip)))
		bee_uprobe_return(&walk->probes, &walk->mem.left, f->slot, &f->ip);
}

/* No mapping was found.  Return: BEEUNWIND_STOP_BUSY if nobody can tell whether there is one, else @why. */
static enum beeunwind_stop walk_unmapped(const struct bee_walk *walk, enum beeunwind_stop why)
{
	return walk->ranges.busy ? BEEUNWIND_STOP_BUSY : why;
}

/*
 * After a step: is walk->frame a believable caller?  @sp is the callee's stack pointer.  Language
 * runtimes and start code mark the outermost frame by a return address of 0.
 */
static enum beeunwind_stop walk_arrive(struct bee_walk *walk, u64 sp)
{
	if (!walk->frame.ip && !walk->frame.activation)
		return BEEUNWIND_STOP_OUTERMOST;
	walk_find_return(walk);
	if (!walk_find_range(walk))
		return walk_unmapped(walk, BEEUNWIND_STOP_BAD_RA);
	if (bee_frame_repeats(&walk->switches, sp, &walk->frame))
		return BEEUNWIND_STOP_NO_PROGRESS;
	return BEEUNWIND_STOP_NONE;
}

/*
 * Fill the GPRs of the topmost frame, by DWARF number (psABI 1.0, figure 3.36).  In a system call
 * rcx and r11 have the values that SYSCALL has put there, as user code sees.
 */
static void walk_fill_gpr(const struct pt_regs *regs, u64 *gpr)
{
	gpr[BEE_REG_RAX] = regs->ax;
	gpr[BEE_REG_RDX] = regs->dx;
	gpr[BEE_REG_RCX] = regs->cx;
	gpr[BEE_REG_RBX] = regs->bx;
	gpr[BEE_REG_RSI] = regs->si;
	gpr[BEE_REG_RDI] = regs->di;
	gpr[BEE_REG_RBP] = regs->bp;
	gpr[BEE_REG_RSP] = regs->sp;
	gpr[BEE_REG_R8] = regs->r8;
	gpr[BEE_REG_R9] = regs->r9;
	gpr[BEE_REG_R10] = regs->r10;
	gpr[BEE_REG_R11] = regs->r11;
	gpr[BEE_REG_R12] = regs->r12;
	gpr[BEE_REG_R13] = regs->r13;
	gpr[BEE_REG_R14] = regs->r14;
	gpr[BEE_REG_R15] = regs->r15;
}

/* Most steps need rsp and rbp only, which the frame has; others, the GPRs of the topmost frame. */
static void walk_need_gpr(struct bee_walk *walk)
{
	if (walk->gpr_ready || !(walk->frame.gpr || walk->frame.callee_gpr))
		return;
	walk_fill_gpr(walk->regs, walk->gpr);
	walk->gpr_ready = true;
}

/*
 * Step across the trampoline of a signal or a uprobe: the kernel knows where it leads.  Not
 * inlined: the deepest calls are made here, and the variables of others would lie on the stack
 * then.
 */
static noinline bool walk_step_trampoline(struct bee_walk *walk)
{
	struct bee_frame *f = &walk->frame;

	return bee_frame_step_sigreturn(&walk->mem, f) ||
	       (f->activation && bee_uprobe_step(&walk->probes, &walk->mem, f));
}

/*
 * Where the cache has what a table says of a place: at one of two places, or else NULL.  @serial: as in
 * struct bee_cached_rule.
 */
static struct bee_cached_rule *walk_cached(struct bee_walk *walk, u64 serial, u32 place)
{
	struct bee_cached_rule *first = bee_rule_cache_at(walk->cache, serial, place);
	struct bee_cached_rule *other = bee_rule_cache_other(walk->cache, first);

	if (bee_cached_rule_is(first, serial, place))
		return first;
	return bee_cached_rule_is(other, serial, place) ? other : NULL;
}

/*
 * Store what walk_cached() has not found: in a free place, or else in the two by turns.  (If it always
 * replaced the older rule, of three rules that are used one after the other none would ever be found.)
 */
static void walk_store_cached(struct bee_walk *walk, u64 serial, u32 place, u32 word)
{
	struct bee_cached_rule *first = bee_rule_cache_at(walk->cache, serial, place);
	struct bee_cached_rule *other = bee_rule_cache_other(walk->cache, first);

	if (first->serial && (!other->serial || walk->turn++ & 1))
		first = other;
	*first = (struct bee_cached_rule) { .serial = serial, .place = place, .word = word };
}

/*
 * The rule at a place of the text of the walk's table.  If the cache does not have it, it is looked up in
 * the table and stored.  Where nothing is left for the lookup the rule is a gap, and not stored.
 */
static u32 walk_word_at(struct bee_walk *walk, u32 place)
{
	const struct bee_stored *stored = walk->stored;
	const struct bee_cached_rule *cached = walk_cached(walk, stored->serial, place);
	u32 word;

	if (cached)
		return cached->word;
	walk->mem.left -= BEE_WORK_LOOKUP;
	word = bee_table_word(&stored->table, place, &walk->mem.left);
	if (unlikely(walk->mem.left < 0))
		return BEE_WORD_GAP;
	walk_store_cached(walk, stored->serial, place, word);
	return word;
}

/*
 * bee_table_is_one(), which searches the table for each row between the two.  What is true is stored:
 * a place is mostly of a function that is called at its start, and what is not true ends most walks.
 * Where nothing is left for the search the answer is no, and not stored.
 */
static bool walk_is_one(struct bee_walk *walk, const struct bee_stored *stored, u64 start,
			u64 place)
{
	const u64 serial = bee_rule_cache_starts(stored->serial);
	const bool covered = place < stored->table.span;
	const struct bee_cached_rule *cached = covered ? walk_cached(walk, serial, place) : NULL;

	if (cached && cached->word == start)
		return true;
	if (!bee_table_is_one(&stored->table, start, place, &walk->mem.left) || walk->mem.left < 0)
		return false;
	if (covered && !cached)
		walk_store_cached(walk, serial, place, start);
	return true;
}

/* Bytes from the base of the table @stored to @ip, which is in @range. */
static u64 walk_place(const struct bee_stored *stored, const struct bee_range *range, u64 ip)
{
	return bee_stored_pc(stored, bee_range_offset(range, ip)) - stored->table.base;
}

/* The rule at an ip in the walk's range, which has a table. */
static noinline u32 walk_word(struct bee_walk *walk, u64 ip)
{
	const struct bee_stored *stored = walk->stored;
	u64 place = ip - walk->text;

	if (unlikely(place >= walk->span)) {
		place = walk_place(stored, walk->range, ip);
		if (place >= stored->table.span)
			return BEE_WORD_GAP;
	}
	return walk_word_at(walk, place);
}

/* walk_word() between bee_uread_begin() and bee_uread_end(), mostly without a call. */
static __always_inline u32 walk_word_begun(struct bee_walk *walk, u64 serial, u64 ip)
{
	u64 place = ip - walk->text;
	const struct bee_cached_rule *cached;
	u32 word;

	cached = bee_rule_cache_at(walk->cache, serial, place);
	if (likely(place < walk->span && bee_cached_rule_is(cached, serial, place)))
		return cached->word;
	bee_uread_end();
	word = walk_word(walk, ip);
	bee_uread_begin();
	return word;
}

/*
 * Whether the current frame may be a caller without having made a call: the kernel has made signal
 * trampolines the return addresses of handlers, and whoever starts a thread or coroutine has chosen
 * an address that the CFI calls outermost.
 */
static bool walk_is_start(struct bee_walk *walk)
{
	u32 word;

	if (bee_frame_is_sigreturn(&walk->mem, &walk->frame))
		return true;
	if (!walk->stored)
		return false;
	word = walk_word(walk, bee_frame_lookup_ip(&walk->frame));
	bee_table_decode(&walk->stored->table, word, &walk->rule);
	return walk->rule.kind == BEE_RULE_KNOWN &&
	       (walk->rule.ra == BEE_RA_UNDEF || walk->rule.arg & BEE_RULE_SIGNAL);
}

/*
 * Whether a function that begins at @target can be the one that a step by rbp was made from.  Other
 * calls have left return addresses in the stack, above which rbp can point by chance.
 */
static bool walk_is_callee(struct bee_walk *walk, const struct bee_walk_gap *gap, u64 target)
{
	const struct bee_range *range = walk->range;

	if (!bee_range_contains(range, target))
		range = walk_range_at(walk, target);
	if (!range)
		return walk->ranges.busy;
	return range->file && bee_file_stored(range->file) == gap->stored &&
	       walk_is_one(walk, gap->stored, walk_place(gap->stored, range, target), gap->place);
}

/*
 * Whether the call before the return address leads to the frame's code, or to a jump to it: an entry of
 * a PLT, a thunk, or one behind the other.  Where nobody can tell it does.
 */
static noinline bool walk_is_called(struct bee_walk *walk)
{
	const struct bee_walk_gap *gap = &walk->gap;
	u64 target = gap->target;
	int jumps;

	if (!gap->stored || !target)
		return true;
	for (jumps = 0; !walk_is_callee(walk, gap, target); jumps++) {
		target = jumps < WALK_JUMPS ? bee_frame_jump_target(&walk->mem, target) : 0;
		if (!target)
			return false;
	}
	return true;
}

/* Not inlined, here and below: their variables would lie on the stack while a range is looked for. */
static noinline enum bee_call walk_find_call(struct bee_walk *walk, u64 *target)
{
	return bee_frame_find_call(&walk->mem, walk->frame.ip, target);
}

static noinline bool walk_frame_step_fp(struct bee_walk *walk)
{
	return bee_frame_step_fp(&walk->mem, &walk->frame);
}

/*
 * After a step by rbp, which can be any number: is there a call before the new ip?  Otherwise it is a
 * function pointer or the like.  Not asked of memory without a file, as JIT compilers use: HotSpot's
 * interpreter pushes return addresses that no call has made.
 *
 * Return: BEEUNWIND_STOP_NONE, and in @target what the call names or 0; or @why, or
 * BEEUNWIND_STOP_READ_FAULT if nobody can tell.
 */
static enum beeunwind_stop walk_check_call(struct bee_walk *walk, u64 *target,
					   enum beeunwind_stop why)
{
	enum bee_call call;

	*target = 0;
	if (!walk->range->file)
		return BEEUNWIND_STOP_NONE;
	call = walk_find_call(walk, target);
	if (call == BEE_CALL_FOUND || walk_is_start(walk))
		return BEEUNWIND_STOP_NONE;
	return call == BEE_CALL_NONE ? why : BEEUNWIND_STOP_READ_FAULT;
}

/*
 * Whether code is in memory without a file.  Compilers at run time make functions that do not set rbp up,
 * as HotSpot's C1: it has the value of a caller further up, and nothing there tells so.
 */
static bool range_is_memory(const struct bee_range *range)
{
	return !range || !range->file || range->file->code;
}

/*
 * A step by the frame pointer, which is believed only if it leads behind a call.  A return address
 * of 0 does not make the frame the outermost one, even beside a saved rbp of 0: rbp, which can be
 * any number, may point to zeros of any kind.
 */
static noinline enum beeunwind_stop walk_step_fp(struct bee_walk *walk, enum beeunwind_stop why)
{
	u64 sp = walk->frame.sp, fp = walk->frame.fp;
	bool memory = range_is_memory(walk->range);
	struct bee_walk_gap *gap = &walk->gap;
	enum beeunwind_stop stop;

	*gap = (struct bee_walk_gap) {};
	if (walk->stored && bee_frame_is_near(&walk->frame) &&
	    !bee_table_leaves_fp(&walk->stored->table)) {
		gap->stored = walk->stored;
		gap->place = walk_place(gap->stored, walk->range,
					bee_frame_lookup_ip(&walk->frame));
	}
	if (!walk_frame_step_fp(walk))
		return why;
	if (walk->frame.slot != fp + 8)
		gap->stored = NULL;
	stop = walk_arrive(walk, sp);
	if (stop)
		return stop == BEEUNWIND_STOP_BUSY ? stop : why;
	stop = walk_check_call(walk, &gap->target, why);
	walk->fp_steps += !stop;
	/* Unless the code at ip has told where the return address is. */
	walk->unproven |= memory && walk->frame.slot == fp + 8;
	return stop;
}

/*
 * A step without a rule: across a trampoline, or else by the frame pointer.  Either is believed
 * only if it leads to an executable mapping.
 *
 * Return: BEEUNWIND_STOP_NONE, or @why there is no such caller, or BEEUNWIND_STOP_BUSY.
 */
static noinline enum beeunwind_stop walk_step_guess(struct bee_walk *walk, enum beeunwind_stop why)
{
	u64 sp = walk->frame.sp;
	enum beeunwind_stop stop;

	if (why == BEEUNWIND_STOP_UNSUPPORTED)
		return why;
	walk->mem.left -= BEE_WORK_GUESS + walk->frame.activation * BEE_WORK_PEEK;
	walk_need_gpr(walk);
	if (!walk_step_trampoline(walk)) {
		stop = walk_step_fp(walk, why);
		return stop || walk_is_called(walk) ? stop : why;
	}
	walk->mem.left -= BEE_WORK_RULE;
	stop = walk_arrive(walk, sp);
	return stop && stop != BEEUNWIND_STOP_BUSY ? why : stop;
}

/* A step by walk->rule, which is not simple. */
static noinline enum beeunwind_stop walk_step_rule(struct bee_walk *walk)
{
	u64 sp = walk->frame.sp;
	enum beeunwind_stop stop;

	walk->mem.left -= BEE_WORK_RULE;
	walk_need_gpr(walk);
	stop = bee_frame_step(&walk->mem, &walk->rule, &walk->frame);
	return stop ? stop : walk_arrive(walk, sp);
}

/* Why there is no rule for the current frame, where no table is. */
static noinline enum beeunwind_stop walk_no_table(struct bee_walk *walk)
{
	const struct bee_range *range = walk->range;

	walk->file = range ? range->file : NULL;
	if (!range)
		return walk_unmapped(walk, BEEUNWIND_STOP_NO_MAPPING);
	if (range->file == &bee_file_unknown)
		walk_tell(range);
	else
		walk->code |= !range->file;
	return BEEUNWIND_STOP_NO_TABLE;
}

/* Decode walk->word to walk->rule.  Return: why that is no rule for a step, if it is none. */
static noinline enum beeunwind_stop walk_decode(struct bee_walk *walk)
{
	bee_table_decode(&walk->stored->table, walk->word, &walk->rule);
	switch (walk->rule.kind) {
	case BEE_RULE_KNOWN:
		return BEEUNWIND_STOP_NONE;
	case BEE_RULE_GAP:
		walk->code |= !!walk->range->file->code;
		return BEEUNWIND_STOP_GAP;
	}
	return BEEUNWIND_STOP_UNSUPPORTED;
}

/* A step out of a code heap. */
static noinline enum beeunwind_stop walk_step_heap(struct bee_walk *walk)
{
	u64 sp = walk->frame.sp, target;
	enum beeunwind_stop stop;

	walk->file = NULL;
	walk->mem.left -= BEE_WORK_HEAP + walk->frame.activation * BEE_WORK_HEAP_PEEK;
	walk_need_gpr(walk);
	walk->heap.mem = &walk->mem;
	walk->heap.heaps = walk->heaps;
	walk->heap.f = &walk->frame;
	walk->heap.words = 0;
	stop = bee_heap_step(&walk->heap);
	walk->mem.left -= walk->heap.words * BEE_WORK_WORD;
	stop = stop ?: walk_arrive(walk, sp);
	return stop ?: walk_check_call(walk, &target, BEEUNWIND_STOP_BAD_RA);
}

/*
 * A step that walk_simple() does not make: by the rule walk->word, or without one.  The step is
 * made when the rule has been looked for, and not from there, for the sake of the kernel's stack.
 */
static __always_inline enum beeunwind_stop walk_step(struct bee_walk *walk)
{
	enum beeunwind_stop why;

	if (!walk->stored && walk_is_in_heap(walk))
		return walk->mem.left < 0 ? BEEUNWIND_STOP_COST : walk_step_heap(walk);
	why = walk->stored ? walk_decode(walk) : walk_no_table(walk);
	if (unlikely(walk->mem.left < 0))
		return BEEUNWIND_STOP_COST;
	return why ? walk_step_guess(walk, why) : walk_step_rule(walk);
}

/* As long as no word has been read walk_simple() cannot look for the rule of the current frame. */
static noinline void walk_find_word(struct bee_walk *walk)
{
	walk->file = walk->range->file;
	walk->word = walk_word(walk, bee_frame_lookup_ip(&walk->frame));
}

/*
 * Steps by simple rules, which most are, with the frame in registers: up to @max, or the first
 * frame without a table or with another rule.  What that rule is comes to walk->word.
 *
 * @ips, return: as bee_walk_callers().
 */
static noinline u32 walk_simple(struct bee_walk *walk, u64 *ips, u32 max)
{
	struct bee_simple_frame frame = bee_frame_simple(&walk->frame);
	u64 ip = bee_frame_lookup_ip(&walk->frame), callee_sp = 0, ra = 0;
	enum beeunwind_stop stopped = BEEUNWIND_STOP_NONE;
	u32 n = 0, entered, word = 0;

	do {
		u64 serial = walk->stored->serial;
		u64 start = walk->range->start, last = walk->range->end - 1 - start;
		bool left = false;

		walk->file = walk->range->file;
		bee_uread_begin();
		for (entered = n; !left && n < max; n++) {
			word = walk_word_begun(walk, serial, ip);
			if (unlikely(!bee_word_is_simple(word)))
				break;
			callee_sp = frame.sp;
			stopped = bee_simple_step(&walk->mem, word, &frame, &ra);
			if (unlikely(stopped))
				break;
			ips[n] = ra;
			ip = ra - 1;
			/*
			 * In the range walk_arrive() has nothing to do; behind it may be a
			 * trampoline.
			 */
			left = unlikely(ip - start >= last);
		}
		bee_uread_end();
		walk->word = word;
		if (unlikely(stopped)) {
			/* The return address may have been popped: a step of any kind. */
			if (stopped != BEEUNWIND_STOP_NO_PROGRESS || n || !walk->frame.activation)
				walk->stop = stopped;
			return n;
		}
		if (n != entered)
			bee_frame_set_simple(&walk->frame, &frame, ra, callee_sp, n == 1);
		if (!left)
			return n;
		walk->stop = walk_arrive(walk, callee_sp);
		if (walk->stop)
			return n - 1;
		ips[n - 1] = walk->frame.ip;
		ip = walk->frame.ip - 1;
	} while (n < max && walk->stored);
	return n;
}

/**
 * bee_walk_callers() - step to the callers of the current frame, one after the other
 * @walk: a started walk; walk->frame becomes the last caller, and is invalid after the walk's end,
 *	which walk->stop tells
 * @ips: filled: the ip of each caller, the first one's first
 * @max: room in @ips
 *
 * A step by a simple rule that is in the cache costs at most two words of user memory.  All else is
 * paid from walk->mem.left, to which each caller that may be found adds (work.h).
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock since bee_walk_start().
 * Return: number of callers that were found: @max, unless the walk ended before.
 */
u32 bee_walk_callers(struct bee_walk *walk, u64 *ips, u32 max)
{
	u32 n = 0;

	walk->mem.left += BEE_WORK_FRAME * max;
	while (n < max && !walk->stop) {
		if (walk->stored && likely(walk->mem.allowed))
			n += walk_simple(walk, ips + n, max - n);
		else if (walk->stored)
			walk_find_word(walk);
		if (walk->stop || n == max)
			break;
		walk->stop = walk_step(walk);
		if (!walk->stop)
			ips[n++] = walk->frame.ip;
	}
	/* Whatever could not be done when nothing was left. */
	if (unlikely(walk->mem.left < 0) && walk->stop > BEEUNWIND_STOP_OUTERMOST)
		walk->stop = BEEUNWIND_STOP_COST;
	if (unlikely(walk->unproven) && walk->stop == BEEUNWIND_STOP_OUTERMOST)
		walk->stop = BEEUNWIND_STOP_UNPROVEN;
	return n;
}
