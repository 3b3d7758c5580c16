/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The unwind table of one ELF file: the format, and the only place that
 * defines it.
 *
 * A table is one immutable, position-independent blob.  It says, for every pc
 * (address as in the ELF file, before the load bias) of the file's executable
 * text, how to get from a frame to its caller.  The compiler in
 * tools/encode writes it, bee_table_validate() (kmod/table_check.c, built into the module and into
 * beectl alike) decides whether it may be used, bee_table_lookup() reads it.
 *
 * A row is all rules valid for [its start, the next row's start).  The rows of
 * [base, base + span) follow each other without holes; text that no FDE covers
 * has gap rows, but padding between functions (nop forms, int3, zero bytes)
 * belongs to the row before it.  Outside the interval the answer is a gap.
 *
 *
 * The idea
 *
 * Text is cut into windows of 2^window bytes of pc.  A window is a list of
 * tokens, each at a place in it, of two kinds:
 *
 *   head   A function starts here.  The rule becomes BEE_WORD_INIT, which is
 *          what a call leaves behind; the rows of its prologue follow.
 *   step   Anything later: epilogues, pushed arguments, text without FDE.
 *
 * The rows of a token are its phrase: up to eight ops, each of which says a rule,
 * and the distances between them.  The last rule of a head phrase is the
 * function's body rule, and the ops of step phrases can refer to it ("the body
 * rule with CFA + 16"; "with CFA = rsp + 8"; or plainly "the body rule"), so that
 * functions with other frames have the same epilogues.  Each phrase stands once in a
 * dictionary, its ops apart from its distances and from the body rule: many phrases
 * share a shape.
 *
 * The rule at a pc is what the last token at or before it in its window says, or
 * if there is none what the window began with.  No token and no phrase
 * reaches over the end of its window.
 *
 *
 * Layout
 *
 * Integers are little endian.  Bit i of a bit string is bit i % 8 (from the
 * least significant) of byte i / 8; a field's first bit is its least significant.
 * W(n) is the width of a number below n: the least w with 2^w >= n.  Sections
 * follow each other in this order, each from a byte of its own; all sizes but the
 * last but one follow from the header.
 *
 *   SIZE                   DESCRIPTION
 *   184                    struct bee_table_header
 *   24 * nsegments         struct bee_table_segment, by vaddr
 *   24 * nfull             struct bee_table_rule, the full rules
 *   4 * nrules             u32: the rules, see enum bee_word_kind
 *   4 * pages              u32: the page directory
 *   4 * 2^menu_bits[0]     u32: head menu: bits 0-15 a phrase number, 16-31 its body rule
 *   2 * 2^menu_bits[1], nmenus times
 *                          u16: step menus: phrase numbers
 *   bits, 8 times          head phrases with 1, 2, ... 8 ops
 *   bits, 8 times          their shapes
 *   bits, 8 times          step phrases with 1, 2, ... 8 ops
 *   bits, 8 times          their shapes
 *   the rest               page records
 *   8                      zero, so that 64 bits can be read from anywhere before
 *
 * The number of a phrase says its number of ops, n, and its place among those of as many:
 * place * 8 + n - 1.  Where it is written in bits it takes 3 + W(the most phrases that
 * its kind has of one n).
 *
 *   HEAD PHRASE OF n OPS
 *   W(nrules)              the body rule, which is its last op
 *   W(nshapes[0][n-1])     number of its shape among those of n ops
 *   4 * n                  distances, see BEE_DELTA_*: from the token to the first op,
 *                          then from op to op
 *
 *   ITS SHAPE
 *   W(nrules), n-1 times   the other ops, which are rules
 *
 *   STEP PHRASE OF n OPS
 *   W(nshapes[1][n-1])     number of its shape among those of n ops
 *   4 * (n - 1)            distances from op to op; the first one is at the token
 *
 *   ITS SHAPE
 *   W(32 + nrules), n times  the ops, see BEE_OP_*
 *
 *
 * Windows
 *
 * Windows begin at multiples of 2^window; the first is the one that base is
 * in.  2^page of them are a page.  The directory has a value for each page, see
 * BEE_PAGE_*: its one rule, if all its text has the same, or where its page record is
 * and how many bits narrower than border_bits the borders in it are.  Page
 * records follow each other without holes, in the order of their pages.
 *
 *   PAGE RECORD
 *   16                     its length in bits, L
 *   B, 2^page - 1 times    where windows 1, 2, ... begin; B = border_bits - "narrower"
 *   bits                   the windows
 *
 * The borders are where they would be if all windows were of the same length, give or
 * take: with P bits up to the first window, window i begins at bit
 * P + (i * (L - P) >> page) + border - 2^(B - 1) of the record.
 *
 *   WINDOW
 *   1                      0: the body rule holds where it begins, and
 *   body_bits              is this one
 *                          1: something else may hold,
 *   2                      see enum window_state, and
 *   W(nrules)              this is the body rule
 *   bits                   fields of the tokens, from the first to the last
 *   4 per token            their tags, from the last to the first
 *
 * So fields are read upwards and tags downwards from the window's end, until they
 * meet.  A tag names one of the header's classes, which says of which kind
 * a token is and what its field looks like:
 *
 *   FIELD
 *   gap                    distance to the token before; to the window's start for
 *                          the first one.  Step: in bytes.  Head: in grains
 *                          of 2^grain bytes, from the place before rounded down.
 *   id                     BEE_CLASS_DIRECT: the phrase number.  Otherwise a place
 *                          in the head menu, or in the step menu that the
 *                          body rule names (which is why body rules do).
 *
 *
 * First worked example
 *
 * A function at 0x1130 pushes %rbp, which takes a byte, and returns; text
 * without FDE follows from 0x1140 to 0x1180.
 *
 *   base 0x1130, span 0x50, window 8, page 0, grain 4, border_bits 0, body_bits 0,
 *   nrules 2, nmenus 1, menu_bits 0 and 0, one head and one step phrase of one op
 *   classes: 84 03    tag 0: head, gap of 4 bits, phrase number of 3 + W(1) = 3 bits
 *            48 00    tags 1 .. 15: step, gap of 8 bits, place of 0 bits in a menu
 *
 *   08 00 04 00       rule 0: kind rsp, n 2, s 2: CFA = rsp+16, FP at CFA-16
 *   03 00 00 00       rule 1: gap
 *   00 00 00 00       page 0: record at byte 0
 *   00 00 00 00       head menu: phrase 0 * 8 + 1 - 1, its body rule 0; no token uses it
 *   00 00             step menu: phrase 0 * 8 + 1 - 1
 *   02                head phrase 0: body rule 0, in W(2) bits; distance 1
 *                     its shape: nothing
 *                     step phrase 0: no distance
 *   21                its shape: op 33, rule 1 (ops have W(32 + 2) = 6 bits)
 *   28 00 06 10 01    page record, from its first bit on:
 *     0001010000000000  40: its length
 *     0                 begins with the body rule, short, so rule 0; not asked, as
 *                       base is later
 *     1100 000          first field: gap 3 grains, at 0x1100 + 3 * 16 = 0x1130; head
 *                       phrase 0 * 8 + 1 - 1
 *     00001000          second field: gap 16 bytes, at 0x1140; place 0
 *     1000              second tag: 1, a step
 *     0000              first tag: 0, a head
 *   00 00 00 00 00 00 00 00
 *
 *   0x1130  the head token: CFA = rsp+8, FP same
 *   0x1131  its op at distance 1: CFA = rsp+16, FP at CFA-16
 *   0x1140  the step token: gap
 *
 *
 * Second worked example
 *
 * A function starts at 0x2000.  Up to 0x2001 it pushes %rbx, up to 0x2005 it takes 16
 * bytes of stack; up to 0x2030 it gives them back, up to 0x2031 it pops %rbx, and
 * returns; after some padding its other parts follow from 0x2040 to 0x2180.
 *
 *   base 0x2000, span 0x180, window 8, page 1, grain 4, border_bits 5, body_bits 0,
 *   nrules 2, nmenus 1, menu_bits 0 and 0, a head phrase of two ops, a step phrase
 *   of three
 *   classes: 00 00    tag 0: head, gap of 0 bits, place of 0 bits in the menu
 *            46 00    tags 1 .. 15: step, gap of 6 bits, place of 0 bits in a menu
 *
 *   10 00 00 00       rule 0: CFA = rsp+32, FP same; its step menu is menu 0
 *   08 00 00 00       rule 1: CFA = rsp+16, FP same
 *   00 00 00 00       page 0: record at byte 0
 *   01 00 00 00       head menu: phrase 0 * 8 + 2 - 1, its body rule 0
 *   02 00             step menu: phrase 0 * 8 + 3 - 1
 *   82 00             head phrase 0: body rule 0, distances 1, 4
 *   01                its shape: rule 1
 *   f1                step phrase 0: distances 1, up to a multiple of 16
 *   11 04 00          its shape: ops 17 (CFA = rsp+16), 16 (CFA = rsp+8), 0 (body)
 *   25 00 17 1c 00    page record, from its first bit on:
 *     1010010000000000  37: its length; P is 16 + 5
 *     11101             23: the second window begins at 21 + (16 >> 1) + 23 - 16 = 36
 *     0                 first window: rule 0, not asked: the first token is at its start
 *                       first field: nothing; a head at 0x2000 + 0
 *     000011            second field: gap 48 bytes, at 0x2030
 *     1000 0000         second tag 1, first tag 0
 *     0                 second window: begins with the body rule, which is rule 0
 *   00 00 00 00 00 00 00 00
 *
 *   0x2000  the head token: CFA = rsp+8       0x2031  op 16: CFA = rsp+8
 *   0x2001  rule 1: CFA = rsp+16              0x2040  op 0: CFA = rsp+32
 *   0x2005  rule 0: CFA = rsp+32, the body    0x2100  the second window: the same
 *   0x2030  op 17: CFA = rsp+16
 *
 * Any change to the layout or to the meaning of a value takes a new
 * BEE_TABLE_VERSION; selftests/sync keeps a hash of this file to make sure.
 */
#ifndef _UAPI_LINUX_BEEUNWIND_TABLE_H
#define _UAPI_LINUX_BEEUNWIND_TABLE_H

#include <linux/types.h>

#define BEE_TABLE_MAGIC		0x54454542u	/* "BEET" */
#define BEE_TABLE_VERSION	3
#define BEE_TABLE_MACHINE	62		/* EM_X86_64, the only one so far */

/* Limits; bee_table_validate() refuses whatever exceeds them. */
#define BEE_TABLE_MAX_SIZE	(256u << 20)	/* bytes of the blob */
#define BEE_TABLE_MAX_SPAN	0xfff00000u	/* bytes of text */
#define BEE_TABLE_MAX_SEGMENTS	64
#define BEE_TABLE_MAX_RULES	65535
#define BEE_TABLE_MAX_MENUS	32
#define BEE_TABLE_MAX_OPS	8		/* of a phrase */
#define BEE_TABLE_MAX_TOKENS	512		/* in a window: what bounds a lookup */
#define BEE_TABLE_MIN_WINDOW	8		/* log2 bytes of text */
#define BEE_TABLE_MAX_WINDOW	13
#define BEE_TABLE_MAX_PAGE	5		/* log2 windows */
#define BEE_TABLE_MAX_GRAIN	4		/* log2 bytes of text */
#define BEE_TABLE_MAX_BORDER_BITS 16
#define BEE_TABLE_MAX_MENU_BITS	12
#define BEE_TABLE_CLASSES	16
#define BEE_TABLE_PAD		8		/* zero bytes at the end */
#define BEE_TABLE_ID_MAX	32

/**
 * enum bee_table_id_type - what names the file that a table was made from
 * @BEE_ID_BUILD_ID: the GNU build-id note's descriptor (NT_GNU_BUILD_ID)
 * @BEE_ID_SHA256: SHA-256 over the whole file, for files without a build-id
 */
enum bee_table_id_type {
	BEE_ID_BUILD_ID	= 0,
	BEE_ID_SHA256	= 1,
	/* private: */
	__BEE_ID_MAX,
};

/*
 * Flags of a table that is not exact, for people: its rows mean what they say, but
 * they are not all that the file says.
 *
 *   BEE_TABLE_F_FP_BYPASS  functions that keep a frame pointer have gap rows, so that
 *                          the walk takes the frame pointer
 *   BEE_TABLE_F_THINNED    rows are left out, the one before covers their text
 */
#define BEE_TABLE_F_FP_BYPASS	0x01
#define BEE_TABLE_F_THINNED	0x02
#define BEE_TABLE_F_ALL		0x03

/**
 * struct bee_table_class - how the tokens with one tag are written
 * @gap: bits 0-3: width of the gap; BEE_CLASS_* flags
 * @id: width of the phrase number
 */
struct bee_table_class {
	__u8	gap;
	__u8	id;
};

#define BEE_CLASS_STEP		0x40	/* a step token; otherwise a head token */
#define BEE_CLASS_DIRECT	0x80	/* a phrase number; otherwise a place in a menu */

/**
 * struct bee_table_header - the first bytes of every table
 * @magic: BEE_TABLE_MAGIC
 * @version: BEE_TABLE_VERSION
 * @machine: the ELF file's e_machine
 * @size: bytes of the whole blob
 * @crc: CRC-32 (IEEE 802.3, reflected, initial and final xor ~0) of the whole
 *	blob with this field as zero; it finds damage, not malice
 * @base: first pc of the text that the table covers
 * @file_size: bytes of the ELF file, for people
 * @span: bytes of that text, 1 .. BEE_TABLE_MAX_SPAN
 * @nrows: rows in the table, for people: what a listing of it finds
 * @nrules: rules in the dictionary, at least 1
 * @nfull: full rules that those refer to
 * @nsegments: executable PT_LOAD segments that follow, at least 1
 * @window: log2 bytes of text in a window
 * @page: log2 windows in a page
 * @grain: log2 bytes that head tokens are aligned to
 * @border_bits: width of the widest borders of windows in page records
 * @body_bits: width of a short body rule number
 * @nmenus: step menus
 * @menu_bits: log2 places in the head menu, and in each step menu; 0 if there is
 *	no phrase of the kind, and no menu then
 * @id_type: enum bee_table_id_type
 * @id_len: bytes of @id in use, 1 .. BEE_TABLE_ID_MAX; the rest is zero
 * @flags: BEE_TABLE_F_*
 * @classes: by tag
 * @nphrases: head and step phrases with 1 .. 8 ops
 * @nshapes: their shapes; not more than phrases, and 0 only if those are
 * @id: the file's identity
 */
struct bee_table_header {
	__le32	magic;
	__le16	version;
	__le16	machine;
	__le32	size;
	__le32	crc;
	__le64	base;
	__le64	file_size;
	__le32	span;
	__le32	nrows;
	__le16	nrules;
	__le16	nfull;
	__u8	nsegments;
	__u8	window;
	__u8	page;
	__u8	grain;
	__u8	border_bits;
	__u8	body_bits;
	__u8	nmenus;
	__u8	menu_bits[2];
	__u8	id_type;
	__u8	id_len;
	__u8	flags;
	struct bee_table_class classes[BEE_TABLE_CLASSES];
	__le16	nphrases[2][BEE_TABLE_MAX_OPS];
	__le16	nshapes[2][BEE_TABLE_MAX_OPS];
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
 * enum bee_rule_kind - what is known about a range of text
 * @BEE_RULE_KNOWN: CFA, FP and RA have rules
 * @BEE_RULE_GAP: no FDE covers it; the walk may try the frame pointer
 * @BEE_RULE_UNSUPPORTED: an FDE covers it, but with a rule that a table cannot
 *	hold; the walk stops
 */
enum bee_rule_kind {
	BEE_RULE_KNOWN		= 0,
	BEE_RULE_GAP		= 1,
	BEE_RULE_UNSUPPORTED	= 2,
	/* private: */
	__BEE_RULE_MAX,
};

/**
 * enum bee_unsupported - why a row is BEE_RULE_UNSUPPORTED
 * @BEE_UNSUP_CFA_EXPR: CFA is a DWARF expression of another form
 * @BEE_UNSUP_CFA_UNDEF: no CFA rule, or undefined
 * @BEE_UNSUP_CFA_REG: CFA from a register that is no x86-64 GPR
 * @BEE_UNSUP_FP_EXPR: rbp is a DWARF expression of another form
 * @BEE_UNSUP_FP_REG: rbp is kept in a register that is no GPR
 * @BEE_UNSUP_RA_EXPR: RA is a DWARF expression of another form
 * @BEE_UNSUP_RA_REG: RA is kept in a register that is no GPR
 * @BEE_UNSUP_SP_RULE: rsp has a rule of its own, which cannot be written as a CFA
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
	/* private: */
	__BEE_UNSUP_MAX,
};

/**
 * enum bee_cfa - rule for the canonical frame address (DWARF 5, 6.4.1)
 * @BEE_CFA_REG: CFA = reg + cfa_off
 * @BEE_CFA_DEREF: CFA = \*(reg + cfa_off) + cfa_add
 * @BEE_CFA_PLT: CFA = rsp + 8 + ((rip & 15) >= cfa_off ? 8 : 0), the
 *	expression that linkers write for .plt; cfa_off is 9 (IBT), 10 or 11
 * @BEE_CFA_INDEX: CFA = \*(base + 8 * index + cfa_off) + cfa_add, where cfa_reg is
 *	base + 16 * index: the caller's rsp is kept behind an array on the stack, as in
 *	the Montgomery multiplication of OpenSSL and BoringSSL
 */
enum bee_cfa {
	BEE_CFA_REG	= 0,
	BEE_CFA_DEREF	= 1,
	BEE_CFA_PLT	= 2,
	BEE_CFA_INDEX	= 3,
	/* private: */
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
	/* private: */
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
	/* private: */
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

/*
 * A rule in four bytes.  "Simple" is what compilers make: CFA = rsp + 8n or
 * rbp + 8n, RA at CFA-8, FP same or at CFA-8s, no signal frame.
 *
 *   BITS   BEE_WORD_RSP, _RBP          BEE_WORD_FULL     BEE_WORD_NONE
 *   0-1    enum bee_word_kind
 *   2-16   n, 0 .. BEE_WORD_CFA_MAX    full rule number  0: gap; 1 + enum bee_unsupported
 *   17-26  s; 0: FP same               0                 0
 *   27-31  the step menu for functions with this body
 */
enum bee_word_kind {
	BEE_WORD_RSP	= 0,
	BEE_WORD_RBP	= 1,
	BEE_WORD_FULL	= 2,
	BEE_WORD_NONE	= 3,
};

#define BEE_WORD_KIND		0x3u
#define BEE_WORD_CFA_SHIFT	2
#define BEE_WORD_CFA_FIELD	0x7fffu
#define BEE_WORD_CFA_MAX	(BEE_WORD_CFA_FIELD - 15)	/* an op can add 15 */
#define BEE_WORD_FP_SHIFT	17
#define BEE_WORD_FP_MAX		0x3ffu
#define BEE_WORD_MENU_SHIFT	27
#define BEE_WORD_INIT		(BEE_WORD_RSP | 1u << BEE_WORD_CFA_SHIFT)
#define BEE_WORD_GAP		BEE_WORD_NONE

/* Ops below BEE_OP_RULE depend on the body rule; they leave one that is not simple as it is. */
#define BEE_OP_ADD		0	/* 0 .. 15: the body rule with CFA + 8 * op */
#define BEE_OP_POP		16	/* 16 .. 31: the body rule with CFA = rsp + 8 * (op - 15) */
#define BEE_OP_RULE		32	/* 32 ..: rule op - 32 */

/* Distances in bytes, four bits each; these only in the last place. */
#define BEE_DELTA_NEVER		15	/* head: the op only says what the body rule is */
#define BEE_DELTA_ALIGN_8	14	/* step: up to the next multiple of 8, at least 1 */
#define BEE_DELTA_ALIGN_16	15	/* step: of 16 */

/* A page in the directory. */
#define BEE_PAGE_RULE		0x1u	/* set: the rest is a rule number */
#define BEE_PAGE_RULE_SHIFT	1
#define BEE_PAGE_NARROWER	0x7u	/* bits less than border_bits */
#define BEE_PAGE_NARROWER_SHIFT	1
#define BEE_PAGE_RECORD_SHIFT	4	/* byte of the record, from the first one on */

/* What holds where a window begins. */
enum window_state {
	BEE_WINDOW_BODY	= 0,	/* the body rule */
	BEE_WINDOW_POP	= 1,	/* op BEE_OP_POP, as after the last pop before a ret */
	BEE_WINDOW_INIT	= 2,	/* BEE_WORD_INIT */
	BEE_WINDOW_GAP	= 3,	/* BEE_WORD_GAP */
};

/**
 * struct bee_table_rule - a full rule
 * @flags: BEE_RULE_SIGNAL or 0
 * @reserved: 0
 * @cfa: enum bee_cfa
 * @cfa_reg: base register of a BEE_CFA_REG or BEE_CFA_DEREF; both of a BEE_CFA_INDEX
 * @fp: enum bee_fp
 * @fp_reg: register of a BEE_FP_DEREF or BEE_FP_REG
 * @ra: enum bee_ra
 * @ra_reg: register of a BEE_RA_DEREF or BEE_RA_REG
 * @cfa_off: bytes
 * @cfa_add: bytes, BEE_CFA_DEREF and BEE_CFA_INDEX only
 * @fp_off: bytes, BEE_FP_CFA and BEE_FP_DEREF only
 * @ra_off: bytes, BEE_RA_CFA and BEE_RA_DEREF only
 *
 * Fields that a rule does not use are zero; offsets are two's complement.
 */
struct bee_table_rule {
	__u8	flags;
	__u8	reserved;
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
