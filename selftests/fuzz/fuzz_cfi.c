// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the parsers of .eh_frame and .debug_frame and the interpreter.  What becomes of
 * the rows is fuzz_pack's: packing takes twenty times as long as all that comes before.
 */
#include "fuzz_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_rows(data, size, NULL);
}
