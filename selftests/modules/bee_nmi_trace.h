/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bee_nmi

#if !defined(BEE_NMI_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define BEE_NMI_TRACE_H

#include <linux/tracepoint.h>

/* @user: the NMI came while the CPU ran user code, so that its registers are exact */
TRACE_EVENT(bee_nmi,
	TP_PROTO(bool user),
	TP_ARGS(user),
	TP_STRUCT__entry(__field(bool, user)),
	TP_fast_assign(__entry->user = user;),
	TP_printk("user=%d", __entry->user)
);

#endif /* BEE_NMI_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE bee_nmi_trace
#include <trace/define_trace.h>
