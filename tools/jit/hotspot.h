/* SPDX-License-Identifier: GPL-2.0 */
/* The code heaps of a Java virtual machine, by the tables that HotSpot exports. */
#ifndef HOTSPOT_H
#define HOTSPOT_H

#include <linux/beeunwind_heaps.h>

#include "error.h"
#include "maps.h"
#include "memory.h"

/**
 * enum hotspot_variable - variables that HotSpot's libjvm.so exports, of 8 bytes each
 * @HOTSPOT_STRUCTS: the table of fields
 * @HOTSPOT_STRUCT_STRIDE: bytes of its entries
 * @HOTSPOT_STRUCT_TYPE: of an entry, where the name of the struct is
 * @HOTSPOT_STRUCT_FIELD: where the name of the field is
 * @HOTSPOT_STRUCT_KIND: where the name of the field's type is
 * @HOTSPOT_STRUCT_STATIC: where an int says whether the field is static
 * @HOTSPOT_STRUCT_OFFSET: where the field's offset in the struct is
 * @HOTSPOT_STRUCT_ADDRESS: where the address of a static field is
 * @HOTSPOT_TYPES: the table of types
 * @HOTSPOT_TYPE_STRIDE: bytes of its entries
 * @HOTSPOT_TYPE_NAME: of an entry, where the name of the type is
 * @HOTSPOT_TYPE_SIZE: where the bytes of the type are
 * @HOTSPOT_VARIABLES: number of variables
 */
enum hotspot_variable {
	HOTSPOT_STRUCTS,
	HOTSPOT_STRUCT_STRIDE,
	HOTSPOT_STRUCT_TYPE,
	HOTSPOT_STRUCT_FIELD,
	HOTSPOT_STRUCT_KIND,
	HOTSPOT_STRUCT_STATIC,
	HOTSPOT_STRUCT_OFFSET,
	HOTSPOT_STRUCT_ADDRESS,
	HOTSPOT_TYPES,
	HOTSPOT_TYPE_STRIDE,
	HOTSPOT_TYPE_NAME,
	HOTSPOT_TYPE_SIZE,
	HOTSPOT_VARIABLES,
};

bool hotspot_is_named(const char *path);
bool hotspot_find(const struct elf_file *elf, const struct maps_entry *entry, u64 address[HOTSPOT_VARIABLES]);
int hotspot_read(struct memory *memory, const u64 address[HOTSPOT_VARIABLES], struct bee_code_heaps *heaps,
		 struct bee_error *error);

#endif /* HOTSPOT_H */
