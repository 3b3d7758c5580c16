/* SPDX-License-Identifier: GPL-2.0 */
/* Code that a JIT compiler has told debuggers of: GDB's JIT interface. */
#ifndef JIT_OBJECTS_H
#define JIT_OBJECTS_H

#include <linux/types.h>
#include <stddef.h>

#include "error.h"
#include "memory.h"

/* The variable by which the interface is found. */
#define JIT_DESCRIPTOR	"__jit_debug_descriptor"

#define JIT_MAX_OBJECTS		65536
#define JIT_MAX_SECTIONS	4096	/* of one object */
#define JIT_MAX_FRAMES		(16u << 20)	/* bytes of one .eh_frame */

/* struct jit_span - code [@start, @end) */
struct jit_span {
	u64	start;
	u64	end;
};

/**
 * struct jit_object - an ELF object in memory
 * @entry: address of its struct jit_code_entry
 * @symfile: address of the object
 * @size: bytes of the object
 * @frames: a copy of its .eh_frame, as it is in memory for the code that runs; NULL: it has none
 * @frames_size: bytes of @frames
 * @frames_start: address of its .eh_frame
 * @span: its code, ascending, not overlapping
 * @nspans: entries in @span
 */
struct jit_object {
	u64		 entry;
	u64		 symfile;
	u64		 size;
	u8		*frames;
	u64		 frames_size;
	u64		 frames_start;
	struct jit_span	*span;
	size_t		 nspans;
};

/* struct jit_owner - code [@start, @end), and the object that it belongs to */
struct jit_owner {
	u64	start;
	u64	end;
	u32	object;
};

/**
 * struct jit_objects - what one or more descriptors list; all zero is empty
 * @object: the objects; of each descriptor the latest first
 * @count: entries in @object
 * @room: entries of @object there is memory for
 * @owner: whose code is where, by jit_objects_settle(): ascending, not overlapping
 * @nowners: entries in @owner
 */
struct jit_objects {
	struct jit_object	*object;
	size_t			 count;
	size_t			 room;
	struct jit_owner	*owner;
	size_t			 nowners;
};

void jit_objects_settle(struct jit_objects *objects);
int jit_objects_read(struct memory *memory, u64 descriptor, struct jit_objects *objects,
		     struct bee_error *error);
bool jit_objects_are_same(const struct jit_objects *a, const struct jit_objects *b);
void jit_objects_free(struct jit_objects *objects);

#endif /* JIT_OBJECTS_H */
