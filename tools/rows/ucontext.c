// SPDX-License-Identifier: GPL-2.0
/*
 * glibc's swapcontext() and makecontext(), whose CFI does not say where their code leads.
 *
 * swapcontext() loads rsp and the other registers from the context that rdx points to.  setcontext()
 * does so, too, and its CFI says that the caller's registers are there from then on; that of
 * swapcontext() says CFA = rsp + 8 throughout, with the old stack's return address.
 *
 * makecontext() lets a coroutine return to the first byte of __start_context, which goes on with
 * the context uc_link.  It has no caller: where a return address would be is a pointer to uc_link.
 */
#include <string.h>

#include "insn.h"
#include "rows.h"
#include "ucontext.h"

/* Bytes of a swapcontext(): 260, and more where it has a shadow stack to switch. */
#define SWAP_MIN	128
#define SWAP_MAX	1024

/**
 * ucontext_is_start() - whether __start_context begins at an address
 * @elf: the file
 * @pc: the address
 *
 * Callers are looked up one byte before their return address, so the padding before @pc has to
 * have the rule of what begins there.
 *
 * Return: whether the code there is "mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi", perhaps behind
 * an endbr64.
 */
bool ucontext_is_start(const struct elf_file *elf, u64 pc)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const u8 code[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff };

	if (elf_text_is(elf, pc, endbr64, sizeof(endbr64)))
		pc += sizeof(endbr64);
	return elf_text_is(elf, pc, code, sizeof(code));
}

/* The first pc behind "mov 0xa0(%rdx),%rsp", or 0. */
static u64 swap_find(const struct elf_file *elf, u64 start, u64 end)
{
	static const u8 load_rsp[] = { 0x48, 0x8b, 0xa2, 0xa0, 0, 0, 0 };
	u64 size = end - start;
	const u8 *text, *found;

	if (size < SWAP_MIN || size > SWAP_MAX)
		return 0;
	text = elf_text(elf, start, &size);
	found = text ? memmem(text, size, load_rsp, sizeof(load_rsp)) : NULL;
	return found ? start + (found - text) + sizeof(load_rsp) : 0;
}

/*
 * The rule holds until rdx is loaded from the context.  With a shadow stack that happens twice:
 * a branch before the first time leads to the code without one, behind it.
 */
static size_t swap_find_text(const struct elf_file *elf, u64 pc, u64 end,
			     struct ucontext_text found[UCONTEXT_MAX])
{
	static const struct bee_rule rule = {
		.kind = BEE_RULE_KNOWN,
		.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RDX, .cfa_off = 160,
		.fp = BEE_FP_DEREF, .fp_reg = BEE_REG_RDX, .fp_off = 120,
		.ra = BEE_RA_DEREF, .ra_reg = BEE_REG_RDX, .ra_off = 168,
	};
	u64 start = pc, other = 0;
	struct insn insn;
	size_t n = 0;

	while (n < UCONTEXT_MAX && insn_read(elf, pc, end, &insn)) {
		pc += insn.length;
		if (insn.kind == INSN_BRANCH && insn.target > other)
			other = insn.target;
		if (!(insn.writes & 1 << BEE_REG_RDX))
			continue;
		if (insn.kind != INSN_LOAD || insn.from != BEE_REG_RDX || insn.disp != 136)
			break;
		found[n++] = (struct ucontext_text){ start, pc, &rule };
		if (other < pc || other >= end)
			break;
		start = pc = other;
	}
	return n;
}

/**
 * ucontext_find() - find text of swapcontext() and __start_context
 * @elf: the file
 * @start: first pc of a CFI row that says CFA = rsp + 8, and the return address below that
 * @end: pc after it
 * @found: filled, ascending: text for which the row is wrong
 *
 * Return: the number of places found.
 */
size_t ucontext_find(const struct elf_file *elf, u64 start, u64 end,
		     struct ucontext_text found[UCONTEXT_MAX])
{
	u64 swap;

	if (ucontext_is_start(elf, start)) {
		found[0] = (struct ucontext_text){ start, end, &rule_outermost };
		return 1;
	}
	swap = swap_find(elf, start, end);
	return swap ? swap_find_text(elf, swap, end, found) : 0;
}
