// SPDX-License-Identifier: GPL-2.0
/*
 * A JIT compiler that registers code as GDB's JIT interface says, and lies about it, or does not
 * keep still.
 *
 *	hostile READY GO	lies, each until tables have been loaded (two fifos); then a stack through
 *				the code ends there.  At last it tells the truth, and the stack is whole
 *	hostile change		change everything again and again, until it is killed
 *	hostile exec		execute itself again and again
 *	hostile withhold	have an object in memory that nobody can read: reads wait
 */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "own_jit.h"

#define MANY	65600	/* objects, more than are read */

static struct jit_code_entry others[MANY];

/* The second object leads to the first. */
static void circle(void)
{
	others[0] = entry;
	others[0].prev = others[0].next = &entry;
	entry.next = others;
}

static void endless(void)
{
	int i;

	for (i = 0; i < MANY; i++) {
		others[i] = (struct jit_code_entry){ .symfile = code, .size = PAGE };
		others[i].next = i + 1 < MANY ? &others[i + 1] : &entry;
		others[i].prev = i ? &others[i - 1] : NULL;
	}
	entry.prev = &others[MANY - 1];
	__jit_debug_descriptor.first = others;
}

static void nowhere(void)
{
	entry.next = (void *)8;
}

static void cut_short(void)
{
	entry.size = sizeof(object.header);
}

static void too_large(void)
{
	object.section[1].sh_size = ~0ull;
}

static void frames_too_large(void)
{
	object.section[2].sh_size = 15 << 20;
}

/* A page behind the end of its file. */
static void no_page(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, memfd_create("empty", 0), 0);

	check(page != MAP_FAILED, "mmap");
	entry.symfile = page;
}

/* The vsyscall page, which no page table has. */
static void kernels_page(void)
{
	object.section[2].sh_addr = 0xffffffffff600000;
}

/* The table of the program's own code is its file's. */
static void code_of_a_file(void)
{
	int32_t distance = (uintptr_t)call_code - (uintptr_t)(frames + FRAMES_PC);

	object.section[1].sh_addr = (uintptr_t)call_code;
	memcpy(frames + FRAMES_PC, &distance, sizeof(distance));
}

/* The object says that its code is elsewhere: it cannot speak for code that is not its own. */
static void code_of_others(void)
{
	object.section[1].sh_addr += PAGE;
}

static void (*const lies[])(void) = {
	circle, endless, nowhere, cut_short, too_large, frames_too_large, no_page, kernels_page,
	code_of_a_file, code_of_others,
};

static noinline void told(void (*lie)(void))
{
	write_code(32);
	entry = (struct jit_code_entry){ .symfile = &object, .size = sizeof(object) };
	register_code();
	if (lie)
		lie();
	wait_for('l');
	known("reached [jit] %s", lie ? "end" : "call_code told main");
	call_code();
	not_tail();
}

static void change(void)
{
	unsigned int i;

	for (i = 0; ; i++) {
		switch (i * 2654435761u >> 29) {
		case 0:
			__jit_debug_descriptor.first = i & 1 ? &entry : NULL;
			break;
		case 1:
			entry.next = i & 1 ? others : NULL;
			others[0] = entry;
			break;
		case 2:
			entry.size = i % 1000;
			break;
		case 3:
			object.section[i & 3].sh_size = 1ull << (i >> 2) % 40;
			break;
		case 4:
			object.section[i & 3].sh_addr = (uintptr_t)(i & 4 ? code : frames);
			break;
		case 5:
			frames[i % sizeof(frames_bytes)] ^= 1 << i % 7;
			break;
		case 6:
			write_code(i & 1 ? 32 : 96);
			map_code();
			break;
		default:
			entry = (struct jit_code_entry){ .symfile = &object, .size = sizeof(object) };
			write_code(i & 1 ? 32 : 96);
			register_code();
		}
	}
}

static void withhold(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(fd >= 0 && page != MAP_FAILED && !ioctl(fd, UFFDIO_API, &api), "userfaultfd");
	range.range.start = (uintptr_t)page;
	range.range.len = PAGE;
	check(!ioctl(fd, UFFDIO_REGISTER, &range), "userfaultfd");
	entry.symfile = page;
	pause();
}

int main(int argc, char **argv)
{
	size_t i;

	map_frames();
	map_code();
	if (argc == 2) {
		write_code(32);
		register_code();
		if (!strcmp(argv[1], "change"))
			change();
		if (!strcmp(argv[1], "withhold"))
			withhold();
		usleep(2000);
		execv("/proc/self/exe", argv);
		check(0, "execv");
	}
	check(argc == 3, "two fifos");
	ready_path = argv[1];
	go_path = argv[2];
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		told(lies[i]);
	told(NULL);
	return 0;
}
