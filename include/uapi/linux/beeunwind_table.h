/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The unwind table of one ELF file: the specification of the format.
 *
 * A table is one immutable, position-independent blob.  For every pc (address as in the ELF file,
 * without load bias) of the file's executable text it says how to get from a frame to its caller.
 * tools/encode writes it, bee_table_validate() (kmod/table_check.c, built into the module and into
 * beectl) decides whether it may be used, and bee_table_lookup() (kmod/table.c) reads it.
 *
 * A rule says how to get CFA, RA and FP of one frame.  A row is a pc and the rule that holds from
 * there to the next row.  The rows of the text [base, base + span) follow each other without
 * holes: text that no FDE covers has rows whose rule is a gap, unless its code proves another rule.
 * Padding between functions (forms of nop, int3, zero bytes) belongs to the row before it.  Outside
 * of the text there are only gaps.
 *
 *
 * The idea
 *
 * Text is cut into windows of 2^window bytes.  A window has a list of tokens, each at a place in
 * it, of two kinds:
 *
 *   head   A function starts here.  The rule becomes BEE_WORD_INIT, as after every call; the
 *          rows of the function's prologue follow.
 *   step   Any other rows: epilogues, pushed arguments, text without an FDE.
 *
 * The rows of a token are its phrase: up to eight ops, each of which says a rule, and the distances
 * between them.  The last rule of a head phrase is the body rule of the function.  The ops of step
 * phrases can refer to it ("the body rule with CFA + 16", "the body rule with CFA = rsp + 8", "the
 * body rule"), so functions with different frames share phrases for their epilogues.  Phrases are
 * kept once, in a dictionary.  There the ops of a phrase, its shape, are apart from its distances
 * and its body rule, as many phrases have the same shape.
 *
 * The rule at a pc is what the last token at or before it in its window says.  If there is none, it
 * is what the start of the window says.  Neither tokens nor phrases cross the end of a window.
 *
 *
 * Text with few rows has a simpler table: see "Lists" below.
 *
 *
 * Layout
 *
 * Integers are little endian.  Bit i of a bit string is bit i % 8 of byte i / 8, counted from the
 * least significant one; the first bit of a field is its least significant.  W(n) is the width of
 * a number below n: the least w with 2^w >= n.  Sections follow each other in this order, and each
 * begins at a whole byte.  The header gives the sizes of all but the page records.
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
 *   8                      zero, so that 64 bits can be read from any byte before
 *
 * A phrase of n ops has the number place * 8 + n - 1, where place counts the phrases of its kind
 * with n ops.  As a field a phrase number has 3 + W(m) bits, where m is the largest number of
 * phrases that the kind has with one n.
 *
 *   HEAD PHRASE OF n OPS
 *   W(nrules)              the body rule, which is the last op
 *   W(nshapes[0][n-1])     number of the shape, among those of n ops
 *   4 * n                  distances, see BEE_DELTA_*: from the token to the first op,
 *                          then from op to op
 *
 *   SHAPE OF A HEAD PHRASE
 *   W(nrules), n-1 times   the other ops, which are rule numbers
 *
 *   STEP PHRASE OF n OPS
 *   W(nshapes[1][n-1])     number of the shape, among those of n ops
 *   4 * (n - 1)            distances from op to op; the first op is at the token
 *
 *   SHAPE OF A STEP PHRASE
 *   W(32 + nrules), n times  the ops, see BEE_OP_*
 *
 *
 * Windows
 *
 * Windows begin at multiples of 2^window; base is in the first.  2^page windows are a page.  The
 * page directory has a value for each page (BEE_PAGE_*): if all its text has the same rule, the
 * number of that rule; otherwise where its page record is, and how many bits narrower than
 * border_bits the borders in it are.  Page records follow each other without holes, in the order
 * of the pages.
 *
 *   PAGE RECORD
 *   16                     its length in bits, L
 *   B, 2^page - 1 times    borders: where windows 1, 2, ... begin; B = border_bits - "narrower"
 *   bits                   the windows
 *
 * A border is a correction to where the window would begin if all windows had the same length: with
 * P bits before the first window, window i begins at bit
 * P + (i * (L - P) >> page) + border - 2^(B - 1) of the record.
 *
 *   WINDOW
 *   1                      0: short start: the window begins with the body rule, and
 *   body_bits              the body rule's number
 *                          1: long start:
 *   2                      the rule that the window begins with, see enum window_state
 *   W(nrules)              the body rule's number
 *   bits                   fields of the tokens, from the first to the last
 *   4 per token            their tags, from the last to the first
 *
 * Fields are read upwards from the start, tags downwards from the window's end, until they meet.
 * A tag is an index of the header's classes.  A class gives the kind of the token and the layout of
 * its field:
 *
 *   FIELD
 *   gap                    distance from the token before, or for the first token from the
 *                          window's start.  Step: in bytes.  Head: in grains of 2^grain bytes,
 *                          counted from that place rounded down to a grain.
 *   id                     With BEE_CLASS_DIRECT the phrase number.  Otherwise a place in a menu:
 *                          the head menu, or the step menu that the body rule's word names.
 *
 *
 * Lists
 *
 * Where rows are few, or far apart, their pcs and words take less than windows would.  Such a table
 * has a window of 0.  It has no dictionary and no pages, so all fields of the header from nrules to
 * menu_bits, but for nfull and nsegments, are zero, and so are classes, nphrases and nshapes:
 *
 *   SIZE                   DESCRIPTION
 *   184                    struct bee_table_header
 *   24 * nsegments         struct bee_table_segment, by vaddr
 *   24 * nfull             struct bee_table_rule, the full rules
 *   8 * nrows              struct bee_table_row, by pc; the first one is at base
 *
 * The first example below would be, from the rows on:
 *
 *   00 00 00 00  04 00 00 00     0x1130: CFA = rsp+8, FP same
 *   01 00 00 00  08 00 04 00     0x1131: CFA = rsp+16, FP at CFA-16
 *   10 00 00 00  03 00 00 00     0x1140: gap
 *
 *
 * First worked example
 *
 * A function at 0x1130 pushes %rbp, in one byte of code, and returns.  Text without an FDE follows
 * from 0x1140 to 0x1180.
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
 *     0                 short start, body rule 0 in 0 bits; never used, as base is later
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
 * A function starts at 0x2000.  It pushes %rbx, in 1 byte of code, and takes 16 bytes of stack,
 * in 4.  At 0x202c it gives them back, in 4 bytes, pops %rbx, in 1, and returns.  After some
 * padding more of the function follows, from 0x2040 to 0x2180.
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
 *     0                 first window: short start; never used, as a token is at its start
 *                       first field: 0 bits; a head at 0x2000 + 0
 *     000011            second field: gap 48 bytes, at 0x2030
 *     1000 0000         second tag 1, first tag 0
 *     0                 second window: short start, body rule 0
 *   00 00 00 00 00 00 00 00
 *
 *   0x2000  the head token: CFA = rsp+8       0x2031  op 16: CFA = rsp+8
 *   0x2001  rule 1: CFA = rsp+16              0x2040  op 0: CFA = rsp+32
 *   0x2005  rule 0: CFA = rsp+32, the body    0x2100  the second window: the same
 *   0x2030  op 17: CFA = rsp+16
 *
 * A change of the layout or of the meaning of a value needs another BEE_TABLE_VERSION; a test in
 * selftests/sync compares a hash of this file.
 */
#ifndef _UAPI_LINUX_BEEUNWIND_TABLE_H
#define _UAPI_LINUX_BEEUNWIND_TABLE_H

#include <linux/types.h>

#define BEE_TABLE_MAGIC		0x54454542u	/* "BEET" */
#define BEE_TABLE_VERSION	6
#define BEE_TABLE_MACHINE	62		/* EM_X86_64, the only one so far */

/* Limits: bee_table_validate() refuses tables that exceed them. */
#define BEE_TABLE_MAX_SIZE	(256u << 20)	/* bytes of the blob */
#define BEE_TABLE_MAX_SPAN	0xfff00000u	/* bytes of text */
#define BEE_TABLE_MAX_SEGMENTS	64
#define BEE_TABLE_MAX_RULES	65535
#define BEE_TABLE_MAX_MENUS	32
#define BEE_TABLE_MAX_OPS	8		/* of a phrase */
#define BEE_TABLE_MAX_TOKENS	256		/* in a window: bounds the time of a lookup */
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
 * enum bee_table_id_type - what identifies the file that a table was made from
 * @BEE_ID_BUILD_ID: the GNU build-id note's descriptor (NT_GNU_BUILD_ID)
 * @BEE_ID_SHA256: SHA-256 of the whole file, for files without a build-id
 */
enum bee_table_id_type {
	BEE_ID_BUILD_ID	= 0,
	BEE_ID_SHA256	= 1,
	/* private: */
	__BEE_ID_MAX,
};

/*
 * Flags of tables that do not have all rows of the file, to show to people.  The rows that they
 * have are true, but for text whose row THINNED leaves out.
 *
 *   BEE_TABLE_F_FP_BYPASS  functions that keep a frame pointer are gaps, so that the walk uses it
 *   BEE_TABLE_F_THINNED    some rows are left out: the row before covers their text
 *   BEE_TABLE_F_CFI_ONLY   text without CFI is a gap, also where its code proves its rows
 */
#define BEE_TABLE_F_FP_BYPASS	0x01
#define BEE_TABLE_F_THINNED	0x02
#define BEE_TABLE_F_CFI_ONLY	0x04
#define BEE_TABLE_F_ALL		0x07

/**
 * struct bee_table_class - kind and field layout of the tokens with one tag
 * @gap: bits 0-3: width of the gap; and BEE_CLASS_* flags
 * @id: width of the phrase number, or of the place in a menu
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
 *	blob with this field as zero; detects damage, not malice
 * @base: first pc of the text that the table covers
 * @file_size: bytes of the ELF file, to show to people
 * @span: bytes of the text, 1 .. BEE_TABLE_MAX_SPAN
 * @nrows: number of rows: in a list those that it has, otherwise those in a listing of the table,
 *	to show to people
 * @nrules: rules in the dictionary, at least 1; 0 in a list
 * @nfull: full rules
 * @nsegments: executable PT_LOAD segments, at least 1
 * @window: log2 bytes of text in a window; 0: the table is a list
 * @page: log2 windows in a page
 * @grain: log2 bytes: the unit of head tokens' gaps
 * @border_bits: width of the widest borders in page records
 * @body_bits: width of a short body rule number
 * @nmenus: number of step menus
 * @menu_bits: log2 places in the head menu, and in each step menu; 0 for a kind without
 *	phrases, which has no menu
 * @id_type: enum bee_table_id_type
 * @id_len: bytes of @id in use, 1 .. BEE_TABLE_ID_MAX; the rest is zero
 * @flags: BEE_TABLE_F_*
 * @classes: by tag
 * @nphrases: number of head and of step phrases with 1 .. 8 ops
 * @nshapes: number of their shapes: not more than phrases, and 0 only without phrases
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
 * struct bee_table_segment - one executable PT_LOAD, to compute the bias of a mapping
 * @vaddr: p_vaddr
 * @offset: p_offset
 * @size: p_filesz, not 0
 *
 * Where byte o of the file, in this segment, is mapped at address a, the bias is
 * a - (@vaddr + o - @offset).  Segments ascend by @vaddr and do not overlap in it.
 */
struct bee_table_segment {
	__le64	vaddr;
	__le64	offset;
	__le64	size;
};

/**
 * enum bee_rule_kind - what a rule says
 * @BEE_RULE_KNOWN: how to get CFA, FP and RA
 * @BEE_RULE_GAP: no FDE covers the text; the walk may try the frame pointer
 * @BEE_RULE_UNSUPPORTED: an FDE covers the text, with a rule that a table cannot express;
 *	the walk stops
 */
enum bee_rule_kind {
	BEE_RULE_KNOWN		= 0,
	BEE_RULE_GAP		= 1,
	BEE_RULE_UNSUPPORTED	= 2,
	/* private: */
	__BEE_RULE_MAX,
};

/**
 * enum bee_unsupported - why a rule is BEE_RULE_UNSUPPORTED
 * @BEE_UNSUP_CFA_EXPR: the DWARF expression of the CFA has no form of enum bee_cfa
 * @BEE_UNSUP_CFA_UNDEF: the CFA has no rule
 * @BEE_UNSUP_CFA_REG: the CFA is computed from a register that is not a GPR
 * @BEE_UNSUP_FP_EXPR: the DWARF expression of rbp has no form of enum bee_fp
 * @BEE_UNSUP_FP_REG: rbp is kept in a register that is not a GPR
 * @BEE_UNSUP_RA_EXPR: the DWARF expression of the RA has no form of enum bee_ra
 * @BEE_UNSUP_RA_REG: the RA is kept in a register that is not a GPR
 * @BEE_UNSUP_SP_RULE: rsp has a rule of its own that is not the CFA
 * @BEE_UNSUP_OFFSET: an offset does not fit into 32 bits
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
 * @BEE_CFA_PLT: CFA = rsp + 8 + ((rip & 15) >= cfa_off ? 8 : 0), the expression that linkers
 *	write for .plt; cfa_off is 9 (IBT), 10 or 11
 * @BEE_CFA_INDEX: CFA = \*(base + 8 * index + cfa_off) + cfa_add, where cfa_reg is the number of
 *	base plus 16 times that of index: for code that keeps the caller's rsp behind an array on
 *	the stack, as the Montgomery multiplication of OpenSSL and BoringSSL does
 * @BEE_CFA_SAVED: CFA = reg + cfa_add, for the instruction of a call whose callee saves reg.  In an
 *	activation reg is the register.  In a caller it is \*(rsp + cfa_off) if the callee's rsp is
 *	at or below that word, which the callee then has stored; if not, the callee's own register,
 *	which is known if the callee is an activation.  cfa_off is negative
 * @BEE_CFA_DEREF2: CFA = \*(\*(reg + cfa_off) + 8 * mid) + cfa_add, where cfa_reg is the number of
 *	reg plus 16 times mid: for code that finds the stack to return to in a structure of the one
 *	that it leaves, as the fibers of OCaml 5 do
 */
enum bee_cfa {
	BEE_CFA_REG	= 0,
	BEE_CFA_DEREF	= 1,
	BEE_CFA_PLT	= 2,
	BEE_CFA_INDEX	= 3,
	BEE_CFA_SAVED	= 4,
	BEE_CFA_DEREF2	= 5,
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
 * @BEE_RA_UNDEF: there is no caller: this is the outermost frame
 * @BEE_RA_IP: RA = ip + ra_off: for pieces of code that jump back to the function that has jumped
 *	there, and call themselves its callees, as the slow paths of locks in glibc up to 2.19
 */
enum bee_ra {
	BEE_RA_CFA	= 0,
	BEE_RA_DEREF	= 1,
	BEE_RA_REG	= 2,
	BEE_RA_UNDEF	= 3,
	BEE_RA_IP	= 4,
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
 * A word: a rule in four bytes.  Simple rules, BEE_WORD_RSP and _RBP, have CFA = rsp + 8n or
 * rbp + 8n, RA at CFA-8, FP same or at CFA-8s, and are not of a signal frame.
 *
 *   BITS   BEE_WORD_RSP, _RBP          BEE_WORD_FULL     BEE_WORD_NONE
 *   0-1    enum bee_word_kind
 *   2-16   n, 0 .. BEE_WORD_CFA_MAX    full rule number  0: gap; 1 + enum bee_unsupported
 *   17-26  s; 0: FP same               0                 0
 *   27-31  the step menu of functions whose body rule this is
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

/**
 * struct bee_table_row - a row of a list
 * @pc: pc less base: 0 in the first row, and less than span
 * @word: its rule; without a step menu
 */
struct bee_table_row {
	__le32	pc;
	__le32	word;
};

/* Ops below BEE_OP_RULE change the body rule; one that is not simple they leave unchanged. */
#define BEE_OP_ADD		0	/* 0 .. 15: the body rule with CFA + 8 * op */
#define BEE_OP_POP		16	/* 16 .. 31: the body rule with CFA = rsp + 8 * (op - 15) */
#define BEE_OP_RULE		32	/* 32 ..: rule op - 32 */

/* Distances in bytes, four bits each; these values only for the last op. */
#define BEE_DELTA_NEVER		15	/* head: nowhere; the op only names the body rule */
#define BEE_DELTA_ALIGN_8	14	/* step: up to the next multiple of 8, at least 1 */
#define BEE_DELTA_ALIGN_16	15	/* step: of 16 */

/* A value of the page directory. */
#define BEE_PAGE_RULE		0x1u	/* set: the rest is a rule number */
#define BEE_PAGE_RULE_SHIFT	1
#define BEE_PAGE_NARROWER	0x7u	/* bits less than border_bits */
#define BEE_PAGE_NARROWER_SHIFT	1
#define BEE_PAGE_RECORD_SHIFT	4	/* byte of the record, counted from the first record */

/* The rule that a window with a long start begins with. */
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
 * @cfa_reg: base register of a BEE_CFA_REG or BEE_CFA_DEREF; both of a BEE_CFA_INDEX; register of a
 *	BEE_CFA_SAVED; register and mid of a BEE_CFA_DEREF2
 * @fp: enum bee_fp
 * @fp_reg: register of a BEE_FP_DEREF or BEE_FP_REG
 * @ra: enum bee_ra
 * @ra_reg: register of a BEE_RA_DEREF or BEE_RA_REG
 * @cfa_off: bytes
 * @cfa_add: bytes, BEE_CFA_DEREF, BEE_CFA_INDEX, BEE_CFA_SAVED and BEE_CFA_DEREF2 only
 * @fp_off: bytes, BEE_FP_CFA and BEE_FP_DEREF only
 * @ra_off: bytes, BEE_RA_CFA, BEE_RA_DEREF and BEE_RA_IP only
 *
 * Fields that a rule does not use are zero.  Offsets are signed, in two's complement.
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
