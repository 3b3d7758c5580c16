/* SPDX-License-Identifier: GPL-2.0 */
/* A file's CFI as libdw reads it: beectl verify compares tables with that. */
#ifndef BEE_LIBDW_H
#define BEE_LIBDW_H

#include "elf.h"
#include "eval.h"

#define LIBDW_TEXT_MAX	512
#define LIBDW_MAX_OPS	48	/* of a rule; with more it is refused */

struct libdw;

/**
 * enum libdw_answer - what libdw says of a pc
 * @LIBDW_NONE: no FDE describes it
 * @LIBDW_FRAME: an FDE does
 * @LIBDW_REFUSED: an FDE does, but libdw cannot make sense of it
 */
enum libdw_answer {
	LIBDW_NONE,
	LIBDW_FRAME,
	LIBDW_REFUSED,
};

struct libdw *libdw_open(const struct elf_file *elf);
void libdw_close(struct libdw *dw);

enum libdw_answer libdw_find(struct libdw *dw, u64 pc, u64 *end);
bool libdw_refuses_cfa(const struct libdw *dw);
void libdw_set_cfa(struct libdw *dw, const struct eval_op *ops, size_t nops);
bool libdw_has_undefined(const struct libdw *dw);
void libdw_set_empty(struct libdw *dw, u32 places, u32 values);
bool libdw_is_plain(const struct libdw *dw);
void libdw_compute(const struct libdw *dw, const u64 regs[EVAL_REGS], struct eval_frame *frame);
struct eval_value libdw_register(const struct libdw *dw, u8 reg, const u64 regs[EVAL_REGS],
				 u64 cfa);
const char *libdw_format(const struct libdw *dw, char text[LIBDW_TEXT_MAX]);

#endif /* BEE_LIBDW_H */
