# SPDX-License-Identifier: GPL-2.0
# Code without CFI whose rows are right if it keeps the ABI.  FDEs around each part make it a gap of its own.
	.macro fde
	.p2align 4
	.cfi_startproc
	ret
	.cfi_endproc
	.p2align 4
	.endm

	.text
	fde
# A switch whose cases are behind its jump, in a function that calls one that nothing is known of.
	.globl switch
	.type switch, @function
switch:
	push	%rbx
	call	*unknown(%rip)
	cmp	$1, %edi
	ja	1f
	lea	table(%rip), %rdx
	movslq	(%rdx, %rdi, 4), %rax
	add	%rdx, %rax
	jmp	*%rax
case0:	push	%rdi
	pop	%rdi
case1:	pop	%rbx
	ret
1:	pop	%rbx
	ret

	fde
# The call at the end of a function is of one that has no ret.
	.globl fails
	.type fails, @function
fails:
	sub	$8, %rsp
	call	*unknown(%rip)
	call	.Lstop
	.p2align 4
	.globl stop
	.type stop, @function
stop:
.Lstop:
	sub	$24, %rsp
	mov	$60, %eax
	syscall

	fde
# clone() as musl has it: the new thread has no caller, whatever is on its stack.
	.globl clone
	.type clone, @function
clone:
	xor	%eax, %eax
	mov	$56, %al
	mov	%rcx, (%rsi)
	syscall
	test	%eax, %eax
	jnz	1f
	xor	%ebp, %ebp
	pop	%rdi
	call	*%r9
	mov	%eax, %edi
	xor	%eax, %eax
	mov	$60, %al
	syscall
	hlt
1:	ret

	fde
# Refused: a call with rsp not a multiple of 16, by a function that only data names.
misaligned:
	push	%rbx
	push	%rbp
	call	*unknown(%rip)
	test	%eax, %eax
	je	1f
	push	%rax
	call	.Lstop
1:	pop	%rbp
	pop	%rbx
	ret

	fde
# Refused: a switch to another stack.
	.globl switch_stack
	.type switch_stack, @function
switch_stack:
	push	%rbx
	call	*unknown(%rip)
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%rbx
	ret

	fde
# Refused, all of it: some functions take their arguments off the stack.
	.globl takes
	.type takes, @function
takes:
.Ltakes:
	push	%rbx
	call	*unknown(%rip)
	pop	%rbx
	ret	$8
	.p2align 4
	.globl gives
	.type gives, @function
gives:
	push	%rbx
	push	%rdi
	push	%rdi
	call	.Ltakes
	pop	%rdi
	pop	%rbx
	ret

	fde
# A function that is one jump, as musl's qsort() gives one to qsort_r(), whose address only code has.
	.globl sort
	.type sort, @function
sort:
	mov	%rcx, %r8
	lea	jumps(%rip), %rcx
	lea	block(%rip), %r9
	jmp	*unknown(%rip)
	.p2align 4
jumps:	jmp	*%rdx
	.p2align 4
# Refused: more than the jump, as blocks of functions have it.
block:	inc	%rdi
	jmp	*%rdx

	fde
	.section .rodata, "a", @progbits
	.p2align 2
table:	.long	case0 - table, case1 - table
	.data
unknown: .quad	misaligned
	.section .note.GNU-stack, "", @progbits
