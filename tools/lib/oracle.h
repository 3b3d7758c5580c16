/* SPDX-License-Identifier: GPL-2.0 */
/* What libdw says of a file's CFI, to compare tables with.  oracle.c alone uses libdw. */
#ifndef BEE_ORACLE_H
#define BEE_ORACLE_H

#include "elf.h"
#include "machine.h"

#define ORACLE_TEXT_MAX	512

struct oracle;

/**
 * enum oracle_answer - what libdw says of a pc
 * @ORACLE_NONE: no FDE describes it
 * @ORACLE_FRAME: an FDE does
 * @ORACLE_REFUSED: an FDE does, but libdw cannot make sense of it
 */
enum oracle_answer {
	ORACLE_NONE,
	ORACLE_FRAME,
	ORACLE_REFUSED,
};

struct oracle *bee_oracle_open(const struct bee_elf *elf);
void bee_oracle_close(struct oracle *oracle);

enum oracle_answer bee_oracle_find(struct oracle *oracle, u64 pc, u64 *end);
bool bee_oracle_is_signal(const struct oracle *oracle);
bool bee_oracle_is_plain(const struct oracle *oracle);
void bee_oracle_compute(const struct oracle *oracle, const struct machine *m,
			struct machine_frame *frame);
const char *bee_oracle_format(const struct oracle *oracle, char text[ORACLE_TEXT_MAX]);

#endif /* BEE_ORACLE_H */
