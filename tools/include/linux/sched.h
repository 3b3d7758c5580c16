/* SPDX-License-Identifier: GPL-2.0 */
/* Let others run: the scheduler of a process's kernel needs no asking. */
#ifndef BEE_SHIM_LINUX_SCHED_H
#define BEE_SHIM_LINUX_SCHED_H

#define cond_resched()	do { } while (0)

#endif /* BEE_SHIM_LINUX_SCHED_H */
