/* SPDX-License-Identifier: GPL-2.0 */
/* User callchains of perf and others: whose are walked, and how a walk's frames are stored. */
#ifndef BEE_CALLCHAIN_H
#define BEE_CALLCHAIN_H

#include <linux/stacktrace.h>
#include <linux/types.h>

struct perf_callchain_entry_ctx;
struct pt_regs;

void bee_callchain_user(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs);
u32 bee_callchain_deferred(u64 *ips, u32 max);
bool bee_callchain_give(stack_trace_consume_fn consume, void *cookie, struct pt_regs *regs);

#endif /* BEE_CALLCHAIN_H */
