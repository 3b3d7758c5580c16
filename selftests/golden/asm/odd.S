# SPDX-License-Identifier: GPL-2.0
# Rules that occur once in a program, and those that a table cannot hold.
	.text
# vfork: the return address moves to a register.
	.p2align 4
ra_in_register:
	.cfi_startproc
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rdi
	nop
	.cfi_endproc

# longjmp: another stack pointer than the CFA.
	.p2align 4
sp_rule:
	.cfi_startproc
	nop
	.cfi_def_cfa rdi, 0
	.cfi_offset rsp, 48
	.cfi_offset rip, 56
	nop
	.cfi_endproc

# _start
	.p2align 4
outermost:
	.cfi_startproc
	.cfi_undefined rip
	nop
	.cfi_undefined rbp
	nop
	.cfi_endproc

# A signal trampoline as glibc has it.
	.p2align 4
trampoline:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 0x06	# CFA = *(rsp+160)
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0		# rbp at rsp+120
	.cfi_escape 0x10, 7, 3, 0x77, 0xa0, 1		# rsp at rsp+160
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1		# ra at rsp+168
	nop
	.cfi_endproc

# The linkers' expression for .plt.
	.p2align 4
plt:
	.cfi_startproc
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24, 0x22
	nop
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	nop
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3c, 0x2a, 0x33, 0x24, 0x22
	nop
	.cfi_endproc

# OpenSSL: CFA = *(rsp + 8 + r9 * 8) + 8.
	.p2align 4
cfa_expression:
	.cfi_startproc
	.cfi_escape 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8
	nop
	.cfi_endproc

# rbp in registers: a GPR, itself, none of ours.
	.p2align 4
fp_register:
	.cfi_startproc
	.cfi_register rbp, rax
	nop
	.cfi_register rbp, rbp
	nop
	.cfi_register rbp, xmm0
	nop
	.cfi_endproc

	.p2align 4
no_cfa:
	.cfi_startproc simple
	nop
	.cfi_def_cfa rsp, 8
	nop
	.cfi_offset rip, -8
	nop
	.cfi_def_cfa xmm0, 8
	nop
	.cfi_endproc

# Offsets are modulo 2^64: 2^64-96 in DW_CFA_def_cfa_offset and def_cfa; 2^63 and factor -8 in
# offset and offset_extended; 2^64-16 in GNU_negative_offset_extended.
	.p2align 4
modulo:
	.cfi_startproc
	nop
	.cfi_escape 0x0e, 0xa0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1
	nop
	.cfi_escape 0x0c, 6, 0xa0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1
	nop
	.cfi_escape 0x0e, 16, 0x86, 0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1
	nop
	.cfi_escape 5, 6, 0x84, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1
	nop
	.cfi_escape 0x2f, 6, 0xfa, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1
	nop
	.cfi_endproc

# An opcode that is none.
	.p2align 4
malformed:
	.cfi_startproc
	nop
	.cfi_def_cfa_offset 16
	nop
	.cfi_escape 0x3e
	nop
	.cfi_endproc

	.p2align 4
after_malformed:
	.cfi_startproc
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
