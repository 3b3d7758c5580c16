/* SPDX-License-Identifier: GPL-2.0 */
/* JSON output: members of objects in one line each, and how an object is written. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

static inline void json_add_uint(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static inline void json_add_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

/* json_add_hex(): as a string: many JSON readers hold numbers as doubles, exact to 53 bits only */
static inline void json_add_hex(struct json_object *object, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%#llx", (unsigned long long)value);
	json_add_string(object, key, text);
}

static inline void json_add_bool(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

static inline void json_add(struct json_object *object, const char *key,
			    struct json_object *value)
{
	json_object_object_add(object, key, value);
}

/* json_append(): add an empty object to an array, and return it */
static inline struct json_object *json_append(struct json_object *array)
{
	struct json_object *object = json_object_new_object();

	json_object_array_add(array, object);
	return object;
}

/* json_append_problem(): { "path": @path, "error": @why }; nothing if @array is NULL */
static inline void json_append_problem(struct json_object *array, const char *path,
				       const char *why)
{
	struct json_object *object;

	if (!array)
		return;
	object = json_append(array);
	json_add_string(object, "path", path);
	json_add_string(object, "error", why);
}

void json_put(FILE *out, struct json_object *object);
void json_print(struct json_object *object);

#endif /* JSON_H */
