// SPDX-License-Identifier: GPL-2.0
/*
 * From addresses to names.  Each file is opened once, in a process of its own: a file made to crash
 * or delay who reads it costs its own names only.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "alloc.h"
#include "answer.h"
#include "child.h"
#include "cursor.h"
#include "order.h"
#include "parallel.h"
#include "resolve.h"

/* What the names of one file may cost: seconds of CPU time.  The limit of memory is CHILD_MEMORY. */
#define RESOLVE_SECONDS		600

/* What its answer may have at most: bytes for each address, and beside. */
#define RESOLVE_ANSWER_EACH	4096u
#define RESOLVE_ANSWER_BYTES	(1u << 20)
#define RESOLVE_ANSWER_MOST	(256u << 20)	/* in all */

/* Warnings that are given; the others are counted: there may be one for each process. */
#define RESOLVE_WARNINGS	16

/* A frame to sort: in which file, at which address. */
struct wanted_frame {
	u32			index;
	struct profile_frame	frame;
};

/**
 * struct resolver - the work
 * @resolve: from the caller
 * @wanted: all frames, by file and address
 * @frames: of the profile
 * @question: one for each file that has any
 * @start: for each question, index in @wanted of its first frame
 * @count: number of questions
 * @name: for each frame, index in @found of its first name
 * @found: names in the order in which they came, and INTERN_NONE after the last of each frame
 * @nfound: entries in @found
 * @room: entries of @found there is memory for
 * @warnings: about files whose names are missing or may be wrong
 */
struct resolver {
	struct resolve		*resolve;
	struct wanted_frame	*wanted;
	struct profile_frame	*frames;
	struct question		*question;
	size_t			*start;
	size_t			 count;
	size_t			*name;
	u32			*found;
	size_t			 nfound;
	size_t			 room;
	size_t			 warnings;
};

/* The texts that a child has written as answers, in that child. */
static struct texts answer_texts;

/* The number of a text.  One that is too long ends with "...", after a whole character. */
static u32 answer_text(const char *text)
{
	size_t size = strnlen(text, ANSWER_MAX_TEXT + 1);
	char cut[ANSWER_MAX_TEXT];

	if (size <= ANSWER_MAX_TEXT)
		return texts_add(&answer_texts, text, size);
	size = ANSWER_MAX_TEXT - 3;
	while (size && (text[size] & 0xc0) == 0x80)
		size--;
	memcpy(cut, text, size);
	memcpy(cut + size, "...", 3);
	return texts_add(&answer_texts, cut, size + 3);
}

/** answer_put() - write a name; @source may be NULL */
void answer_put(FILE *out, struct answer answer, const char *text, const char *source)
{
	u32 number = answer_texts.index.count;

	answer.text = answer_text(text);
	answer.source = answer_text(source ?: "");
	fwrite(&answer, sizeof(answer), 1, out);
	for (; number < answer_texts.index.count; number++) {
		const char *added = texts_get(&answer_texts, number);
		u32 size = strlen(added);

		fwrite(&size, sizeof(size), 1, out);
		fwrite(added, 1, size, out);
	}
}

/** answer_warn() - write, after all names, why some could not be found */
void answer_warn(FILE *out, const char *format, ...)
{
	struct bee_error why = { 0 };
	va_list args;

	va_start(args, format);
	vsnprintf(why.text, sizeof(why.text), format, args);
	va_end(args);
	fwrite(why.text, 1, sizeof(why.text), out);
}

/**
 * answer_limit() - limit this process, which is to read one file, to what its names may cost
 * @out: takes them; all else that is open is closed, as child_let_go() does
 */
void answer_limit(FILE *out)
{
	const struct rlimit cpu = { RESOLVE_SECONDS, RESOLVE_SECONDS };

	child_let_go(out, NULL, 0);
	setrlimit(RLIMIT_CPU, &cpu);
	signal(SIGALRM, SIG_DFL);	/* it is progress_begin()'s in the parent */
	alarm(2 * RESOLVE_SECONDS);	/* a file system can be slow without end */
	child_limit_memory(CHILD_MEMORY);
}

/** answer_is_outermost() - do programs, threads or the kernel's own threads begin with it? */
bool answer_is_outermost(const char *name)
{
	static const char *const names[] = {
		"_start", "__start", "_dl_start_user", "clone", "__clone", "clone3", "__clone3",
		"__clone_internal", "__GI___clone", "__GI___clone3", "ret_from_fork",
		"ret_from_fork_asm", "runtime.goexit", "runtime.goexit.abi0", "runtime.mstart",
		"runtime.mstart.abi0", "_rt0_amd64_linux", "_rt0_amd64", "runtime.rt0_go",
		"runtime.rt0_go.abi0", "secondary_startup_64_no_verify", "secondary_startup_64",
		"common_startup_64", "x86_64_start_kernel", "start_thread_start",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static int wanted_compare(const void *a, const void *b)
{
	const struct wanted_frame *x = a, *y = b;

	return order(x->frame.file, y->frame.file) ?: order(x->frame.offset, y->frame.offset) ?:
	       order(x->frame.exact, y->frame.exact);
}

static void resolver_sort(struct resolver *resolver)
{
	const struct profile *profile = resolver->resolve->profile;
	u32 i, count = profile->frames.count;

	resolver->wanted = alloc_array(NULL, count + 1, sizeof(*resolver->wanted));
	resolver->frames = alloc_array(NULL, count + 1, sizeof(*resolver->frames));
	resolver->name = alloc_zero(count + 1, sizeof(*resolver->name));
	for (i = 0; i < count; i++)
		resolver->wanted[i] = (struct wanted_frame){ i, *profile_frame(profile, i) };
	if (count)
		qsort(resolver->wanted, count, sizeof(*resolver->wanted), wanted_compare);
	for (i = 0; i < count; i++)
		resolver->frames[i] = resolver->wanted[i].frame;
}

static void resolver_ask(struct resolver *resolver, u32 file, size_t first, size_t count)
{
	const struct resolve *resolve = resolver->resolve;
	const struct profile *profile = resolve->profile;
	const struct profile_file *asked = profile_file(profile, file);

	resolver->start[resolver->count] = first;
	resolver->question[resolver->count++] = (struct question){
		.file = *asked, .path = profile_get_text(profile, asked->path),
		.build_id = profile_get_text(profile, asked->build_id),
		.jitdump = profile_get_text(profile, asked->jitdump),
		.frame = resolver->frames + first, .count = count,
		.inlines = resolve->inlines, .lines = resolve->lines, .root = resolve->root,
		.kallsyms = resolve->kallsyms,
		.kernel_symbol = profile_get_text(profile, profile->kernel_symbol),
		.kernel_address = profile->kernel_address,
	};
}

/* One question for each file that has addresses. */
static void resolver_divide(struct resolver *resolver)
{
	const struct profile *profile = resolver->resolve->profile;
	size_t first, end, count = profile->frames.count;

	resolver->question = alloc_zero(profile->files.count + 1, sizeof(*resolver->question));
	resolver->start = alloc_zero(profile->files.count + 1, sizeof(*resolver->start));
	for (first = 0; first < count; first = end) {
		u32 file = resolver->wanted[first].frame.file;

		for (end = first; end < count && resolver->wanted[end].frame.file == file; end++)
			;
		if (profile_file(profile, file)->kind <= PROFILE_JIT)
			resolver_ask(resolver, file, first, end - first);
	}
}

/* Find the names of one file; called in a child. */
static void resolver_work(void *arg, size_t index, FILE *out)
{
	static void (*const find[])(const struct question *question, FILE *out) = {
		[PROFILE_ELF] = elf_names_find, [PROFILE_KERNEL] = kernel_names_find,
		[PROFILE_JIT] = jit_names_find,
	};
	const struct resolver *resolver = arg;
	const struct question *question = &resolver->question[index];

	answer_limit(out);
	texts_open(&answer_texts);
	texts_add(&answer_texts, "", 0);	/* must be number 0 */
	find[question->file.kind](question, out);
}

static size_t resolver_limit(const void *arg, size_t index)
{
	const struct resolver *resolver = arg;
	size_t bytes = RESOLVE_ANSWER_BYTES + RESOLVE_ANSWER_EACH * resolver->question[index].count;

	return bytes < RESOLVE_ANSWER_MOST ? bytes : RESOLVE_ANSWER_MOST;
}

/**
 * answer_owner() - for whom a child that reads a file is counted, by child_may_start()
 * @file: the file
 *
 * Return: as child_owner(), of a process that has the file mapped; 0, so that it is not counted, if the recording
 * knows of no such process that still runs.
 */
uid_t answer_owner(const struct profile_file *file)
{
	u32 pid = file->kind == PROFILE_JIT ? file->pid : file->mapper;
	uid_t owner = pid && !file->ended ? child_owner(pid) : 0;

	return owner == (uid_t)-1 ? 0 : owner;
}

static uid_t resolver_owner(const void *arg, size_t index)
{
	const struct resolver *resolver = arg;

	return answer_owner(&resolver->question[index].file);
}

/* The name of the last part of a path. */
static const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/** answer_nameless() - what is called by its place, @offset bytes from the start of a file: for free() */
char *answer_nameless(const char *path, u64 offset)
{
	char *text;

	if (asprintf(&text, *path == '[' ? "%.200s+%#llx" : "[%.200s]+%#llx", path_base(path),
		     (unsigned long long)offset) < 0)
		alloc_check(NULL, 0);
	return text;
}

static u32 resolver_module(const struct resolver *resolver, u32 file)
{
	static const char *const names[] = {
		[PROFILE_KERNEL] = "[kernel]", [PROFILE_JIT] = "[jit]", [PROFILE_UNKNOWN] = "",
		[PROFILE_COMM] = "", [PROFILE_EVENT] = "",
	};
	struct profile *profile = resolver->resolve->profile;
	const struct profile_file *named = profile_file(profile, file);

	return named->kind == PROFILE_ELF ? named->path : profile_text(profile, names[named->kind]);
}

/**
 * flame_name_add() - add a name, unless it is there
 * @names: table of struct flame_name
 * @name: the name; copied.  If @names has it already, but with the path of another file as its module, the
 *	function sets the module of that entry to "": functions of several files have this name.
 * @profile: has the texts whose numbers are in @name
 *
 * Return: its index in @names.
 */
u32 flame_name_add(struct intern *names, const struct flame_name *name, struct profile *profile)
{
	u32 number = intern_add(names, name);
	struct flame_name *known = intern_item(names, number);

	if (known->module != name->module)
		known->module = profile_text(profile, "");
	return number;
}

static void resolver_found(struct resolver *resolver, u32 number)
{
	resolver->found = alloc_room(resolver->found, resolver->nfound, &resolver->room,
				     sizeof(*resolver->found));
	resolver->found[resolver->nfound++] = number;
}

/* Give an address that has no name one that says where it is: "[file]+0xoffset", or "[unknown]". */
static void resolver_name_unknown(struct resolver *resolver, const struct profile_frame *frame)
{
	struct profile *profile = resolver->resolve->profile;
	const struct profile_file *file = profile_file(profile, frame->file);
	struct flame_name name = { .kind = FLAME_UNKNOWN, .module = resolver_module(resolver, frame->file) };

	if (file->kind == PROFILE_COMM) {
		name.kind = FLAME_COMM;
		name.text = frame->offset;
	} else {
		char *text = file->kind > PROFILE_JIT ? alloc_text("[unknown]") :
			     answer_nameless(profile_get_text(profile, name.module), frame->offset);

		name.text = profile_text(profile, text);
		free(text);
		if (file->kind == PROFILE_KERNEL)
			name.kind = FLAME_KERNEL;
	}
	name.source = profile_text(profile, "");
	resolver_found(resolver, flame_name_add(&resolver->resolve->names, &name, profile));
}

/**
 * struct answers - what one child has written
 * @cursor: the part of it that has not been read
 * @text: for each number of a text in the child's answers, the number of that text in the profile
 * @texts: entries in @text
 * @room: entries of @text there is memory for
 */
struct answers {
	struct cursor	 cursor;
	u32		*text;
	size_t		 texts;
	size_t		 room;
};

static void answers_add_text(struct answers *answers, struct profile *profile, const u8 *text,
			     size_t size)
{
	answers->text = alloc_room(answers->text, answers->texts, &answers->room,
				   sizeof(*answers->text));
	answers->text[answers->texts++] = texts_add(&profile->texts, (const char *)text, size);
}

/* The profile's text for a number, which may follow. */
static u32 answers_text(struct answers *answers, struct profile *profile, u32 number)
{
	struct cursor *c = &answers->cursor;

	if (number == answers->texts) {
		u32 size = cursor_u32(c);
		const u8 *text = cursor_take(c, size);

		if (text)
			answers_add_text(answers, profile, text, size);
	}
	c->bad |= number >= answers->texts;
	return c->bad ? 0 : answers->text[number];
}

/* Take one answer.  Return: whether another one follows for the same address. */
static bool resolver_take_name(struct resolver *resolver, u32 index, struct answers *answers)
{
	struct profile *profile = resolver->resolve->profile;
	const struct profile_frame *frame = profile_frame(profile, index);
	const u8 *bytes = cursor_take(&answers->cursor, sizeof(struct answer));
	struct flame_name name = { 0 };
	struct answer answer;

	if (!bytes)
		return false;
	memcpy(&answer, bytes, sizeof(answer));
	name.text = answers_text(answers, profile, answer.text);
	name.source = answers_text(answers, profile, answer.source);
	if (answers->cursor.bad || answer.kind >= FLAME_KINDS)
		return false;
	resolver->resolve->outermost[index] |= answer.outermost;
	resolver->resolve->unread[index] |= answer.unread;
	if (!answer.text) {
		resolver_name_unknown(resolver, frame);
		return answer.more;
	}
	name.kind = answer.kind;
	resolver->resolve->nameless[index] |= answer.kind == FLAME_UNKNOWN;
	if (resolver->resolve->lines)
		name.line = answer.line;
	else
		name.source = profile_text(profile, "");
	name.module = resolver_module(resolver, frame->file);
	resolver_found(resolver, flame_name_add(&resolver->resolve->names, &name, profile));
	return answer.more;
}

/* What a child has written: names of its addresses in their order, then a warning or nothing. */
static void resolver_done(void *arg, size_t index, const void *data, size_t size,
			  const char *died)
{
	struct resolver *resolver = arg;
	const struct question *question = &resolver->question[index];
	struct answers answers = { .cursor = cursor_of(data, size) };
	struct bee_error why = { 0 };
	const u8 *warning;
	char process[32];
	size_t i;

	answers_add_text(&answers, resolver->resolve->profile, (const u8 *)"", 0);
	for (i = 0; i < question->count; i++) {
		u32 frame = resolver->wanted[resolver->start[index] + i].index;
		size_t before = resolver->nfound;

		resolver->name[frame] = before;
		while (resolver_take_name(resolver, frame, &answers))
			;
		if (resolver->nfound == before) {
			resolver->resolve->unread[frame] = true;
			resolver_name_unknown(resolver, profile_frame(resolver->resolve->profile, frame));
		}
		resolver_found(resolver, INTERN_NONE);
	}
	free(answers.text);
	warning = cursor_take(&answers.cursor, sizeof(why.text));
	if (warning)
		memcpy(why.text, warning, sizeof(why.text) - 1);
	else if (died)
		error_set(&why, 0, "names are missing: the process that looks for them was %s", died);
	snprintf(process, sizeof(process), "process %u", question->file.pid);
	if (*why.text && resolver->resolve->warn && ++resolver->warnings <= RESOLVE_WARNINGS)
		resolver->resolve->warn(question->file.kind == PROFILE_KERNEL ? "kernel" :
					question->file.kind == PROFILE_JIT ? process :
					question->path, why.text);
}

static void resolver_progress(void *arg, size_t ready, size_t index)
{
	struct resolver *resolver = arg;

	if (resolver->resolve->progress)
		resolver->resolve->progress(ready, resolver->count,
					    resolver->question[index].path);
}

/* The names of all frames in the order of the frames. */
static void resolver_gather(struct resolver *resolver)
{
	struct resolve *resolve = resolver->resolve;
	u32 i, count = resolve->profile->frames.count;
	size_t at;

	resolve->first = alloc_array(NULL, count + 1, sizeof(*resolve->first));
	for (i = 0; i < count; i++) {
		resolve->first[i] = resolve->chained;
		if (profile_file(resolve->profile, profile_frame(resolve->profile, i)->file)->kind >
		    PROFILE_JIT) {
			resolver->name[i] = resolver->nfound;
			resolver_name_unknown(resolver, profile_frame(resolve->profile, i));
			resolver_found(resolver, INTERN_NONE);
		}
		for (at = resolver->name[i]; resolver->found[at] != INTERN_NONE; at++) {
			resolve->chain = alloc_room(resolve->chain, resolve->chained,
						    &resolve->room, sizeof(*resolve->chain));
			resolve->chain[resolve->chained++] = resolver->found[at];
		}
	}
	resolve->first[count] = resolve->chained;
}

/**
 * resolve_run() - find the names of all addresses of a profile
 * @resolve: what to look up, and how; the function fills @names, @first, @chain and @outermost
 * @error: filled on failure
 *
 * Return: 0; or -1 if no process can be started.
 */
int resolve_run(struct resolve *resolve, struct bee_error *error)
{
	struct resolver resolver = { .resolve = resolve };
	const struct parallel parallel = {
		.jobs = resolve->jobs, .arg = &resolver, .work = resolver_work,
		.limit = resolver_limit, .owner = resolver_owner, .patience = ANSWER_PATIENCE, .done = resolver_done,
		.progress = resolver_progress,
	};
	struct parallel work = parallel;
	struct bee_error why;
	int ret;

	resolve->names = (struct intern)INTERN_OF(struct flame_name, module);
	resolve->outermost = alloc_zero(resolve->profile->frames.count + 1, 1);
	resolve->unread = alloc_zero(resolve->profile->frames.count + 1, 1);
	resolve->nameless = alloc_zero(resolve->profile->frames.count + 1, 1);
	resolver_sort(&resolver);
	resolver_divide(&resolver);
	work.count = resolver.count;
	ret = parallel_run(&work);
	if (ret)
		error_set(error, errno, "cannot start a process: %s", strerror(errno));
	else
		resolver_gather(&resolver);
	if (resolver.warnings > RESOLVE_WARNINGS) {
		error_set(&why, 0, "%zu more warnings about files and processes like these",
			  resolver.warnings - RESOLVE_WARNINGS);
		resolve->warn(NULL, why.text);
	}
	free(resolver.wanted);
	free(resolver.frames);
	free(resolver.question);
	free(resolver.start);
	free(resolver.name);
	free(resolver.found);
	return ret;
}

void resolve_free(struct resolve *resolve)
{
	intern_free(&resolve->names);
	free(resolve->first);
	free(resolve->chain);
	free(resolve->outermost);
	free(resolve->unread);
	free(resolve->nameless);
	resolve->first = resolve->chain = NULL;
	resolve->outermost = resolve->unread = resolve->nameless = NULL;
}
