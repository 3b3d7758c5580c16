// SPDX-License-Identifier: GPL-2.0
/*
 * Return addresses that a uretprobe has replaced: what stood there before.  The
 * only file that knows uprobes.
 *
 * At the entry of a probed function the kernel puts the address of a trampoline
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
#include "uretprobe.h"

#ifdef CONFIG_UPROBES

/* As many as a task can have (MAX_URETPROBE_DEPTH), and once more for slots without. */
#define URETPROBE_MAX_READS	128

static void uretprobe_start(struct bee_uretprobes *probes)
{
	struct uprobe_task *utask = READ_ONCE(current->utask);

	probes->started = true;
	probes->reads = URETPROBE_MAX_READS;
	if (!utask || copy_from_kernel_nofault(&probes->next, &utask->return_instances,
					       sizeof(probes->next)))
		probes->next = NULL;
}

/**
 * bee_uretprobe_resolve() - the return address that a uretprobe has replaced
 * @probes: zero at the start of a walk
 * @slot: where the return address was read from
 * @ra: the return address; replaced on success, untouched otherwise
 *
 * Slots are to be asked for from the topmost frame on, as the list is sorted.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: true if a pending uretprobe of current has this slot.
 */
bool bee_uretprobe_resolve(struct bee_uretprobes *probes, u64 slot, u64 *ra)
{
	const struct return_instance *at;
	struct return_instance instance;

	if (!probes->started)
		uretprobe_start(probes);
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
static const u8 uretprobe_int3[] = { 0xcc };
static const u8 uretprobe_syscall[] = { 0x50, 0x51, 0x41, 0x53, 0x48, 0xc7, 0xc0 };
static const u8 uretprobe_pushed[] = {
	[0] = 0, [1] = 1, [2] = 2, [4] = 3, [11] = 3, [13] = 3, [15] = 2, [16] = 1,
};

#define URETPROBE_SYSCALL_DONE	13

/**
 * bee_uretprobe_step() - from the trampoline to the caller of the probed function
 * @probes: zero at the start of a walk
 * @mem: the process's memory
 * @f: an activation; replaced by its caller on success, untouched otherwise
 *
 * The probed function has returned, and the kernel not yet or just now.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: true if the frame is in a uretprobe's trampoline.
 */
bool bee_uretprobe_step(struct bee_uretprobes *probes, struct bee_uread *mem, struct bee_frame *f)
{
	u64 at = offset_in_page(f->ip), page = f->ip - at;
	u64 pushed = 0, slot, ra;

	if (at >= ARRAY_SIZE(uretprobe_pushed))
		return false;
	if (bee_frame_code_is(mem, page, uretprobe_syscall, sizeof(uretprobe_syscall)))
		pushed = uretprobe_pushed[at];
	else if (!bee_frame_code_is(mem, page, uretprobe_int3, sizeof(uretprobe_int3)))
		return false;
	slot = f->sp + 8 * pushed - 8;
	if (!bee_uretprobe_resolve(probes, slot, &ra) &&
	    (at < URETPROBE_SYSCALL_DONE || !bee_uread_u64(mem, slot, &ra)))
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

#else

bool bee_uretprobe_resolve(struct bee_uretprobes *probes, u64 slot, u64 *ra)
{
	return false;
}

bool bee_uretprobe_step(struct bee_uretprobes *probes, struct bee_uread *mem, struct bee_frame *f)
{
	return false;
}

#endif
