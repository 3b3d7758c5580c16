/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a walk may cost: how many instructions, beside those of steps by simple rules that are in
 * the cache.
 *
 * Files, memory and code can be made so that each frame takes much work.  A walk has a number of
 * instructions that it may take (@left of struct bee_uread), to which each frame adds that perf asks
 * for.  Whatever takes more than a step subtracts its price; when less than nothing is left the walk
 * ends, for BEEUNWIND_STOP_COST.  A frame of an ordinary file takes less than it adds, or a little
 * more while the cache is empty.
 *
 * Prices are those of the most expensive case, counted by selftests/system/cost.
 */
#ifndef BEE_WORK_H
#define BEE_WORK_H

#define BEE_WORK_WALK		16000	/* what a walk may take beside its frames */
#define BEE_WORK_FRAME		550	/* what each frame adds */

#define BEE_WORK_RANGE		120	/* a search among the kept ranges, and a look at the range's file and table */
#define BEE_WORK_SEGMENT	12	/* each segment of the file, if there are several */
#define BEE_WORK_LOOK		450	/* more, for each look into the kernel's tree of mappings */
#define BEE_WORK_SLOT		13	/* each slot that the look reads in a node, until it has found the address */
#define BEE_WORK_RULE		250	/* a step by a rule that is not simple */
#define BEE_WORK_LOOKUP		400	/* a lookup of a rule in a table, beside tokens */
#define BEE_WORK_ROW		150	/* a lookup in a gap of a table */
#define BEE_WORK_TOKEN		40	/* a token of a window */
#define BEE_WORK_GUESS		300	/* a step without a rule, beside the code that it looks at */
#define BEE_WORK_PEEK		400	/* more, in an activation */
#define BEE_WORK_BYTE		16	/* a byte of code */
#define BEE_WORK_COPY		100	/* of code */
#define BEE_WORK_FAULT		2500	/* an attempt to read what is absent: like a page fault */
#define BEE_WORK_HEAP		340	/* a step out of a code heap, beside words */
#define BEE_WORK_HEAP_PEEK	8000	/* more in an activation, whose step searches the code at ip */
#define BEE_WORK_WORD		55	/* that the step reads: a word of a header or a segment map, or a byte of code */
#define BEE_WORK_PROBE		60	/* a look at a pending uretprobe */

#endif /* BEE_WORK_H */
