/* SPDX-License-Identifier: GPL-2.0 */
/* Unwinding of a recorded sample by libdwfl, which only unwind.c uses. */
#ifndef BEE_UNWIND_H
#define BEE_UNWIND_H

#include "record.h"

/**
 * enum unwind_code - what is known of the code that a frame is in
 * @CODE_RULES: libdw finds CFI for it
 * @CODE_RULES_RBX: libdw finds CFI, and the CFA is in rbx
 * @CODE_OUTERMOST: libdw finds CFI, and it says that there is no caller
 * @CODE_ENTRY: the entry point of a program or the dynamic linker: its first instruction, where
 *	CFI would take argc for the return address, or code near it without CFI
 * @CODE_GAP: a file's code without CFI
 * @CODE_VDSO: the vDSO's code without CFI
 * @CODE_NO_FILE: code that is in no file, such as JIT code
 */
enum unwind_code {
	CODE_RULES,
	CODE_RULES_RBX,
	CODE_OUTERMOST,
	CODE_ENTRY,
	CODE_GAP,
	CODE_VDSO,
	CODE_NO_FILE,
};

/**
 * struct unwind_frame - one frame
 * @ip: the interrupted instruction or return address
 * @activation: @ip is an interrupted instruction
 * @code: the code that it is in
 */
struct unwind_frame {
	uint64_t		ip;
	bool			activation;
	enum unwind_code	code;
};

/**
 * struct unwound - a stack, topmost first
 * @frame: the frames
 * @count: how many
 * @dump_ended: the next frame needed memory beyond the copied stack
 * @red_zone: memory just below the copied stack was needed
 */
struct unwound {
	struct unwind_frame	frame[1100];
	size_t			count;
	bool			dump_ended;
	bool			red_zone;
};

struct unwinder;

struct unwinder *unwinder_new(void);
struct unwinder *unwinder_copy(const struct unwinder *from);
void unwinder_free(struct unwinder *unwinder);
void unwinder_map(struct unwinder *unwinder, const struct record *map);
void unwinder_run(struct unwinder *unwinder, const struct record *sample, struct unwound *out);
enum unwind_code unwinder_code(struct unwinder *unwinder, uint64_t ip, bool activation);
bool unwinder_is_mapped(const struct unwinder *unwinder, uint64_t ip);
bool unwinder_is_empty(const struct unwinder *unwinder);
const char *unwinder_place(struct unwinder *unwinder, uint64_t ip, char *text, size_t size);

#endif /* BEE_UNWIND_H */
