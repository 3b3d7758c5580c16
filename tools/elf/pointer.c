// SPDX-License-Identifier: GPL-2.0
/* Encoded pointers of .eh_frame and .eh_frame_hdr (LSB 5.0, DW_EH_PE_*). */
#include <dwarf.h>

#include "pointer.h"

#define POINTER_FORMAT		0x0f
#define POINTER_APPLICATION	0x70

static u64 pointer_read_format(struct cursor *c, u8 encoding)
{
	switch (encoding & POINTER_FORMAT) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	case DW_EH_PE_uleb128:
		return cursor_uleb(c);
	case DW_EH_PE_sleb128:
		return cursor_sleb(c);
	case DW_EH_PE_udata2:
		return cursor_uint(c, 2);
	case DW_EH_PE_sdata2:
		return cursor_sint(c, 2);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_sdata4:
		return cursor_sint(c, 4);
	}
	c->bad = true;
	return 0;
}

/**
 * pointer_skip() - step over a pointer of any encoding
 * @c: at the pointer
 * @encoding: DW_EH_PE_*
 * @base: the section
 *
 * Return: false if it cannot be parsed.
 */
bool pointer_skip(struct cursor *c, u8 encoding, const struct pointer_base *base)
{
	if (encoding == DW_EH_PE_omit)
		return true;
	if ((encoding & POINTER_APPLICATION) == DW_EH_PE_aligned) {
		u64 vaddr = base->vaddr + (c->at - base->data);

		cursor_take(c, -vaddr & 7);
	}
	pointer_read_format(c, encoding);
	return !c->bad;
}

/**
 * pointer_read() - an address
 * @c: at the pointer
 * @encoding: DW_EH_PE_*
 * @base: the section
 * @value: the address as in the ELF file
 *
 * Return: false if it cannot be parsed, if only the loaded program knows its value (indirect),
 * or if it is relative to something that is not known here (textrel, funcrel, aligned, omit).
 */
bool pointer_read(struct cursor *c, u8 encoding, const struct pointer_base *base, u64 *value)
{
	u64 vaddr = base->vaddr + (c->at - base->data);

	if (encoding == DW_EH_PE_omit || encoding & DW_EH_PE_indirect)
		return false;
	*value = pointer_read_format(c, encoding);
	/* Linkers write 0 for discarded code: it is relative to nothing. */
	if (!*value)
		return !c->bad;
	switch (encoding & POINTER_APPLICATION) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		*value += vaddr;
		break;
	case DW_EH_PE_datarel:
		if (!base->has_datarel)
			return false;
		*value += base->datarel;
		break;
	default:
		return false;
	}
	return !c->bad;
}

/**
 * pointer_read_size() - a length: it has the format of an address, and is relative to nothing
 * @c: at the length
 * @encoding: DW_EH_PE_* of the address before it
 * @value: the length
 *
 * Return: false if it cannot be parsed.
 */
bool pointer_read_size(struct cursor *c, u8 encoding, u64 *value)
{
	*value = pointer_read_format(c, encoding);
	return !c->bad;
}
