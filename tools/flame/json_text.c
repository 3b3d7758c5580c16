// SPDX-License-Identifier: GPL-2.0
/* Strings of JSON. */
#include "json_text.h"
#include "text.h"

/** json_put_text() - a string; what is not UTF-8 becomes U+FFFD, control characters are escaped */
void json_put_text(const char *text, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		unsigned int n = text_utf8_length(s);

		if (!n)
			fputs("\\ufffd", out);
		else if (text_utf8_is_control(s))
			fprintf(out, "\\u%04x", text_utf8_code(s));
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else
			fwrite(s, 1, n, out);
		s += n ?: 1;
	}
	putc('"', out);
}
