# SPDX-License-Identifier: GPL-2.0
# An entry point whose endbr64 is in front of its .cfi_undefined; the same code elsewhere has a caller.
	.text
	.cfi_startproc
	endbr64
	.cfi_undefined rip
	hlt
	.cfi_endproc
	.globl	_start
_start:	.cfi_startproc
	endbr64
	.cfi_undefined rip
	xor	%ebp, %ebp
	hlt
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
