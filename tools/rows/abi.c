// SPDX-License-Identifier: GPL-2.0
/*
 * Rows for code without CFI that are right if the code keeps the ABI, as objtool makes ORC data.
 *
 * Every place that something names as a start of a function (starts.c), and then every place behind
 * an end of what is covered, is followed (flow.c).  A function is believed if nothing speaks
 * against it, and
 *
 * - it calls with rsp a multiple of 16 wherever rsp is known;
 * - a symbol or a call names it; or it returns, or jumps to another function;
 * - or data or code has its address, and it saves something and calls: main() may never return;
 * - or code has its address, and it is one jump to an address that it is given (function_is_jump());
 * - no function that is trusted more goes through the same instructions with other rows.
 *
 * Which functions do not return is found in rounds: those without a ret and a jump to another
 * function, whose paths all end at calls that do not.  Their callers are followed again.
 */
#include <string.h>

#include "abi.h"
#include "alloc.h"
#include "flow.h"
#include "padding.h"
#include "rows.h"
#include "starts.h"

/* Bounds of memory and time. */
#define ABI_MAX_TEXT		(16u << 20)	/* bytes of gaps in a file */
#define ABI_MAX_FUNCTIONS	(1u << 18)	/* places followed */
#define ABI_MAX_ROWS		(8u << 20)	/* rows of functions followed, repetitions too */
#define ABI_MAX_CALLS		(4u << 20)	/* their calls, repetitions too */
#define ABI_MAX_TAKES		(64u << 20)	/* rows that rows_commit() lays on the code, again too */
#define ABI_ROUNDS		12
#define ABI_ODD			50		/* of so many functions one may have its own ABI */
#define ABI_GUESSES		2		/* how often places behind ends are tried */

#define ABI_RANKS	16			/* function_rank() */

/* A row of a function: the number of the rule, plus 1, at a place. */
struct abi_row {
	u32	at;
	u16	rule;
	u8	length;
};

/**
 * struct abi_function - a place that was followed
 * @at: its first instruction
 * @flags: enum follow_flag, bits
 * @starts: enum start, bits
 * @refusal: enum follow_refusal
 * @dropped: a function that is trusted as much, or more, contradicts this one
 * @dirty: it has to be followed, or again
 * @fresh: it has been found not to return in this round
 * @first_row: its rows
 * @nrows: number of its rows
 * @first_call: its callees
 * @ncalls: number of its callees
 */
struct abi_function {
	u32	at;
	u32	flags;
	u16	starts;
	u8	refusal;
	bool	dropped;
	bool	dirty;
	bool	fresh;
	size_t	first_row;
	size_t	nrows;
	size_t	first_call;
	size_t	ncalls;
};

/**
 * struct abi_maker - the work on one file
 * @in: what is known of the file
 * @code: the file's code without rows
 * @starts: what the file says of that code
 * @follow: follows functions
 * @functions: places followed
 * @nfunctions: entries in @functions
 * @room_functions: functions there is memory for
 * @function_at: for each place: the number of its function, plus 1
 * @rows: of all functions
 * @nrows: entries in @rows
 * @room_rows: rows there is memory for
 * @calls: places called, of all functions
 * @ncalls: entries in @calls
 * @room_calls: places there is memory for
 * @rules: the rules; its rows are not used
 * @rule_at: for each place: the number of its rule, plus 1; RULE_*
 * @owner_at: for each place with a rule: the number of the function
 * @takes: rows that rows_commit() has laid on the code, and functions that it has looked at
 * @given_up: a bound is reached: the file gets no such rows
 */
struct abi_maker {
	const struct synth_input *in;
	struct code		 code;
	struct starts		 starts;
	struct follow		 follow;
	struct abi_function	*functions;
	size_t			 nfunctions;
	size_t			 room_functions;
	u32			*function_at;
	struct abi_row		*rows;
	size_t			 nrows;
	size_t			 room_rows;
	u32			*calls;
	size_t			 ncalls;
	size_t			 room_calls;
	struct row_set		 rules;
	u16			*rule_at;
	u32			*owner_at;
	u64			 takes;
	bool			 given_up;
};

static void functions_add(struct abi_maker *m, size_t at)
{
	if (m->function_at[at] || code_pc(&m->code, at) == m->in->elf->entry)
		return;
	if (m->nfunctions == ABI_MAX_FUNCTIONS) {
		m->given_up = true;
		return;
	}
	m->functions = alloc_room(m->functions, m->nfunctions, &m->room_functions,
				  sizeof(*m->functions));
	m->functions[m->nfunctions] = (struct abi_function){
		.at = at, .starts = m->starts.at[at], .dirty = true,
	};
	m->function_at[at] = ++m->nfunctions;
}

/* Keep the rows of the function that has been followed. */
static void functions_keep_rows(struct abi_maker *m, struct abi_function *f)
{
	const struct follow *follow = &m->follow;
	struct bee_rule rule;
	size_t i;

	f->first_row = m->nrows;
	f->nrows = 0;
	for (i = 0; i < follow->nnodes; i++) {
		const struct follow_node *node = &follow->nodes[i];
		u32 number = RULE_MAX + 1;

		rule = rule_outermost;
		if (node->way.child || frame_state_rule(&node->way.frame, &rule))
			number = row_set_intern(&m->rules, &rule) + 1;
		if (number > RULE_MAX) {
			f->refusal = FOLLOW_BAD_FRAME;
			m->nrows = f->first_row;
			return;
		}
		m->rows = alloc_room(m->rows, m->nrows, &m->room_rows, sizeof(*m->rows));
		m->rows[m->nrows++] = (struct abi_row){ node->at, number, node->length };
	}
	f->nrows = m->nrows - f->first_row;
}

static void functions_follow(struct abi_maker *m, struct abi_function *f)
{
	struct follow *follow = &m->follow;
	size_t i;

	follow_function(follow, f->at);
	f->dirty = false;
	f->flags = follow->flags;
	f->refusal = follow->refusal;
	f->nrows = 0;
	if (f->refusal == FOLLOW_GOOD)
		functions_keep_rows(m, f);
	f->first_call = m->ncalls;
	f->ncalls = follow->ncallees;
	for (i = 0; i < follow->ncallees; i++) {
		m->calls = alloc_room(m->calls, m->ncalls, &m->room_calls, sizeof(*m->calls));
		m->calls[m->ncalls++] = follow->callees[i];
	}
	m->given_up |= follow->steps > FOLLOW_MAX_STEPS || m->nrows > ABI_MAX_ROWS ||
		       m->ncalls > ABI_MAX_CALLS;
}

/* Has it been seen not to return? */
static bool function_ends(const struct abi_function *f)
{
	u32 returns = FOLLOW_RET | FOLLOW_TAIL | FOLLOW_TAIL_INDIRECT;

	if (f->flags & returns)
		return false;
	if (f->starts & START_ENDS)
		return true;
	return f->refusal == FOLLOW_GOOD && !(f->flags & (FOLLOW_JUMP | FOLLOW_BLOCKED)) &&
	       f->flags & (FOLLOW_STOP | FOLLOW_LAST_CALL);
}

/* A function has been found not to return: its callers have to be followed again. */
static void round_mark(struct abi_maker *m, struct abi_function *f)
{
	size_t i;

	for (i = 0; i < f->ncalls && !f->dirty; i++) {
		u32 number = m->function_at[m->calls[f->first_call + i]];

		f->dirty = number && m->functions[number - 1].fresh;
	}
}

static void functions_follow_rounds(struct abi_maker *m)
{
	bool more = true;
	unsigned int i;
	size_t k;

	for (i = 0; i < ABI_ROUNDS && more; i++) {
		for (k = 0; k < m->nfunctions && !m->given_up; k++)
			if (m->functions[k].dirty)
				functions_follow(m, &m->functions[k]);
		more = false;
		for (k = 0; k < m->nfunctions; k++) {
			struct abi_function *f = &m->functions[k];
			u16 *start = &m->starts.at[f->at];

			f->fresh = !(*start & START_NORETURN) && function_ends(f);
			*start |= f->fresh ? START_NORETURN : 0;
			more |= f->fresh;
		}
		for (k = 0; k < m->nfunctions && more; k++)
			round_mark(m, &m->functions[k]);
	}
}

/*
 * Is it one jump through a register, and nothing more?  So musl's qsort() gives qsort_r() a function that jumps to
 * that of the program.  It starts at a multiple of 16, and padding is behind it up to the next one: a block of
 * a function that nobody could follow hardly looks like that.
 */
static bool function_is_jump(const struct abi_maker *m, const struct abi_function *f)
{
	size_t at = f->at, end = code_gap_end(&m->code, code_gap_of(&m->code, at)), n;

	if (!(f->starts & START_LEA) || f->flags != FOLLOW_TAIL_INDIRECT || f->nrows != 1 ||
	    code_pc(&m->code, at) % 16)
		return false;
	for (at += m->rows[f->first_row].length; at < end && code_pc(&m->code, at) % 16; at += n) {
		n = padding_length(m->code.bytes + at, end - at);
		if (!n)
			return false;
	}
	return true;
}

static bool function_is_believed(const struct abi_maker *m, const struct abi_function *f)
{
	bool named = f->starts & (START_LEA | START_RELOC | START_WORD);
	u32 has = f->flags;

	if (f->refusal != FOLLOW_GOOD || f->dropped || has & FOLLOW_MISALIGNED)
		return false;
	return f->starts & START_STRONG || has & (FOLLOW_RET | FOLLOW_TAIL) ||
	       (has & FOLLOW_SAVES && (has & FOLLOW_TAIL_INDIRECT || (named && has & FOLLOW_CALLS))) ||
	       function_is_jump(m, f);
}

/* How much a function is trusted: 0 .. ABI_RANKS - 1 */
static unsigned int function_rank(const struct abi_function *f)
{
	return (f->starts & START_STRONG ? 8 : 0) + (f->starts & (START_RELOC | START_LEA) ? 4 : 0) +
	       (f->starts & (START_WORD | START_ENDBR) ? 2 : 0) + !!(f->flags & FOLLOW_RET);
}

/*
 * Whether a row can be laid on its instruction: no function has the bytes yet, or one has the same instruction with
 * a rule that row_set_meet() can meet.  @owner: set to the function that has the bytes otherwise.
 */
static bool row_fits(struct abi_maker *m, const struct abi_row *row, u32 *owner)
{
	bool locked = m->code.bytes[row->at] == INSN_LOCK;
	bool behind_lock = row->at && m->code.bytes[row->at - 1] == INSN_LOCK;
	u16 have = m->rule_at[row->at];
	unsigned int i;

	*owner = m->owner_at[row->at];
	if (have != RULE_NONE && !(have == RULE_INSIDE && behind_lock) &&
	    row_set_meet(&m->rules, have, row->rule) == RULE_NONE)
		return false;
	for (i = locked ? 2 : 1; i < row->length; i++) {
		*owner = m->owner_at[row->at + i];
		if (m->rule_at[row->at + i] != RULE_NONE && m->rule_at[row->at + i] != RULE_INSIDE)
			return false;
	}
	return true;
}

static void row_take(struct abi_maker *m, const struct abi_row *row, u32 owner)
{
	u16 *have = &m->rule_at[row->at];
	unsigned int i;

	if (*have != RULE_NONE) {
		if (*have != RULE_INSIDE)
			*have = row_set_meet(&m->rules, *have, row->rule);
		return;
	}
	for (i = 0; i < row->length; i++) {
		if (have[i] != RULE_NONE)
			continue;
		have[i] = i ? RULE_INSIDE : row->rule;
		m->owner_at[row->at + i] = owner;
	}
}

/*
 * Lay the rows of a function on the code, or drop it if they do not fit.
 * Return: false if the function that they do not fit to has the same rank, and was dropped, too: its rows are on the
 * code already, so that all has to be laid again.
 */
static bool commit_function(struct abi_maker *m, u32 number, unsigned int rank)
{
	struct abi_function *f = &m->functions[number], *other;
	size_t i;
	u32 owner;

	m->takes += f->nrows;
	for (i = 0; i < f->nrows; i++) {
		if (row_fits(m, &m->rows[f->first_row + i], &owner))
			continue;
		f->dropped = true;
		other = &m->functions[owner];
		if (other == f || function_rank(other) != rank)
			return true;
		other->dropped = true;
		return false;
	}
	for (i = 0; i < f->nrows; i++)
		row_take(m, &m->rows[f->first_row + i], number);
	return true;
}

/* Lay the rows of all functions that are believed.  Return: false if one was dropped whose rows are on the code. */
static bool commit_all(struct abi_maker *m)
{
	unsigned int rank;
	bool good = true;
	u32 i;

	memset(m->rule_at, 0, m->code.size * sizeof(*m->rule_at));
	m->takes += ABI_RANKS * m->nfunctions;
	for (rank = ABI_RANKS; rank-- > 0;)
		for (i = 0; i < m->nfunctions; i++)
			if (function_rank(&m->functions[i]) == rank &&
			    function_is_believed(m, &m->functions[i]))
				good &= commit_function(m, i, rank);
	return good;
}

/*
 * Drop all functions of a gap in which some take arguments off the stack when they return: who calls
 * them has another rsp behind the call than before it, which nothing in its code may contradict
 * (V8's builtins, of which one in four believed is such a function).  A few can be data.
 */
static void drop_odd_gaps(struct abi_maker *m)
{
	u32 *believed = alloc_zero(m->code.ngaps, sizeof(*believed)), i;
	u32 *odd = alloc_zero(m->code.ngaps, sizeof(*odd));

	for (i = 0; i < m->nfunctions; i++) {
		const struct abi_function *f = &m->functions[i];
		size_t gap = code_gap_of(&m->code, f->at);

		believed[gap] += function_is_believed(m, f);
		odd[gap] += f->refusal == FOLLOW_BAD_RETURN;
	}
	for (i = 0; i < m->nfunctions; i++) {
		struct abi_function *f = &m->functions[i];
		size_t gap = code_gap_of(&m->code, f->at);

		f->dropped |= odd[gap] > believed[gap] / ABI_ODD;
	}
	free(believed);
	free(odd);
}

/* Give the code the rows of the functions that are believed. */
static void rows_commit(struct abi_maker *m)
{
	drop_odd_gaps(m);
	while (!m->given_up && !commit_all(m))
		m->given_up = m->takes > ABI_MAX_TAKES;
}

/* Add what is behind an end of what is covered. */
static void guess_gap(struct abi_maker *m, size_t gap)
{
	size_t at = m->code.first[gap], end = code_gap_end(&m->code, gap), n;
	bool behind = true;
	struct insn insn;

	for (; at < end && !m->given_up; at += n) {
		const u8 *bytes = m->code.bytes + at;

		n = 1;
		if (m->rule_at[at] != RULE_NONE) {
			behind = true;
			continue;
		}
		n = padding_length(bytes, end - at);
		if (n && behind)
			continue;
		if (behind && !m->function_at[at]) {
			m->starts.at[at] |= START_GUESS;
			functions_add(m, at);
		}
		behind = false;
		n = 1;
		if (!insn_decode(bytes, end - at, 0, &insn))
			continue;
		n = insn.length;
		behind = insn_is_end(&insn);
	}
}

static void functions_guess(struct abi_maker *m)
{
	size_t before = m->nfunctions, gap;

	rows_commit(m);
	for (gap = 0; gap < m->code.ngaps; gap++)
		if (!m->starts.plt[gap])
			guess_gap(m, gap);
	if (m->nfunctions > before)
		functions_follow_rounds(m);
}

/* Add the ranges of a gap. */
static void ranges_add_gap(const struct abi_maker *m, size_t gap, struct synth *synth)
{
	size_t at = m->code.first[gap], end = code_gap_end(&m->code, gap), next;
	u64 bias = m->code.gaps[gap].start - at;

	for (; at < end; at = next) {
		if (m->rule_at[at] == RULE_NONE || m->rule_at[at] == RULE_INSIDE) {
			next = at + synth_add_padding(synth, m->in->elf, at + bias, m->code.bytes + at, end - at);
			continue;
		}
		next = at + 1;
		while (next < end && m->rule_at[next] == RULE_INSIDE)
			next++;
		synth_add(synth, at + bias, next + bias, &m->rules.rules[m->rule_at[at] - 1]);
	}
}

/* Is there anything but padding?  Of most files there is not, and their relocations are many. */
static bool code_has_insns(const struct code *code)
{
	size_t gap, at, end, n;

	for (gap = 0; gap < code->ngaps; gap++) {
		end = code_gap_end(code, gap);
		for (at = code->first[gap]; at < end; at += n) {
			n = padding_length(code->bytes + at, end - at);
			if (!n)
				return true;
		}
	}
	return false;
}

static bool maker_start(struct abi_maker *m)
{
	if (!code_load(&m->code, m->in->elf, m->in->gaps, m->in->ngaps, ABI_MAX_TEXT) ||
	    !code_has_insns(&m->code))
		return false;
	starts_find(&m->starts, &m->code, m->in->functions, m->in->nfunctions);
	follow_start(&m->follow, &m->starts);
	m->function_at = alloc_zero(m->code.size, sizeof(*m->function_at));
	m->rule_at = alloc_zero(m->code.size, sizeof(*m->rule_at));
	m->owner_at = alloc_zero(m->code.size, sizeof(*m->owner_at));
	return !m->starts.cut;
}

/**
 * abi_make() - make the rows of text without CFI and without proof
 * @input: what is known of the file
 * @synth: filled; synth_free() releases it
 *
 * Time and memory are bounded: ABI_MAX_*, FOLLOW_MAX_STEPS.
 */
void abi_make(const struct synth_input *input, struct synth *synth)
{
	struct abi_maker m = { .in = input };
	bool good = maker_start(&m);
	unsigned int i;
	size_t at;

	*synth = (struct synth){};
	for (at = 0; good && at < m.code.size; at++)
		if (m.starts.at[at] && !m.starts.plt[code_gap_of(&m.code, at)])
			functions_add(&m, at);
	if (good)
		functions_follow_rounds(&m);
	for (i = 0; good && i < ABI_GUESSES; i++)
		functions_guess(&m);
	if (good)
		rows_commit(&m);
	good = good && !m.given_up;
	for (at = 0; good && at < m.code.ngaps; at++)
		ranges_add_gap(&m, at, synth);
	row_set_free(&m.rules);
	follow_free(&m.follow);
	starts_free(&m.starts);
	code_free(&m.code);
	free(m.functions);
	free(m.function_at);
	free(m.rows);
	free(m.calls);
	free(m.rule_at);
	free(m.owner_at);
}
