// SPDX-License-Identifier: GPL-2.0
/*
 * A tracepoint in NMI context: "perf record -e bee_nmi:bee_nmi -g" takes callchains there
 * on an emulated machine without a PMU, into which NMIs are injected.  An NMI that
 * interrupts user code saves the registers at the place of a system call's
 * (arch/x86/entry/entry_64.S, asm_exc_nmi), where perf reads them.
 *
 * QEMU delivers an NMI to the CPU whose LINT1 accepts it, the first; the handler there
 * sends it on to the next CPU.
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#define CREATE_TRACE_POINTS
#include "bee_nmi_trace.h"

static atomic_long_t nmi_taken, nmi_user;

static int nmi_get_long(char *to, const struct kernel_param *kp)
{
	return sysfs_emit(to, "%ld\n", atomic_long_read(kp->arg));
}

static const struct kernel_param_ops nmi_long_ops = { .get = nmi_get_long };
module_param_cb(taken, &nmi_long_ops, &nmi_taken, 0444);
MODULE_PARM_DESC(taken, "NMIs so far");
module_param_cb(user, &nmi_long_ops, &nmi_user, 0444);
MODULE_PARM_DESC(user, "those that interrupted user code");

static int nmi_handle(unsigned int type, struct pt_regs *regs)
{
	int cpu = smp_processor_id();

	atomic_long_inc(&nmi_taken);
	if (user_mode(regs))
		atomic_long_inc(&nmi_user);
	trace_bee_nmi(user_mode(regs));
	if (cpu == 0 && cpu_online(1))
		apic->send_IPI(1, NMI_VECTOR);
	return NMI_HANDLED;
}

static int __init bee_nmi_init(void)
{
	return register_nmi_handler(NMI_LOCAL, nmi_handle, 0, "bee_nmi");
}

static void __exit bee_nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "bee_nmi");
}

module_init(bee_nmi_init);
module_exit(bee_nmi_exit);

MODULE_DESCRIPTION("Callchains in NMI without a PMU, for beeunwind's tests");
MODULE_LICENSE("GPL");
