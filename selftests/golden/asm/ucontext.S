# SPDX-License-Identifier: GPL-2.0
# glibc's swapcontext() and makecontext(), whose CFI says nothing of their code.
	.text
	.macro swap_head
	mov %rsp, 160(%rdi)
	.skip 96, 0x90
	jae 9f
	mov %r12, %rdx
	mov 160(%rdx), %rsp
	mov 128(%rdx), %rbx
	mov 120(%rdx), %rbp
	.endm
	.macro swap_tail
	mov 168(%rdx), %rcx
	push %rcx
	mov 104(%rdx), %rdi
	mov 112(%rdx), %rsi
	mov 152(%rdx), %rcx
	mov 136(%rdx), %rdx
	xor %eax, %eax
	ret
	.endm

# until rdx is loaded
	.type swapcontext, @function
swapcontext:
	.cfi_startproc
	swap_head
	swap_tail
9:	or $-1, %rax
	ret
	.cfi_endproc
	.size swapcontext, . - swapcontext

# swapcontext where there can be a shadow stack
	.p2align 4
	.type shadow, @function
shadow:
	.cfi_startproc
	swap_head
	testl $2, %fs:72
	jz 1f
	mov 168(%rdx), %r10
	mov 136(%rdx), %rdx
	rdsspq %rcx
	cmp (%rcx), %r10
	push %r10
	ret
1:	swap_tail
9:	or $-1, %rax
	ret
	.cfi_endproc
	.size shadow, . - shadow

# rdx is not what rsp was loaded from any more, and other code does not return at all
	.p2align 4
	.type other, @function
other:
	.cfi_startproc
	swap_head
	mov %rax, %rdx
	swap_tail
9:	.cfi_endproc
	.size other, . - other

# the CFI says it, as that of setcontext()
	.p2align 4
	.type says, @function
says:
	.cfi_startproc
	.skip 128, 0x90
	.cfi_def_cfa rdx, 0
	.cfi_offset rsp, 160
	.cfi_offset rbp, 120
	.cfi_offset rip, 168
	mov 160(%rdx), %rsp
	.cfi_endproc
	.size says, . - says

	.macro start
	mov %rbx, %rsp
	mov (%rsp), %rdi
	test %rdi, %rdi
	je 1f
	call swapcontext
1:	call swapcontext
	hlt
	.endm

# coroutines return to its first byte, and the byte before it is looked up
	.type before, @function
before:
	.cfi_startproc
	ret
	.cfi_endproc
	.size before, . - before
	nop
	nop
	.type start_context, @function
start_context:
	.cfi_startproc
	start
	.cfi_endproc
	.size start_context, . - start_context

	.type between, @function
between:
	.cfi_startproc
	ret
	.cfi_endproc
	.size between, . - between
	.p2align 4
	.type start_endbr, @function
start_endbr:
	.cfi_startproc
	endbr64
	start
	.cfi_endproc
	.size start_endbr, . - start_endbr

# that byte is code of its own
	.type adjacent, @function
adjacent:
	.cfi_startproc
	ret
	.cfi_endproc
	.size adjacent, . - adjacent
	.type start_adjacent, @function
start_adjacent:
	.cfi_startproc
	start
	.cfi_endproc
	.size start_adjacent, . - start_adjacent
