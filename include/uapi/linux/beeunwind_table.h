/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The unwind table of one ELF file: the format, and the only place that
 * defines it.
 *
 * A table is one immutable, position-independent blob.  It says, for every pc
 * (address as in the ELF file, before the load bias) of the file's executable
 * text, how to get from a frame to its caller.  The compiler in tools/lib
 * writes it, bee_table_validate() (kmod/table.c, built into the module and into
 * beectl alike) decides whether it may be used, bee_table_lookup() reads it.
 *
 * All integers are little endian.  Sections follow the header back to back in
 * this order; their sizes follow from the counts in the header, and the sum
 * must be the size of the blob to the byte:
 *
 *   OFFSET                 SIZE            DESCRIPTION
 *   0                      104             struct bee_table_header
 *   104                    24 * nsegments  struct bee_table_segment, by vaddr
 *   ...                    24 * nrules     struct bee_table_rule
 *   ...                    4 * nrows       u32 start[]: pc of the row - base
 *   ...                    2 * nrows       u16 rule[]: index into the rules
 *
 * A row is all rules valid for [base + start[i], base + start[i + 1]); the last
 * row ends at base + span.  start[0] is 0 and start[] ascends strictly, so
 * every pc in [base, base + span) belongs to exactly one row and a lookup is
 * one binary search.  Outside that interval the file has no unwind
 * information: the answer is a gap.  Neighbouring rows with the same rule are
 * merged.  Padding between functions (nop forms, int3, zero bytes) belongs to
 * the row before it; any other text without an FDE is an explicit gap row.
 *
 * Worked example, three rules and three rows for a function at 0x1130 which
 * pushes %rbp, followed by text without CFI at 0x1140 (64 bytes of it):
 *
 *   base 0x1130, span 0x50, nrules 3, nrows 3
 *   rule 0: 00 00 00 07 00 00 00 00  08 00 00 00  00 00 00 00  00 00 00 00  f8 ff ff ff
 *           RULES, CFA = rsp+8,  FP same,         RA at CFA-8
 *   rule 1: 00 00 00 07 01 00 00 00  10 00 00 00  00 00 00 00  f0 ff ff ff  f8 ff ff ff
 *           RULES, CFA = rsp+16, FP at CFA-16,    RA at CFA-8
 *   rule 2: 01 00 00 00 00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
 *           GAP
 *   start[]: 00 00 00 00  01 00 00 00  10 00 00 00
 *   rule[]:  00 00  01 00  02 00
 *
 * Any change to the layout or to the meaning of a value takes a new
 * BEE_TABLE_VERSION; selftests/sync keeps a hash of this file to make sure.
 */
#ifndef _UAPI_LINUX_BEEUNWIND_TABLE_H
#define _UAPI_LINUX_BEEUNWIND_TABLE_H

#include <linux/types.h>

#define BEE_TABLE_MAGIC		0x54454542u	/* "BEET" */
#define BEE_TABLE_VERSION	1
#define BEE_TABLE_MACHINE	62		/* EM_X86_64, the only one so far */

/* Limits; bee_table_validate() refuses whatever exceeds them. */
#define BEE_TABLE_MAX_SIZE	(256u << 20)	/* bytes of the blob */
#define BEE_TABLE_MAX_SEGMENTS	64
#define BEE_TABLE_MAX_RULES	65535
#define BEE_TABLE_MAX_SPAN	0xffffffffull	/* bytes of text */
#define BEE_TABLE_ID_MAX	32

/**
 * enum bee_table_id_type - what names the file that a table was made from
 * @BEE_ID_BUILD_ID: the GNU build-id note's descriptor (NT_GNU_BUILD_ID)
 * @BEE_ID_SHA256: SHA-256 over the whole file, for files without a build-id
 */
enum bee_table_id_type {
	BEE_ID_BUILD_ID	= 0,
	BEE_ID_SHA256	= 1,
	__BEE_ID_MAX,
};

/**
 * struct bee_table_header - the first bytes of every table
 * @magic: BEE_TABLE_MAGIC
 * @version: BEE_TABLE_VERSION
 * @machine: the ELF file's e_machine
 * @size: bytes of the whole blob
 * @crc: CRC-32 (IEEE 802.3, reflected, initial and final xor ~0) of the whole
 *	blob with this field as zero; it finds damage, not malice
 * @flags: none defined, 0
 * @nsegments: executable PT_LOAD segments that follow, at least 1
 * @nrules: rules in the dictionary, at least 1
 * @nrows: rows, at least 1
 * @reserved: 0
 * @base: pc of the first row
 * @span: bytes of text that the rows cover, 1 .. BEE_TABLE_MAX_SPAN
 * @file_size: bytes of the ELF file, for people
 * @id_type: enum bee_table_id_type
 * @id_len: bytes of @id in use, 1 .. BEE_TABLE_ID_MAX; the rest is zero
 * @reserved2: 0
 * @id: the file's identity
 */
struct bee_table_header {
	__le32	magic;
	__le16	version;
	__le16	machine;
	__le32	size;
	__le32	crc;
	__le32	flags;
	__le32	nsegments;
	__le32	nrules;
	__le32	nrows;
	__le64	reserved;
	__le64	base;
	__le64	span;
	__le64	file_size;
	__u8	id_type;
	__u8	id_len;
	__u8	reserved2[6];
	__u8	id[BEE_TABLE_ID_MAX];
};

/**
 * struct bee_table_segment - one executable PT_LOAD, to compute a bias
 * @vaddr: p_vaddr
 * @offset: p_offset
 * @size: p_filesz, not 0
 *
 * A mapping of file offset o at address a inside this segment has the
 * bias a - (@vaddr + o - @offset).  Segments ascend by @vaddr and do not
 * overlap in it.
 */
struct bee_table_segment {
	__le64	vaddr;
	__le64	offset;
	__le64	size;
};

/**
 * enum bee_row_kind - what is known about a range of text
 * @BEE_ROW_RULES: CFA, FP and RA have rules
 * @BEE_ROW_GAP: no FDE covers it; the walk may try the frame pointer
 * @BEE_ROW_UNSUPPORTED: an FDE covers it, but with a rule that a table cannot
 *	hold; the walk stops
 */
enum bee_row_kind {
	BEE_ROW_RULES		= 0,
	BEE_ROW_GAP		= 1,
	BEE_ROW_UNSUPPORTED	= 2,
	__BEE_ROW_MAX,
};

/**
 * enum bee_unsupported - why a row is BEE_ROW_UNSUPPORTED
 * @BEE_UNSUP_CFA_EXPR: CFA is a DWARF expression of another form
 * @BEE_UNSUP_CFA_UNDEF: no CFA rule, or undefined
 * @BEE_UNSUP_CFA_REG: CFA from a register that is no x86-64 GPR
 * @BEE_UNSUP_FP_EXPR: rbp is a DWARF expression of another form
 * @BEE_UNSUP_FP_REG: rbp is kept in a register that is no GPR
 * @BEE_UNSUP_RA_EXPR: RA is a DWARF expression of another form
 * @BEE_UNSUP_RA_REG: RA is kept in a register that is no GPR
 * @BEE_UNSUP_SP_RULE: rsp has a rule of its own that is not "CFA" (longjmp)
 * @BEE_UNSUP_OFFSET: an offset does not fit 32 bits
 * @BEE_UNSUP_CFI: the FDE's instructions are malformed
 */
enum bee_unsupported {
	BEE_UNSUP_CFA_EXPR	= 0,
	BEE_UNSUP_CFA_UNDEF	= 1,
	BEE_UNSUP_CFA_REG	= 2,
	BEE_UNSUP_FP_EXPR	= 3,
	BEE_UNSUP_FP_REG	= 4,
	BEE_UNSUP_RA_EXPR	= 5,
	BEE_UNSUP_RA_REG	= 6,
	BEE_UNSUP_SP_RULE	= 7,
	BEE_UNSUP_OFFSET	= 8,
	BEE_UNSUP_CFI		= 9,
	__BEE_UNSUP_MAX,
};

/**
 * enum bee_cfa - rule for the canonical frame address (DWARF 5, 6.4.1)
 * @BEE_CFA_REG: CFA = reg + cfa_off
 * @BEE_CFA_DEREF: CFA = \*(reg + cfa_off) + cfa_add
 * @BEE_CFA_PLT: CFA = rsp + 8 + ((rip & 15) >= cfa_off ? 8 : 0), the
 *	expression that linkers write for .plt; cfa_off is 10 or 11
 */
enum bee_cfa {
	BEE_CFA_REG	= 0,
	BEE_CFA_DEREF	= 1,
	BEE_CFA_PLT	= 2,
	__BEE_CFA_MAX,
};

/**
 * enum bee_fp - rule for the frame pointer register, rbp
 * @BEE_FP_SAME: FP = FP
 * @BEE_FP_CFA: FP = \*(CFA + fp_off)
 * @BEE_FP_DEREF: FP = \*(reg + fp_off)
 * @BEE_FP_REG: FP = reg
 * @BEE_FP_UNDEF: FP is lost
 */
enum bee_fp {
	BEE_FP_SAME	= 0,
	BEE_FP_CFA	= 1,
	BEE_FP_DEREF	= 2,
	BEE_FP_REG	= 3,
	BEE_FP_UNDEF	= 4,
	__BEE_FP_MAX,
};

/**
 * enum bee_ra - rule for the return address column (16 on x86-64)
 * @BEE_RA_CFA: RA = \*(CFA + ra_off)
 * @BEE_RA_DEREF: RA = \*(reg + ra_off)
 * @BEE_RA_REG: RA = reg
 * @BEE_RA_UNDEF: no caller: this is the outermost frame
 */
enum bee_ra {
	BEE_RA_CFA	= 0,
	BEE_RA_DEREF	= 1,
	BEE_RA_REG	= 2,
	BEE_RA_UNDEF	= 3,
	__BEE_RA_MAX,
};

/* Registers have their DWARF numbers (x86-64 psABI 1.0, figure 3.36). */
enum bee_reg {
	BEE_REG_RAX = 0, BEE_REG_RDX, BEE_REG_RCX, BEE_REG_RBX,
	BEE_REG_RSI, BEE_REG_RDI, BEE_REG_RBP, BEE_REG_RSP,
	BEE_REG_R8, BEE_REG_R9, BEE_REG_R10, BEE_REG_R11,
	BEE_REG_R12, BEE_REG_R13, BEE_REG_R14, BEE_REG_R15,
	__BEE_REG_MAX,
};

#define BEE_RULE_SIGNAL		0x01	/* CIE augmentation 'S': a signal frame */

/**
 * struct bee_table_rule - one dictionary entry
 * @kind: enum bee_row_kind
 * @arg: BEE_ROW_RULES: BEE_RULE_* flags; BEE_ROW_UNSUPPORTED: the reason;
 *	BEE_ROW_GAP: 0
 * @cfa: enum bee_cfa
 * @cfa_reg: base register of a BEE_CFA_REG or BEE_CFA_DEREF
 * @fp: enum bee_fp
 * @fp_reg: register of a BEE_FP_DEREF or BEE_FP_REG
 * @ra: enum bee_ra
 * @ra_reg: register of a BEE_RA_DEREF or BEE_RA_REG
 * @cfa_off: bytes
 * @cfa_add: bytes, BEE_CFA_DEREF only
 * @fp_off: bytes, BEE_FP_CFA and BEE_FP_DEREF only
 * @ra_off: bytes, BEE_RA_CFA and BEE_RA_DEREF only
 *
 * Fields that a kind does not use are zero; offsets are two's complement.
 */
struct bee_table_rule {
	__u8	kind;
	__u8	arg;
	__u8	cfa;
	__u8	cfa_reg;
	__u8	fp;
	__u8	fp_reg;
	__u8	ra;
	__u8	ra_reg;
	__le32	cfa_off;
	__le32	cfa_add;
	__le32	fp_off;
	__le32	ra_off;
};

#endif /* _UAPI_LINUX_BEEUNWIND_TABLE_H */
