// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that no client makes: every operation of the spec with attributes that are
 * missing, doubled, of the wrong length, nested where they should not be, with values out
 * of range or taken from earlier replies; dumps that are left half read.
 *
 *	nl_fuzz COUNT [SEED]
 *
 * The module must answer each: by a reply, or by an error with a sentence.  At the end the module
 * must still work and free everything.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/beeunwind.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "guest.h"
#include "kselftest.h"
#include "nl_raw.h"
#include "random.h"

static int sock;
static struct raw_family family;
static pid_t pids[4];
static int fds[8];
static uint32_t pool32[16];
static uint64_t pool64[16];

static struct {
	unsigned long	sent, replied, refused, unanswered, silent, cut;
	unsigned long	done[NOPS];
} count;

static uint64_t rnd64(void)
{
	return (uint64_t)random_below(~0u) << 32 | random_below(~0u);
}

/*
 * Messages
 */

static uint64_t value_of(enum spec_kind kind)
{
	static const uint64_t odd[] = {
		0, 1, 2, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000ull,
		0x7fffffffffffffffull, 0x8000000000000000ull, ~0ull, 0x7ffffffff000ull, 4096,
	};

	if (!random_below(8))
		return odd[random_below(sizeof(odd) / sizeof(odd[0]))];
	switch (kind) {
	case SPEC_FD:
		return fds[random_below(8)];
	case SPEC_PID:
		return pids[random_below(4)];
	case SPEC_ADDRESS:
		return 0x7f0000000000ull + ((uint64_t)random_below(64) << 12) +
		       (random_below(16) ? 0 : random_below(4096));
	case SPEC_U64:
		return random_below(4) ? pool64[random_below(16)] : rnd64() >> random_below(64);
	default:
		return random_below(4) ? pool32[random_below(16)] : random_below(~0u) >> random_below(32);
	}
}

static void put_attrs(struct raw_message *m, const struct spec_set *set, int depth);

static void put_attr(struct raw_message *m, const struct spec_attr *attr, int depth)
{
	uint8_t junk[600];
	uint64_t value = value_of(attr->kind);
	uint16_t type = attr->type;
	uint32_t length, i;

	if (attr->kind == SPEC_NEST && depth < 6 && random_below(16)) {
		uint32_t before = m->h.nlmsg_len;
		struct nlattr *nest = raw_put(m, type | (random_below(4) ? NLA_F_NESTED : 0), "", 0);

		put_attrs(m, attr->nested, depth + 1);
		if (nest)
			nest->nla_len = random_below(64) ? m->h.nlmsg_len - before : random_below(200);
		return;
	}
	switch (attr->kind) {
	case SPEC_U64:
	case SPEC_ADDRESS:
		length = 8;
		break;
	case SPEC_FLAG:
		length = 0;
		break;
	case SPEC_TEXT:
		length = random_below(4) ? 1 + random_below(32) : random_below(sizeof(junk));
		break;
	default:
		length = 4;
	}
	for (i = 0; i < sizeof(junk); i++)
		junk[i] = attr->kind == SPEC_TEXT && random_below(50) ? 'a' + random_below(26) :
									random_below(256);
	if (attr->kind == SPEC_TEXT && random_below(8) && length)
		junk[length - 1] = 0;
	if (attr->kind != SPEC_TEXT)
		memcpy(junk, &value, sizeof(value));
	if (!random_below(24))
		length = random_below(32);
	if (!random_below(32))
		type = random_below(2) ? random_below(64) : random_below(65536);
	if (!random_below(64))
		type |= random_below(2) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER;
	raw_put(m, type, junk, length);
}

/*
 * Put mostly each attribute once and in order, for a range is refused otherwise; or half of them, as many
 * exclude each other.
 */
static void put_attrs(struct raw_message *m, const struct spec_set *set, int depth)
{
	size_t i, n = random_below(8) || !set->count ? set->count : random_below(3 * set->count);
	uint32_t leaves = random_below(2) ? 8 : 2;

	for (i = 0; i < n; i++) {
		const struct spec_attr *attr = &set->attrs[i < set->count && random_below(16) ? i
								: random_below(set->count)];
		uint32_t times = attr->kind == SPEC_NEST ? random_below(4) : !!random_below(leaves);

		while (times--)
			put_attr(m, attr, depth);
	}
}

static const struct spec_op *build(struct raw_message *m)
{
	const struct spec_op *op = &spec_ops[random_below(NOPS)];
	struct genlmsghdr *genl = (void *)(m->bytes + NLMSG_HDRLEN);
	bool dump = op->can_dump && (!op->can_do || random_below(2));

	memset(m->bytes, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	m->h.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	m->h.nlmsg_type = family.id;
	m->h.nlmsg_seq = count.sent + 1;
	m->h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (dump ? NLM_F_DUMP : 0);
	if (!random_below(64))
		m->h.nlmsg_flags ^= 1 << random_below(16);
	m->h.nlmsg_flags |= NLM_F_REQUEST;
	genl->cmd = random_below(64) ? op->cmd : random_below(256);
	genl->version = random_below(16) ? 1 : random_below(256);
	/* Attributes that are only in replies are refused, whatever is in the others. */
	put_attrs(m, random_below(8) ? op->asks :
		     random_below(4) ? op->set : spec_ops[random_below(NOPS)].set, 0);
	if (!random_below(64) && m->h.nlmsg_len > 24)
		m->h.nlmsg_len = 20 + random_below(m->h.nlmsg_len - 20);
	return op;
}

/*
 * Answers
 */

/* Keep numbers of a reply (ids, pids, addresses) for later requests. */
static void learn(const struct nlmsghdr *h)
{
	uint32_t at = NLMSG_HDRLEN + GENL_HDRLEN;

	while (at + NLA_HDRLEN <= h->nlmsg_len) {
		const struct nlattr *a = (const void *)((const uint8_t *)h + at);

		if (a->nla_len < NLA_HDRLEN || at + a->nla_len > h->nlmsg_len)
			guest_die("reply", "an attribute is longer than the message");
		if (a->nla_len == NLA_HDRLEN + 4)
			memcpy(&pool32[random_below(16)], a + 1, 4);
		if (a->nla_len == NLA_HDRLEN + 8)
			memcpy(&pool64[random_below(16)], a + 1, 8);
		at += NLA_ALIGN(a->nla_len);
	}
}

/* Errors that netlink makes and not the module; and ENOMEM, when a text may find no memory. */
static bool needs_no_words(int error)
{
	return error == ENOMEM || error == EOPNOTSUPP || error == ENOBUFS || error == EMSGSIZE;
}

/* @h: NLMSG_ERROR, or the NLMSG_DONE that ends a dump; both begin with the error. */
static void judge_end(const struct spec_op *op, const struct nlmsghdr *h)
{
	int error;

	memcpy(&error, h + 1, sizeof(error));
	if (!error) {
		count.replied++;
		count.done[op - spec_ops]++;
		return;
	}
	count.refused++;
	if (h->nlmsg_flags & NLM_F_ACK_TLVS || needs_no_words(-error))
		return;
	if (count.silent++ < 5)
		ksft_print_msg("%s refused without a word: %s (message %lu)\n", op->name,
			       strerror(-error), count.sent);
}

/* Read until the answer is complete, or @patience times. */
static void read_answer(const struct spec_op *op, uint32_t seq, uint32_t patience)
{
	static uint8_t buffer[65536] __attribute__((aligned(8)));

	while (patience--) {
		ssize_t left = recv(sock, buffer, sizeof(buffer), 0);
		const struct nlmsghdr *h = (const void *)buffer;

		if (left < 0) {
			count.unanswered++;
			return;
		}
		for (; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
			if ((h->nlmsg_type == NLMSG_ERROR && h->nlmsg_seq == seq) ||
			    h->nlmsg_type == NLMSG_DONE) {
				judge_end(op, h);
				return;
			}
			if (h->nlmsg_type == family.id)
				learn(h);
		}
	}
	count.cut++;
	sock = raw_open(sock);
}

static void fuzz_one(void)
{
	static struct raw_message m;
	const struct spec_op *op = build(&m);
	uint32_t length = m.h.nlmsg_len, seq = m.h.nlmsg_seq;
	bool asks_ack = m.h.nlmsg_flags & NLM_F_ACK;

	/* build() sometimes puts a wrong length into the header: netlink drops such a message. */
	if (send(sock, m.bytes, length, 0) != (ssize_t)length)
		guest_die("send", strerror(errno));
	count.sent++;
	if (length < NLMSG_HDRLEN + GENL_HDRLEN || !asks_ack || !random_below(200)) {
		count.cut++;
		sock = raw_open(sock);		/* also ends a dump half way */
		return;
	}
	read_answer(op, seq, random_below(50) ? 1000 : 1);
	if (!random_below(500))
		sock = raw_open(sock);
}

static void set_up_files(void)
{
	int ends[2];

	fds[0] = guest_table_fd("/bin/true");
	fds[1] = guest_table_fd("/bin/cat");
	fds[2] = open("/bin/true", O_RDONLY);
	fds[3] = open("/bin/cat", O_RDONLY);
	fds[4] = open("/", O_RDONLY);
	fds[5] = open("/dev/zero", O_RDWR);
	if (pipe(ends))
		exit(1);
	fds[6] = ends[0];
	fds[7] = open("/bin/true", O_PATH);
}

/*
 * Of these requests hardly any is right: one needs a cookie and a generation, the other a file and its
 * table, and nothing else.
 */
static bool hardly_succeeds(const struct spec_op *op)
{
	return op->cmd == BEEUNWIND_CMD_PROC_UPDATE || op->cmd == BEEUNWIND_CMD_TABLE_ADD;
}

/* Of so many requests. */
#define MANY	10000

static bool all_have_succeeded(void)
{
	bool all = true;
	size_t i;

	for (i = 0; i < NOPS; i++) {
		ksft_print_msg("%s: %lu done\n", spec_ops[i].name, count.done[i]);
		all = all && (count.done[i] || count.sent < MANY || hardly_succeeds(&spec_ops[i]));
	}
	return all;
}

/* Undo all that the requests have changed: configuration, processes, tables. */
static void clean_up(struct guest *g, const struct netlink_info *start)
{
	struct netlink_files tables = {};
	struct netlink_procs procs = {};
	size_t i;

	if (netlink_config_set(g->nl, BEEUNWIND_A_CONFIG_BUDGET, start->budget, &g->error) ||
	    netlink_config_set(g->nl, BEEUNWIND_A_CONFIG_SHARE, start->share, &g->error) ||
	    netlink_config_set(g->nl, BEEUNWIND_A_CONFIG_MOST_RANGES, start->most_ranges, &g->error) ||
	    netlink_config_set(g->nl, BEEUNWIND_A_CONFIG_HOOK, start->hook, &g->error) ||
	    netlink_config_set(g->nl, BEEUNWIND_A_CONFIG_FOLLOW, start->follow, &g->error) ||
	    netlink_config_set(g->nl, BEEUNWIND_A_CONFIG_ANNOUNCE, start->announce, &g->error) ||
	    netlink_procs_get(g->nl, 0, &procs, &g->error))
		guest_die("afterwards", g->error.text);
	for (i = 0; i < procs.count; i++)
		if (procs.proc[i].pid)
			netlink_proc_del(g->nl, procs.proc[i].pid, &g->error);
	netlink_procs_free(&procs);
	if (netlink_files_get(g->nl, &tables, &g->error))
		guest_die("table-get", g->error.text);
	for (i = 0; i < tables.count; i++)
		netlink_table_del(g->nl, tables.file[i].id, true, &g->error);
	netlink_files_free(&tables);
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0)
				 : (uint64_t)getpid() << 32 | time(NULL);
	struct netlink_info start;
	struct guest g = {};
	uint32_t id;
	int i;

	random_state = 2 * seed + 1;	/* not 0 */
	ksft_print_header();
	ksft_set_plan(4);
	guest_open(&g);
	guest_info(&g, &start);
	for (i = 0; i < 3; i++)
		pids[i] = guest_spawn(NULL, NULL);
	pids[3] = 2;
	set_up_files();
	sock = raw_open(sock);
	raw_find_family(sock, &family);
	while (count.sent < n) {
		/* Of two files that have lost their tables since; without one TABLE_DEL cannot succeed. */
		for (i = 0; !(count.sent % 1000) && i < 2; i++)
			netlink_table_add(g.nl, fds[i], fds[2 + i], &id, &g.error);
		fuzz_one();
	}
	ksft_print_msg("seed %#lx: %lu requests: %lu done, %lu refused, %lu cut off\n", seed,
		       count.sent, count.replied, count.refused, count.cut);
	ksft_test_result(!count.unanswered, "%lu requests are answered\n", count.sent);
	ksft_test_result(!count.silent, "and %lu refusals have a reason\n", count.refused);
	ksft_test_result(all_have_succeeded() && count.refused > n / 1000,
			 "some are refused, and some of each operation are not\n");
	sock = raw_open(sock);		/* also ends what holds until a close */
	clean_up(&g, &start);
	for (i = 0; i < 3; i++)
		guest_reap(pids[i]);
	ksft_test_result(guest_settles(&g, &start), "nothing of it remains\n");
	ksft_finished();
}
