# SPDX-License-Identifier: GPL-2.0
# Code without CFI that only an indirect jump reaches, from a function that its own ret has proven.
	.text
first:
	.cfi_startproc
	ret
	.cfi_endproc

# as multiplications of GMP: into one of several loops, of which some are behind the ret
	.p2align 4
	.type loops, @function
loops:
	push %rbx
	push %r12
	lea 2f(%rip), %r12
	test %eax, %eax
	je 1f
	jmp *%r12
1:	pop %r12
	pop %rbx
	ret
2:	add %rdi, %rsi
	dec %eax
	jne 2b
	jmp 1b
	sub %rdi, %rsi
	jmp *%r12

# what is behind it returns with the frame of the jump, and not at all as a function returns
	.p2align 4
	.type wrong, @function
wrong:
	push %rbx
	jmp *%rax
	pop %rbx
	ret
	nop
	ret $8

last:
	.cfi_startproc
	ret
	.cfi_endproc

# Behind a jump with a frame of 480 bytes is a part of another function.  It computes rsp from rbp, so
# nothing proves the 480.
	.p2align 4
	push	%rbp
	mov	%rsp, %rbp
	sub	$464, %rsp
	jmp	*%rax
	.p2align 4
	nop
	mov	-24(%rbp), %rbx
	mov	%rbp, %rsp
	pop	%rbp
	ret

	.p2align 4
	.cfi_startproc
	ret
	.cfi_endproc
