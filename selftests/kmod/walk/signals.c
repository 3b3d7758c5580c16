// SPDX-License-Identifier: GPL-2.0
/*
 * Signal handlers: on the same stack and on another, with and without SA_SIGINFO, and nested.
 * They interrupt a function's body, its first instruction, and a prologue with a DRAP.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "mark.h"

/* Debian's musl has no CFI, so the frames above main() are not known. */
#ifdef __GLIBC__
#define MAIN	"main"
#else
#define MAIN	"main ..."
#endif

/* ud2 raises SIGILL with its own address in rip; the handler adds this to continue after it. */
#define UD2_SIZE	2

void victim_first(void);
void victim_drap(void);

/*
 * victim_first() is interrupted at its first instruction: rip - 1 is in before_first(), which has
 * another rule.  victim_drap() is interrupted where, as in a prologue that aligns the stack, only
 * r10 has the CFA.
 */
asm(".text\n"
	".type before_first, @function\n"
	"before_first:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 4096\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".size before_first, . - before_first\n"
	".globl victim_first\n"
	".type victim_first, @function\n"
	"victim_first:\n"
	"	.cfi_startproc\n"
	"	ud2\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size victim_first, . - victim_first\n"
	".globl victim_drap\n"
	".type victim_drap, @function\n"
	"victim_drap:\n"
	"	.cfi_startproc\n"
	"	lea 8(%rsp), %r10\n"
	"	.cfi_def_cfa %r10, 0\n"
	"	and $-64, %rsp\n"
	"	sub $256, %rsp\n"
	"	ud2\n"
	"	lea -8(%r10), %rsp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size victim_drap, . - victim_drap\n");

static noinline void victim_body(void)
{
	char buffer[3000];

	memset(buffer, 1, sizeof(buffer));
	asm volatile("ud2" :: "r"(buffer) : "memory");
}

static void (*victim)(void);
static const char *callers;	/* the victim's, as known() prints them */
static int nested;

/* The kernel's signal frame, which has the ucontext, begins at the handler's CFA. */
#define CONTEXT()	((ucontext_t *)__builtin_dwarf_cfa())

/* The interrupted place in the victim, and the victim's callers, as known() prints them. */
static const char *interrupted(const ucontext_t *context)
{
	static char texts[2][200];
	static int turn;
	const char *name = victim == victim_first ? "victim_first" :
			   victim == victim_drap ? "victim_drap" : "victim_body";
	char *text = texts[turn++ & 1];

	snprintf(text, sizeof(texts[0]), "%s+0x%llx %s", name,
		 context->uc_mcontext.gregs[REG_RIP] - (unsigned long long)victim, callers);
	return text;
}

static noinline void handled(ucontext_t *context)
{
	known("handled handler [restore] %s", interrupted(context));
	mark();
	not_tail();
	context->uc_mcontext.gregs[REG_RIP] += UD2_SIZE;
	/* In rt_sigreturn() rip is after the trampoline's syscall, where musl has another function. */
	printf("stack: [restore] %s\n", interrupted(context));
	fflush(stdout);
}

static noinline void handler(int number __attribute__((unused)))
{
	void (*outer)(void) = victim;
	const char *above = callers;
	char text[250];

	if (nested) {
		snprintf(text, sizeof(text), "handler [restore] %s", interrupted(CONTEXT()));
		nested = 0;
		victim = victim_first;
		callers = text;
		victim_first();
		victim = outer;
		callers = above;
	}
	handled(CONTEXT());
	not_tail();
}

static noinline void interrupt(void (*function)(void), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags | SA_NODEFER };

	victim = function;
	callers = "interrupt " MAIN;
	/* So that a static program has it: with musl the linker puts it in front of the trampoline. */
	sigemptyset(&action.sa_mask);
	sigaction(SIGILL, &action, NULL);
	function();
	not_tail();
}

int main(void)
{
	static const int flags[] = { 0, SA_SIGINFO, SA_ONSTACK, SA_ONSTACK | SA_SIGINFO };
	stack_t other = { .ss_size = 65536, .ss_sp = malloc(65536) };
	size_t i;

	sigaltstack(&other, NULL);
	for (i = 0; i < 4; i++) {
		interrupt(victim_body, flags[i]);
		interrupt(victim_first, flags[i]);
		interrupt(victim_drap, flags[i]);
		nested = 1;
		interrupt(victim_body, flags[i]);
	}
	return 0;
}
