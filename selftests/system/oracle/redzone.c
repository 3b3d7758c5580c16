// SPDX-License-Identifier: GPL-2.0
/*
 * The red zone below rsp, which PERF_SAMPLE_STACK_USER leaves out.  Leaf functions keep values
 * there, and the rules of some of them need these.  A BPF program runs when a sample is taken and
 * writes the red zone into the event's ring buffer, before the sample.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <asm/ptrace.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>

#include "redzone.h"

#define CPUS	64
#define OFFSET(field)	(-(int)sizeof(struct redzone) + (int)offsetof(struct redzone, field))

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define CALL(helper)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##helper)
#define MOV(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV32_IMM(d, i)		INSN(BPF_ALU | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)		INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define LOAD(d, s, o)		INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s)		INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define LOAD_MAP(d, fd)		INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_FD, 0, fd), \
				INSN(0, 0, 0, 0, 0)
#define EXIT			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int map = -1, program = -1;

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/*
 *	regs = bpf_task_pt_regs(bpf_get_current_task_btf());
 *	zone.sp = regs->sp;
 *	zone.fault = bpf_probe_read_user(zone.bytes, REDZONE_BYTES, zone.sp - REDZONE_BYTES);
 *	bpf_perf_event_output(context, &map, BPF_F_CURRENT_CPU, &zone, sizeof(zone));
 *	return 1;
 */
static int load(void)
{
	const struct bpf_insn insns[] = {
		MOV(BPF_REG_6, BPF_REG_1),
		CALL(get_current_task_btf),
		MOV(BPF_REG_1, BPF_REG_0),
		CALL(task_pt_regs),
		LOAD(BPF_REG_3, BPF_REG_0, offsetof(struct pt_regs, rsp)),
		STORE(BPF_REG_10, OFFSET(sp), BPF_REG_3),
		ADD_IMM(BPF_REG_3, -REDZONE_BYTES),
		MOV_IMM(BPF_REG_2, REDZONE_BYTES),
		MOV(BPF_REG_1, BPF_REG_10),
		ADD_IMM(BPF_REG_1, OFFSET(bytes)),
		CALL(probe_read_user),
		STORE(BPF_REG_10, OFFSET(fault), BPF_REG_0),
		MOV(BPF_REG_1, BPF_REG_6),
		LOAD_MAP(BPF_REG_2, map),
		MOV32_IMM(BPF_REG_3, -1),
		MOV(BPF_REG_4, BPF_REG_10),
		ADD_IMM(BPF_REG_4, OFFSET(sp)),
		MOV_IMM(BPF_REG_5, sizeof(struct redzone)),
		CALL(perf_event_output),
		MOV_IMM(BPF_REG_0, 1),
		EXIT,
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

/* Open the event that the BPF program writes to on @cpu; its output goes to @event's buffer. */
static int output_open(int event, int cpu, uint64_t *id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	union bpf_attr update = {
		.map_fd = map, .key = (uintptr_t)&cpu, .value = (uintptr_t)&fd,
	};

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, event) ||
	    ioctl(fd, PERF_EVENT_IOC_ID, id) || bpf(BPF_MAP_UPDATE_ELEM, &update))
		return -1;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

/**
 * redzone_attach() - have a struct redzone written before each sample
 * @event: the event that samples, with a buffer
 * @cpu: its CPU
 * @id: filled: the identifier of the records with them, PERF_SAMPLE_RAW
 *
 * Return: false, with errno set, where the kernel does not let us.
 */
bool redzone_attach(int event, int cpu, uint64_t *id)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = sizeof(int), .value_size = sizeof(int), .max_entries = CPUS,
	};

	if (map < 0)
		map = bpf(BPF_MAP_CREATE, &attr);
	if (map >= 0 && program < 0)
		program = load();
	return program >= 0 && !output_open(event, cpu, id) &&
	       !ioctl(event, PERF_EVENT_IOC_SET_BPF, program);
}
