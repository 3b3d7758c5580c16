# SPDX-License-Identifier: GPL-2.0
# An entry point without an FDE behind all that have one, and a long way to the end.
	.text
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	nop
	.cfi_endproc
no_fde:
	jmp	no_fde
	.globl	_start
_start:
	xor	%ebp, %ebp
	call	no_fde
	.fill	200, 1, 0xf4
