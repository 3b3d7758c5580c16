// SPDX-License-Identifier: GPL-2.0
/* Padding: what assemblers and linkers write between functions (x86-64). */
#include "padding.h"
#include "sigreturn.h"

#define PAD_MAX_INSN	15

/* Bytes of "nop modrm" after 0f 1f: 0f 1f /0 with its SIB and displacement; 0 if none. */
static size_t pad_modrm(const u8 *p, size_t size)
{
	size_t n = 1;
	u8 mod;

	if (!size || p[0] & 0x38)
		return 0;
	mod = p[0] >> 6;
	if (mod == 3)
		return n;
	if ((p[0] & 7) == 4) {
		if (size < 2)
			return 0;
		if (!mod && (p[1] & 7) == 5)
			n += 4;
		n++;
	} else if (!mod && (p[0] & 7) == 5) {
		n += 4;
	}
	if (mod)
		n += mod == 1 ? 1 : 4;
	return n;
}

/**
 * padding_length() - bytes of the padding at an address
 * @p: the text there
 * @size: bytes of @p, not 0
 *
 * Return: the length of a nop (90) or long nop (0f 1f /0), with any operand size (66), segment (2e,
 * 3e) and REX (48) prefixes, xchg %ax,%ax (66 90), int3 (cc), or a zero byte; 0 if it is something
 * else.
 */
size_t padding_length(const u8 *p, size_t size)
{
	size_t n = 0, modrm;

	if (p[0] == 0xcc || !p[0])
		return 1;
	if (size > PAD_MAX_INSN)
		size = PAD_MAX_INSN;
	while (n < size && (p[n] == 0x66 || p[n] == 0x2e || p[n] == 0x3e))
		n++;
	if (n < size && p[n] == 0x48)
		n++;
	if (n < size && p[n] == 0x90)
		return n + 1;
	if (size - n < 3 || p[n] != 0x0f || p[n + 1] != 0x1f)
		return 0;
	modrm = pad_modrm(p + n + 2, size - n - 2);
	if (!modrm || n + 2 + modrm > size)
		return 0;
	return n + 2 + modrm;
}

/**
 * padding_fills() - is this text nothing but padding?
 * @elf: the file
 * @start: first pc
 * @end: pc after the last
 *
 * Return: true if [@start, @end) is whole nops, int3 and zero bytes; false in front of a signal
 * trampoline, as the last byte is that by which its rule is looked up.
 */
bool padding_fills(const struct elf_file *elf, u64 start, u64 end)
{
	while (start < end) {
		u64 size = end - start;
		const u8 *text = elf_text(elf, start, &size);
		size_t n, at = 0;

		while (text && at < size && (n = padding_length(text + at, size - at)))
			at += n;
		if (!at)
			return false;
		start += at;
	}
	return !sigreturn_is_at(elf, end);
}
