/* SPDX-License-Identifier: GPL-2.0 */
/* Follow a function through its code, by what the ABI says of calls. */
#ifndef BEE_FLOW_H
#define BEE_FLOW_H

#include "frame_state.h"
#include "jump_table.h"
#include "starts.h"
#include "values.h"

/* If to follow a file's functions takes more steps, none of them gets rows. */
#define FOLLOW_MAX_STEPS	(16u << 20)

/**
 * enum follow_flag - what was met on the way
 * @FOLLOW_RET: a ret, with the return address at rsp
 * @FOLLOW_TAIL: a jump to another function, with the frame of a first instruction
 * @FOLLOW_TAIL_INDIRECT: such a jump to what is not known
 * @FOLLOW_JUMP: an indirect jump to what is not known, with another frame
 * @FOLLOW_STOP: an end: a call, system call or instruction that does not return
 * @FOLLOW_LAST_CALL: a call behind which there is another function
 * @FOLLOW_BLOCKED: a call that is taken not to return, as no jump leads behind the padding that follows it
 * @FOLLOW_MISALIGNED: a call with rsp not a multiple of 16
 * @FOLLOW_SAVES: a push, or room made on the stack
 * @FOLLOW_CALLS: a call
 */
enum follow_flag {
	FOLLOW_RET		= 1 << 0,
	FOLLOW_TAIL		= 1 << 1,
	FOLLOW_TAIL_INDIRECT	= 1 << 2,
	FOLLOW_JUMP		= 1 << 3,
	FOLLOW_STOP		= 1 << 4,
	FOLLOW_LAST_CALL	= 1 << 5,
	FOLLOW_BLOCKED		= 1 << 6,
	FOLLOW_MISALIGNED	= 1 << 7,
	FOLLOW_SAVES		= 1 << 8,
	FOLLOW_CALLS		= 1 << 9,
};

/**
 * enum follow_refusal - what speaks against a function
 * @FOLLOW_GOOD: nothing
 * @FOLLOW_BAD_CODE: bytes that are no instruction, or one that moves control or rsp in a way not known
 * @FOLLOW_BAD_MEET: paths that disagree, or instructions that overlap
 * @FOLLOW_BAD_RET: a ret without the return address at rsp
 * @FOLLOW_BAD_FRAME: the frame is lost, its rsp is not known, or no table can say it
 * @FOLLOW_BAD_JUMP: a jump or call out of the code, or to a start with another frame
 * @FOLLOW_BAD_RETURN: a ret that takes words off the stack: the code has an ABI of its own
 * @FOLLOW_TOO_LONG: too many instructions
 */
enum follow_refusal {
	FOLLOW_GOOD,
	FOLLOW_BAD_CODE,
	FOLLOW_BAD_MEET,
	FOLLOW_BAD_RET,
	FOLLOW_BAD_FRAME,
	FOLLOW_BAD_JUMP,
	FOLLOW_BAD_RETURN,
	FOLLOW_TOO_LONG,
};

/**
 * struct follow_way - what is known before an instruction
 * @frame: the frame
 * @values: of registers
 * @child: this is the child of clone(), which has no caller
 */
struct follow_way {
	struct frame_state	frame;
	struct values		values;
	bool			child;
};

/**
 * struct follow_node - an instruction
 * @at: its place
 * @length: bytes
 * @queued: what is known has changed since it was executed
 * @way: what is known before it
 */
struct follow_node {
	size_t			at;
	u8			length;
	bool			queued;
	struct follow_way	way;
};

/**
 * struct follow_call - a call with padding behind it
 * @next: place behind the call
 * @label: place behind the padding
 * @confirmed: a jump leads to @label
 * @blocked: the call is taken not to return
 */
struct follow_call {
	size_t	next;
	size_t	label;
	bool	confirmed;
	bool	blocked;
};

/**
 * struct follow - following a function
 * @starts: what is known of the code
 * @code: the code
 * @self: place of the first instruction
 * @flags: enum follow_flag, bits
 * @refusal: enum follow_refusal
 * @steps: instructions executed and entries of jump tables read, of all functions
 * @node_at: for each place of the code: its node, plus 1
 * @nodes: instructions met
 * @nnodes: entries in @nodes
 * @room_nodes: nodes there is memory for
 * @work: nodes that are queued
 * @nwork: entries in @work
 * @room_work: nodes there is memory for in @work
 * @callees: places that are called or jumped to as functions
 * @ncallees: entries in @callees
 * @room_callees: places there is memory for
 * @calls: calls with padding behind them
 * @ncalls: entries in @calls
 * @room_calls: calls there is memory for
 * @table: for indirect jumps
 */
struct follow {
	const struct starts	*starts;
	const struct code	*code;
	size_t			 self;
	u32			 flags;
	u8			 refusal;
	u64			 steps;
	u32			*node_at;
	struct follow_node	*nodes;
	size_t			 nnodes;
	size_t			 room_nodes;
	u32			*work;
	size_t			 nwork;
	size_t			 room_work;
	u32			*callees;
	size_t			 ncallees;
	size_t			 room_callees;
	struct follow_call	*calls;
	size_t			 ncalls;
	size_t			 room_calls;
	struct jump_table	 table;
};

void follow_start(struct follow *f, const struct starts *starts);
void follow_function(struct follow *f, size_t at);
void follow_free(struct follow *f);

#endif /* BEE_FLOW_H */
