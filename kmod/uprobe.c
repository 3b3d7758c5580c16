// SPDX-License-Identifier: GPL-2.0
/*
 * What uprobes hide: replaced return addresses, displaced instructions.  The only
 * file that knows them.
 *
 * A probed instruction is a breakpoint.  What stood there is executed in a page that
 * the kernel maps for that ("xol", kernel/events/uprobes.c), or emulated.
 *
 * A uretprobe: at the entry of a probed function the kernel puts the address of a trampoline
 * into the return slot, and into a list of the task, newest first, where the slot
 * is and what it held (prepare_uretprobe(), kernel/events/uprobes.c).  If a
 * function that was entered by a jump is probed too, its instance names the same
 * slot and the same true address.
 *
 * The list is current's own, and only current changes it, in process context; an
 * NMI, or a tracepoint that fires meanwhile, interrupts that at any instruction:
 *
 * - a new instance is complete before the list leads to it.  Before that the slot
 *   holds the trampoline already: it is not found and the stack is short.
 * - instances are freed before the list is led past them: in
 *   cleanup_return_instances() up to 6.12, in handle_trampoline() in 6.1, there
 *   with the probes' handlers, and so perf's samples, in between.  So what
 *   is read may be free memory and somebody else's by now, and a pointer in it
 *   anything.  Each instance is copied with copy_from_kernel_nofault(), and their
 *   number is bounded.
 *
 * Since a freed instance can say anything, and one that longjmp() has left behind
 * names a slot that is somebody else's by now, the caller must not believe what it
 * gets before it has found it in an executable mapping, and asks only where the
 * slot holds what can be the trampoline.
 *
 * From 6.11 on perf itself replaces trampolines in what the walk has stored
 * (fixup_uretprobe_trampoline_entries()).  It finds none.
 */
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include "uread.h"
#include "frame.h"
#include "uprobe.h"

/* As many as a task can have (MAX_URETPROBE_DEPTH), and once more for slots without. */
#define UPROBE_MAX_READS	128

static void uprobe_start(struct bee_uprobes *probes)
{
	struct uprobe_task *utask = READ_ONCE(current->utask);

	probes->started = true;
	probes->reads = UPROBE_MAX_READS;
	if (!utask || copy_from_kernel_nofault(&probes->next, &utask->return_instances,
					       sizeof(probes->next)))
		probes->next = NULL;
}

/**
 * bee_uprobe_locate() - from a displaced instruction to where it belongs
 * @f: the topmost frame; its ip becomes that of the probed instruction, or of the
 *	one behind it if that has been executed
 *
 * Branches are emulated, so what is executed there goes on to the next instruction.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
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
 * bee_uprobe_return() - the return address that a uretprobe has replaced
 * @probes: zero at the start of a walk
 * @slot: where the return address was read from
 * @ra: the return address; replaced on success, untouched otherwise
 *
 * Slots are to be asked for from the topmost frame on, as the list is sorted.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: true if a pending uretprobe of current has this slot.
 */
bool bee_uprobe_return(struct bee_uprobes *probes, u64 slot, u64 *ra)
{
	const struct return_instance *at;
	struct return_instance instance;

	if (!probes->started)
		uprobe_start(probes);
	for (at = probes->next; at && probes->reads; at = instance.next) {
		probes->reads--;
		if (copy_from_kernel_nofault(&instance, at, sizeof(instance)))
			return false;
		if (instance.stack != slot)
			continue;
		probes->next = at;
		*ra = instance.orig_ret_vaddr;
		return true;
	}
	return false;
}

/*
 * The trampolines: int3, and since 6.11
 *
 *	0: push %rax; 1: push %rcx; 2: push %r11; 4: mov $__NR_uretprobe,%rax; 11: syscall
 *	13: pop %r11; 15: pop %rcx; 16: ret
 *
 * where the system call turns the rax on the stack into the return address
 * (arch/x86/kernel/uprobes.c).
 */
static const u8 uprobe_int3[] = { 0xcc };
static const u8 uprobe_pushes[] = { 0x50, 0x51, 0x41, 0x53, 0x48, 0xc7, 0xc0 };
static const u8 uprobe_syscall[] = { 0x0f, 0x05, 0x41, 0x5b, 0x59, 0xc3 };
static const u8 uprobe_pushed[] = {
	[0] = 0, [1] = 1, [2] = 2, [4] = 3, [11] = 3, [13] = 3, [15] = 2, [16] = 1,
};

#define UPROBE_SYSCALL		11	/* where it is */
#define UPROBE_RETURNED		13	/* and where it is done */

/* Is this a trampoline, and where was the return address that led there? */
static bool uprobe_find_slot(struct bee_uread *mem, const struct bee_frame *f, u64 *slot)
{
	u64 at = offset_in_page(f->ip), page = f->ip - at;

	/* The breakpoint is reported behind it until the kernel has looked at it. */
	*slot = f->sp - 8;
	if (at <= 1 && bee_frame_code_is(mem, page, uprobe_int3, sizeof(uprobe_int3)))
		return true;
	if (at >= ARRAY_SIZE(uprobe_pushed) ||
	    !bee_frame_code_is(mem, page, uprobe_pushes, sizeof(uprobe_pushes)) ||
	    !bee_frame_code_is(mem, page + UPROBE_SYSCALL, uprobe_syscall, sizeof(uprobe_syscall)))
		return false;
	*slot += 8 * uprobe_pushed[at];
	return true;
}

/**
 * bee_uprobe_step() - from the trampoline to the caller of the probed function
 * @probes: zero at the start of a walk
 * @mem: the process's memory
 * @f: an activation; replaced by its caller on success, untouched otherwise
 *
 * The probed function has returned, and the kernel not yet or just now.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: true if the frame is in a uretprobe's trampoline.
 */
bool bee_uprobe_step(struct bee_uprobes *probes, struct bee_uread *mem, struct bee_frame *f)
{
	u64 slot, ra;

	if (!uprobe_find_slot(mem, f, &slot))
		return false;
	if (!bee_uprobe_return(probes, slot, &ra) &&
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
