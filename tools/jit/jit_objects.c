// SPDX-License-Identifier: GPL-2.0
/*
 * GDB's JIT interface (GDB manual, "JIT Compilation Interface"): a program that compiles code has a
 * variable __jit_debug_descriptor, which leads to a list of ELF objects in memory, one for each
 * piece of code.  LLVM puts there a copy of the object that it has linked, in which only the
 * addresses of sections (sh_addr) are those in memory; relocations are not applied.  So .eh_frame
 * is read from its address, where the copy is that the process's own unwinder uses.
 *
 * All of it is what a process claims.  The list is followed for JIT_MAX_OBJECTS entries at most, by
 * entries that name their predecessors, so it cannot lead in a circle; what is read is limited by
 * struct memory.
 */
#include <elf.h>
#include <string.h>

#include "alloc.h"
#include "jit_objects.h"
#include "order.h"

/* Layouts of the interface, on x86-64. */
struct descriptor {
	u32	version;
	u32	action;
	u64	relevant;
	u64	first;
};

struct code_entry {
	u64	next;
	u64	prev;
	u64	symfile;
	u64	size;
};

#define DESCRIPTOR_VERSION	1

/* Read @size bytes at @offset of the object; false if the object has no such bytes. */
static bool object_read(struct memory *memory, const struct jit_object *object, u64 offset,
			void *to, u64 size)
{
	return offset <= object->size && size <= object->size - offset &&
	       memory_read(memory, object->symfile + offset, to, size);
}

static bool object_read_header(struct memory *memory, const struct jit_object *object,
			       Elf64_Ehdr *h)
{
	return object_read(memory, object, 0, h, sizeof(*h)) &&
	       !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_machine == EM_X86_64 &&
	       h->e_shentsize == sizeof(Elf64_Shdr) && h->e_shnum <= JIT_MAX_SECTIONS &&
	       h->e_shstrndx < h->e_shnum;
}

static bool section_is_frames(struct memory *memory, const struct jit_object *object,
			      const Elf64_Shdr *names, const Elf64_Shdr *section)
{
	static const char wanted[] = ".eh_frame";
	char name[sizeof(wanted)];

	/* SHT_X86_64_UNWIND is what LLVM says; GNU as says SHT_PROGBITS. */
	return (section->sh_type == SHT_PROGBITS || section->sh_type == SHT_X86_64_UNWIND) &&
	       section->sh_name <= names->sh_size &&
	       sizeof(name) <= names->sh_size - section->sh_name &&
	       names->sh_offset <= object->size &&
	       object_read(memory, object, names->sh_offset + section->sh_name, name,
			   sizeof(name)) &&
	       !memcmp(name, wanted, sizeof(wanted));
}

static int compare_spans(const void *a, const void *b)
{
	const struct jit_span *x = a, *y = b;

	return order(x->start, y->start);
}

/* Sort the code, and leave out what overlaps other code: nobody can tell whose it is. */
static void object_sort(struct jit_object *object)
{
	size_t i, kept = 0;

	if (object->nspans)
		qsort(object->span, object->nspans, sizeof(*object->span), compare_spans);
	for (i = 0; i < object->nspans; i++)
		if (!kept || object->span[i].start >= object->span[kept - 1].end)
			object->span[kept++] = object->span[i];
	object->nspans = kept;
}

/* Code that is in memory, not only in the object: its sections have addresses. */
static void object_add_code(struct jit_object *object, const Elf64_Shdr *section, size_t *room)
{
	u64 end;

	if (!(section->sh_flags & SHF_EXECINSTR) || !section->sh_addr || !section->sh_size ||
	    __builtin_add_overflow(section->sh_addr, section->sh_size, &end))
		return;
	object->span = alloc_room(object->span, object->nspans, room, sizeof(*object->span));
	object->span[object->nspans++] = (struct jit_span){ section->sh_addr, end };
}

/* What is not as expected is left out: the object has no code or no .eh_frame then. */
static void object_look(struct memory *memory, struct jit_object *object)
{
	Elf64_Shdr *sections = NULL, *names;
	size_t i, room = 0;
	Elf64_Ehdr h;
	u64 size;

	if (!object_read_header(memory, object, &h))
		return;
	size = h.e_shnum * sizeof(*sections);
	sections = alloc_array(NULL, h.e_shnum, sizeof(*sections));
	if (!object_read(memory, object, h.e_shoff, sections, size))
		goto out;
	names = &sections[h.e_shstrndx];
	for (i = 0; i < h.e_shnum; i++) {
		const Elf64_Shdr *section = &sections[i];

		object_add_code(object, section, &room);
		if (object->frames || !section->sh_addr || section->sh_size > JIT_MAX_FRAMES ||
		    !section_is_frames(memory, object, names, section))
			continue;
		object->frames = memory_copy(memory, section->sh_addr, section->sh_size);
		object->frames_size = section->sh_size;
		object->frames_start = section->sh_addr;
	}
	object_sort(object);
out:
	free(sections);
}

/**
 * jit_objects_read() - the objects that a descriptor lists
 * @memory: of the process
 * @descriptor: address of its __jit_debug_descriptor
 * @objects: they are added to it; jit_objects_free() releases it, after a failure as well
 * @error: filled on failure
 *
 * Return: 0; or -1 if the list cannot be followed to its end.
 */
int jit_objects_read(struct memory *memory, u64 descriptor, struct jit_objects *objects,
		     struct bee_error *error)
{
	struct code_entry entry;
	struct descriptor d;
	u64 at, prev = 0;

	if (!memory_read(memory, descriptor, &d, sizeof(d)))
		return error_set(error, 0, "the JIT descriptor cannot be read");
	/* Not 1: no code has been compiled yet, or it is a version that is not known. */
	if (d.version != DESCRIPTOR_VERSION)
		return d.version ? error_set(error, 0, "the JIT descriptor has version %u",
					     d.version) : 0;
	for (at = d.first; at; prev = at, at = entry.next) {
		struct jit_object *object;

		if (objects->count == JIT_MAX_OBJECTS)
			return error_set(error, 0, "more than %u JIT objects, or a circle of them",
					 JIT_MAX_OBJECTS);
		if (!memory_read(memory, at, &entry, sizeof(entry)))
			return error_set(error, 0, "the list of JIT objects cannot be read");
		if (entry.prev != prev)
			return error_set(error, 0, "the list of JIT objects changes, or is none");
		objects->object = alloc_room(objects->object, objects->count, &objects->room,
					     sizeof(*object));
		object = &objects->object[objects->count++];
		*object = (struct jit_object){
			.entry = at, .symfile = entry.symfile, .size = entry.size,
		};
		object_look(memory, object);
		if (!memory->left)
			return error_set(error, 0, MEMORY_USED_UP);
	}
	return 0;
}

/* Where code begins or ends: ascending, each address once; for free().  @count: filled. */
static u64 *objects_borders(const struct jit_objects *objects, size_t *count)
{
	size_t i, k, n = 0, kept = 0;
	u64 *border;

	for (i = 0; i < objects->count; i++)
		n += objects->object[i].nspans;
	border = alloc_array(NULL, 2 * n + 1, sizeof(*border));
	for (i = n = 0; i < objects->count; i++)
		for (k = 0; k < objects->object[i].nspans; k++) {
			border[n++] = objects->object[i].span[k].start;
			border[n++] = objects->object[i].span[k].end;
		}
	qsort(border, n, sizeof(*border), order_u64);
	for (i = 0; i < n; i++)
		if (!kept || border[i] != border[kept - 1])
			border[kept++] = border[i];
	*count = kept;
	return border;
}

static size_t border_index(const u64 *border, size_t count, u64 address)
{
	return order_upto(border, count, sizeof(*border), 0, address) - 1;
}

/*
 * Find the first piece at or after @at that has no owner.  @next: for a piece without an owner itself, for others a
 * later piece.
 */
static size_t piece_free(u32 *next, size_t at)
{
	while (next[at] != at) {
		next[at] = next[next[at]];
		at = next[at];
	}
	return at;
}

/*
 * A piece is what lies between a border and the next.  Return: for each piece the number of the first object that
 * has code there, or UINT32_MAX if none has; for free().
 */
static u32 *objects_share_out(const struct jit_objects *objects, const u64 *border, size_t count)
{
	u32 *piece = alloc_array(NULL, count + 1, sizeof(*piece));
	u32 *next = alloc_array(NULL, count + 1, sizeof(*next));
	size_t i, k, at;

	for (at = 0; at <= count; at++) {
		piece[at] = UINT32_MAX;
		next[at] = at;
	}
	for (i = 0; i < objects->count; i++)
		for (k = 0; k < objects->object[i].nspans; k++) {
			const struct jit_span *span = &objects->object[i].span[k];
			size_t end = border_index(border, count, span->end);

			at = border_index(border, count, span->start);
			while ((at = piece_free(next, at)) < end) {
				piece[at] = i;
				next[at] = at + 1;
			}
		}
	free(next);
	return piece;
}

/**
 * jit_objects_settle() - find out which object each piece of code belongs to
 * @objects: after the last call of jit_objects_read(); @owner and @nowners are filled
 *
 * If several objects claim code at one address, it belongs to the first of them in the list.  That is the one which
 * the process registered last; it freed the others without removing them from the list.
 */
void jit_objects_settle(struct jit_objects *objects)
{
	size_t count, at, n = 0;
	u64 *border = objects_borders(objects, &count);
	u32 *piece = objects_share_out(objects, border, count);
	struct jit_owner *owner = alloc_array(NULL, count + 1, sizeof(*owner));

	for (at = 0; at + 1 < count; at++) {
		if (piece[at] == UINT32_MAX)
			continue;
		if (n && owner[n - 1].object == piece[at] && owner[n - 1].end == border[at])
			owner[n - 1].end = border[at + 1];
		else
			owner[n++] = (struct jit_owner){ border[at], border[at + 1], piece[at] };
	}
	free(objects->owner);
	objects->owner = owner;
	objects->nowners = n;
	free(border);
	free(piece);
}

static bool object_is_same(const struct jit_object *a, const struct jit_object *b)
{
	return a->entry == b->entry && a->symfile == b->symfile && a->size == b->size &&
	       !a->frames == !b->frames && a->frames_size == b->frames_size &&
	       a->frames_start == b->frames_start && a->nspans == b->nspans &&
	       (!a->frames || !memcmp(a->frames, b->frames, a->frames_size)) &&
	       (!a->nspans || !memcmp(a->span, b->span, a->nspans * sizeof(*a->span)));
}

/**
 * jit_objects_are_same() - were objects the same when they were read for a second time?
 * @a: of the first reading
 * @b: of the second
 *
 * If so they did not change in between, or changed and changed back; then what was made of the
 * first reading is right.
 *
 * Return: true if they were.
 */
bool jit_objects_are_same(const struct jit_objects *a, const struct jit_objects *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (!object_is_same(&a->object[i], &b->object[i]))
			return false;
	return a->count == b->count;
}

/** jit_objects_free() - release a list, which is empty afterwards */
void jit_objects_free(struct jit_objects *objects)
{
	while (objects->count) {
		struct jit_object *last = &objects->object[--objects->count];

		free(last->frames);
		free(last->span);
	}
	free(objects->object);
	free(objects->owner);
	*objects = (struct jit_objects){};
}
