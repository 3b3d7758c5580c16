/* SPDX-License-Identifier: GPL-2.0 */
/* JSON output: members of objects in one line each, and how an object is written. */
#ifndef BEE_JSON_H
#define BEE_JSON_H

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

void json_put(FILE *out, struct json_object *object);
void json_print(struct json_object *object);

#endif /* BEE_JSON_H */
