/* SPDX-License-Identifier: GPL-2.0 */
/* What the processes that look for names are asked, and what they write. */
#ifndef ANSWER_H
#define ANSWER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "profile.h"

/**
 * struct question - one file, and the addresses of which names are wanted
 * @file: the file
 * @path: its name
 * @build_id: in hexadecimal, or ""
 * @jitdump: path, or ""
 * @frame: addresses, ascending
 * @count: entries in @frame
 * @inlines: as in struct resolve
 * @lines: as in struct resolve
 * @root: as in struct resolve
 * @kallsyms: as in struct resolve
 * @kernel_symbol: as in struct profile
 * @kernel_address: as in struct profile
 */
struct question {
	struct profile_file		 file;
	const char			*path;
	const char			*build_id;
	const char			*jitdump;
	const struct profile_frame	*frame;
	size_t				 count;
	bool				 inlines;
	bool				 lines;
	const char			*root;
	const char			*kallsyms;
	const char			*kernel_symbol;
	u64				 kernel_address;
};

/**
 * struct answer - a name
 * @text: number of the name's text; 0: there is no name
 * @source: number of the source file's name
 * @line: in it; 0 if not known
 * @kind: enum flame_kind
 * @more: another name follows for the same address, of a call inlined into this function
 * @outermost: programs or threads begin here
 * @unread: the file could not be read
 *
 * Texts are numbered as they come, each once; number 0 is "".  The first answer with a number is
 * followed by its text: the size as u32, and the bytes without a NUL.
 */
struct answer {
	u32	text;
	u32	source;
	u32	line;
	u8	kind;
	u8	more;
	u8	outermost;
	u8	unread;
};

/* Bytes; longer names are cut, as SVG files cut those of text. */
#define ANSWER_MAX_TEXT	4096

/* Seconds in which such a process may do nothing: who waits for a server uses no CPU time. */
#define ANSWER_PATIENCE	120

void answer_put(FILE *out, struct answer answer, const char *text, const char *source);
void answer_warn(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool answer_is_outermost(const char *name);
char *answer_nameless(const char *path, u64 offset);

void answer_limit(FILE *out);
uid_t answer_owner(const struct profile_file *file);

void elf_names_identify(const struct question *question, FILE *out);
void elf_names_find(const struct question *question, FILE *out);
bool kernel_names_build_id(char *id, size_t size);
void kernel_names_find(const struct question *question, FILE *out);
void jit_names_find(const struct question *question, FILE *out);

#endif /* ANSWER_H */
