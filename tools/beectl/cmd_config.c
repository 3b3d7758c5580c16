// SPDX-License-Identifier: GPL-2.0
/* beectl config: show and change the module's settings. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "messages.h"
#include "netlink.h"
#include "names.h"
#include "options.h"
#include "text.h"

static const char config_help[] =
	"Usage: beectl config [--json]\n"
	"       beectl config [budget SIZE] [follow managed|all] [announce sampled|mapped]\n"
	"                     [hook on|off]\n"
	"\n"
	"Show the module's settings, or change some of them until it is unloaded.\n"
	"\n"
	"  budget    Most kernel memory that tables and processes take, as 512M; tables that\n"
	"            nobody uses go first\n"
	"  follow    Which processes are followed when they execute a program: those that are\n"
	"            followed already (managed), or all\n"
	"  announce  When \"beectl run\" is told of a file without a table: with the first\n"
	"            sample in it (sampled), or when it is mapped (mapped); \"beectl watch\"\n"
	"            sets it\n"
	"  hook      Whether the module sits in perf's callchain path\n"
	"\n"
	"Options:\n"
	"      --json  Print one object: budget, used, follow, announce, hook\n"
	"  -h, --help  Show this text\n"
	"\n"
	"Example:\n"
	"  beectl config budget 1G follow all\n";

/* Who means less has left out the unit: no table would fit. */
#define BUDGET_LEAST	(1 << 20)

/* What a word names, or -1.  Arrays of names.h end with their last value. */
static int name_find(const char *const *names, unsigned int max, const char *word)
{
	unsigned int i;

	for (i = 0; i <= max; i++)
		if (names[i] && !strcmp(names[i], word))
			return i;
	return -1;
}

static int set_budget(struct netlink *nl, const char *word, struct bee_error *error)
{
	uint64_t bytes;

	if (text_parse_size(word, &bytes) || bytes < BUDGET_LEAST)
		return 1;
	return nl ? netlink_config_set_budget(nl, bytes, error) : 0;
}

static int set_follow(struct netlink *nl, const char *word, struct bee_error *error)
{
	int value = name_find(bee_follow_names, BEEUNWIND_FOLLOW_MAX, word);

	if (value < 0)
		return 1;
	return nl ? netlink_config_set_follow(nl, value, error) : 0;
}

static int set_announce(struct netlink *nl, const char *word, struct bee_error *error)
{
	int value = name_find(bee_announce_names, BEEUNWIND_ANNOUNCE_MAX, word);

	if (value < 0)
		return 1;
	return nl ? netlink_config_set_announce(nl, value, error) : 0;
}

static int set_hook(struct netlink *nl, const char *word, struct bee_error *error)
{
	int value = name_find(bee_hook_state_names, BEEUNWIND_HOOK_STATE_ON, word);

	if (value < 0)
		return 1;
	return nl ? netlink_config_set_hook(nl, value, error) : 0;
}

/* @set returns 0, -1 with the error filled, or 1 if the word is @wrong; without @nl it only looks. */
static const struct setting {
	const char	*name;
	const char	*wrong;
	int		(*set)(struct netlink *nl, const char *word, struct bee_error *error);
} settings[] = {
	{ "budget", "not a size, as 512M or 2G, of 1M at least", set_budget },
	{ "follow", "not managed or all", set_follow },
	{ "announce", "not sampled or mapped", set_announce },
	{ "hook", "not on or off", set_hook },
};

static const struct setting *setting_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (!strcmp(settings[i].name, name))
			return &settings[i];
	return NULL;
}

static const char *name_of(const char *const *names, unsigned int max, uint32_t value)
{
	return value <= max ? names[value] : "unknown";
}

static void print_info(const struct netlink_info *info)
{
	printf("budget    %s, ", text_size(info->budget).text);
	printf("%s used\n", text_size(info->table_bytes + info->range_bytes).text);
	printf("follow    %s\n", name_of(bee_follow_names, BEEUNWIND_FOLLOW_MAX, info->follow));
	printf("announce  %s\n",
	       name_of(bee_announce_names, BEEUNWIND_ANNOUNCE_MAX, info->announce));
	printf("hook      %s\n",
	       name_of(bee_hook_state_names, BEEUNWIND_HOOK_STATE_MAX, info->hook));
}

static void print_json(const struct netlink_info *info)
{
	struct json_object *object = json_object_new_object();

	json_add_uint(object, "budget", info->budget);
	json_add_uint(object, "used", info->table_bytes + info->range_bytes);
	json_add_string(object, "follow",
			name_of(bee_follow_names, BEEUNWIND_FOLLOW_MAX, info->follow));
	json_add_string(object, "announce",
			name_of(bee_announce_names, BEEUNWIND_ANNOUNCE_MAX, info->announce));
	json_add_string(object, "hook",
			name_of(bee_hook_state_names, BEEUNWIND_HOOK_STATE_MAX, info->hook));
	json_print(object);
}

/* @words: pairs that have been checked */
static int config_run(char **words, bool json)
{
	struct bee_error error;
	struct netlink_info info;
	struct netlink *nl = netlink_open(&error);
	int ret = nl ? 0 : -1;

	if (nl && !*words) {
		ret = netlink_info_get(nl, &info, &error);
		if (!ret && json)
			print_json(&info);
		else if (!ret)
			print_info(&info);
	}
	for (; !ret && *words; words += 2)
		ret = setting_find(words[0])->set(nl, words[1], &error);
	netlink_close(nl);
	return ret ? message_error("config", NULL, error.text) : EXIT_OK;
}

int cmd_config(int argc, char **argv)
{
	bool json = false;
	const struct options options = {
		.command = "config", .help = config_help,
		.option = { { 0, "json", OPTION_FLAG, &json } },
	};
	int status = options_parse(&options, argc, &argv);
	char **words;

	if (status != OPTIONS_OK)
		return status;
	if (json && *argv)
		return message_usage("config", "--json: only to show the settings");
	for (words = argv; *words; words += 2) {
		const struct setting *setting = setting_find(words[0]);

		if (!setting)
			return message_usage("config", "%s: no such setting", words[0]);
		if (!words[1])
			return message_usage("config", "%s: needs a value", words[0]);
		if (setting->set(NULL, words[1], NULL))
			return message_usage("config", "%s: %s", words[1], setting->wrong);
	}
	return config_run(argv, json);
}
