// SPDX-License-Identifier: GPL-2.0
/*
 * Joins every multicast group of generic netlink before the module has one, as any user can; prints
 * "ready".  When it has something to read, it prints which events of the module have come, and how many
 * of them have more than numbers to ask about.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/beeunwind.h>

#include "guest.h"
#include "nl_raw.h"

#define MOST	256

/* An event that has come: which, and bits of the types of its attributes. */
struct event {
	uint16_t	family;
	uint8_t		cmd;
	uint64_t	attrs;
};

static struct event events[MOST];
static size_t nevents;

static uint64_t bit(unsigned int type)
{
	return 1ull << (type & 63);
}

static void take(const struct nlmsghdr *h)
{
	const struct genlmsghdr *header = (const void *)((const char *)h + NLMSG_HDRLEN);
	const char *at = (const char *)header + GENL_HDRLEN, *end = (const char *)h + h->nlmsg_len;
	struct event *event = &events[nevents];

	*event = (struct event){ .family = h->nlmsg_type, .cmd = header->cmd };
	while (end - at >= NLA_HDRLEN) {
		const struct nlattr *attr = (const void *)at;

		event->attrs |= bit(attr->nla_type & NLA_TYPE_MASK);
		at += NLA_ALIGN(attr->nla_len);
	}
	nevents += nevents < MOST - 1;
}

/* Return: whether the event says more than it may. */
static bool tells(const struct event *event)
{
	uint64_t may = 0;

	switch (event->cmd) {
	case BEEUNWIND_CMD_FILE_NTF:
		may = bit(BEEUNWIND_A_FILE_ID);
		break;
	case BEEUNWIND_CMD_TABLE_NTF:
		may = bit(BEEUNWIND_A_FILE_ID) | bit(BEEUNWIND_A_FILE_LOADED) |
		      bit(BEEUNWIND_A_FILE_PROCS);
		break;
	case BEEUNWIND_CMD_CODE_NTF:
		may = bit(BEEUNWIND_A_PROC_COOKIE) | bit(BEEUNWIND_A_PROC_PAD);
		break;
	}
	printf("command %u with attributes %llx\n", event->cmd, (unsigned long long)event->attrs);
	return event->attrs & ~may;
}

int main(void)
{
	static uint8_t buffer[65536] __attribute__((aligned(8)));
	struct pollfd fds[2] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .events = POLLIN } };
	unsigned int group, joined = 0, ours = 0, bad = 0;
	struct raw_family family;
	size_t i;

	fds[1].fd = raw_open(0);
	for (group = 1; group <= 1024; group++)
		joined += !setsockopt(fds[1].fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
				      sizeof(group));
	printf("ready, with %u groups\n", joined);
	fflush(stdout);
	while (poll(fds, 2, -1) >= 0 && !fds[0].revents)
		if (fds[1].revents && recv(fds[1].fd, buffer, sizeof(buffer), 0) > 0)
			take((const void *)buffer);
	while (recv(fds[1].fd, buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		take((const void *)buffer);
	raw_find_family(raw_open(0), &family);
	for (i = 0; i < nevents; i++) {
		if (events[i].family != family.id)
			continue;
		ours++;
		bad += tells(&events[i]);
	}
	printf("%u events, %u of which tell more than numbers\n", ours, bad);
	return 0;
}
