// SPDX-License-Identifier: GPL-2.0
/*
 * The module can be loaded and unloaded, and works, while something else is attached to
 * perf_callchain_user(): a kprobe, the function tracer, an fentry program, a live patch.
 *
 *	hook_test DEEP_WORK ROUNDS
 *
 * Loads and unloads the module itself.  BEE_KO names it, BEE_TEST_KO the directory of
 * bee_livepatch.ko.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/btf.h>

#include "chains.h"
#include "guest.h"
#include "kselftest.h"

#define TARGET	"perf_callchain_user"
#define DEFERRED	"unwind_user"
#define TRACING	"/sys/kernel/tracing/"
#define PATCH	"/sys/kernel/livepatch/bee_livepatch"
/* The single entry that bee_livepatch.c stores instead of a callchain. */
#define MARK	0x5eed0000beefull
#define SAMPLES	100

static struct guest g;
static int table_fd, exe_fd;
static pid_t deep;

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	ssize_t length = strlen(text);
	int ret = fd < 0 || write(fd, text, length) != length ? -1 : 0;
	int error = errno;

	if (ret)
		ksft_print_msg("%s: %s\n", path, strerror(error));
	if (fd >= 0)
		close(fd);
	errno = error;
	return ret;
}

static bool has(const char *path, const char *word)
{
	char line[4096];
	FILE *file = fopen(path, "r");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, word);
	if (file)
		fclose(file);
	return found;
}

/* The functions that ftrace has hooked, and how often. */
struct hooks {
	char	text[1 << 16];
};

static void hooks_read(struct hooks *h)
{
	FILE *file = fopen(TRACING "enabled_functions", "r");
	char line[4096], name[256], times[32];
	size_t end = 0;

	memset(h, 0, sizeof(*h));
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%255s %31s", name, times) == 2 && end < sizeof(h->text) / 2)
			end += sprintf(h->text + end, "%s %s\n", name, times);
	if (!file)
		guest_die(TRACING "enabled_functions", strerror(errno));
	fclose(file);
}

/* Whether they become those of @before again: the kernel detaches a BPF program in a worker. */
static bool hooks_return(const struct hooks *before)
{
	const long deadline = guest_deadline();
	static struct hooks now;

	do {
		hooks_read(&now);
		if (!strcmp(now.text, before->text))
			return true;
	} while (guest_waits(deadline));
	ksft_print_msg("hooked before:\n%sand now:\n%s", before->text, now.text);
	return false;
}

static int module_in(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = fd < 0 ? -1 : syscall(SYS_finit_module, fd, "", 0);

	if (ret)
		ksft_print_msg("%s: %s\n", path, strerror(errno));
	close(fd);
	return ret;
}

/* Unload a module; retry while somebody holds a reference to it, which is dropped soon. */
static int module_out(const char *name)
{
	const long deadline = guest_deadline();
	int error;

	do {
		if (!syscall(SYS_delete_module, name, O_NONBLOCK))
			return 0;
		error = errno;
	} while ((error == EAGAIN || error == EBUSY) && guest_waits(deadline));
	ksft_print_msg("%s: %s\n", name, strerror(error));
	return -1;
}

static int bee_out(void)
{
	netlink_close(g.nl);
	g.nl = NULL;
	return module_out("beeunwind");
}

/* Load the module, and give it deep_work's table and ranges. */
static int bee_in(void)
{
	uint32_t id;

	if (module_in(getenv("BEE_KO")))
		return -1;
	guest_open(&g);
	if (netlink_table_add(g.nl, table_fd, exe_fd, &id, &g.error))
		guest_die("table-add", g.error.text);
	guest_add(&g, deep);
	return 0;
}

/* The program runs only while its stacks are taken, and leaves the CPU to the rest of the test. */
static void take(struct chains *c)
{
	kill(deep, SIGCONT);
	chains_take(deep, SAMPLES, MARK, c);
	kill(deep, SIGSTOP);
}

static bool take_deferred(unsigned int samples, struct chains *c)
{
	bool known;

	kill(deep, SIGCONT);
	known = chains_take_deferred(deep, samples, MARK, c);
	kill(deep, SIGSTOP);
	return known;
}

/*
 * Do all but 1 % of the stacks reach _start, as they do when nothing else is attached?  A page that is absent for
 * a moment can make it more in one take; then a second take is added to it.
 */
static bool complete(const char *when)
{
	struct chains c, more;

	take(&c);
	if (c.complete * 100 < c.total * 99) {
		take(&more);
		c.total += more.total;
		c.complete += more.complete;
		c.marked += more.marked;
	}
	if (c.total >= SAMPLES && c.complete * 100 >= c.total * 99 && !c.marked)
		return true;
	ksft_print_msg("%s: of %u stacks %u complete, %u of the live patch\n", when, c.total,
		       c.complete, c.marked);
	return false;
}

static bool not_ours(const char *when, bool patched)
{
	struct chains c;

	take(&c);
	if (c.total >= SAMPLES && c.complete * 2 < c.total && (c.marked == c.total) == patched)
		return true;
	ksft_print_msg("%s: of %u stacks %u complete, %u of the live patch\n", when, c.total,
		       c.complete, c.marked);
	return false;
}

/*
 * What else can be attached to the function
 */

static int kprobe_on(void)
{
	return put(TRACING "kprobe_events", "p:bee/callchain " TARGET "\n") ||
	       put(TRACING "events/bee/callchain/enable", "1");
}

static int kprobe_off(void)
{
	return put(TRACING "events/bee/callchain/enable", "0") ||
	       put(TRACING "kprobe_events", "\n");
}

static bool kprobe_fired(void)
{
	return has(TRACING "trace", "callchain: (" TARGET);
}

static int tracer_on(void)
{
	return put(TRACING "set_ftrace_filter", TARGET "\n") ||
	       put(TRACING "current_tracer", "function");
}

static int tracer_off(void)
{
	return put(TRACING "current_tracer", "nop") || put(TRACING "set_ftrace_filter", "\n");
}

static bool tracer_fired(void)
{
	return has(TRACING "trace", TARGET " <-");
}

/* The bytes that follow a struct btf_type; <linux/btf.h> tells them above each structure. */
static size_t btf_extra(const struct btf_type *type)
{
	static const uint8_t fixed[NR_BTF_KINDS] = {
		[BTF_KIND_INT] = 4, [BTF_KIND_ARRAY] = sizeof(struct btf_array),
		[BTF_KIND_VAR] = sizeof(struct btf_var),
		[BTF_KIND_DECL_TAG] = sizeof(struct btf_decl_tag),
	};
	static const uint8_t each[NR_BTF_KINDS] = {
		[BTF_KIND_STRUCT] = sizeof(struct btf_member),
		[BTF_KIND_UNION] = sizeof(struct btf_member),
		[BTF_KIND_ENUM] = sizeof(struct btf_enum),
		[BTF_KIND_ENUM64] = sizeof(struct btf_enum64),
		[BTF_KIND_FUNC_PROTO] = sizeof(struct btf_param),
		[BTF_KIND_DATASEC] = sizeof(struct btf_var_secinfo),
	};
	unsigned int kind = BTF_INFO_KIND(type->info);

	return fixed[kind] + each[kind] * BTF_INFO_VLEN(type->info);
}

/* The BTF id of the function, or 0. */
static uint32_t btf_find(const uint8_t *btf, size_t size, const char *name)
{
	const struct btf_header *header = (const void *)btf;
	const char *names;
	const uint8_t *at, *end;
	uint32_t id;

	if (size < sizeof(*header) || header->magic != BTF_MAGIC)
		return 0;
	at = btf + header->hdr_len + header->type_off;
	end = at + header->type_len;
	names = (const char *)btf + header->hdr_len + header->str_off;
	for (id = 1; at < end; id++) {
		const struct btf_type *type = (const void *)at;

		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    !strcmp(names + type->name_off, name))
			return id;
		at += sizeof(*type) + btf_extra(type);
	}
	return 0;
}

static uint32_t btf_id(void)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY);
	size_t size = 0, room = 32 << 20;
	uint8_t *btf = malloc(room);
	ssize_t got;
	uint32_t id;

	while (fd >= 0 && (got = read(fd, btf + size, room - size)) > 0)
		size += got;
	close(fd);
	id = btf_find(btf, size, TARGET);
	free(btf);
	return id;
}

static int bpf_program = -1, bpf_link = -1;

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* Load the program "return 0"; the kernel counts its runs. */
static int bpf_load(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	static char log[65536];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = BPF_TRACE_FENTRY,
		.insns = (uintptr_t)insns,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
		.attach_btf_id = btf_id(),
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};

	bpf_program = bpf(BPF_PROG_LOAD, &attr);
	if (bpf_program < 0)
		ksft_print_msg("fentry: %s: %s\n", strerror(errno), log);
	return bpf_program < 0 ? -1 : 0;
}

static int bpf_on(void)
{
	union bpf_attr attr = {};

	if (bpf_load() || put("/proc/sys/kernel/bpf_stats_enabled", "1"))
		return -1;
	attr.raw_tracepoint.prog_fd = bpf_program;
	bpf_link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	if (bpf_link < 0)
		ksft_print_msg("fentry: attaching: %s\n", strerror(errno));
	return bpf_link < 0 ? -1 : 0;
}

static int bpf_off(void)
{
	int failed = put("/proc/sys/kernel/bpf_stats_enabled", "0");

	return close(bpf_link) || close(bpf_program) || failed;
}

static bool bpf_fired(void)
{
	struct bpf_prog_info info = {};
	union bpf_attr attr = {
		.info.bpf_fd = bpf_program, .info.info_len = sizeof(info),
		.info.info = (uintptr_t)&info,
	};

	return !bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) && info.run_cnt;
}

static const char *bpf_missing(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) ? "this kernel has no BTF" : NULL;
}

static void livepatch_ko(char path[4096])
{
	snprintf(path, 4096, "%s/bee_livepatch.ko", getenv("BEE_TEST_KO"));
}

/* The kernel ends the transition once it has seen every task outside the patched function. */
static int livepatch_on(void)
{
	char path[4096];
	long deadline;

	livepatch_ko(path);
	if (module_in(path))
		return -1;
	deadline = guest_deadline();
	while (!has(PATCH "/transition", "0"))
		if (!guest_waits(deadline))
			return -1;
	return 0;
}

static int livepatch_off(void)
{
	long deadline;

	if (put(PATCH "/enabled", "0"))
		return -1;
	deadline = guest_deadline();
	while (!access(PATCH, F_OK))
		if (!guest_waits(deadline))
			return -1;
	return module_out("bee_livepatch");
}

static const char *livepatch_missing(void)
{
	char path[4096];

	/*
	 * The kernel calls klp_check_stack(), which warns if preemption is on, with tasklist_lock held.
	 * With PREEMPT_RT that lock leaves preemption on; and without lockdep there is no warning.
	 */
	if (guest_is_rt() && !access("/proc/lockdep", F_OK))
		return "with PREEMPT_RT and lockdep klp_check_stack() warns that preemption is on";
	livepatch_ko(path);
	return access(path, R_OK) ? "this kernel has no live patches" : NULL;
}

/**
 * struct neighbour - something else that attaches to the function
 * @name: the name that is printed
 * @on: attaches it
 * @off: detaches it
 * @fired: whether it has seen a call since @on; NULL: it replaces the function
 * @missing: returns why this kernel does not have it, or NULL; NULL: every kernel has it
 */
static const struct neighbour {
	const char	*name;
	int		(*on)(void);
	int		(*off)(void);
	bool		(*fired)(void);
	const char	*(*missing)(void);
} neighbours[] = {
	{ "a kprobe", kprobe_on, kprobe_off, kprobe_fired, NULL },
	{ "the function tracer", tracer_on, tracer_off, tracer_fired, NULL },
	{ "an fentry program", bpf_on, bpf_off, bpf_fired, bpf_missing },
	{ "a live patch", livepatch_on, livepatch_off, NULL, livepatch_missing },
};

#define NNEIGHBOURS	(sizeof(neighbours) / sizeof(neighbours[0]))

static bool works(const struct neighbour *n)
{
	bool fired = !n->fired || n->fired();

	if (!fired)
		ksft_print_msg("%s has seen nothing\n", n->name);
	return fired;
}

/* The neighbour attaches before the module is loaded, and stays when the module is unloaded. */
static bool comes_first(const struct neighbour *n)
{
	return !n->on() && !bee_in() && complete("it came first") && works(n) &&
	       !bee_out() && not_ours("the module is gone", !n->fired) && works(n) &&
	       !bee_in() && complete("the module is back") && !n->off() &&
	       complete("it is gone");
}

/* The neighbour attaches to the loaded module twice; the second time the module goes first. */
static bool comes_later(const struct neighbour *n)
{
	return !n->on() && complete("it came later") && works(n) && !n->off() &&
	       complete("it went again") && !n->on() && !bee_out() &&
	       not_ours("the module went first", !n->fired) && works(n) && !n->off() &&
	       not_ours("both are gone", false);
}

static void beside(const struct neighbour *n, int rounds)
{
	const char *why = n->missing ? n->missing() : NULL;
	bool ok = true;
	int i;

	if (why) {
		ksft_test_result_skip("beside %s # SKIP %s\n", n->name, why);
		return;
	}
	for (i = 0; ok && i < rounds; i++) {
		put(TRACING "trace", "");
		ok = comes_first(n) && comes_later(n);
	}
	ksft_test_result(ok, "beside %s\n", n->name);
	if (ok)
		return;
	/* What a failed test leaves attached or loaded would make the next one fail. */
	n->off();
	if (g.nl)
		bee_out();
}

/* At most one in @least deferred stacks is not complete; or with @least 0 at most half are. */
static bool deferred_are(const char *when, unsigned int least)
{
	struct chains c;

	take_deferred(SAMPLES, &c);
	ksft_print_msg("%s: of %u deferred stacks %u complete\n", when, c.total, c.complete);
	if (c.total < SAMPLES)
		return false;
	return least ? (c.total - c.complete) * least <= c.total : c.complete * 2 < c.total;
}

/*
 * Stacks that the kernel walks when the process returns to user space, beside the function tracer
 * too, which has ftrace call all callbacks from one function, with preemption off.
 */
static void deferred(void)
{
	struct chains c;
	bool ok;

	if (!take_deferred(1, &c)) {
		ksft_test_result_skip("deferred stacks # SKIP this kernel has none\n");
		return;
	}
	ok = deferred_are("without the module", 0);
	ok = !bee_in() && ok;
	ok = deferred_are("with it", 100) && complete("plain stacks") && ok;
	put(TRACING "trace", "");
	ok = !put(TRACING "set_ftrace_filter", DEFERRED "\n") &&
	     !put(TRACING "current_tracer", "function") && ok;
	ok = deferred_are("beside the function tracer", 100) && ok;
	ok = has(TRACING "trace", DEFERRED " <-") && ok;
	ok = !tracer_off() && ok;
	ok = !bee_out() && ok;
	ok = deferred_are("the module is gone", 0) && ok;
	ksft_test_result(ok, "deferred stacks\n");
}

/*
 * ftrace refuses to be switched off while the module's hooks that follow mappings are placed.  Since
 * Linux 7.0 it always refuses.
 */
static void ftrace_stays_on(void)
{
	const char *path = "/proc/sys/kernel/ftrace_enabled";
	bool always = put(path, "0") && errno == EOPNOTSUPP;
	bool ok = always || !put(path, "1");

	ok = !bee_in() && ok;
	ok = ok && put(path, "0") && errno == (always ? EOPNOTSUPP : EBUSY) && has(path, "1") &&
	     complete("ftrace stayed on");
	if (always) {
		ok = !bee_out() && ok;
	} else {
		ok = !put(path, "1") && !bee_out() && ok;
		ok = ok && !put(path, "0");
		ok = !put(path, "1") && ok;
	}
	ksft_test_result(ok, "kernel.ftrace_enabled=0 is refused while the module is there\n");
}

static void start_work(const char *path)
{
	int ready[2];
	char byte;

	table_fd = guest_table_fd(path);
	exe_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (pipe2(ready, O_CLOEXEC) || exe_fd < 0 || (deep = fork()) < 0)
		guest_die(path, strerror(errno));
	if (!deep) {
		dup2(ready[1], STDOUT_FILENO);
		execl(path, path, NULL);
		_exit(1);
	}
	if (read(ready[0], &byte, 1) != 1)
		guest_die(path, "did not start");
	kill(deep, SIGSTOP);
}

int main(int argc, char **argv)
{
	static struct hooks before;
	size_t i;

	ksft_print_header();
	if (argc != 3 || !getenv("BEE_KO") || !getenv("BEE_TEST_KO"))
		guest_die("start", "no argument, BEE_KO or BEE_TEST_KO");
	ksft_set_plan(NNEIGHBOURS + 3);
	hooks_read(&before);
	start_work(argv[1]);
	for (i = 0; i < NNEIGHBOURS; i++)
		beside(&neighbours[i], atoi(argv[2]));
	deferred();
	ftrace_stays_on();
	ksft_test_result(hooks_return(&before), "nothing of it remains\n");
	kill(deep, SIGKILL);
	waitpid(deep, NULL, 0);
	ksft_finished();
}
