// SPDX-License-Identifier: GPL-2.0
/*
 * Rows for code without CFI, where the code itself proves them.
 *
 * A function is followed from its first instruction along all paths through its code
 * (frame_state.c), and its rows are taken if
 *
 * - every instruction can be decoded, and says what it does to rsp;
 * - wherever paths join, the frames agree;
 * - every ret has the return address at rsp, and there is at least one; or a jump to a function
 *   with CFI and a caller, with the frame of a function's first instruction;
 * - a function without CFI that it calls has been proven, too;
 * - no other function that has been proven goes through the same instructions with other rows.
 *
 * A path ends at a ret, at an instruction that stops (hlt, ud2), at a jump to a function, and at an
 * indirect jump.  Where an indirect jump goes is not known: it may be a switch, whose cases mostly
 * follow the jump.  So the code behind it is followed as well, starting with the frame that the
 * jump has.  If that code reaches a ret with the return address at rsp, the frame at the jump was
 * right, and with it the path from the function's start to the jump.  The frames of the last
 * few jumps of the gap are tried, also those in functions that a ret of their own has proven:
 * multiplications of GMP jump into loops, of which some are behind the ret.
 *
 * Where a function starts can be guessed, as a wrong guess proves nothing: it assumes the return
 * address at rsp, and if the code was entered with n bytes more on the stack, rsp is off by n at
 * every ret.  So first the symbols and the targets of calls are tried as starts; then, in code that
 * no proven function has gone through, each place behind the end of a path.
 */
#include <string.h>

#include "alloc.h"
#include "frame_state.h"
#include "order.h"
#include "padding.h"
#include "sigreturn.h"
#include "synth.h"

/* Bounds of memory and time. */
#define SYNTH_MAX_TEXT		(16u << 20)	/* bytes of gaps in a file */
#define SYNTH_MAX_INSNS		20000		/* instructions of a function */
#define SYNTH_MAX_STEPS		(48u << 20)	/* instructions executed for a file, repetitions too */
#define SYNTH_MAX_LOST		(1u << 18)	/* instructions for nothing, in a round; see is_hopeless() */
#define SYNTH_MAX_EDGES		(1u << 20)	/* calls between functions without CFI */
#define SYNTH_MAX_FUNCTIONS	(1u << 18)	/* places tried, in a round, that may be functions */
#define SYNTH_MAX_RANGES	(1u << 18)	/* ranges of pcs with one rule */
#define SYNTH_MAX_PRUNES	64		/* how deep a call can be that is not proven */
#define SYNTH_ROUNDS		3
#define SYNTH_MAX_JUMPS		8		/* frames of indirect jumps to try */

/**
 * struct synth_node - an instruction of the function that is being followed
 * @at: where its first byte is in the text
 * @length: bytes
 * @queued: its frame has changed since it was executed
 * @state: the frame before it
 */
struct synth_node {
	size_t			at;
	u8			length;
	bool			queued;
	struct frame_state	state;
};

/**
 * struct synth_function - a place that was tried
 * @pc: its first instruction
 * @proven: and no other function contradicts it
 * @loses_fp: it does not keep rbp
 * @trusted: a symbol or a call names it
 * @jumps: it has an indirect jump; see follow_indirect()
 */
struct synth_function {
	u64	pc;
	bool	proven;
	bool	loses_fp;
	bool	trusted;
	bool	jumps;
};

/**
 * struct synth_jump - an indirect jump, not with the frame of a function's first instruction
 * @state: its frame
 * @origin: place of the function that it is in, if only a ret is missing for a proof of that;
 *	otherwise CODE_NOWHERE
 */
struct synth_jump {
	struct frame_state	state;
	size_t			origin;
};

/**
 * struct synth_call - a call of a function without CFI
 * @caller: number of the function
 * @pc: the callee
 * @loses_fp: what was taken for granted of the callee
 */
struct synth_call {
	u32	caller;
	bool	loses_fp;
	u64	pc;
};

struct synth_functions {
	struct synth_function	*list;
	size_t			 count;
	size_t			 room;
};

/**
 * struct synth_maker - the work on one file
 * @in: what is known of the file
 * @code: its code without CFI; all places are of that
 * @node_at: of the function being followed: the node at a place, plus 1
 * @rule_at: number of the rule at the first byte of an instruction, plus 1; RULE_*
 * @owner_at: the function that it is of
 * @named: something names a function at the place, and it is in @functions
 * @rules: the rules; its rows are not used
 * @nodes: of the function being followed
 * @nnodes: entries in @nodes
 * @room_nodes: nodes there is memory for
 * @work: nodes that are queued
 * @nwork: entries in @work
 * @room_work: nodes there is memory for in @work
 * @from_entry: it is followed with the frame of a function's first instruction
 * @proof: the function has a ret, or a jump to another function
 * @loses_fp: it has a ret at which rbp is not the caller's
 * @indirect: it has an indirect jump, not with the frame of a function's first instruction
 * @jumps: indirect jumps; the newest is the last
 * @njumps: entries in @jumps
 * @calls: calls of functions without CFI by the function being followed
 * @ncalls: entries in @calls
 * @room_calls: calls there is memory for
 * @edges: calls of functions without CFI by all functions proven in this round
 * @nedges: entries in @edges
 * @room_edges: edges there is memory for
 * @functions: all that were tried in this round
 * @before: all functions that were tried in the round before
 * @round: number of the round
 * @steps: instructions executed
 * @used: of @steps, those in attempts that have proven a function
 * @given_up: too few of them, or too many functions or ranges: the file gets no rows from code
 */
struct synth_maker {
	const struct synth_input *in;
	struct code		 code;
	u32			*node_at;
	u16			*rule_at;
	u32			*owner_at;
	bool			*named;
	struct row_set		 rules;
	struct synth_node	*nodes;
	size_t			 nnodes;
	size_t			 room_nodes;
	u32			*work;
	size_t			 nwork;
	size_t			 room_work;
	bool			 from_entry;
	bool			 proof;
	bool			 loses_fp;
	bool			 indirect;
	struct synth_jump	 jumps[SYNTH_MAX_JUMPS];
	size_t			 njumps;
	struct synth_call	*calls;
	size_t			 ncalls;
	size_t			 room_calls;
	struct synth_call	*edges;
	size_t			 nedges;
	size_t			 room_edges;
	struct synth_functions	 functions;
	struct synth_functions	 before;
	unsigned int		 round;
	u64			 steps;
	u64			 used;
	bool			 given_up;
};

static bool has_function(const struct synth_maker *m, u64 pc)
{
	size_t upto = order_upto(m->in->functions, m->in->nfunctions, sizeof(u64), 0, pc);

	return upto && m->in->functions[upto - 1] == pc;
}

/* Return: its number; CODE_NOWHERE if there are too many, and then the file is given up. */
static size_t functions_add(struct synth_maker *m, u64 pc, bool trusted)
{
	struct synth_functions *f = &m->functions;

	if (f->count == SYNTH_MAX_FUNCTIONS) {
		m->given_up = true;
		return CODE_NOWHERE;
	}
	f->list = alloc_room(f->list, f->count, &f->room, sizeof(*f->list));
	f->list[f->count] = (struct synth_function){ .pc = pc, .trusted = trusted };
	return f->count++;
}

static int function_order(const void *a, const void *b)
{
	const struct synth_function *x = a, *y = b;

	/* Of several attempts at one pc the one that was proven comes first. */
	return order(x->pc, y->pc) ?: y->proven - x->proven;
}

static const struct synth_function *functions_find(const struct synth_functions *f, u64 pc)
{
	size_t below = !pc ? 0 : order_upto(f->list, f->count, sizeof(*f->list),
					    offsetof(struct synth_function, pc), pc - 1);

	return below < f->count && f->list[below].pc == pc ? &f->list[below] : NULL;
}

/* A symbol or a call names the function at @at. */
static void name_function(struct synth_maker *m, size_t at)
{
	if (!m->named[at])
		functions_add(m, code_pc(&m->code, at), true);
	m->named[at] = true;
}

static void follow_queue(struct synth_maker *m, size_t node)
{
	if (m->nodes[node].queued)
		return;
	m->nodes[node].queued = true;
	m->work = alloc_room(m->work, m->nwork, &m->room_work, sizeof(*m->work));
	m->work[m->nwork++] = node;
}

/* The control reaches @at with @state. */
static bool follow_to(struct synth_maker *m, size_t at, const struct frame_state *state)
{
	struct frame_state both;
	struct synth_node *node;

	if (m->node_at[at]) {
		node = &m->nodes[m->node_at[at] - 1];
		both = node->state;
		if (!frame_state_meet(&both, state))
			return false;
		if (memcmp(&both, &node->state, sizeof(both))) {
			node->state = both;
			follow_queue(m, m->node_at[at] - 1);
		}
		return true;
	}
	if (m->nnodes == SYNTH_MAX_INSNS)
		return false;
	m->nodes = alloc_room(m->nodes, m->nnodes, &m->room_nodes, sizeof(*m->nodes));
	m->nodes[m->nnodes] = (struct synth_node){ .at = at, .state = *state };
	m->node_at[at] = ++m->nnodes;
	follow_queue(m, m->nnodes - 1);
	return true;
}

/* A jump or branch to @pc. */
static bool follow_jump(struct synth_maker *m, u64 pc, const struct frame_state *state)
{
	size_t at = code_place(&m->code, pc);

	if (at != CODE_NOWHERE)
		return follow_to(m, at, state);
	if (!frame_state_is_entry(state) || !has_function(m, pc))
		return false;
	m->proof = true;
	return true;
}

/* A jump that the instruction does not say the target of. */
static void follow_indirect(struct synth_maker *m, const struct frame_state *state)
{
	struct synth_jump jump = { *state, m->from_entry ? m->nodes[0].at : CODE_NOWHERE };
	size_t i;

	if (frame_state_is_entry(state))
		return;
	m->indirect = true;
	for (i = 0; i < m->njumps; i++)
		if (!memcmp(&m->jumps[i].state, state, sizeof(*state)))
			break;
	if (i < m->njumps && jump.origin == CODE_NOWHERE)
		jump.origin = m->jumps[i].origin;
	if (i == SYNTH_MAX_JUMPS)
		i = 0;
	if (i < m->njumps) {
		m->njumps--;
		memmove(&m->jumps[i], &m->jumps[i + 1], (m->njumps - i) * sizeof(m->jumps[0]));
	}
	m->jumps[m->njumps++] = jump;
}

static bool follow_call(struct synth_maker *m, const struct insn *insn, u64 next,
			struct frame_state *state)
{
	const struct synth_function *callee;
	size_t at;

	if (insn->kind == INSN_CALL_INDIRECT) {
		frame_state_call(state, true, true);
		return true;
	}
	/* "call 1f; 1: pop" is a way to get the pc. */
	if (insn->target == next || !elf_find_text(m->in->elf, insn->target))
		return false;
	at = code_place(&m->code, insn->target);
	if (at == CODE_NOWHERE) {
		frame_state_call(state, true, true);
		return true;
	}
	if (!m->round)
		name_function(m, at);
	callee = m->round ? functions_find(&m->before, insn->target) : NULL;
	if (m->round && (!callee || !callee->proven))
		return false;
	m->calls = alloc_room(m->calls, m->ncalls, &m->room_calls, sizeof(*m->calls));
	m->calls[m->ncalls++] = (struct synth_call){
		.pc = insn->target, .loses_fp = callee && callee->loses_fp,
	};
	frame_state_call(state, !callee || !callee->loses_fp, false);
	return true;
}

/* Execute an instruction.  Return: false if the function cannot be proven. */
static bool follow_node(struct synth_maker *m, size_t number)
{
	size_t at = m->nodes[number].at, gap = code_gap_of(&m->code, at), end = code_gap_end(&m->code, gap);
	struct frame_state state = m->nodes[number].state;
	u64 pc = m->in->gaps[gap].start + (at - m->code.first[gap]);
	struct insn insn;

	m->nodes[number].queued = false;
	if (!insn_decode(m->code.bytes + at, end - at, pc, &insn))
		return false;
	m->nodes[number].length = insn.length;
	switch (insn.kind) {
	case INSN_RET:
		m->proof = true;
		m->loses_fp |= !state.fp_same;
		return state.known && state.depth == 8;
	case INSN_STOP:
		return true;
	case INSN_ODD:
		return false;
	case INSN_JUMP:
		return follow_jump(m, insn.target, &state);
	case INSN_JUMP_INDIRECT:
		follow_indirect(m, &state);
		return true;
	case INSN_BRANCH:
		if (!follow_jump(m, insn.target, &state))
			return false;
		break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		if (!follow_call(m, &insn, pc + insn.length, &state))
			return false;
		/* The last call of a gap does not return. */
		if (at + insn.length == end)
			return true;
		break;
	default:
		if (!frame_state_step(&state, &insn))
			return false;
	}
	return at + insn.length < end && follow_to(m, at + insn.length, &state);
}

static void follow_reset(struct synth_maker *m)
{
	size_t i;

	for (i = 0; i < m->nnodes; i++)
		m->node_at[m->nodes[i].at] = 0;
	m->nnodes = 0;
	m->nwork = 0;
	m->ncalls = 0;
	m->proof = false;
	m->loses_fp = false;
	m->indirect = false;
}

/* Follow a function as far as it goes.  Return: false if something speaks against it. */
static bool follow_all(struct synth_maker *m, size_t at, const struct frame_state *start)
{
	follow_reset(m);
	m->from_entry = frame_state_is_entry(start) && !start->copies;
	if (!follow_to(m, at, start))
		return false;
	while (m->nwork)
		if (++m->steps > SYNTH_MAX_STEPS || !follow_node(m, m->work[--m->nwork]))
			return false;
	return true;
}

/* Follow a function.  Return: whether it is proven, by itself. */
static bool function_follow(struct synth_maker *m, size_t at, const struct frame_state *start)
{
	bool good = follow_all(m, at, start);
	size_t i;

	/* A jump proves its function only if nothing but a ret is missing for that. */
	for (i = 0; i < m->njumps; i++)
		if (m->jumps[i].origin == at && (!good || m->proof))
			m->jumps[i].origin = CODE_NOWHERE;
	return good && m->proof;
}

/*
 * Two proofs contradict each other at @at: forget the older one, unless only that is of a function
 * that something names.
 */
static bool commit_conflict(struct synth_maker *m, size_t at, const struct synth_function *f)
{
	struct synth_function *other = &m->functions.list[m->owner_at[at]];

	if (f->trusted || !other->trusted)
		other->proven = false;
	return false;
}

/* Can the nodes be added to what is known?  @rules: filled, the rule of each. */
static bool commit_check(struct synth_maker *m, const struct synth_function *f, u16 *rules)
{
	struct bee_rule rule;
	size_t i, at, k;

	for (i = 0; i < m->nnodes; i++) {
		const struct synth_node *node = &m->nodes[i];
		u32 number;

		at = node->at;
		if (!frame_state_rule(&node->state, &rule))
			return false;
		number = row_set_intern(&m->rules, &rule) + 1;
		if (number > RULE_MAX)
			return false;
		if (m->rule_at[at] != RULE_NONE && m->rule_at[at] != number)
			number = row_set_meet(&m->rules, m->rule_at[at], number);
		if (number == RULE_NONE)
			return commit_conflict(m, at, f);
		rules[i] = number;
		for (k = 1; k < node->length; k++) {
			if (m->node_at[at + k])
				return false;
			if (m->rule_at[at + k] != RULE_NONE && m->rule_at[at + k] != RULE_INSIDE)
				return commit_conflict(m, at + k, f);
		}
	}
	return true;
}

static bool rows_commit(struct synth_maker *m, size_t function)
{
	struct synth_function *f;
	size_t i, k;
	u16 *rules;
	bool good;

	if (function == CODE_NOWHERE)
		return false;
	f = &m->functions.list[function];
	rules = alloc_array(NULL, m->nnodes, sizeof(*rules));
	good = commit_check(m, f, rules) && m->nedges + m->ncalls <= SYNTH_MAX_EDGES;
	for (i = 0; good && i < m->nnodes; i++) {
		size_t at = m->nodes[i].at;

		if (m->rule_at[at] != RULE_NONE) {
			m->rule_at[at] = rules[i];
			continue;
		}
		for (k = 0; k < m->nodes[i].length; k++) {
			m->rule_at[at + k] = k ? RULE_INSIDE : rules[i];
			m->owner_at[at + k] = function;
		}
	}
	for (i = 0; good && i < m->ncalls; i++) {
		m->edges = alloc_room(m->edges, m->nedges, &m->room_edges, sizeof(*m->edges));
		m->edges[m->nedges] = m->calls[i];
		m->edges[m->nedges++].caller = function;
	}
	free(rules);
	f->proven = good;
	f->loses_fp = m->loses_fp;
	f->jumps = m->indirect;
	return good;
}

/*
 * Some code proves nothing, however long one looks at it: JIT compilers have their own conventions
 * in what they put into files (V8's embedded builtins, 2.4 MB of node), and compiled code without
 * CFI has too many places where a function may begin (busybox).  So in each round attempts that
 * fail may take SYNTH_MAX_LOST instructions, and @patience times the instructions of the attempts
 * that have proven a function.  A file that exceeds this is given up: it gets no rows from code.
 */
static bool is_hopeless(struct synth_maker *m)
{
	if (m->steps - m->used > (m->round + 1ull) * SYNTH_MAX_LOST + m->in->patience * m->used)
		m->given_up = true;
	return m->given_up;
}

static void try_function(struct synth_maker *m, size_t function)
{
	size_t at = code_place(&m->code, m->functions.list[function].pc);
	u64 before = m->steps;
	struct frame_state entry;

	frame_state_entry(&entry);
	if (at != CODE_NOWHERE && !is_hopeless(m) &&
	    m->functions.list[function].pc != m->in->elf->entry &&
	    function_follow(m, at, &entry) && rows_commit(m, function))
		m->used += m->steps - before;
}

/*
 * The code behind an indirect jump has been proven with the frame of the jump.  If this frame is
 * more than a return address, that proves the function that has the jump, too.
 */
static void try_origin(struct synth_maker *m, const struct synth_jump *jump)
{
	size_t at = jump->origin, i;
	struct frame_state entry;

	if (at == CODE_NOWHERE || (jump->state.known && jump->state.depth == 8))
		return;
	frame_state_entry(&entry);
	if (follow_all(m, at, &entry))
		rows_commit(m, functions_add(m, code_pc(&m->code, at), false));
	for (i = 0; i < m->njumps; i++)
		if (m->jumps[i].origin == at)
			m->jumps[i].origin = CODE_NOWHERE;
}

/*
 * Follow code with the frame of an indirect jump.  A ret proves only what rsp is computed from there:
 * if that is rbp, rsp can have been anything before.  So where the frame knows both, each is tried
 * alone.
 */
static bool follow_jump_frame(struct synth_maker *m, size_t at, const struct frame_state *frame)
{
	struct frame_state state = *frame;

	if (!frame->known || !frame->copies)
		return function_follow(m, at, frame);
	frame_state_keep_rsp(&state);
	if (function_follow(m, at, &state))
		return true;
	state = *frame;
	return frame_state_keep_fp(&state) && function_follow(m, at, &state);
}

/* Try what nothing names: as a function, or with the frame of an indirect jump before it. */
static bool try_place(struct synth_maker *m, size_t at)
{
	struct frame_state state;
	size_t i = m->njumps;
	u64 pc = code_pc(&m->code, at);

	if (pc == m->in->elf->entry)
		return false;
	frame_state_entry(&state);
	if (function_follow(m, at, &state) && !m->loses_fp && rows_commit(m, functions_add(m, pc, false)))
		return true;
	while (i-- > 0) {
		struct synth_jump jump = m->jumps[i];

		if (follow_jump_frame(m, at, &jump.state) && !m->loses_fp &&
		    rows_commit(m, functions_add(m, pc, false))) {
			try_origin(m, &jump);
			return true;
		}
		/* The attempt may have met other indirect jumps. */
		if (i > m->njumps)
			i = m->njumps;
	}
	return false;
}

/* The place behind the end of the path that begins at @at. */
static size_t skip_way(struct synth_maker *m, size_t at, size_t end)
{
	struct insn insn;

	for (; at < end && m->rule_at[at] == RULE_NONE; at += insn.length) {
		if (++m->steps > SYNTH_MAX_STEPS)
			return end;
		if (!insn_decode(m->code.bytes + at, end - at, 0, &insn))
			return (at | 15) + 1 < end ? (at | 15) + 1 : end;
		if (insn_is_end(&insn) || insn.kind == INSN_ODD)
			return at + insn.length;
	}
	return at;
}

/* The code at @at is of a function that was proven before: its jumps may lead to what follows. */
static void recall_jumps(struct synth_maker *m, size_t at)
{
	const struct synth_function *f = &m->functions.list[m->owner_at[at]];
	struct frame_state entry;

	frame_state_entry(&entry);
	if (f->proven && f->trusted && f->jumps && f->pc == code_pc(&m->code, at))
		function_follow(m, at, &entry);
}

static void sweep_gap(struct synth_maker *m, size_t gap)
{
	size_t at = m->code.first[gap], end = code_gap_end(&m->code, gap), padding;
	u64 before;

	m->njumps = 0;
	while (at < end && !is_hopeless(m) && m->steps <= SYNTH_MAX_STEPS) {
		before = m->steps;
		padding = padding_length(m->code.bytes + at, end - at);
		if (m->rule_at[at] != RULE_NONE) {
			recall_jumps(m, at++);
			m->used += m->steps - before;
		} else if (padding) {
			at += padding;
		} else if (!try_place(m, at)) {
			at = skip_way(m, at, end);
		} else {
			m->used += m->steps - before;
		}
	}
}

static void round_begin(struct synth_maker *m)
{
	memset(m->rule_at, 0, m->code.size * sizeof(*m->rule_at));
	free(m->before.list);
	m->before = m->functions;
	m->functions = (struct synth_functions){};
	m->nedges = 0;
	if (m->before.count)
		qsort(m->before.list, m->before.count, sizeof(*m->before.list), function_order);
}

static void round_add_symbol(void *arg, u64 pc, const char *name)
{
	struct synth_maker *m = arg;
	size_t at = code_place(&m->code, pc);

	(void)name;
	if (at != CODE_NOWHERE)
		name_function(m, at);
}

/*
 * A round tries everything.  The first one takes it for granted that functions without CFI are
 * right if they are called; the others use what the round before has found.
 */
static void round_run(struct synth_maker *m)
{
	size_t i, known;

	round_begin(m);
	if (m->round) {
		for (i = 0; i < m->before.count; i++)
			if (m->before.list[i].trusted)
				functions_add(m, m->before.list[i].pc, true);
	} else {
		elf_each_function(m->in->elf, round_add_symbol, m, false);
	}
	for (known = 0; known < m->functions.count; known++)
		try_function(m, known);
	for (i = 0; i < m->code.ngaps; i++)
		sweep_gap(m, i);
	/* Follow the callees that were found meanwhile. */
	for (; known < m->functions.count; known++)
		if (m->functions.list[known].trusted)
			try_function(m, known);
	m->round++;
}

/* Forget functions that call one that is not proven, or not as was taken for granted. */
static void functions_prune(struct synth_maker *m)
{
	bool changed = true;
	unsigned int pass;
	size_t i;

	for (pass = 0; changed; pass++) {
		struct synth_functions sorted = { .count = m->functions.count };

		sorted.list = alloc_array(NULL, sorted.count + 1, sizeof(*sorted.list));
		if (sorted.count)
			memcpy(sorted.list, m->functions.list,
			       sorted.count * sizeof(*sorted.list));
		if (sorted.count)
			qsort(sorted.list, sorted.count, sizeof(*sorted.list), function_order);
		changed = false;
		for (i = 0; i < m->nedges; i++) {
			const struct synth_call *call = &m->edges[i];
			struct synth_function *caller = &m->functions.list[call->caller];
			const struct synth_function *callee = functions_find(&sorted, call->pc);

			if (!caller->proven || (pass < SYNTH_MAX_PRUNES && callee && callee->proven &&
						callee->loses_fp <= call->loses_fp))
				continue;
			caller->proven = false;
			changed = true;
		}
		free(sorted.list);
	}
}

/**
 * synth_add() - append a range; if there are too many, none is left
 * @synth: what has been found
 * @start: first pc, not before the end of the last range
 * @end: pc after the last
 * @rule: its rule
 */
void synth_add(struct synth *synth, u64 start, u64 end, const struct bee_rule *rule)
{
	struct synth_range *last = synth->nranges ? &synth->ranges[synth->nranges - 1] : NULL;

	if (last && last->end == start && !memcmp(&last->rule, rule, sizeof(*rule))) {
		last->end = end;
		return;
	}
	if (synth->nranges == SYNTH_MAX_RANGES) {
		synth_free(synth);
		synth->full = true;
	}
	if (synth->full)
		return;
	synth->ranges = alloc_room(synth->ranges, synth->nranges, &synth->room,
				   sizeof(*synth->ranges));
	synth->ranges[synth->nranges++] = (struct synth_range){
		.start = start, .end = end, .rule = *rule,
	};
}

/**
 * synth_add_padding() - let padding belong to the range before it, as it does behind an FDE, unless it is in front of
 *	a signal trampoline (padding_fills())
 * @synth: what has been found
 * @elf: the file
 * @pc: address of code without a rule
 * @code: the code there
 * @size: bytes of @code, not 0
 *
 * Return: length of the padding; 1 if there is none.
 */
size_t synth_add_padding(struct synth *synth, const struct elf_file *elf, u64 pc, const u8 *code, size_t size)
{
	struct synth_range *last = synth->nranges ? &synth->ranges[synth->nranges - 1] : NULL;
	size_t length = padding_length(code, size);

	if (length && last && last->end == pc && !sigreturn_is_at(elf, pc + length))
		last->end = pc + length;
	return length ?: 1;
}

/* Add the ranges of a gap. */
static void synth_add_gap(const struct synth_maker *m, size_t gap, struct synth *synth)
{
	size_t at = m->code.first[gap], end = code_gap_end(&m->code, gap), next;
	u64 bias = m->in->gaps[gap].start - at;

	for (; at < end; at = next) {
		if (m->rule_at[at] == RULE_NONE) {
			next = at + synth_add_padding(synth, m->in->elf, at + bias, m->code.bytes + at, end - at);
			continue;
		}
		next = at + 1;
		if (!m->functions.list[m->owner_at[at]].proven)
			continue;
		while (next < end && m->rule_at[next] == RULE_INSIDE)
			next++;
		if (m->rule_at[at] != RULE_INSIDE)
			synth_add(synth, at + bias, next + bias,
				  &m->rules.rules[m->rule_at[at] - 1]);
	}
}

/* Return: false if the code cannot be read, or there is none. */
static bool maker_load(struct synth_maker *m)
{
	if (!code_load(&m->code, m->in->elf, m->in->gaps, m->in->ngaps, SYNTH_MAX_TEXT))
		return false;
	m->node_at = alloc_zero(m->code.size, sizeof(*m->node_at));
	m->rule_at = alloc_zero(m->code.size, sizeof(*m->rule_at));
	m->owner_at = alloc_zero(m->code.size, sizeof(*m->owner_at));
	m->named = alloc_zero(m->code.size, sizeof(*m->named));
	return true;
}

/**
 * synth_make() - find the rows of text without CFI
 * @input: what is known of the file
 * @synth: filled; synth_free() releases it
 *
 * Time and memory are bounded: SYNTH_MAX_*.
 */
void synth_make(const struct synth_input *input, struct synth *synth)
{
	struct synth_maker m = { .in = input };
	bool good = maker_load(&m);
	size_t i;

	*synth = (struct synth){};
	while (good && m.round < SYNTH_ROUNDS) {
		round_run(&m);
		good = m.steps <= SYNTH_MAX_STEPS && !is_hopeless(&m);
	}
	functions_prune(&m);
	for (i = 0; good && i < m.code.ngaps; i++)
		synth_add_gap(&m, i, synth);
	for (i = 0; good && !synth->full && i < m.functions.count; i++) {
		if (!m.functions.list[i].proven)
			continue;
		synth->starts = alloc_room(synth->starts, synth->nstarts, &synth->room_starts,
					   sizeof(*synth->starts));
		synth->starts[synth->nstarts++] = m.functions.list[i].pc;
	}
	row_set_free(&m.rules);
	free(m.functions.list);
	free(m.before.list);
	free(m.nodes);
	free(m.work);
	free(m.calls);
	free(m.edges);
	code_free(&m.code);
	free(m.node_at);
	free(m.rule_at);
	free(m.owner_at);
	free(m.named);
}

/* synth_free(): release what synth_make() filled */
void synth_free(struct synth *synth)
{
	free(synth->ranges);
	free(synth->starts);
	*synth = (struct synth){};
}
