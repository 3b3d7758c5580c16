// SPDX-License-Identifier: GPL-2.0
/*
 * Holds the mmap_lock of a process for as long as the module is loaded, as the process itself
 * can do by a page fault that its own file server does not answer.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process");

static DECLARE_COMPLETION(held);
static struct task_struct *holder;

static int hold(void *arg)
{
	struct mm_struct *mm = arg;

	mmap_write_lock(mm);
	complete(&held);
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
	}
	__set_current_state(TASK_RUNNING);
	mmap_write_unlock(mm);
	mmput(mm);
	return 0;
}

static struct mm_struct *find_mm(void)
{
	struct pid *found = find_get_pid(pid);
	struct task_struct *task = get_pid_task(found, PIDTYPE_PID);
	struct mm_struct *mm = NULL;

	put_pid(found);
	if (!task)
		return NULL;
	mm = get_task_mm(task);
	put_task_struct(task);
	return mm;
}

static int __init mmap_lock_init(void)
{
	struct mm_struct *mm = find_mm();

	if (!mm)
		return -ESRCH;
	holder = kthread_run(hold, mm, "bee_mmap_lock");
	if (IS_ERR(holder)) {
		mmput(mm);
		return PTR_ERR(holder);
	}
	wait_for_completion(&held);
	return 0;
}

static void __exit mmap_lock_exit(void)
{
	kthread_stop(holder);
}

module_init(mmap_lock_init);
module_exit(mmap_lock_exit);

MODULE_DESCRIPTION("Holds a process's mmap_lock");
MODULE_LICENSE("GPL");
