// SPDX-License-Identifier: GPL-2.0
/*
 * Files of the layers below overlayfs.  At the first change of a file (chmod() and link() are such)
 * overlayfs copies it, and its name leads to the copy from then on.  Processes that have mapped it
 * before still have the file of the layer below, which has its name only in that layer.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layers.h"

/**
 * struct search - where a file is looked for
 * @roots: directories in which the paths of layers are resolved: our root and the process's
 * @name: the file's path in the overlay
 * @take: called with each file
 * @arg: for @take
 */
struct search {
	int		 roots[2];
	const char	*name;
	bool		 (*take)(void *arg, int pin);
	void		*arg;
};

static int layer_open(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static bool search_layer(const struct search *search, const char *layer)
{
	int i, dir, pin;
	bool taken;

	/* A relative path was that of the process that has mounted the overlay. */
	for (i = 0; i < 2 && *layer == '/'; i++) {
		dir = layer_open(search->roots[i], layer, O_DIRECTORY);
		if (dir < 0)
			continue;
		pin = layer_open(dir, search->name, 0);
		close(dir);
		if (pin < 0)
			continue;
		taken = search->take(search->arg, pin);
		close(pin);
		if (taken)
			return true;
	}
	return false;
}

/* Layers are separated by colons; a colon of a name has a backslash before it. */
static bool search_layers(const struct search *search, char *layers)
{
	char *at = layers, *to = layers, *layer = layers;
	bool end;

	do {
		end = !*at;
		if (*at == '\\' && at[1]) {
			*to++ = at[1];
			at += 2;
			continue;
		}
		if (*at && *at != ':') {
			*to++ = *at++;
			continue;
		}
		*to++ = '\0';
		at++;
		if (search_layer(search, layer))
			return true;
		layer = to;
	} while (!end);
	return false;
}

/* What mangle_path() of fs/seq_file.c has written as \ooo. */
static void field_unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0');
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* The part of @path below the directory @dir, with a slash before it; or NULL. */
static const char *path_below(const char *path, const char *dir)
{
	size_t length = strcmp(dir, "/") ? strlen(dir) : 0;

	return !strncmp(path, dir, length) && path[length] == '/' ? path + length : NULL;
}

/* @options: of an overlay's superblock */
static bool search_overlay(const struct search *search, char *options)
{
	char *option;

	while ((option = strsep(&options, ",\n"))) {
		if (strncmp(option, "lowerdir=", 9) && strncmp(option, "lowerdir+=", 10))
			continue;
		field_unescape(option);
		if (search_layers(search, strchr(option, '=') + 1))
			return true;
	}
	return false;
}

/*
 * A line of /proc/PID/mountinfo (Documentation/filesystems/proc.rst of the kernel, 3.5): id, id of
 * the parent, device, directory of the file system, where that is mounted, options, ...; and behind
 * " - ": file system, source, options of the file system.
 */
static bool search_mount(struct search *search, const struct mapping *mapping, char *line)
{
	char *system = strstr(line, " - overlay "), *word, *root = NULL, *point = NULL;
	const char *below;
	char *name = NULL;
	bool taken = false;
	int i;

	if (!system)
		return false;
	*system = '\0';
	system += strlen(" - overlay ");
	strsep(&system, " ");
	for (i = 0; i < 5 && (word = strsep(&line, " ")); i++) {
		root = point;
		point = word;
	}
	if (i < 5 || !system)
		return false;
	field_unescape(root);
	field_unescape(point);
	below = path_below(mapping->path, point);
	if (!below || asprintf(&name, "%s%s", strcmp(root, "/") ? root : "", below) < 0)
		return false;
	search->name = name;
	taken = search_overlay(search, system);
	free(name);
	return taken;
}

/**
 * layers_search() - try the files that have the name of a mapped one in layers below overlayfs
 * @mapping: a mapping of a process that has not ended
 * @take: called with an O_PATH descriptor of each, until it returns true; it may use
 *	map_file_open(), and does not close it
 * @arg: for @take
 *
 * Any overlay of the process can be the file's: @take has to find out whether it is the wanted one.
 *
 * Return: whether @take has returned true.
 */
bool layers_search(const struct mapping *mapping, bool (*take)(void *arg, int pin), void *arg)
{
	struct search search = { .take = take, .arg = arg };
	char path[64], *line = NULL;
	bool taken = false;
	size_t room = 0;
	FILE *mounts;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", mapping->pid);
	mounts = fopen(path, "re");
	if (!mounts)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root", mapping->pid);
	search.roots[0] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	search.roots[1] = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (!taken && getline(&line, &room, mounts) > 0)
		taken = search_mount(&search, mapping, line);
	free(line);
	fclose(mounts);
	if (search.roots[0] >= 0)
		close(search.roots[0]);
	if (search.roots[1] >= 0)
		close(search.roots[1]);
	return taken;
}
