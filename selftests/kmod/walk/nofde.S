/* SPDX-License-Identifier: GPL-2.0 */
/* A library without any FDE, whose function keeps the frame pointer. */
	.text
	.globl	nofde_call
	.type	nofde_call, @function
nofde_call:
	push	%rbp
	mov	%rsp, %rbp
	sub	$32, %rsp
	call	*%rdi
	leave
	ret
	.size	nofde_call, . - nofde_call
	.section .note.GNU-stack, "", @progbits
