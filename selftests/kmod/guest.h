/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the programs that test the loaded module; they run in a guest, as root. */
#ifndef BEE_GUEST_H
#define BEE_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "netlink.h"

#define PAGE	0x1000ul

/**
 * struct guest - a connection and the last error
 * @nl: the connection to the module
 * @error: the error of the last failed request
 */
struct guest {
	struct netlink		*nl;
	struct bee_error	 error;
};

void guest_die(const char *what, const char *why) __attribute__((noreturn));
void guest_open(struct guest *g);
bool guest_is_instrumented(void);
int guest_table_fd(const char *elf);
uint32_t guest_add_table(struct guest *g, const char *elf);
void guest_get_proc(struct guest *g, pid_t pid, struct netlink_proc *proc);
int guest_update(struct guest *g, struct netlink_proc *proc, struct range *del, size_t ndel,
		 struct range *add, size_t nadd);
void guest_get_table(struct guest *g, uint32_t id, struct netlink_file *table);
void guest_add(struct guest *g, pid_t pid);
void guest_info(struct guest *g, struct netlink_info *info);
int guest_sampler_open(pid_t pid, uint64_t period_ns, uint16_t max_stack);
void guest_next_tick(void);
bool guest_is_rt(void);
long guest_deadline(void);
bool guest_waits(long deadline);
void guest_info_at_rest(struct guest *g, struct netlink_info *info);
bool guest_is_managed(struct guest *g, pid_t pid);
bool guest_is_loaded(struct guest *g, uint32_t id);
bool guest_is_exact(struct guest *g, pid_t pid);
bool guest_becomes_exact(struct guest *g, pid_t pid);
bool guest_range_is_equal(const struct range *a, const struct range *b);
bool guest_users_agree(struct guest *g);
bool guest_settles(struct guest *g, const struct netlink_info *start);
pid_t guest_start(void (*body)(int told, void *arg), void *arg, void *what, size_t size);
pid_t guest_spawn(void (*body)(void *), void *arg);
void guest_reap(pid_t pid);

#endif /* BEE_GUEST_H */
