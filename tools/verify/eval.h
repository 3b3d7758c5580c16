/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A made-up machine to compute rules on.  Registers and memory hold hashes of their number or
 * address, so two rules that yield the same 64 bits are the same rule.
 */
#ifndef BEE_EVAL_H
#define BEE_EVAL_H

#include <linux/types.h>
#include <linux/beeunwind_table.h>

#define EVAL_RIP	16	/* DWARF number (x86-64 psABI 1.0, figure 3.36) */
#define EVAL_REGS	17

/**
 * struct eval_machine - the registers
 * @regs: by DWARF number: the GPRs, and rip
 */
struct eval_machine {
	u64 regs[EVAL_REGS];
};

/**
 * enum eval_how - what is known of a value
 * @EVAL_KNOWN: it is this one
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
 */
struct eval_frame {
	struct eval_value	cfa;
	struct eval_value	fp;
	struct eval_value	sp;
	struct eval_value	ra;
};

/**
 * struct eval_op - an operation of a DWARF expression
 * @atom: DW_OP_*
 * @number: its operand, or the first of two
 * @number2: the second operand
 */
struct eval_op {
	u8	atom;
	u64	number;
	u64	number2;
};

/**
 * struct eval_text - text under construction
 * @text: filled, with a 0 at the end
 * @size: bytes there is room for
 * @used: bytes in use
 */
struct eval_text {
	char	*text;
	size_t	 size;
	size_t	 used;
};

struct eval_value eval_run(const struct eval_machine *m, u64 cfa,
				     const struct eval_op *ops, size_t nops);
__attribute__((format(printf, 2, 3)))
void eval_text(struct eval_text *t, const char *format, ...);
void eval_text_op(struct eval_text *t, const struct eval_op *op);

static inline u64 eval_hash(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* The 8 bytes of memory at @address, which overlap no others. */
static inline u64 eval_read(u64 address)
{
	return eval_hash(address + 0x9e3779b97f4a7c15ull);
}

static inline void eval_init(struct eval_machine *m)
{
	unsigned int i;

	for (i = 0; i < EVAL_REGS; i++)
		m->regs[i] = eval_hash(i + 1);
}

static inline struct eval_value eval_known(u64 bits)
{
	return (struct eval_value){ .how = EVAL_KNOWN, .bits = bits };
}

#endif /* BEE_EVAL_H */
