/* SPDX-License-Identifier: GPL-2.0 */
/* From addresses to names: once for each address, at the end. */
#ifndef RESOLVE_H
#define RESOLVE_H

#include "profile.h"

/**
 * enum flame_kind - what kind of code a name stands for
 * @FLAME_USER: a function of a file
 * @FLAME_KERNEL: a function of the kernel
 * @FLAME_INLINED: a call that the compiler has replaced with the function's code
 * @FLAME_JIT: code made at run time
 * @FLAME_UNKNOWN: an address without a name
 * @FLAME_COMM: a process or thread
 */
enum flame_kind {
	FLAME_USER,
	FLAME_KERNEL,
	FLAME_INLINED,
	FLAME_JIT,
	FLAME_UNKNOWN,
	FLAME_COMM,
	/* private: */
	FLAME_KINDS,
};

/**
 * struct flame_name - what a frame is called
 * @text: number of the function's name
 * @kind: enum flame_kind
 * @line: in @source, if names are told apart by lines; otherwise 0
 * @source: number of the source file's text, if names are told apart by lines; otherwise number of ""
 * @module: number of the text: the path of the file that has the function; "" if several files have one
 *	of this name
 */
struct flame_name {
	u32	text;
	u32	kind;
	u32	line;
	u32	source;
	u32	module;
};

/**
 * struct resolve - how to find names, and what has been found
 * @inlines: inlined calls too
 * @lines: with source file and line
 * @root: directory below which files are looked up; "" for the machine's own
 * @kallsyms: file with the kernel's symbols; NULL: those of the running kernel
 * @jobs: files at a time; 0: by the number of CPUs
 * @profile: the addresses; new texts are added
 * @names: of struct flame_name
 * @first: for each frame, index in @chain of its names; one more for the end
 * @chain: indices of names, the outermost first
 * @chained: entries in @chain
 * @room: entries of @chain there is memory for
 * @outermost: for each frame: 1 if its function is one that a program or a thread begins with, else 0
 * @unread: for each frame: 1 if its file could not be read, else 0
 * @nameless: for each frame: 1 if no more than the bounds of its function are known, else 0
 * @warn: takes sentences about files that cannot be used
 * @progress: as in struct parallel, with the name of a file
 */
struct resolve {
	bool			 inlines;
	bool			 lines;
	const char		*root;
	const char		*kallsyms;
	unsigned int		 jobs;
	struct profile		*profile;
	struct intern		 names;
	u32			*first;
	u32			*chain;
	size_t			 chained;
	size_t			 room;
	u8			*outermost;
	u8			*unread;
	u8			*nameless;
	void			(*warn)(const char *path, const char *why);
	void			(*progress)(size_t ready, size_t count, const char *path);
};

u32 flame_name_add(struct intern *names, const struct flame_name *name, struct profile *profile);
int resolve_run(struct resolve *resolve, struct bee_error *error);
void resolve_free(struct resolve *resolve);

#endif /* RESOLVE_H */
