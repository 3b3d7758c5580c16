# SPDX-License-Identifier: GPL-2.0
# Another stack pointer than the CFA, which then only says where registers are saved.
	.text
# glibc's longjmp, once it has loaded them.
longjmp:
	.cfi_startproc
	.cfi_def_cfa rdi, 0
	.cfi_register rsp, r8
	.cfi_register rbp, r9
	.cfi_register rip, rdx
	nop
# before
	.cfi_offset rsp, 48
	.cfi_offset rbp, 8
	.cfi_offset rip, 56
	nop
	.cfi_endproc

# glibc's setcontext, and the same with the CFA in the middle of the structure.
	.p2align 4
setcontext:
	.cfi_startproc
	.cfi_def_cfa rdx, 0
	.cfi_offset rsp, 160
	.cfi_offset rbp, 120
	.cfi_offset rip, 168
	nop
	.cfi_def_cfa rdx, 128
	.cfi_offset rsp, 32
	.cfi_offset rbp, -8
	.cfi_offset rip, 40
	nop
# a value
	.cfi_escape 0x16, 7, 3, 0x7b, 0x80, 1		# rsp is r11+128
	nop
# registers that are saved nowhere near it
	.cfi_same_value rbp
	.cfi_register rip, rcx
	nop
	.cfi_endproc

# The CFA is in memory, and registers are saved at it.
	.p2align 4
in_memory:
	.cfi_startproc
	.cfi_escape 0x0f, 3, 0x77, 8, 0x06		# CFA = *(rsp+8)
	.cfi_escape 0x16, 7, 2, 0x7b, 0			# rsp is r11
	nop
	.cfi_register rip, rcx
	nop
	.cfi_offset rbp, 16
	nop
# nothing tells what rsp is
	.cfi_escape 0x07, 7
	nop
	.cfi_escape 0x16, 7, 1, 0x30
	nop
	.cfi_endproc

# Offsets that are too far apart.
	.p2align 4
far:
	.cfi_startproc
	.cfi_escape 0x0c, 7, 0xff, 0xff, 0xff, 0xff, 0x07	# CFA = rsp+2^31-1
	.cfi_escape 0x16, 7, 2, 0x7b, 0				# rsp is r11
	nop
	.cfi_offset rip, 8
	nop
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
