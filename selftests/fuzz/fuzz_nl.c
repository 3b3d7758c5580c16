// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the readers of the module's answers, which are private to the included files.  The first
 * byte chooses the reader, the rest are attributes, or the message of a refusal.
 */
#include "../../tools/netlink/exchange.c"
#include "../../tools/netlink/requests.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_procs(void *bytes, size_t size)
{
	struct netlink_procs procs = {};

	/* A dump has several messages: parse the bytes as two of them. */
	procs_parse(bytes, size / 2, &procs);
	procs_parse(bytes, size, &procs);
	netlink_procs_free(&procs);
}

static void fuzz_files(void *bytes, size_t size)
{
	struct netlink_files files = {};
	size_t i;

	files_parse(bytes, size, &files);
	for (i = 0; i < files.count; i++) {
		const struct netlink_file *t = &files.file[i];

		if (strlen(t->name) >= sizeof(t->name) || t->identity_len > sizeof(t->identity))
			abort();
	}
	netlink_files_free(&files);
}

/* libnl passes on only whole messages that hold a struct nlmsgerr. */
static void fuzz_refusal(void *bytes, size_t size)
{
	struct bee_error error = {};
	struct exchange x = { .error = &error };
	struct nlmsghdr *h = bytes;

	if (size < NLMSG_HDRLEN + sizeof(struct nlmsgerr))
		return;
	h->nlmsg_len = size;
	/* The kernel sends -4095 to -1 as errors (MAX_ERRNO, include/linux/err.h). */
	((struct nlmsgerr *)nlmsg_data(h))->error |= ~4095;
	exchange_refused(NULL, nlmsg_data(h), &x);
	if (!x.failed || strlen(error.text) >= sizeof(error.text))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct netlink_stats stats = {};
	struct netlink_info info = {};
	struct netlink_news_list news = {};
	struct netlink_codes codes = {};
	void *bytes;

	if (!size)
		return 0;
	bytes = malloc(size);
	memcpy(bytes, data + 1, size - 1);
	switch (data[0] % 7) {
	case 0:
		reply_take(bytes, size - 1, &(struct reply){ info_fields, &info });
		if (strnlen(info.module_version, sizeof(info.module_version)) ==
		    sizeof(info.module_version))
			abort();
		break;
	case 1:
		fuzz_files(bytes, size - 1);
		break;
	case 2:
		fuzz_procs(bytes, size - 1);
		break;
	case 3:
		stats_parse(bytes, size - 1, &stats);
		break;
	case 4:
		news_parse(bytes, size - 1, &news);
		if (strnlen(news.news->name, sizeof(news.news->name)) == sizeof(news.news->name))
			abort();
		free(news.news);
		break;
	case 5:
		fuzz_refusal(bytes, size - 1);
		break;
	case 6:
		codes_parse(bytes, size / 2, &codes);
		codes_parse(bytes, size - 1, &codes);
		netlink_codes_free(&codes);
		break;
	}
	free(bytes);
	return 0;
}
