// SPDX-License-Identifier: GPL-2.0
/* Why something failed. */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

/**
 * error_set() - say why something failed
 * @error: filled
 * @code: as in struct bee_error
 * @format: of the sentence, as for printf()
 *
 * Return: -1, for the caller to return.
 */
int error_set(struct bee_error *error, int code, const char *format, ...)
{
	va_list args;

	error->code = code;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -1;
}
