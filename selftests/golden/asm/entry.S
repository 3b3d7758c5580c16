# SPDX-License-Identifier: GPL-2.0
# An entry point without an FDE, between others, as in the dynamic linker.
	.text
	.cfi_startproc
	nop
	.cfi_endproc
	jmp	no_fde
no_fde:
	jmp	no_fde
	.globl	_start
_start:
	mov	%rsp, %rdi
	call	no_fde
	.fill	200, 1, 0xf4
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	nop
	.cfi_endproc
