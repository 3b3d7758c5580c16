// SPDX-License-Identifier: GPL-2.0
/* JSON output. */
#include <stdio.h>

#include "json.h"
#include "text.h"

/**
 * json_put() - write an object
 * @out: where
 * @object: what
 *
 * Names of files can have any bytes, and json-c copies bytes from 0x7f on unchanged.  This
 * function writes control characters from DEL on as \u escapes, so that no terminal takes them for
 * commands, and each byte that is not UTF-8, which JSON cannot express, as U+FFFD.
 */
void json_put(FILE *out, struct json_object *object)
{
	int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE |
		    JSON_C_TO_STRING_SPACED;
	const unsigned char *s;
	unsigned int n;

	s = (const unsigned char *)json_object_to_json_string_ext(object, flags);
	for (; *s; s += n ?: 1) {
		n = text_utf8_length(s);
		if (!n)
			fputs("\\ufffd", out);
		else if (*s >= 0x7f && text_utf8_is_control(s))
			fprintf(out, "\\u%04x", text_utf8_code(s));
		else
			fwrite(s, 1, n, out);
	}
	putc('\n', out);
}

/** json_print() - write an object to stdout, and release it */
void json_print(struct json_object *object)
{
	json_put(stdout, object);
	json_object_put(object);
}
