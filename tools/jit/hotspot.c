// SPDX-License-Identifier: GPL-2.0
/*
 * The code heaps of a Java virtual machine.  HotSpot exports two tables for debuggers (share/runtime/vmStructs.cpp):
 * where the fields of its structs are, or the addresses of static ones, and how large its types are.  Names and types
 * of fields have changed between JDK 8 and 25; whatever a version lacks is not found.
 *
 * All of it is what a process claims.  Tables end after HOTSPOT_MOST entries, names after NAME_SIZE bytes; what is
 * read is limited by struct memory.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "hotspot.h"

#define HOTSPOT_MOST	16384	/* entries of a table; JDK 25 has 2,000 */
#define NAME_SIZE	64
#define BLOCKS_MOST	65536	/* that are looked at for the barrier */
#define PAGE_SIZE	4096

static const char *const hotspot_names[HOTSPOT_VARIABLES] = {
	[HOTSPOT_STRUCTS] = "gHotSpotVMStructs",
	[HOTSPOT_STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[HOTSPOT_STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[HOTSPOT_STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[HOTSPOT_STRUCT_KIND] = "gHotSpotVMStructEntryTypeStringOffset",
	[HOTSPOT_STRUCT_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[HOTSPOT_STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[HOTSPOT_STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[HOTSPOT_TYPES] = "gHotSpotVMTypes",
	[HOTSPOT_TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
	[HOTSPOT_TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[HOTSPOT_TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
};

/* Fields that are looked for. */
enum vm_field {
	BLOB_NAME,
	BLOB_FRAME_SIZE,
	BLOB_COMPLETE,
	BLOB_CODE_BEGIN,
	BLOB_CODE_OFFSET,
	BLOB_CODE_END,
	BLOB_DATA_OFFSET,
	BLOCK_LENGTH,
	BLOCK_USED,
	CACHE_HEAP,
	CACHE_HEAPS,
	ARRAY_LEN,
	ARRAY_LEN_LATER,
	ARRAY_DATA,
	HEAP_MEMORY,
	HEAP_SEGMAP,
	HEAP_SHIFT,
	SPACE_LOW,
	SPACE_HIGH,
	INTERPRETER,
	QUEUE_BUFFER,
	QUEUE_LIMIT,
	RETURN_PC,
	FIELDS,
};

static const struct {
	const char *type, *field;
} vm_fields[FIELDS] = {
	[BLOB_NAME] = { "CodeBlob", "_name" },
	[BLOB_FRAME_SIZE] = { "CodeBlob", "_frame_size" },
	[BLOB_COMPLETE] = { "CodeBlob", "_frame_complete_offset" },
	[BLOB_CODE_BEGIN] = { "CodeBlob", "_code_begin" },
	[BLOB_CODE_OFFSET] = { "CodeBlob", "_code_offset" },
	[BLOB_CODE_END] = { "CodeBlob", "_code_end" },
	[BLOB_DATA_OFFSET] = { "CodeBlob", "_data_offset" },
	[BLOCK_LENGTH] = { "HeapBlock::Header", "_length" },
	[BLOCK_USED] = { "HeapBlock::Header", "_used" },
	[CACHE_HEAP] = { "CodeCache", "_heap" },
	[CACHE_HEAPS] = { "CodeCache", "_heaps" },
	[ARRAY_LEN] = { "GenericGrowableArray", "_len" },
	[ARRAY_LEN_LATER] = { "GrowableArrayBase", "_len" },
	[ARRAY_DATA] = { "GrowableArray<int>", "_data" },
	[HEAP_MEMORY] = { "CodeHeap", "_memory" },
	[HEAP_SEGMAP] = { "CodeHeap", "_segmap" },
	[HEAP_SHIFT] = { "CodeHeap", "_log2_segment_size" },
	[SPACE_LOW] = { "VirtualSpace", "_low_boundary" },
	[SPACE_HIGH] = { "VirtualSpace", "_high_boundary" },
	[INTERPRETER] = { "AbstractInterpreter", "_code" },
	[QUEUE_BUFFER] = { "StubQueue", "_stub_buffer" },
	[QUEUE_LIMIT] = { "StubQueue", "_buffer_limit" },
	[RETURN_PC] = { "ContinuationEntry", "_return_pc" },
};

/**
 * struct vm - a virtual machine
 * @memory: of its process
 * @var: values of the variables
 * @at: where the fields are: addresses of static ones, else offsets in their structs
 * @size: bytes of the fields
 * @found: they are there
 * @block: bytes of a block's header
 */
struct vm {
	struct memory	*memory;
	u64		 var[HOTSPOT_VARIABLES];
	u64		 at[FIELDS];
	u8		 size[FIELDS];
	bool		 found[FIELDS];
	u64		 block;
};

static bool vm_read(const struct vm *vm, u64 address, u32 size, u64 *value)
{
	*value = 0;
	return memory_read(vm->memory, address, value, size);
}

/* Read a string, which is cut after NAME_SIZE bytes; "" if there is none.  The page behind it may not be there. */
static void vm_read_name(const struct vm *vm, u64 address, char name[NAME_SIZE])
{
	u64 first = PAGE_SIZE - address % PAGE_SIZE;

	memset(name, 0, NAME_SIZE);
	if (first >= NAME_SIZE)
		memory_read(vm->memory, address, name, NAME_SIZE - 1);
	else if (memory_read(vm->memory, address, name, first) && strnlen(name, first) == first)
		memory_read(vm->memory, address + first, name + first, NAME_SIZE - 1 - first);
}

/* The string to which the pointer at @offset of a table's entry leads. */
static bool entry_name(const struct vm *vm, u64 entry, enum hotspot_variable offset, char name[NAME_SIZE])
{
	u64 address;

	if (!vm_read(vm, entry + vm->var[offset], 8, &address) || !address)
		return false;
	vm_read_name(vm, address, name);
	return true;
}

static u8 kind_size(const char *kind)
{
	if (!strcmp(kind, "bool"))
		return 1;
	if (!strcmp(kind, "u2") || !strcmp(kind, "uint16_t") || !strcmp(kind, "int16_t"))
		return 2;
	if (!strcmp(kind, "int") || !strcmp(kind, "uint") || !strcmp(kind, "uint32_t") || !strcmp(kind, "jint"))
		return 4;
	return 8;
}

static void vm_take_field(struct vm *vm, u64 entry, const char *type, const char *field)
{
	char kind[NAME_SIZE];
	u64 is_static;
	int i;

	for (i = 0; i < FIELDS; i++)
		if (!strcmp(type, vm_fields[i].type) && !strcmp(field, vm_fields[i].field))
			break;
	if (i == FIELDS || !entry_name(vm, entry, HOTSPOT_STRUCT_KIND, kind) ||
	    !vm_read(vm, entry + vm->var[HOTSPOT_STRUCT_STATIC], 4, &is_static))
		return;
	vm->size[i] = kind_size(kind);
	vm->found[i] = vm_read(vm, entry + vm->var[is_static ? HOTSPOT_STRUCT_ADDRESS : HOTSPOT_STRUCT_OFFSET], 8,
			       &vm->at[i]);
}

static void vm_read_fields(struct vm *vm)
{
	char type[NAME_SIZE], field[NAME_SIZE];
	u64 entry = vm->var[HOTSPOT_STRUCTS];
	int i;

	for (i = 0; i < HOTSPOT_MOST && entry_name(vm, entry, HOTSPOT_STRUCT_TYPE, type); i++) {
		if (entry_name(vm, entry, HOTSPOT_STRUCT_FIELD, field))
			vm_take_field(vm, entry, type, field);
		entry += vm->var[HOTSPOT_STRUCT_STRIDE];
	}
}

static void vm_read_types(struct vm *vm)
{
	u64 entry = vm->var[HOTSPOT_TYPES];
	char name[NAME_SIZE];
	int i;

	for (i = 0; i < HOTSPOT_MOST && entry_name(vm, entry, HOTSPOT_TYPE_NAME, name); i++) {
		if (!strcmp(name, "HeapBlock"))
			vm_read(vm, entry + vm->var[HOTSPOT_TYPE_SIZE], 8, &vm->block);
		entry += vm->var[HOTSPOT_TYPE_STRIDE];
	}
}

/* Read a field of the struct at @address; of a static one @address is 0.  Return: false also if it is not known. */
static bool vm_get(const struct vm *vm, u64 address, enum vm_field field, u64 *value)
{
	return vm->found[field] && vm_read(vm, address + vm->at[field], vm->size[field], value);
}

/* Whether all fields are there that every version has. */
static int vm_check(const struct vm *vm, struct bee_error *error)
{
	static const u8 needed[] = {
		BLOB_NAME, BLOB_FRAME_SIZE, BLOB_COMPLETE, BLOCK_LENGTH, BLOCK_USED, HEAP_MEMORY, HEAP_SEGMAP,
		HEAP_SHIFT, SPACE_LOW, SPACE_HIGH, INTERPRETER, QUEUE_BUFFER, QUEUE_LIMIT,
	};
	size_t i;

	for (i = 0; i < sizeof(needed); i++)
		if (!vm->found[needed[i]])
			return error_set(error, 0, "its Java virtual machine does not tell where %s::%s is",
					 vm_fields[needed[i]].type, vm_fields[needed[i]].field);
	if (!vm->found[BLOB_CODE_BEGIN] && !vm->found[BLOB_CODE_OFFSET])
		return error_set(error, 0, "its Java virtual machine does not tell where code begins");
	if (!vm->found[BLOB_CODE_END] && !vm->found[BLOB_DATA_OFFSET])
		return error_set(error, 0, "its Java virtual machine does not tell where code ends");
	return 0;
}

static int not_yet(struct bee_error *error)
{
	return error_set(error, EAGAIN, "its Java virtual machine is just starting");
}

/* Add the heap that the CodeHeap at @address describes, in the order of addresses. */
static int vm_add_heap(const struct vm *vm, u64 address, struct bee_code_heaps *heaps, struct bee_error *error)
{
	u64 memory = address + vm->at[HEAP_MEMORY], map = address + vm->at[HEAP_SEGMAP], shift;
	struct bee_code_heap heap;
	u32 i;

	if (!address || !vm_get(vm, memory, SPACE_LOW, &heap.start) || !vm_get(vm, memory, SPACE_HIGH, &heap.end) ||
	    !vm_get(vm, map, SPACE_LOW, &heap.map) || !vm_get(vm, address, HEAP_SHIFT, &shift) || !heap.start ||
	    !heap.map)
		return not_yet(error);
	heaps->shift = shift;
	for (i = heaps->nr++; i && heaps->heap[i - 1].start > heap.start; i--)
		heaps->heap[i] = heaps->heap[i - 1];
	heaps->heap[i] = heap;
	return 0;
}

/* JDK 8 has one heap. */
static int vm_read_heaps(const struct vm *vm, struct bee_code_heaps *heaps, struct bee_error *error)
{
	u64 list, data, nr, address, i;

	if (vm_get(vm, 0, CACHE_HEAP, &address))
		return vm_add_heap(vm, address, heaps, error);
	if (!vm_get(vm, 0, CACHE_HEAPS, &list) || !list ||
	    (!vm_get(vm, list, ARRAY_LEN_LATER, &nr) && !vm_get(vm, list, ARRAY_LEN, &nr)) || !nr ||
	    !vm_get(vm, list, ARRAY_DATA, &data))
		return not_yet(error);
	if (nr > BEE_CODE_HEAPS)
		return error_set(error, 0, "its Java virtual machine has more than %d code heaps", BEE_CODE_HEAPS);
	for (i = 0; i < nr; i++)
		if (!vm_read(vm, data + 8 * i, 8, &address) || vm_add_heap(vm, address, heaps, error))
			return not_yet(error);
	return 0;
}

static const struct bee_code_heap *heap_of(const struct bee_code_heaps *heaps, u64 address)
{
	u32 i;

	for (i = 0; i < heaps->nr; i++)
		if (address - heaps->heap[i].start < heaps->heap[i].end - heaps->heap[i].start)
			return &heaps->heap[i];
	return NULL;
}

static bool blob_read_address(const struct vm *vm, u64 blob, u16 at, u8 size, u64 *address)
{
	if (!vm_read(vm, blob + at, size, address))
		return false;
	*address += size < 8 ? blob : 0;
	return true;
}

/*
 * Find the code to which the oldest frame of a virtual thread returns, among the stubs in the interpreter's heap.
 * JDK 21 and later have it.
 */
static void vm_find_barrier(const struct vm *vm, struct bee_code_heaps *heaps)
{
	const struct bee_code_heap *heap = heap_of(heaps, heaps->interpreter);
	u64 block = heap->start, used, name_at, length;
	char name[NAME_SIZE];
	int i;

	for (i = 0; i < BLOCKS_MOST && block < heap->end; i++, block += length << heaps->shift) {
		if (!vm_get(vm, block, BLOCK_LENGTH, &length) || !vm_get(vm, block, BLOCK_USED, &used) || !length)
			return;
		if (!used || !vm_get(vm, block + vm->block, BLOB_NAME, &name_at))
			continue;
		vm_read_name(vm, name_at, name);
		if (!strstr(name, "ontinuation"))
			continue;
		if (blob_read_address(vm, block + vm->block, heaps->code, heaps->code_size, &heaps->barrier) &&
		    blob_read_address(vm, block + vm->block, heaps->code_end, heaps->code_end_size,
				      &heaps->barrier_end))
			return;
		heaps->barrier = 0;
		heaps->barrier_end = 0;
	}
}

/** hotspot_is_named() - whether a file has the name of a Java virtual machine, HotSpot or another */
bool hotspot_is_named(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !strcmp(slash, "/libjvm.so");
}

/**
 * hotspot_find() - where a process has the variables that tell of its Java virtual machine
 * @elf: a file that it has mapped
 * @entry: the mapping of the file's text
 * @address: filled
 *
 * Return: whether the file exports all of them.
 */
bool hotspot_find(const struct elf_file *elf, const struct maps_entry *entry, u64 address[HOTSPOT_VARIABLES])
{
	u64 vaddr;
	int i;

	for (i = 0; i < HOTSPOT_VARIABLES; i++)
		if (!elf_find_object(elf, hotspot_names[i], &vaddr) ||
		    !maps_find_address(entry, elf, vaddr, &address[i]))
			return false;
	return true;
}

/**
 * hotspot_read() - the code heaps of a Java virtual machine
 * @memory: of its process
 * @address: of the variables
 * @heaps: filled
 * @error: filled on failure; code EAGAIN if the virtual machine is still starting
 *
 * Whether the values are sound is left to the module, and what is in the heaps to its walks.
 *
 * Return: 0, or -1.
 */
int hotspot_read(struct memory *memory, const u64 address[HOTSPOT_VARIABLES], struct bee_code_heaps *heaps,
		 struct bee_error *error)
{
	struct vm vm = { .memory = memory, .block = 16 };
	enum vm_field code, end;
	u64 queue, limit;
	int i;

	memset(heaps, 0, sizeof(*heaps));
	for (i = 0; i < HOTSPOT_VARIABLES; i++)
		if (!vm_read(&vm, address[i], 8, &vm.var[i]))
			return error_set(error, 0, "%s cannot be read", hotspot_names[i]);
	vm_read_fields(&vm);
	vm_read_types(&vm);
	if (vm_check(&vm, error) || vm_read_heaps(&vm, heaps, error))
		return -1;
	code = vm.found[BLOB_CODE_BEGIN] ? BLOB_CODE_BEGIN : BLOB_CODE_OFFSET;
	end = vm.found[BLOB_CODE_END] ? BLOB_CODE_END : BLOB_DATA_OFFSET;
	heaps->used = vm.at[BLOCK_USED];
	heaps->blob = vm.block;
	heaps->frame_size = vm.at[BLOB_FRAME_SIZE];
	heaps->complete = vm.at[BLOB_COMPLETE];
	heaps->complete_size = vm.size[BLOB_COMPLETE];
	heaps->code = vm.at[code];
	heaps->code_size = vm.size[code];
	heaps->code_end = vm.at[end];
	heaps->code_end_size = vm.size[end];
	if (!vm_get(&vm, 0, INTERPRETER, &queue) || !queue || !vm_get(&vm, queue, QUEUE_BUFFER, &heaps->interpreter) ||
	    !vm_get(&vm, queue, QUEUE_LIMIT, &limit) || !heap_of(heaps, heaps->interpreter))
		return not_yet(error);
	heaps->interpreter_end = heaps->interpreter + limit;
	/* JDK 21 does not tell, and has a barrier. */
	vm_get(&vm, 0, RETURN_PC, &heaps->entry);
	vm_find_barrier(&vm, heaps);
	return 0;
}
