// SPDX-License-Identifier: GPL-2.0
/* Signal trampolines: the code that handlers return to. */
#include <string.h>

#include "sigreturn.h"

/* As in bee_frame_is_sigreturn() of kmod/frame.h: mov $15,%rax; syscall, or mov $15,%eax; syscall */
static const u8 sigreturn_rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
static const u8 sigreturn_eax[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

/**
 * sigreturn_length() - bytes of the signal trampoline at the start of some code
 * @code: the code
 * @size: bytes of @code
 *
 * Return: the bytes; 0 if no signal trampoline begins there.
 */
size_t sigreturn_length(const u8 *code, size_t size)
{
	if (size >= sizeof(sigreturn_rax) && !memcmp(code, sigreturn_rax, sizeof(sigreturn_rax)))
		return sizeof(sigreturn_rax);
	if (size >= sizeof(sigreturn_eax) && !memcmp(code, sigreturn_eax, sizeof(sigreturn_eax)))
		return sizeof(sigreturn_eax);
	return 0;
}

/**
 * sigreturn_is_at() - whether a signal trampoline begins at an address
 * @elf: the file
 * @pc: the address
 *
 * Handlers return to its first instruction, and callers are looked up one byte before their return
 * address, so the byte before @pc may only have a rule that is meant for the trampoline.
 *
 * Return: whether one begins there.
 */
bool sigreturn_is_at(const struct elf_file *elf, u64 pc)
{
	return elf_text_is(elf, pc, sigreturn_rax, sizeof(sigreturn_rax)) ||
	       elf_text_is(elf, pc, sigreturn_eax, sizeof(sigreturn_eax));
}
