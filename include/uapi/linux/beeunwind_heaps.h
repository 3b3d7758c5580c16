/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The code heaps of a Java virtual machine (HotSpot): where they are, and how to read in them what is needed
 * for a step from a frame to its caller.
 *
 * HotSpot keeps its compiled code, its interpreter and its stubs in a few contiguous ranges of memory, the code
 * heaps (share/memory/heap.hpp).  A heap is cut into segments of 2^shift bytes.  A block of segments has one piece of
 * code, a CodeBlob (share/code/codeBlob.hpp).  The segment map has a byte for each segment: 0 at the first segment
 * of a block; at another, how many segments to go back to come nearer to the first; 0xff in no block.
 * A block begins with a header, in which a byte says whether it is used; behind the header is the CodeBlob.
 *
 * Fields of headers are at multiples of their sizes.  JDK 8 to 25 differ in where they are and how large they are.
 * libjvm.so exports tables that tell (gHotSpotVMStructs), which user space reads for the module.
 */
#ifndef _UAPI_LINUX_BEEUNWIND_HEAPS_H
#define _UAPI_LINUX_BEEUNWIND_HEAPS_H

#include <linux/types.h>

#define BEE_CODE_HEAPS		8
#define BEE_HEAP_FIELD_MAX	1024	/* fields of headers are below this byte */

/**
 * struct bee_code_heap - one heap
 * @start: first address
 * @end: address after the last that the heap can have when it has grown
 * @map: address of the segment map
 */
struct bee_code_heap {
	__u64	start;
	__u64	end;
	__u64	map;
};

/**
 * struct bee_code_heaps - the code heaps of a process
 * @heap: the heaps, ascending, not overlapping
 * @interpreter: first address of the interpreter's code, in one of the heaps
 * @interpreter_end: address after the last
 * @barrier: first address of the code to which the oldest frame of a virtual thread that is on the stack returns;
 *	0: there is none
 * @barrier_end: address after the last
 * @entry: where the frame below the virtual thread's was called (ContinuationEntry::_return_pc); 0: not known,
 *	and walks end at the barrier
 * @nr: length of @heap
 * @shift: log2 of a segment's bytes
 * @used: of the block, the byte that is not 0 if it is used
 * @blob: of the block, where its CodeBlob begins
 * @frame_size: offset in the CodeBlob of an s32: how many words its frames have, the return address included; 0 or
 *	less if that is not known
 * @complete: of the CodeBlob: how far from the beginning of the code a frame is complete, signed
 * @code: of the CodeBlob: where its code begins
 * @code_end: of the CodeBlob: where its code ends
 * @complete_size: bytes of @complete, 2 or 4
 * @code_size: bytes of @code; 8: it is an address, 2 or 4: counted from the CodeBlob
 * @code_end_size: bytes of @code_end; 8: it is an address, 2 or 4: counted from the CodeBlob
 * @pad: 0
 */
struct bee_code_heaps {
	struct bee_code_heap	heap[BEE_CODE_HEAPS];
	__u64			interpreter;
	__u64			interpreter_end;
	__u64			barrier;
	__u64			barrier_end;
	__u64			entry;
	__u32			nr;
	__u16			shift;
	__u16			used;
	__u16			blob;
	__u16			frame_size;
	__u16			complete;
	__u16			code;
	__u16			code_end;
	__u8			complete_size;
	__u8			code_size;
	__u8			code_end_size;
	__u8			pad[3];
};

#endif /* _UAPI_LINUX_BEEUNWIND_HEAPS_H */
