# SPDX-License-Identifier: GPL-2.0
# An entry point without an FDE before all that have one, as musl's crt1.o makes it.
	.text
no_fde:
	jmp	no_fde
	.globl	_start
_start:
	xor	%ebp, %ebp
	call	no_fde
	hlt
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	nop
	.cfi_endproc
