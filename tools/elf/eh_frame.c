// SPDX-License-Identifier: GPL-2.0
/* CIEs and FDEs: find their section, parse them and their augmentations. */
#include <asm/byteorder.h>
#include <dwarf.h>
#include <string.h>

#include "alloc.h"
#include "eh_frame.h"
#include "order.h"

struct frame_reader {
	const struct elf_frames	*frames;
	struct fde_list		*list;
	size_t			 first;		/* CIE of the section */
	size_t			 last;		/* CIE of the last FDE */
};

/* A CIE or FDE: the bytes after its length.  @offset: where it is in its section */
struct frame_record {
	struct cursor	c;
	u64		offset;
	bool		dwarf64;
	u64		id;
	u64		id_offset;
};

/*
 * Read a length and an id.  In .eh_frame the id has 4 bytes even after a 64-bit length (LSB 5.0,
 * 10.6.1.1).  Return: false if there is no whole record; a terminator is a record without bytes.
 */
static bool record_read(struct cursor *c, const struct elf_frames *frames,
			struct frame_record *record)
{
	u64 offset = c->at - frames->data, length = cursor_u32(c);
	const u8 *body;

	*record = (struct frame_record){ .offset = offset };
	if (length == 0xffffffff) {
		record->dwarf64 = true;
		length = cursor_u64(c);
	} else if (length >= 0xfffffff0) {
		return false;
	}
	body = cursor_take(c, length);
	if (!body)
		return false;
	record->c = cursor_of(body, length);
	record->id_offset = body - frames->data;
	if (length)
		record->id = cursor_uint(&record->c,
					 record->dwarf64 && frames->debug_frame ? 8 : 4);
	return !record->c.bad;
}

static bool record_is_cie(const struct frame_record *record, const struct elf_frames *frames)
{
	if (!frames->debug_frame)
		return !record->id;
	return record->id == (record->dwarf64 ? DW_CIE_ID_64 : DW_CIE_ID_32);
}

/*
 * The augmentation string and data (LSB 5.0, 10.6.1.1.1).  Behind 'z' the length of the data is
 * known, so letters from an unknown one on are skipped, unless they say how to read the FDEs or
 * whether they are of a signal frame.  Return: false if the FDEs cannot be read.
 */
static bool cie_read_augmentation(struct cie *cie, struct cursor *c, const char *letters)
{
	struct cursor a;
	const u8 *data;
	u64 size;

	cie->has_z = *letters == 'z';
	if (!cie->has_z) {
		/* Without 'z' the data has no length: accept only strings without data. */
		cie->cfi.signal = !strcmp(letters, "S");
		return cie->cfi.signal || !*letters;
	}
	size = cursor_uleb(c);
	data = cursor_take(c, size);
	a = cursor_of(data, data ? size : 0);
	while (*++letters) {
		switch (*letters) {
		case 'R':
			cie->cfi.encoding = cursor_u8(&a);
			break;
		case 'P':
			pointer_skip(&a, cursor_u8(&a), &cie->cfi.base);
			break;
		case 'L':
			cursor_u8(&a);
			break;
		case 'S':
			cie->cfi.signal = true;
			break;
		case 'B':
			break;
		default:
			return !a.bad && !c->bad && !strpbrk(letters, "RS");
		}
	}
	return !a.bad && !c->bad;
}

/* Return: false if the CIE's FDEs cannot be parsed. */
static bool cie_read(struct cie *cie, struct cursor *c)
{
	u8 version = cursor_u8(c);
	const char *augmentation = cursor_string(c);

	if (!augmentation || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4) {
		u8 address_size = cursor_u8(c), segment_size = cursor_u8(c);

		if (address_size != 8 || segment_size)
			return false;
	}
	cie->cfi.code_align = cursor_uleb(c);
	cie->cfi.data_align = cursor_sleb(c);
	cie->cfi.ra_reg = version == 1 ? cursor_u8(c) : cursor_uleb(c);
	if (c->bad || !cie_read_augmentation(cie, c, augmentation))
		return false;
	cie->insns = c->at;
	cie->size = cursor_left(c);
	cie->malformed = cfi_start(&cie->cfi, cie->insns, cie->size);
	return true;
}

static void cie_add(struct frame_reader *r, struct frame_record *record)
{
	struct fde_list *list = r->list;
	struct cie *cie;

	list->cies = alloc_room(list->cies, list->ncies, &list->room_cies, sizeof(*list->cies));
	cie = &list->cies[list->ncies++];
	*cie = (struct cie){ .offset = record->offset, .cfi.base = r->frames->base };
	cie->refused = !cie_read(cie, &record->c);
}

/*
 * The CIE at @offset of the section, or NULL if no record begins there that is one: so each byte
 * of a section belongs to one CIE or FDE, however FDEs refer to CIEs.
 */
static const struct cie *cie_find(struct frame_reader *r, u64 offset)
{
	const struct fde_list *list = r->list;
	size_t upto;

	if (r->first == list->ncies)
		return NULL;
	if (r->last < list->ncies && list->cies[r->last].offset == offset)
		return &list->cies[r->last];
	upto = r->first + order_upto(list->cies + r->first, list->ncies - r->first, sizeof(*list->cies),
				     offsetof(struct cie, offset), offset);
	if (upto == r->first || list->cies[upto - 1].offset != offset)
		return NULL;
	r->last = upto - 1;
	return &list->cies[r->last];
}

/* Add an FDE.  One whose range cannot be read is dropped, so its text becomes a gap. */
static void fde_add(struct frame_reader *r, struct frame_record *record)
{
	struct fde_list *list = r->list;
	struct cursor *c = &record->c;
	struct fde fde = { .order = list->nfdes, .debug_frame = r->frames->debug_frame };
	u64 offset = record->id, size;
	const struct cie *cie;

	/* .debug_frame: the CIE's offset; .eh_frame: how far before the id the CIE is. */
	if (!r->frames->debug_frame)
		offset = record->id_offset - record->id;
	cie = cie_find(r, offset);
	if (!cie || cie->refused ||
	    !pointer_read(c, cie->cfi.encoding, &cie->cfi.base, &fde.begin) ||
	    !pointer_read_size(c, cie->cfi.encoding, &size) || !size ||
	    __builtin_add_overflow(fde.begin, size, &fde.end))
		return;
	if (cie->has_z)
		cursor_take(c, cursor_uleb(c));
	fde.cie = cie - list->cies;
	fde.malformed = c->bad || cie->malformed || cursor_left(c) > ~0u;
	fde.insns = c->at;
	fde.size = cursor_left(c);
	list->fdes = alloc_room(list->fdes, list->nfdes, &list->room_fdes, sizeof(*list->fdes));
	list->fdes[list->nfdes++] = fde;
}

/*
 * Find the next CIE or FDE.  The C runtime stops at the zero terminator, but linkers also leave
 * one in the middle, so reading goes on as long as whole records follow.
 */
static bool frames_next(const struct elf_frames *frames, struct cursor *c,
			struct frame_record *record)
{
	while (cursor_left(c) && record_read(c, frames, record)) {
		if (cursor_left(&record->c) || record->id)
			return true;
		if (frames->stop_at_zero)
			break;
	}
	return false;
}

/**
 * eh_frame_add() - read all CIEs and FDEs of a section
 * @frames: the section; @list points into its bytes
 * @list: they are added to it, in their order
 *
 * CIEs are read first: those of .debug_frame may be behind their FDEs.
 */
void eh_frame_add(const struct elf_frames *frames, struct fde_list *list)
{
	struct frame_reader r = { .frames = frames, .list = list };
	struct frame_record record;
	struct cursor c;

	r.first = r.last = list->ncies;
	c = cursor_of(frames->data, frames->size);
	while (frames_next(frames, &c, &record))
		if (record_is_cie(&record, frames))
			cie_add(&r, &record);
	c = cursor_of(frames->data, frames->size);
	while (frames_next(frames, &c, &record))
		if (!record_is_cie(&record, frames))
			fde_add(&r, &record);
}

/*
 * Bytes from the start of .eh_frame to the end of the last FDE that the binary search table of
 * PT_GNU_EH_FRAME lists; 0 if that table is malformed.
 */
static u64 hdr_frames_size(struct cursor *c, const struct pointer_base *base, u64 count,
			   u8 encoding, const struct elf_frames *frames)
{
	u64 last = 0, pc, fde;
	struct frame_record record;
	struct cursor f;

	for (; count && !c->bad; count--) {
		if (!pointer_read(c, encoding, base, &pc) ||
		    !pointer_read(c, encoding, base, &fde) ||
		    fde - frames->base.vaddr >= frames->size)
			return 0;
		if (fde - frames->base.vaddr > last)
			last = fde - frames->base.vaddr;
	}
	f = cursor_of(frames->data, frames->size);
	if (!cursor_take(&f, last) || !record_read(&f, frames, &record))
		return 0;
	return f.at - frames->data;
}

/* PT_GNU_EH_FRAME (LSB 5.0, 10.6.2); @c stands at its binary search table. */
struct hdr {
	struct cursor		c;
	struct pointer_base	base;
	u64			frames;
	u64			count;		/* entries of the table; 0 if there is none */
	u8			encoding;
};

static bool hdr_read(const struct elf_file *elf, struct hdr *hdr)
{
	const u8 *data = elf_bytes(elf, &elf->hdr, elf->hdr.vaddr, elf->hdr.size);
	struct cursor c = cursor_of(data, data ? elf->hdr.size : 0);
	u8 version = cursor_u8(&c), frame_encoding = cursor_u8(&c);
	u8 count_encoding = cursor_u8(&c);

	hdr->encoding = cursor_u8(&c);
	hdr->base = (struct pointer_base){
		.data = data, .vaddr = elf->hdr.vaddr,
		.datarel = elf->hdr.vaddr, .has_datarel = true,
	};
	if (version != 1 || !pointer_read(&c, frame_encoding, &hdr->base, &hdr->frames))
		return false;
	if (!pointer_read(&c, count_encoding, &hdr->base, &hdr->count))
		hdr->count = 0;
	hdr->c = c;
	return true;
}

/* Find .eh_frame through PT_GNU_EH_FRAME. */
static bool hdr_find_frames(const struct elf_file *elf, struct elf_frames *frames)
{
	const struct elf_segment *load;
	u64 size = 0, at;
	struct hdr hdr;

	if (!hdr_read(elf, &hdr))
		return false;
	load = elf_find_load(elf, hdr.frames);
	if (!load)
		return false;
	at = hdr.frames - load->vaddr;
	memset(frames, 0, sizeof(*frames));
	frames->size = load->size - at;
	if (frames->size > ELF_MAX_BYTES)
		frames->size = ELF_MAX_BYTES;
	frames->data = elf_bytes(elf, load, hdr.frames, frames->size);
	if (!frames->data)
		return false;
	frames->base = (struct pointer_base){
		.data = frames->data, .vaddr = hdr.frames,
		.datarel = elf->pltgot, .has_datarel = elf->has_pltgot,
	};
	if (hdr.count)
		size = hdr_frames_size(&hdr.c, &hdr.base, hdr.count, hdr.encoding, frames);
	frames->stop_at_zero = !size;
	if (size)
		frames->size = size;
	return true;
}

/* The FDE whose instructions begin in [@start, @end]; those of @frames are first in @list. */
static const struct fde *hdr_find_fde(const struct fde_list *list, const struct elf_frames *frames,
				      const u8 *start, const u8 *end)
{
	size_t low = 0, high = list->nfdes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const u8 *insns = list->fdes[middle].insns;

		if (insns < frames->data || insns > frames->data + frames->size || insns > end)
			high = middle;
		else if (insns < start)
			low = middle + 1;
		else
			return &list->fdes[middle];
	}
	return NULL;
}

/**
 * eh_frame_hdr_is_sound() - is what PT_GNU_EH_FRAME says true?
 * @elf: the file
 * @list: what eh_frame_read() made of it, in that order
 *
 * Return: false if it cannot be read, or its search table does not ascend or leads to other FDEs
 * than those of the section .eh_frame.  True if there is nothing to compare.
 */
bool eh_frame_hdr_is_sound(const struct elf_file *elf, const struct fde_list *list)
{
	const struct elf_frames *frames = elf->frames;
	u64 pc, at, last = 0;
	struct hdr hdr;

	if (!elf->hdr.size || !elf->nframes || frames->debug_frame)
		return true;
	if (!hdr_read(elf, &hdr) || hdr.frames != frames->base.vaddr)
		return false;
	for (; hdr.count; hdr.count--, last = pc) {
		struct cursor c = cursor_of(frames->data, frames->size);
		struct frame_record record;
		const struct fde *fde;

		if (!pointer_read(&hdr.c, hdr.encoding, &hdr.base, &pc) ||
		    !pointer_read(&hdr.c, hdr.encoding, &hdr.base, &at) || pc < last ||
		    !cursor_take(&c, at - frames->base.vaddr) || !record_read(&c, frames, &record) ||
		    record_is_cie(&record, frames))
			return false;
		fde = hdr_find_fde(list, frames, record.c.at, record.c.end);
		if (fde && fde->begin != pc)
			return false;
	}
	return true;
}

/**
 * eh_frame_hdr_lists() - does the binary search table of PT_GNU_EH_FRAME list an FDE?
 * @elf: the file
 * @fde: the FDE, from eh_frame_read()
 *
 * Return: true if there is no table, or it has an entry that leads to @fde; false if it has one for
 * the same pc that leads to another FDE (lld keeps of several the first, though it describes no
 * text).  Linear in the table.
 */
bool eh_frame_hdr_lists(const struct elf_file *elf, const struct fde *fde)
{
	const struct elf_frames *frames = elf->frames;
	bool has_section = elf->nframes && !frames->debug_frame;
	struct frame_record record;
	struct hdr hdr;
	u64 pc, at;

	if (!elf->hdr.size || !hdr_read(elf, &hdr) || !hdr.count)
		return true;
	while (hdr.count-- && pointer_read(&hdr.c, hdr.encoding, &hdr.base, &pc) &&
	       pointer_read(&hdr.c, hdr.encoding, &hdr.base, &at)) {
		struct cursor c = cursor_of(frames->data, has_section ? frames->size : 0);

		if (pc != fde->begin)
			continue;
		if (!has_section || !cursor_take(&c, at - frames->base.vaddr) ||
		    !record_read(&c, frames, &record) ||
		    (fde->insns >= record.c.at && fde->insns <= record.c.end))
			return true;
	}
	return false;
}

/**
 * eh_frame_read() - read all CIEs and FDEs of a file
 * @elf: the file; @list points into its bytes, so it has to outlive @list
 * @list: filled, in the order of the file and .eh_frame before .debug_frame
 *
 * A file without a section .eh_frame may have it found through PT_GNU_EH_FRAME.
 */
void eh_frame_read(const struct elf_file *elf, struct fde_list *list)
{
	struct elf_frames hdr_frames;
	size_t i;

	memset(list, 0, sizeof(*list));
	if ((!elf->nframes || elf->frames[0].debug_frame) && elf->hdr.size &&
	    hdr_find_frames(elf, &hdr_frames))
		eh_frame_add(&hdr_frames, list);
	for (i = 0; i < elf->nframes; i++)
		eh_frame_add(&elf->frames[i], list);
}

/* eh_frame_free(): release what eh_frame_read() or eh_frame_add() made */
void eh_frame_free(struct fde_list *list)
{
	free(list->cies);
	free(list->fdes);
}
