/* SPDX-License-Identifier: GPL-2.0 */
/* Why something failed: how every function of tools/ reports it. */
#ifndef BEE_ERROR_H
#define BEE_ERROR_H

/* The module is not loaded.  Not an errno value. */
#define BEE_ERROR_NO_MODULE	0x10000

/**
 * struct bee_error - why something failed
 * @code: errno value, or BEE_ERROR_NO_MODULE; 0 if neither fits
 * @text: one sentence without a final newline; "" if nothing failed
 *
 * A function that takes one fills it when it fails, and leaves it alone when it succeeds
 * unless its description says otherwise.
 */
struct bee_error {
	int	code;
	char	text[512];
};

int error_set(struct bee_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* BEE_ERROR_H */
