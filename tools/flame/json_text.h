/* SPDX-License-Identifier: GPL-2.0 */
/* Strings of JSON that is written as it comes, without a tree of it in memory. */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <stdio.h>

void json_put_text(const char *text, FILE *out);

#endif /* JSON_TEXT_H */
