/* SPDX-License-Identifier: GPL-2.0 */
/* CIEs and FDEs of .eh_frame and .debug_frame (LSB 5.0, 10.6; DWARF 5, 6.4.1). */
#ifndef BEE_EH_FRAME_H
#define BEE_EH_FRAME_H

#include "cfi.h"
#include "elf.h"

/**
 * struct cie - common information entry
 * @offset: where it is in its section
 * @cfi: what the instructions of its FDEs need
 * @insns: its own instructions
 * @size: bytes of @insns
 * @refused: its form is unknown, so its FDEs are dropped: their ranges cannot be read
 * @malformed: its instructions are malformed, so its FDEs have ranges but no rules
 * @has_z: augmentation 'z': its FDEs have augmentation data
 */
struct cie {
	u64		 offset;
	struct cfi_cie	 cfi;
	const u8	*insns;
	size_t		 size;
	bool		 refused;
	bool		 malformed;
	bool		 has_z;
};

/**
 * struct fde - frame description entry
 * @begin: first pc
 * @end: pc after the last, > @begin
 * @insns: call frame instructions
 * @size: bytes of @insns
 * @cie: index of its CIE
 * @order: position in the file
 * @debug_frame: from .debug_frame
 * @malformed: its range is good, its instructions or its CIE's are not
 */
struct fde {
	u64		 begin;
	u64		 end;
	const u8	*insns;
	u32		 size;
	u32		 cie;
	u32		 order;
	bool		 debug_frame;
	bool		 malformed;
};

/**
 * struct fde_list - all FDEs of a file whose range can be read, in its order
 * @cies: all CIEs, by section, ascending by offset
 * @ncies: entries in @cies
 * @room_cies: CIEs there is memory for
 * @fdes: the FDEs
 * @nfdes: entries in @fdes
 * @room_fdes: FDEs there is memory for
 */
struct fde_list {
	struct cie	*cies;
	size_t		 ncies;
	size_t		 room_cies;
	struct fde	*fdes;
	size_t		 nfdes;
	size_t		 room_fdes;
};

void eh_frame_add(const struct elf_frames *frames, struct fde_list *list);
void eh_frame_read(const struct elf_file *elf, struct fde_list *list);
bool eh_frame_hdr_is_sound(const struct elf_file *elf, const struct fde_list *list);
bool eh_frame_hdr_lists(const struct elf_file *elf, const struct fde *fde);
void eh_frame_free(struct fde_list *list);

#endif /* BEE_EH_FRAME_H */
