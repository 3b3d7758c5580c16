// SPDX-License-Identifier: GPL-2.0
/*
 * Follow a function through its code, by what the ABI says of calls: a callee keeps rsp, rbp and the
 * other callee-saved registers (psABI 3.2.1), or does not return.
 *
 * All paths are followed, through jump tables, too.  What speaks against a function is a refusal;
 * abi.c decides whether a function without one is believed.
 */
#include <asm/unistd.h>
#include <string.h>

#include "alloc.h"
#include "flow.h"
#include "padding.h"

#define FOLLOW_MAX_INSNS	60000	/* instructions of a function */
#define FOLLOW_MAX_CALLS	256	/* of a function, with padding behind them, that are taken not to return */
#define FOLLOW_TRIES		16

static bool follow_refuse(struct follow *f, u8 why)
{
	f->refusal = why;
	return false;
}

static void follow_queue(struct follow *f, size_t node)
{
	if (f->nodes[node].queued)
		return;
	f->nodes[node].queued = true;
	f->work = alloc_room(f->work, f->nwork, &f->room_work, sizeof(*f->work));
	f->work[f->nwork++] = node;
}

static void frame_forget_rsp(struct frame_state *frame)
{
	frame->known = frame->has_word = false;
	frame->depth = frame->word = frame->word_at = 0;
}

/*
 * Where two ways join.  If they disagree on rsp, a register may still have the CFA: in a loop that
 * probes a large frame page by page, the one with which rsp is compared.
 */
static bool frames_meet(struct frame_state *frame, const struct frame_state *other)
{
	struct frame_state one = *frame, two = *other;

	if (frame_state_meet(&one, &two)) {
		*frame = one;
		return true;
	}
	one = *frame;
	if (one.depth == two.depth && one.known == two.known)
		return false;
	frame_forget_rsp(&one);
	frame_forget_rsp(&two);
	if (!frame_state_meet(&one, &two))
		return false;
	*frame = one;
	return true;
}

static bool node_meet(struct follow *f, u32 number, const struct follow_way *way)
{
	struct follow_node *node = &f->nodes[number];
	struct frame_state frame = node->way.frame;
	bool changed;

	if (node->way.child != way->child || !frames_meet(&frame, &way->frame))
		return follow_refuse(f, FOLLOW_BAD_MEET);
	changed = values_meet(&node->way.values, &way->values);
	if (memcmp(&frame, &node->way.frame, sizeof(frame))) {
		node->way.frame = frame;
		changed = true;
	}
	if (changed)
		follow_queue(f, number);
	return true;
}

/* Control reaches @at. */
static bool follow_to(struct follow *f, size_t at, const struct follow_way *way)
{
	if (f->node_at[at])
		return node_meet(f, f->node_at[at] - 1, way);
	if (f->nnodes == FOLLOW_MAX_INSNS)
		return follow_refuse(f, FOLLOW_TOO_LONG);
	f->nodes = alloc_room(f->nodes, f->nnodes, &f->room_nodes, sizeof(*f->nodes));
	f->nodes[f->nnodes] = (struct follow_node){ .at = at, .way = *way };
	f->node_at[at] = ++f->nnodes;
	follow_queue(f, f->nnodes - 1);
	return true;
}

/* Can the callee return?  Remember it, as more may become known of it. */
static bool follow_returns(struct follow *f, const struct start_callee *callee)
{
	if (callee->place != CODE_NOWHERE) {
		f->callees = alloc_room(f->callees, f->ncallees, &f->room_callees,
					sizeof(*f->callees));
		f->callees[f->ncallees++] = callee->place;
	}
	return starts_returns(f->starts, callee);
}

/* A jump to another function. */
static bool follow_tail(struct follow *f, const struct start_callee *callee,
			const struct follow_way *way)
{
	if (!way->child && !frame_state_is_entry(&way->frame))
		return follow_refuse(f, FOLLOW_BAD_JUMP);
	f->flags |= follow_returns(f, callee) ? FOLLOW_TAIL : FOLLOW_STOP;
	return true;
}

/* A jump to a place of the code. */
static bool follow_place(struct follow *f, size_t at, const struct follow_way *way)
{
	struct start_callee callee = { .place = at };
	struct follow_way entry;
	size_t i;

	for (i = 0; i < f->ncalls; i++)
		f->calls[i].confirmed |= f->calls[i].label == at;
	if (at != f->self && f->starts->at[at] & START_STRONG)
		return follow_tail(f, &callee, way);
	if (way->child || !frame_state_is_entry(&way->frame) ||
	    !(way->frame.fp_at || way->frame.copies))
		return follow_to(f, at, way);
	/* A jump may lead to another function, which knows nothing of registers that the caller's has saved. */
	entry = *way;
	frame_state_entry(&entry.frame);
	return follow_to(f, at, &entry);
}

/* A jump or branch to @pc. */
static bool follow_jump(struct follow *f, u64 pc, const struct follow_way *way)
{
	size_t at = code_place(f->code, pc);
	struct start_callee callee;

	if (at != CODE_NOWHERE && !f->starts->plt[code_gap_of(f->code, at)])
		return follow_place(f, at, way);
	callee = starts_callee(f->starts, pc);
	if (!callee.import && callee.place == CODE_NOWHERE && !starts_has_function(f->starts, pc))
		return follow_refuse(f, FOLLOW_BAD_JUMP);
	return follow_tail(f, &callee, way);
}

static bool follow_indirect(struct follow *f, const struct insn *insn, const struct follow_way *way)
{
	struct value value = values_target(&way->values, insn);
	bool is_entry = frame_state_is_entry(&way->frame);
	struct start_callee callee;
	size_t i;

	if (value.kind == VALUE_CONST && code_place(f->code, value.number) != CODE_NOWHERE)
		return follow_jump(f, value.number, way);
	jump_table_read(&f->table, f->starts, &value, is_entry);
	f->steps += f->table.read;
	for (i = 0; i < f->table.count; i++)
		if (!follow_place(f, f->table.targets[i], way))
			return false;
	if (f->table.count)
		return true;
	if (insn->moves.op == INSN_OP_GOTO_MEM && insn->moves.mem.fixed) {
		callee = starts_slot(f->starts, insn->moves.mem.disp);
		if (!follow_returns(f, &callee)) {
			f->flags |= FOLLOW_STOP;
			return true;
		}
	}
	f->flags |= is_entry ? FOLLOW_TAIL_INDIRECT : FOLLOW_JUMP;
	return true;
}

/* One way of a branch. */
static bool follow_branch(struct follow *f, const struct insn *insn, size_t next, bool taken,
			  struct follow_way way)
{
	enum values_way who = values_branch(&way.values, &way.frame, insn, taken);

	if (who == VALUES_CLOSED)
		return true;
	if (taken)
		way.values.compare = (struct value_compare){};
	if (who == VALUES_CHILD && !way.child) {
		way.child = true;
		frame_state_entry(&way.frame);
	}
	return taken ? follow_jump(f, insn->target, &way) : follow_to(f, next, &way);
}

/* Does the code at @at give the frame back?  Then a nop behind a call is no padding. */
static bool is_epilogue(const struct follow *f, size_t at, size_t end)
{
	struct insn insn;

	return insn_decode(f->code->bytes + at, end - at, 0, &insn) &&
	       (insn.kind == INSN_LEAVE || insn.kind == INSN_POP || insn.kind == INSN_RET ||
		(insn.kind == INSN_LEA && insn.to == BEE_REG_RSP));
}

/*
 * Padding up to a multiple of 16 follows the call at the end of a path, but also one in front of a
 * loop.  Only in the second case some jump leads behind the padding.
 * Return: false if the call at which this ends has been found to be an end.
 */
static bool follow_padding(struct follow *f, size_t next, size_t end)
{
	const u8 *bytes = f->code->bytes;
	size_t label = next, n, i;

	while (label < end && bytes[label] && bytes[label] != 0xcc &&
	       (n = padding_length(bytes + label, end - label)))
		label += n;
	if (label == next || label >= end || code_pc(f->code, label) & 15 ||
	    (label == next + 1 && is_epilogue(f, label, end)))
		return true;
	for (i = 0; i < f->ncalls && f->calls[i].next != next; i++)
		;
	if (i < f->ncalls) {
		f->flags |= f->calls[i].blocked ? FOLLOW_BLOCKED : 0;
		return !f->calls[i].blocked;
	}
	if (f->ncalls == FOLLOW_MAX_CALLS)
		return true;
	f->calls = alloc_room(f->calls, f->ncalls, &f->room_calls, sizeof(*f->calls));
	f->calls[f->ncalls++] = (struct follow_call){
		.next = next, .label = label, .confirmed = f->node_at[label],
	};
	return true;
}

/* Is it a call of the next instruction, which pops the address? */
static bool is_get_pc(const struct follow *f, const struct insn *insn, size_t next, size_t end)
{
	struct insn pop;

	return insn->kind == INSN_CALL && insn->target == code_pc(f->code, next - 1) + 1 &&
	       insn_decode(f->code->bytes + next, end - next, 0, &pop) && pop.kind == INSN_POP;
}

static bool follow_call(struct follow *f, const struct insn *insn, size_t next, size_t end,
			struct follow_way *way)
{
	struct start_callee callee = { CODE_NOWHERE, NULL };

	if (next < end && is_get_pc(f, insn, next, end))
		return follow_refuse(f, FOLLOW_BAD_CODE);
	if (!way->child && way->frame.known && way->frame.depth & 15)
		f->flags |= FOLLOW_MISALIGNED;
	f->flags |= FOLLOW_CALLS;
	if (insn->kind == INSN_CALL && !elf_find_text(f->code->elf, insn->target))
		return follow_refuse(f, FOLLOW_BAD_JUMP);
	if (insn->kind == INSN_CALL)
		callee = starts_callee(f->starts, insn->target);
	else if (insn->moves.op == INSN_OP_GOTO_MEM && insn->moves.mem.fixed)
		callee = starts_slot(f->starts, insn->moves.mem.disp);
	if (!follow_returns(f, &callee)) {
		f->flags |= FOLLOW_STOP;
		return true;
	}
	if (starts_end(f->starts, next, end)) {
		f->flags |= FOLLOW_LAST_CALL;
		return true;
	}
	if (!way->child)
		frame_state_call(&way->frame, true, true);
	values_call(&way->values);
	if (!follow_padding(f, next, end))
		return true;
	return follow_to(f, next, way);
}

/*
 * The call of the kernel whose number is in rax.  rt_sigreturn() is called with the frame of a signal,
 * which is not that of a function.  Return: whether control goes on.
 */
static bool follow_syscall(struct follow *f, struct insn *insn, struct follow_way *way)
{
	struct value *rax = &way->values.reg[BEE_REG_RAX];
	u64 number = rax->kind == VALUE_CONST ? rax->number : ~0ull;

	if (number == __NR_rt_sigreturn)
		return follow_refuse(f, FOLLOW_BAD_FRAME);
	if (number == __NR_exit || number == __NR_exit_group) {
		f->flags |= FOLLOW_STOP;
		return false;
	}
	insn->writes |= 1 << BEE_REG_RAX | 1 << BEE_REG_RCX | 1 << BEE_REG_R11;
	insn->kind = INSN_OTHER;
	values_step(&way->values, insn);
	if (number == __NR_clone || number == __NR_clone3)
		*rax = (struct value){ .kind = VALUE_CHILD };
	return true;
}

/* xend and xabort go on. */
static bool is_harmless(const u8 *bytes)
{
	return (bytes[0] == 0x0f && bytes[1] == 0x01 && bytes[2] == 0xd5) ||
	       (bytes[0] == 0xc6 && bytes[1] == 0xf8);
}

/*
 * Whether an instruction switches to another stack.  It does if it gives rsp a value of which nothing is known,
 * and rbp does not have the address of the frame.
 */
static bool is_switch(const struct frame_state *frame, const struct insn *insn)
{
	return insn->to == BEE_REG_RSP && !frame->known && insn->kind != INSN_AND &&
	       insn->writes & 1 << BEE_REG_RSP &&
	       (insn->kind == INSN_LOAD || insn->kind == INSN_OTHER ||
		(insn->kind == INSN_LEA && insn->from != BEE_REG_RSP)) &&
	       !(frame->copies & 1 << BEE_REG_RBP);
}

static bool follow_other_insn(struct follow *f, const struct insn *insn, struct follow_way *way)
{
	if (way->child) {
		values_step(&way->values, insn);
		return true;
	}
	if (!frame_state_step(&way->frame, insn) || is_switch(&way->frame, insn))
		return follow_refuse(f, FOLLOW_BAD_FRAME);
	if (insn->kind == INSN_PUSH || (insn->kind == INSN_LEA && insn->to == BEE_REG_RSP))
		f->flags |= FOLLOW_SAVES;
	values_step(&way->values, insn);
	return true;
}

/* Execute an instruction.  Return: false if something speaks against the function. */
static bool follow_node(struct follow *f, u32 number)
{
	struct follow_way way = f->nodes[number].way;
	size_t at = f->nodes[number].at, gap = code_gap_of(f->code, at);
	size_t end = code_gap_end(f->code, gap), next;
	u64 pc = f->code->gaps[gap].start + (at - f->code->first[gap]);
	const u8 *bytes = f->code->bytes + at;
	struct insn insn;

	f->nodes[number].queued = false;
	f->steps++;
	if (!insn_decode(bytes, end - at, pc, &insn))
		return follow_refuse(f, FOLLOW_BAD_CODE);
	f->nodes[number].length = insn.length;
	next = at + insn.length;
	if (insn.moves.op == INSN_OP_SYSCALL && !follow_syscall(f, &insn, &way))
		return f->refusal == FOLLOW_GOOD;
	switch (insn.kind) {
	case INSN_RET:
		if (way.child || !way.frame.known || way.frame.depth != 8)
			return follow_refuse(f, FOLLOW_BAD_RET);
		f->flags |= FOLLOW_RET;
		return true;
	case INSN_STOP:
		f->flags |= FOLLOW_STOP;
		return true;
	case INSN_ODD:
		if (bytes[0] == 0xc2)
			return follow_refuse(f, FOLLOW_BAD_RETURN);
		if (end - at < 3 || !is_harmless(bytes))
			return follow_refuse(f, FOLLOW_BAD_CODE);
		break;
	case INSN_JUMP:
		return follow_jump(f, insn.target, &way);
	case INSN_JUMP_INDIRECT:
		return follow_indirect(f, &insn, &way);
	case INSN_BRANCH:
		if (!follow_branch(f, &insn, next, true, way))
			return false;
		break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		return follow_call(f, &insn, next, end, &way);
	default:
		if (insn.moves.op != INSN_OP_SYSCALL && !follow_other_insn(f, &insn, &way))
			return false;
		if (insn.moves.op == INSN_OP_SYSCALL && !way.child && !frame_state_step(&way.frame, &insn))
			return follow_refuse(f, FOLLOW_BAD_FRAME);
	}
	if (next >= end)
		return follow_refuse(f, FOLLOW_BAD_JUMP);
	if (next != f->self && f->starts->at[next] & START_STRONG) {
		if (!way.child && !frame_state_is_entry(&way.frame))
			return follow_refuse(f, FOLLOW_BAD_JUMP);
		f->flags |= FOLLOW_TAIL;
		return true;
	}
	return insn.kind == INSN_BRANCH ? follow_branch(f, &insn, next, false, way) :
					  follow_to(f, next, &way);
}

static void follow_reset(struct follow *f)
{
	size_t i;

	for (i = 0; i < f->nnodes; i++)
		f->node_at[f->nodes[i].at] = 0;
	f->nnodes = f->nwork = f->ncallees = 0;
	f->flags = 0;
	f->refusal = FOLLOW_GOOD;
}

/* Calls with padding behind them, to which no jump leads, are ends.  Return: whether some are new. */
static bool follow_block(struct follow *f)
{
	bool new = false;
	size_t i;

	for (i = 0; i < f->ncalls; i++) {
		new |= !f->calls[i].confirmed && !f->calls[i].blocked;
		f->calls[i].blocked |= !f->calls[i].confirmed;
		f->calls[i].confirmed = false;
	}
	return new;
}

/* Do instructions overlap?  Some jump behind a lock prefix. */
static bool follow_overlaps(const struct follow *f)
{
	size_t i, k;

	for (i = 0; i < f->nnodes; i++) {
		size_t at = f->nodes[i].at;

		for (k = f->code->bytes[at] == INSN_LOCK ? 2 : 1; k < f->nodes[i].length; k++)
			if (f->node_at[at + k])
				return true;
	}
	return false;
}

/**
 * follow_function() - follow a function as far as it goes
 * @f: @nodes, @callees, @flags and @refusal are filled; not as far if @steps is above FOLLOW_MAX_STEPS
 * @at: place of its first instruction
 */
void follow_function(struct follow *f, size_t at)
{
	struct follow_way way;
	unsigned int tries = 0;

	f->ncalls = 0;
	f->self = at;
	/* Ways are compared as bytes. */
	memset(&way, 0, sizeof(way));
	frame_state_entry(&way.frame);
	do {
		follow_reset(f);
		follow_to(f, at, &way);
		while (f->nwork && f->steps <= FOLLOW_MAX_STEPS && follow_node(f, f->work[--f->nwork]))
			;
	} while (tries++ < FOLLOW_TRIES && follow_block(f));
	if (f->refusal == FOLLOW_GOOD && follow_overlaps(f))
		f->refusal = FOLLOW_BAD_MEET;
}

/**
 * follow_start() - prepare to follow functions
 * @f: filled; follow_free() releases it
 * @starts: what is known of the code; has to outlive @f
 */
void follow_start(struct follow *f, const struct starts *starts)
{
	*f = (struct follow){ .starts = starts, .code = starts->code };
	f->node_at = alloc_zero(f->code->size, sizeof(*f->node_at));
}

/* follow_free(): release what follow_start() and the calls after it made */
void follow_free(struct follow *f)
{
	free(f->node_at);
	free(f->nodes);
	free(f->work);
	free(f->callees);
	free(f->calls);
	free(f->table.targets);
	*f = (struct follow){};
}
