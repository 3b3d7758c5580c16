/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A made-up machine to compute rules on.  Registers and memory hold hashes of their number or
 * address, so two rules that yield the same 64 bits are the same rule.
 */
#ifndef BEE_EVAL_H
#define BEE_EVAL_H

#include <linux/types.h>
#include <linux/beeunwind_table.h>

#define MACHINE_RIP	16	/* DWARF number (x86-64 psABI 1.0, figure 3.36) */
#define MACHINE_REGS	17

/**
 * struct machine - the registers
 * @regs: by DWARF number: the GPRs, and rip
 */
struct machine {
	u64 regs[MACHINE_REGS];
};

/**
 * enum value_how - what is known of a value
 * @VALUE_KNOWN: it is this one
 * @VALUE_UNDEFINED: the rule says that it cannot be recovered
 * @VALUE_UNKNOWN: the rule cannot be computed
 */
enum value_how {
	VALUE_KNOWN,
	VALUE_UNDEFINED,
	VALUE_UNKNOWN,
};

/**
 * struct machine_value - what a rule yields
 * @how: enum value_how
 * @bits: the value, 0 unless it is known
 */
struct machine_value {
	u8	how;
	u64	bits;
};

/**
 * struct machine_frame - what the rules at a pc yield
 * @cfa: canonical frame address
 * @fp: the caller's rbp
 * @sp: the caller's rsp
 * @ra: the return address
 */
struct machine_frame {
	struct machine_value	cfa;
	struct machine_value	fp;
	struct machine_value	sp;
	struct machine_value	ra;
};

/**
 * struct machine_op - an operation of a DWARF expression
 * @atom: DW_OP_*
 * @number: its operand, or the first of two
 * @number2: the second operand
 */
struct machine_op {
	u8	atom;
	u64	number;
	u64	number2;
};

/**
 * struct machine_text - text under construction
 * @text: filled, with a 0 at the end
 * @size: bytes there is room for
 * @used: bytes in use
 */
struct machine_text {
	char	*text;
	size_t	 size;
	size_t	 used;
};

struct machine_value machine_run(const struct machine *m, u64 cfa,
				     const struct machine_op *ops, size_t nops);
__attribute__((format(printf, 2, 3)))
void machine_text(struct machine_text *t, const char *format, ...);
void machine_text_op(struct machine_text *t, const struct machine_op *op);

static inline u64 machine_hash(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* The 8 bytes of memory at @address, which overlap no others. */
static inline u64 machine_read(u64 address)
{
	return machine_hash(address + 0x9e3779b97f4a7c15ull);
}

static inline void machine_init(struct machine *m)
{
	unsigned int i;

	for (i = 0; i < MACHINE_REGS; i++)
		m->regs[i] = machine_hash(i + 1);
}

static inline struct machine_value machine_known(u64 bits)
{
	return (struct machine_value){ .how = VALUE_KNOWN, .bits = bits };
}

#endif /* BEE_EVAL_H */
