/* SPDX-License-Identifier: GPL-2.0 */
/* Manage address spaces on request, and repair those that have lost their ranges. */
#ifndef BEE_MANAGE_H
#define BEE_MANAGE_H

#include "mm.h"

struct netlink_ext_ack;
struct task_struct;

extern struct delayed_work bee_manage_rescan;
extern struct delayed_work bee_manage_settle_work;

void bee_manage_settle(void);

void bee_manage_init(struct workqueue_struct *wq);
void bee_manage_exit(void);

int bee_manage_scan(struct mm_struct *mm, struct pid *pid, bool nowait, struct bee_mm_state *state,
		    struct netlink_ext_ack *extack);
int bee_manage_update(struct mm_struct *mm, struct pid *pid, struct bee_map_diff *diff,
		      struct bee_mm_state *state, struct netlink_ext_ack *extack);
struct bee_file *bee_manage_new_file(const struct mm_struct *mm, const char *name,
				     struct netlink_ext_ack *extack);
struct mm_struct *bee_manage_get_mm(struct task_struct *task);
void bee_manage_look(u64 cookie);
void bee_manage_stray(pid_t pid);
bool bee_manage_stop(const struct mm_struct *mm);
bool bee_manage_stop_cookie(u64 cookie);

#endif /* BEE_MANAGE_H */
