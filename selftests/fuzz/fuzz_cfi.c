// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the parsers of .eh_frame and .debug_frame and the CFI interpreter.  Packing the rows
 * takes much longer, so fuzz_pack does that.
 */
#include "fuzz_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_rows(data, size, NULL);
}
