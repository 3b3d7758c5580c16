/* SPDX-License-Identifier: GPL-2.0 */
/* How large a file's unwind information is in several formats. */
#ifndef BEE_MEASURE_H
#define BEE_MEASURE_H

#include "error.h"
#include "sframe.h"

/**
 * enum measure - what is counted; all in bytes but FDES and ROWS
 * @MEASURE_TEXT: executable segments
 * @MEASURE_FDES: FDEs, functions as a rule
 * @MEASURE_ROWS: rows of the table
 * @MEASURE_CFI: .eh_frame and .eh_frame_hdr
 * @MEASURE_TABLE: the table
 * @MEASURE_ROW8: rows of 8 bytes: u32 pc, u32 rule as in a table; and 24 bytes for
 *	each full rule
 * @MEASURE_ROW4: rows of 4 bytes: u16 pc, u8 CFA / 8, two types of 4 bits (CFA = rsp or
 *	rbp + 8n, FP same or at CFA-16 .. CFA-120, and rules without offsets); 8 bytes
 *	more for each row that this does not fit, 4 for each 64 KiB of text
 * @MEASURE_DELTAS: stack deltas as in OpenTelemetry's eBPF profiler: u16 pc, u16 rule
 *	index, with two rows 1 or 2 bytes apart that differ by 8 bytes of CFA in
 *	one; 12 bytes for each rule, 24 for each 64 KiB of text that has rows
 * @MEASURE_ORC: Linux's ORC: 6 bytes and a pc of 4 for each row, an index of 4 bytes
 *	for each 256 bytes of text
 * @MEASURE_SFRAME: SFrame version 2, see sframe_measure()
 */
enum measure {
	MEASURE_TEXT,
	MEASURE_FDES,
	MEASURE_ROWS,
	MEASURE_CFI,
	MEASURE_TABLE,
	MEASURE_ROW8,
	MEASURE_ROW4,
	MEASURE_DELTAS,
	MEASURE_ORC,
	MEASURE_SFRAME,
	/* private: */
	__MEASURE_MAX,
};

/**
 * struct measures - of one file, or of several together
 * @value: by enum measure
 * @unsupported: rows without rules that a table can hold
 * @sframe: more about MEASURE_SFRAME
 */
struct measures {
	u64			value[__MEASURE_MAX];
	u64			unsupported;
	struct sframe_size	sframe;
};

int measure_file(int fd, struct measures *measures, struct bee_error *error);
void measure_add(struct measures *total, const struct measures *measures);

#endif /* BEE_MEASURE_H */
