// SPDX-License-Identifier: GPL-2.0
/*
 * Tries every request of the spec, and the multicast group.
 *
 *	nl_denied		without any capability: each must be refused with EPERM, whatever is in it
 *	nl_denied granted	with CAP_PERFMON: no request may be refused with EPERM, but the group
 *	nl_denied hidden	the family must not even be there
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"
#include "nl_raw.h"

/* The errno in the answer, or 0 if the request was granted. */
static int answer(int sock)
{
	static uint8_t buffer[65536] __attribute__((aligned(8)));
	const struct nlmsghdr *h = (const void *)buffer;
	const struct nlmsgerr *err = (const void *)(buffer + NLMSG_HDRLEN);
	int code;

	if (recv(sock, buffer, sizeof(buffer), 0) < 0)
		return ETIMEDOUT;
	if (h->nlmsg_type == NLMSG_ERROR)
		return -err->error;
	if (h->nlmsg_type != NLMSG_DONE)
		return 0;
	memcpy(&code, buffer + NLMSG_HDRLEN, sizeof(code));
	return -code;
}

static bool granted;

/* Return: 0 if the answer is right, or 1 */
static int try(int sock, const struct raw_family *family, const struct spec_op *op, uint16_t flags,
	       bool with_attrs)
{
	static struct raw_message m;
	const uint64_t one = 1;
	size_t i;
	int code;

	raw_begin(&m, family->id, NLM_F_REQUEST | flags, op->cmd);
	for (i = 0; with_attrs && i < op->set->count; i++) {
		const struct spec_attr *attr = &op->set->attrs[i];

		if (attr->kind == SPEC_U64 || attr->kind == SPEC_ADDRESS)
			raw_put(&m, attr->type, &one, 8);
		else if (attr->kind == SPEC_U32 || attr->kind == SPEC_PID || attr->kind == SPEC_FD)
			raw_put(&m, attr->type, &one, 4);
	}
	if (send(sock, m.bytes, m.h.nlmsg_len, 0) < 0)
		guest_die("send", strerror(errno));
	code = answer(sock);
	/* Netlink checks attributes before the module checks capabilities: EINVAL is right too. */
	if (granted ? code != EPERM && code != ETIMEDOUT
		    : code == EPERM || (with_attrs && code == EINVAL))
		return 0;
	printf("%s%s%s: %s\n", op->name, flags & NLM_F_DUMP ? " dump" : "",
	       with_attrs ? " with attributes" : "", code ? strerror(code) : "done");
	return 1;
}

int main(int argc, char **argv)
{
	struct raw_family family;
	int sock = raw_open(0), bad = 0;
	size_t i;

	raw_find_family(sock, &family);
	if (argc > 1 && !strcmp(argv[1], "hidden"))
		return !!family.id;
	if (!family.id || !family.group)
		guest_die("family", "not there");
	granted = argc > 1 && !strcmp(argv[1], "granted");
	for (i = 0; i < NOPS; i++) {
		const struct spec_op *op = &spec_ops[i];

		/* What is granted may have more than one message for an answer. */
		sock = raw_open(sock);
		if (op->can_do)
			bad += try(sock, &family, op, NLM_F_ACK, false);
		if (op->can_do && !granted)
			bad += try(sock, &family, op, NLM_F_ACK, true);
		sock = raw_open(sock);
		if (op->can_dump)
			bad += try(sock, &family, op, NLM_F_DUMP, false);
	}
	if (!setsockopt(sock, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &family.group,
			sizeof(family.group)) || errno != EPERM) {
		printf("the events can be listened to\n");
		bad++;
	}
	printf("%zu operations and the group tried\n", NOPS);
	return !!bad;
}
