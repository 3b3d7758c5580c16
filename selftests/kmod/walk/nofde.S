/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A library without any FDE.  nofde_call() keeps the frame pointer; nofde_pointer_call() calls with
 * rbp pointing to a word below the address of an instruction.
 */
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

	.globl	nofde_pointer_call
	.type	nofde_pointer_call, @function
nofde_pointer_call:
	push	%rbp
	lea	0f(%rip), %rax
	push	%rax
	push	$0
	mov	%rsp, %rbp
	call	*%rdi
	add	$16, %rsp
	pop	%rbp
0:	ret
	.size	nofde_pointer_call, . - nofde_pointer_call
	.section .note.GNU-stack, "", @progbits
