/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers to words and back. */
#ifndef BEE_TEXT_H
#define BEE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* struct size_text: a size in words, returned by value: text_size(n).text */
struct size_text {
	char text[24];
};

/* text_skip(): what follows @start in a text that begins with it, or else the text */
static inline const char *text_skip(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) ? text : text + strlen(start);
}

struct size_text text_size(uint64_t bytes);
void text_bytes(uint64_t bytes, char *to, size_t size);
void text_count(uint64_t count, char *to, size_t size);
int text_parse_pid(const char *word, pid_t *pid);
int text_parse_size(const char *word, uint64_t *bytes);
int text_parse_number(const char *word, unsigned int max, unsigned int *number);
void text_hex(const uint8_t *bytes, size_t count, char *to, size_t size);
void text_put_name(FILE *out, const char *name);
unsigned int text_utf8_length(const unsigned char *s);
bool text_utf8_is_control(const unsigned char *s);
unsigned int text_utf8_code(const unsigned char *s);

#endif /* BEE_TEXT_H */
