// SPDX-License-Identifier: GPL-2.0
/* beectl config: show and change the module's settings. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
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
	"       beectl config [budget SIZE] [share PERCENT] [hook on|off]\n"
	"\n"
	"Show the module's settings, or change some of them until it is unloaded.\n"
	"\n"
	"  budget    Most kernel memory that tables take, as 512M (256M unless set); when\n"
	"            it is used up, the module drops tables of files that nobody has\n"
	"            mapped, and then those that were needed longest ago\n"
	"  share     How much of the budget the tables for one user may take, 1 to 100\n"
	"            percent (50 unless set); root's may take all\n"
	"  hook      Whether the module walks user stacks for perf: off, and perf works\n"
	"            as without it\n"
	"\n"
	"Options:\n"
	"      --json  Print one object; keys: JSON in beectl(8)\n"
	"  -h, --help  Show this text\n"
	"\n"
	"Example:\n"
	"  beectl config budget 1G share 75\n";

/* No table fits in less: whoever asks for less forgot the unit (512 for 512M). */
#define BUDGET_LEAST	(1 << 20)

/**
 * struct setting - what can be set
 * @name: on the command line and in JSON
 * @wrong: the message for a bad value
 * @attribute: for netlink_config_set()
 * @names: of its values; NULL: it is a number
 * @max: the last value; 0: it is a number of bytes
 * @offset: of the value in struct netlink_info, a uint32_t
 * @unit: to show after a number
 */
struct setting {
	const char		*name;
	const char		*wrong;
	int			 attribute;
	const char *const	*names;
	unsigned int		 max;
	size_t			 offset;
	const char		*unit;
};

static const struct setting settings[] = {
	{ "budget", "not a size, as 512M or 2G, of 1M at least", BEEUNWIND_A_CONFIG_BUDGET },
	{ "hook", "not on or off", BEEUNWIND_A_CONFIG_HOOK, bee_hook_state_names, BEEUNWIND_HOOK_STATE_MAX,
	  offsetof(struct netlink_info, hook) },
	{ "share", "not a number from 1 to 100", BEEUNWIND_A_CONFIG_SHARE, NULL, 100,
	  offsetof(struct netlink_info, share), "%" },
};

#define NSETTINGS	(sizeof(settings) / sizeof(settings[0]))

/* Return: 0 or -1. */
static int setting_parse(const struct setting *setting, const char *word, uint64_t *value)
{
	unsigned int number;

	if (!setting->names && setting->max) {
		if (text_parse_number(word, setting->max, &number))
			return -1;
		*value = number;
		return number ? 0 : -1;
	}
	if (!setting->names)
		return text_parse_size(word, value) || *value < BUDGET_LEAST ? -1 : 0;
	for (*value = 0; *value <= setting->max; ++*value)
		if (!strcmp(setting->names[*value], word))
			return 0;
	return -1;
}

static const struct setting *setting_find(const char *name)
{
	size_t i;

	for (i = 0; i < NSETTINGS; i++)
		if (!strcmp(settings[i].name, name))
			return &settings[i];
	return NULL;
}

static int config_show(struct netlink *nl, bool want_json)
{
	struct json_object *json;
	struct netlink_info info;
	struct bee_error error;
	uint64_t used;
	size_t i;

	if (netlink_info_get(nl, &info, &error))
		return message_error("config", NULL, error.text);
	json = want_json ? json_object_new_object() : NULL;
	used = netlink_info_used(&info);
	if (json) {
		json_add_uint(json, "budget", info.budget);
		json_add_uint(json, "used_bytes", used);
	} else {
		printf("budget    %s, %s used\n", text_size(info.budget).text,
		       text_size(used).text);
	}
	for (i = 0; i < NSETTINGS; i++) {
		const struct setting *s = &settings[i];
		uint32_t value = *(const uint32_t *)((const char *)&info + s->offset);
		const char *name = s->names && value <= s->max ? s->names[value] : "unknown";

		if (s->names && json)
			json_add_string(json, s->name, name);
		else if (s->names)
			printf("%-9s %s\n", s->name, name);
		else if (s->max && json)
			json_add_uint(json, s->name, value);
		else if (s->max)
			printf("%-9s %u%s\n", s->name, value, s->unit);
	}
	if (json)
		json_print(json);
	return EXIT_OK;
}

/* Change the settings that @words name, in that order, until one is refused.  Return: exit status. */
static int config_change(struct netlink *nl, char **words)
{
	const struct setting *setting;
	struct bee_error error;
	uint64_t value = 0;
	char **at, why[600];

	for (at = words; *at; at += 2) {
		setting = setting_find(at[0]);
		if (!setting || setting_parse(setting, at[1], &value) ||
		    !netlink_config_set(nl, setting->attribute, value, &error))
			continue;
		if (setting->attribute == BEEUNWIND_A_CONFIG_BUDGET && error.code == ENOSPC)
			error_set(&error, ENOSPC, "more than that is in use, see beectl status; beectl unload --all "
				  "frees all but the caches of walks");
		snprintf(why, sizeof(why), "%s%s", text_skip(error.text, "hook: "),
			 at > words ? "; what stands before it is set" : "");
		return message_error("config", at[0], why);
	}
	return EXIT_OK;
}

int cmd_config(int argc, char **argv)
{
	bool json = false;
	const struct options options = {
		.command = "config", .help = config_help,
		.option = { { 0, "json", OPTION_FLAG, &json } },
	};
	int status = options_parse(&options, argc, &argv);
	const struct setting *setting;
	struct bee_error error;
	struct netlink *nl;
	uint64_t value = 0;
	char **words;

	if (status != OPTIONS_OK)
		return status;
	if (json && *argv)
		return message_usage("config", "--json: only to show the settings");
	for (words = argv; *words; words += 2) {
		setting = setting_find(words[0]);
		if (!setting)
			return message_usage("config", "%s: no such setting", words[0]);
		if (!words[1])
			return message_usage("config", "%s: needs a value", words[0]);
		if (setting_parse(setting, words[1], &value))
			return message_usage("config", "%s: %s", words[1], setting->wrong);
	}
	nl = netlink_open(&error);
	if (!nl)
		return message_error("config", NULL, error.text);
	status = *argv ? config_change(nl, argv) : config_show(nl, json);
	netlink_close(nl);
	return status;
}
