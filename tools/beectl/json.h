/* SPDX-License-Identifier: GPL-2.0 */
/* Members of JSON objects, in one line each. */
#ifndef BEE_JSON_H
#define BEE_JSON_H

#include <stdint.h>

#include <json-c/json.h>

static inline void json_add_uint(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static inline void json_add_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

#endif /* BEE_JSON_H */
