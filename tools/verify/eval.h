/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DWARF expressions, computed with made-up registers and memory.  Each register holds a hash of
 * its number, and the 8 bytes of memory at an address hold one of the address, so two rules that
 * yield the same 64 bits are the same rule, however they are written.
 */
#ifndef BEE_EVAL_H
#define BEE_EVAL_H

#include <linux/types.h>

#define EVAL_RIP	16	/* DWARF number (x86-64 psABI 1.0, figure 3.36) */
#define EVAL_REGS	17	/* rip, and the general purpose registers before it */

/**
 * enum eval_how - what is known of a value
 * @EVAL_KNOWN: it was computed
 * @EVAL_UNDEFINED: the rule says that it cannot be recovered
 * @EVAL_UNKNOWN: the rule cannot be computed
 */
enum eval_how {
	EVAL_KNOWN,
	EVAL_UNDEFINED,
	EVAL_UNKNOWN,
};

/**
 * struct eval_value - what a rule yields
 * @how: enum eval_how
 * @bits: the value, 0 unless it is known
 */
struct eval_value {
	u8	how;
	u64	bits;
};

/**
 * struct eval_frame - what the rules at a pc yield
 * @cfa: canonical frame address
 * @fp: the caller's rbp
 * @sp: the caller's rsp
 * @ra: the return address
 * @signal: its CIE has augmentation 'S': its pc is exact, not a return address
 */
struct eval_frame {
	struct eval_value	cfa;
	struct eval_value	fp;
	struct eval_value	sp;
	struct eval_value	ra;
	bool			signal;
};

/**
 * struct eval_op - an operation of an expression
 * @atom: DW_OP_*
 * @number: its operand, or the first of two
 * @number2: the second operand
 */
struct eval_op {
	u8	atom;
	u64	number;
	u64	number2;
};

struct eval_value eval_run(const u64 regs[EVAL_REGS], u64 cfa, const struct eval_op *ops,
			   size_t nops);

static inline u64 eval_hash(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* The 8 bytes at @address, which share no bits with those at the addresses around it. */
static inline u64 eval_read(u64 address)
{
	return eval_hash(address + 0x9e3779b97f4a7c15ull);
}

static inline struct eval_value eval_known(u64 bits)
{
	return (struct eval_value){ .how = EVAL_KNOWN, .bits = bits };
}

#endif /* BEE_EVAL_H */
