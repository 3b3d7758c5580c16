// SPDX-License-Identifier: GPL-2.0
/* Numbers to words and back. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* text_size(): "187.3 KiB" */
struct size_text text_size(uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double value = bytes / 1024.0;
	struct size_text text;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(text.text, sizeof(text.text), "%u B", (unsigned int)bytes);
		return text;
	}
	while (value >= 1024 && unit < 3) {
		value /= 1024;
		unit++;
	}
	snprintf(text.text, sizeof(text.text), "%.1f %s", value, units[unit]);
	return text;
}

/* text_bytes(): "187.3K": three digits and a unit, for columns; all digits below 10000 */
void text_bytes(uint64_t bytes, char *to, size_t size)
{
	static const char units[] = "KMGTPE";
	double value = bytes / 1024.0;
	size_t unit = 0;

	if (bytes < 10000) {
		snprintf(to, size, "%u", (unsigned int)bytes);
		return;
	}
	for (; value >= 999.5; value /= 1024)
		unit++;
	snprintf(to, size, "%.*f%c", value < 99.95 ? 1 : 0, value, units[unit]);
}

/* text_count(): "1,234,567" */
void text_count(uint64_t count, char *to, size_t size)
{
	char digits[24];
	size_t n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count), i, at = 0;

	for (i = 0; i < n && at + 2 < size; i++) {
		if (i && !((n - i) % 3))
			to[at++] = ',';
		to[at++] = digits[i];
	}
	to[at] = '\0';
}

/* text_parse_pid(): a positive decimal number.  Return: 0 or -1. */
int text_parse_pid(const char *word, pid_t *pid)
{
	char *end;
	long value;

	if (!isdigit((unsigned char)word[0]))
		return -1;
	errno = 0;
	value = strtol(word, &end, 10);
	if (errno || *end || value <= 0 || value > INT_MAX)
		return -1;
	*pid = value;
	return 0;
}

/**
 * text_parse_size() - a number of bytes, as "4096", "64k", "256M", "1G" or "1GiB"
 * @word: the text
 * @bytes: filled
 *
 * Return: 0 or -1.
 */
int text_parse_size(const char *word, uint64_t *bytes)
{
	static const char units[] = "kmgt";
	unsigned long long value;
	const char *unit;
	char *end;

	if (!isdigit((unsigned char)word[0]))
		return -1;
	errno = 0;
	value = strtoull(word, &end, 10);
	if (errno)
		return -1;
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		unsigned int shift = 10 * (unit - units + 1);

		if (value > UINT64_MAX >> shift)
			return -1;
		value <<= shift;
		end++;
	}
	if (*end && strcmp(end, "B") && (!unit || strcmp(end, "iB")))
		return -1;
	*bytes = value;
	return 0;
}

/* text_parse_number(): 1 .. @max.  Return: 0 or -1. */
int text_parse_number(const char *word, unsigned int max, unsigned int *number)
{
	pid_t value;

	if (text_parse_pid(word, &value) || value > max)
		return -1;
	*number = value;
	return 0;
}

/* text_hex(): as many bytes in lower-case hexadecimal as fit into @size */
void text_hex(const uint8_t *bytes, size_t count, char *to, size_t size)
{
	size_t i;

	to[0] = '\0';
	for (i = 0; i < count && 2 * i + 3 <= size; i++)
		sprintf(to + 2 * i, "%02x", bytes[i]);
}

/**
 * text_utf8_length() - bytes of a UTF-8 character (RFC 3629)
 * @s: where it starts, in a string that ends with NUL
 *
 * Return: 1 .. 4, or 0 if the bytes at @s are not well-formed UTF-8.
 */
unsigned int text_utf8_length(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	unsigned int i, n;

	if (*s < 0x80)
		return 1;
	if (*s < 0xc2 || *s > 0xf4)
		return 0;
	n = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
	/* No overlong form, no surrogate, nothing past U+10FFFF. */
	if (*s == 0xe0)
		low = 0xa0;
	else if (*s == 0xed)
		high = 0x9f;
	else if (*s == 0xf0)
		low = 0x90;
	else if (*s == 0xf4)
		high = 0x8f;
	for (i = 1; i < n; i++, low = 0x80, high = 0xbf)
		if (s[i] < low || s[i] > high)
			return 0;
	return n;
}

/**
 * text_utf8_is_control() - is it a control character, which a terminal may act on, or who shows text?
 * @s: a well-formed UTF-8 character
 *
 * Return: true for U+0000 .. U+001F and U+007F .. U+009F, and for those that turn the direction of what follows:
 * U+200E, U+200F, U+202A .. U+202E and U+2066 .. U+2069 (Unicode, UAX #9).
 */
bool text_utf8_is_control(const unsigned char *s)
{
	bool turns = *s == 0xe2 && ((s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f ||
						      (s[2] >= 0xaa && s[2] <= 0xae))) ||
				    (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));

	return turns || *s < ' ' || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0);
}

/** text_utf8_code() - the number of a well-formed UTF-8 character */
unsigned int text_utf8_code(const unsigned char *s)
{
	unsigned int n = text_utf8_length(s), code = n < 2 ? *s : *s & (0x7f >> n), i;

	for (i = 1; i < n; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

/**
 * text_put_name() - print a name that someone else chose
 * @out: where
 * @name: of a file or process
 *
 * Each byte of a control character, of malformed UTF-8 and of a backslash is written as \ooo: a
 * name stays on one line, sends nothing to the terminal, and differs from every other name.
 */
void text_put_name(FILE *out, const char *name)
{
	const unsigned char *s = (const unsigned char *)name;

	while (*s) {
		unsigned int n = text_utf8_length(s);
		bool plain = n && *s != '\\' && !text_utf8_is_control(s);

		for (n = n ?: 1; n; n--, s++)
			plain ? fputc(*s, out) : fprintf(out, "\\%03o", *s);
	}
}
