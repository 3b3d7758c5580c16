// SPDX-License-Identifier: GPL-2.0
/* Signal trampolines: the code that handlers return to. */
#include "sigreturn.h"

/**
 * sigreturn_is_at() - whether a signal trampoline begins at an address
 * @elf: the file
 * @pc: the address
 *
 * Handlers return to its first instruction, and callers are looked up one byte before their return
 * address, so the byte before @pc may only have a rule that is meant for the trampoline.
 *
 * Return: whether the code there is "mov $15,%rax; syscall" or "mov $15,%eax; syscall", as in
 * bee_frame_is_sigreturn() of kmod/frame.h.
 */
bool sigreturn_is_at(const struct elf_file *elf, u64 pc)
{
	static const u8 rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const u8 eax[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

	return elf_text_is(elf, pc, rax, sizeof(rax)) || elf_text_is(elf, pc, eax, sizeof(eax));
}
