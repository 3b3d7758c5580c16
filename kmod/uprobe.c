// SPDX-License-Identifier: GPL-2.0
/*
 * uprobes: undo the return addresses that they replace and the instructions that they move.
 *
 * A probed instruction is overwritten by a breakpoint, or a nop by a call of a trampoline.  The
 * original is executed in a page that the kernel maps for that ("xol", kernel/events/uprobes.c), or
 * emulated.
 *
 * uretprobes: at the entry of a probed function prepare_uretprobe() (kernel/events/uprobes.c)
 * writes the address of a trampoline into the return slot, and puts an instance with the slot and
 * the true return address at the front of a list of the task.  If the function was entered by a
 * jump from another probed function, two instances have the same slot and the same true address.
 *
 * The list belongs to current, which changes it in process context.  An NMI, or a tracepoint that
 * fires meanwhile, can see it at any instruction:
 *
 * - An instance is complete before it is linked.  Until then the slot holds the trampoline, but
 *   no instance is found: the stack is short.
 * - Instances are freed before they are unlinked: up to 6.12 in cleanup_return_instances(), in
 *   6.1 also in handle_trampoline(), where the probes' handlers, and so samples, come in between.
 *   So an instance can be freed and reused memory, and its pointer to the next can be anything.
 *   Each is copied with copy_from_kernel_nofault(), and paid from the walk's work.
 *
 * A reused instance can contain anything, and one that longjmp() has skipped has a slot that is
 * used for something else.  So callers ask only for slots that may hold the trampoline, and do
 * not believe an address before they have found it in an executable mapping.
 *
 * Since 6.11 perf looks through the entries that the walk has stored, and writes the true return
 * address over each that is the trampoline's (fixup_uretprobe_trampoline_entries()).  A walk stores
 * the trampoline's address only as the topmost entry, when the sample was taken at its first byte.
 * perf then writes the caller's address there, which the next entry has as well.
 */
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include "uread.h"
#include "frame.h"
#include "uprobe.h"

static void uprobe_start(struct bee_uprobes *probes)
{
	struct uprobe_task *utask = READ_ONCE(current->utask);

	probes->started = true;
	if (!utask || copy_from_kernel_nofault(&probes->next, &utask->return_instances,
					       sizeof(probes->next)))
		probes->next = NULL;
}

/**
 * bee_uprobe_locate() - map an ip in the xol page to the probed code
 * @f: the topmost frame; an ip there becomes that of the probed instruction, or of the next one
 *	if the probed one has been executed
 *
 * Branches are never executed in the xol page but emulated, so the next one is right.
 *
 * Context: Any, NMI-safe.
 */
void bee_uprobe_locate(struct bee_frame *f)
{
	struct uprobe_task *utask = READ_ONCE(current->utask);
	unsigned long xol, vaddr;

	if (!utask || copy_from_kernel_nofault(&xol, &utask->xol_vaddr, sizeof(xol)) ||
	    copy_from_kernel_nofault(&vaddr, &utask->vaddr, sizeof(vaddr)))
		return;
	if (xol && f->ip - xol < MAX_UINSN_BYTES)
		f->ip = vaddr + (f->ip - xol);
}

/**
 * bee_uprobe_return() - find the return address that a uretprobe has replaced
 * @probes: state of this walk, zero at its start
 * @left: instructions that the walk may still take; less the price of what was looked at
 * @slot: address that the return address was read from
 * @ra: set to the true return address if that is found, otherwise left as it is
 *
 * Slots must ascend within a walk, as they do along the list.
 *
 * Context: Any, NMI-safe.
 * Return: whether a pending uretprobe of current has this slot.
 */
bool bee_uprobe_return(struct bee_uprobes *probes, s32 *left, u64 slot, u64 *ra)
{
	const struct return_instance *at, *next;
	unsigned long stack, ret;

	if (!probes->started)
		uprobe_start(probes);
	/* Single members: an instance takes more than 100 bytes of stack in newer kernels. */
	for (at = probes->next; at && *left >= 0; at = next) {
		*left -= BEE_WORK_PROBE;
		if (copy_from_kernel_nofault(&stack, &at->stack, sizeof(stack)) ||
		    copy_from_kernel_nofault(&next, &at->next, sizeof(next)))
			return false;
		if (stack != slot)
			continue;
		if (copy_from_kernel_nofault(&ret, &at->orig_ret_vaddr, sizeof(ret)))
			return false;
		probes->next = at;
		*ra = ret;
		return true;
	}
	return false;
}

/*
 * The trampoline of uretprobes (arch/x86/kernel/uprobes.c) is an int3.  Since 6.11 it can also be
 *
 *	0: push %rax; 1: push %rcx; 2: push %r11; 4: mov $__NR_uretprobe,%rax; 11: syscall
 *	13: pop %r11; 15: pop %rcx; 16: ret
 *
 * The system call replaces the rax on the stack by the return address.  uprobe_pushed: words
 * pushed at each offset.
 */
static const u8 uprobe_int3[] = { 0xcc };
static const u8 uprobe_pushes[] = { 0x50, 0x51, 0x41, 0x53, 0x48, 0xc7, 0xc0 };
static const u8 uprobe_syscall[] = { 0x0f, 0x05, 0x41, 0x5b, 0x59, 0xc3 };
static const u8 uprobe_pushed[] = {
	[0] = 0, [1] = 1, [2] = 2, [4] = 3, [11] = 3, [13] = 3, [15] = 2, [16] = 1,
};

#define UPROBE_SYSCALL		11	/* offset of the system call */
#define UPROBE_RETURNED		13	/* offset after it */

/* Is @f in a trampoline?  @slot: where the return address was that led there. */
static bool uprobe_find_slot(struct bee_uread *mem, const struct bee_frame *f, u64 *slot)
{
	u64 at = offset_in_page(f->ip), page = f->ip - at;

	/* After the int3 ip is one byte further, until the kernel has corrected it. */
	*slot = f->sp - 8;
	if (at <= 1 && bee_frame_code_is(mem, page, uprobe_int3, sizeof(uprobe_int3)))
		return true;
	if (at >= ARRAY_SIZE(uprobe_pushed) ||
	    !bee_frame_code_is(mem, page, uprobe_pushes, sizeof(uprobe_pushes)) ||
	    !bee_frame_code_is(mem, page + UPROBE_SYSCALL, uprobe_syscall, sizeof(uprobe_syscall)))
		return false;
	*slot += 8 * uprobe_pushed[array_index_nospec(at, ARRAY_SIZE(uprobe_pushed))];
	return true;
}

/*
 * A probed nop can become a call of another trampoline, which makes a system call instead of a
 * breakpoint (since 6.18):
 *
 *	0: push %rcx; 1: push %r11; 3: push %rax; 4: mov $__NR_uprobe,%rax; 11: syscall
 *	13: pop %rax; 14: pop %r11; 16: pop %rcx; 17: ret
 *
 * In 7.2 and 7.3 the nop is one of ten bytes, and becomes "lea -128(%rsp),%rsp; call": the call
 * spares the red zone, and the trampoline ends with "ret $128".
 */
static const u8 uprobe_call_pushes[] = { 0x51, 0x41, 0x53, 0x50, 0x48, 0xc7, 0xc0 };
static const u8 uprobe_call_syscall[] = { 0x0f, 0x05, 0x58, 0x41, 0x5b, 0x59 };
static const u8 uprobe_call_ret[] = { 0xc3 };
static const u8 uprobe_call_ret_128[] = { 0xc2, BEE_RED_ZONE, 0 };
static const u8 uprobe_call_pushed[] = {
	[0] = 0, [1] = 1, [3] = 2, [4] = 3, [11] = 3, [13] = 3, [14] = 2, [16] = 1, [17] = 0,
};

#define UPROBE_CALL_SYSCALL	11	/* offset of the system call */
#define UPROBE_CALL_RET		17	/* of the ret */

/*
 * Is @f in a trampoline that a probed nop has called?  Then it becomes the frame of the probed
 * function, which is an activation: the nop may be anywhere, also in a prologue.
 */
static bool uprobe_step_call(struct bee_uread *mem, struct bee_frame *f)
{
	u64 at = offset_in_page(f->ip), page = f->ip - at, ra, slot, spared = 0;

	if (at >= ARRAY_SIZE(uprobe_call_pushed) ||
	    !bee_frame_code_is(mem, page, uprobe_call_pushes, sizeof(uprobe_call_pushes)) ||
	    !bee_frame_code_is(mem, page + UPROBE_CALL_SYSCALL, uprobe_call_syscall,
			       sizeof(uprobe_call_syscall)))
		return false;
	if (bee_frame_code_is(mem, page + UPROBE_CALL_RET, uprobe_call_ret_128,
			      sizeof(uprobe_call_ret_128)))
		spared = BEE_RED_ZONE;
	else if (!bee_frame_code_is(mem, page + UPROBE_CALL_RET, uprobe_call_ret,
				    sizeof(uprobe_call_ret)))
		return false;
	slot = f->sp + 8 * uprobe_call_pushed[array_index_nospec(at, ARRAY_SIZE(uprobe_call_pushed))];
	if (!bee_uread_u64(mem, slot, &ra))
		return false;
	*f = (struct bee_frame) {
		.ip = ra,
		.sp = slot + 8 + spared,
		.fp = f->fp,
		.fp_known = f->fp_known,
		.activation = true,
	};
	return true;
}

/**
 * bee_uprobe_step() - step from a trampoline of uprobes to the frame that it returns to
 * @probes: state of this walk, zero at its start
 * @mem: memory of current
 * @f: an activation; set to that frame if that is found, otherwise left as it is
 *
 * A uretprobe's: the probed function has returned to the trampoline, and the kernel has not
 * restored the return address yet, or just has.  Or one that a probed nop has called.
 *
 * Context: Any, NMI-safe.
 * Return: whether the frame is in a trampoline.
 */
bool bee_uprobe_step(struct bee_uprobes *probes, struct bee_uread *mem, struct bee_frame *f)
{
	u64 slot, ra;

	if (!uprobe_find_slot(mem, f, &slot))
		return uprobe_step_call(mem, f);
	if (!bee_uprobe_return(probes, &mem->left, slot, &ra) &&
	    (offset_in_page(f->ip) < UPROBE_RETURNED || !bee_uread_u64(mem, slot, &ra)))
		return false;
	*f = (struct bee_frame) {
		.ip = ra,
		.sp = slot + 8,
		.fp = f->fp,
		.slot = slot,
		.fp_known = f->fp_known,
	};
	return true;
}
