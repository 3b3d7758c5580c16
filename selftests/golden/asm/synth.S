# SPDX-License-Identifier: GPL-2.0
# Code without CFI: rows where it proves them, gaps where it does not.
	.text
first:
	.cfi_startproc
	ret
	.cfi_endproc

# pushes, pops, a call, a jump back and one ahead
	.p2align 4
plain:
	push %rbp
	push %rbx
	sub $24, %rsp
	mov %rdi, %rbp
1:	call first
	test %eax, %eax
	jne 1b
	je 2f
	mov %rbp, 8(%rsp)
2:	add $24, %rsp
	pop %rbx
	pop %rbp
	ret

# a frame pointer, and an unknown amount of stack
	.p2align 4
framed:
	push %rbp
	mov %rsp, %rbp
	sub %rdi, %rsp
	call *%rax
	leave
	ret

# aligned, with the old rsp in a register and then in a word (x264, dav1d, OpenSSL)
	.p2align 4
aligned:
	push %rbp
	mov %rsp, %rax
	and $-64, %rsp
	sub $256, %rsp
	mov %rax, 240(%rsp)
	vpaddb %zmm1, %zmm2, %zmm3{%k1}{z}
	xor %ebp, %ebp
	mov 240(%rsp), %rsp
	pop %rbp
	ret

# a table of jumps that is not in the code; what it jumps to has the frame of the jump
	.p2align 4
switches:
	push %r12
	sub $8, %rsp
	jmp *%rax
	nop
	nop
3:	add $8, %rsp
	pop %r12
	ret
	mov $1, %eax
	jmp 3b

# tail calls: of a function with CFI, and through a pointer
	.p2align 4
tail:
	test %eax, %eax
	je 4f
	jmp first
4:	jmp *%rax

# does not keep rbp, which its callers have to know
	.p2align 4
helper:
	xor %ebp, %ebp
	ret
	.p2align 4
calls_helper:
	call helper
	ret
	.p2align 4
saves_for_helper:
	push %rbp
	call helper
	pop %rbp
	ret

# separates what follows, which proves nothing
	.p2align 4
second:
	.cfi_startproc
	ret
	.cfi_endproc

disagrees:
	test %eax, %eax
	je 5f
	push %rax
5:	ret
third:
	.cfi_startproc
	ret
	.cfi_endproc

returns_more:
	push %rax
	ret $8
fourth:
	.cfi_startproc
	ret
	.cfi_endproc

no_ret:
	push %rax
	jmp *%rax
fifth:
	.cfi_startproc
	ret
	.cfi_endproc

no_code:
	push %rax
	.byte 0x06
	pop %rax
	ret $8
sixth:
	.cfi_startproc
	ret
	.cfi_endproc

falls_off:
	push %rax
	pop %rax
seventh:
	.cfi_startproc
	ret
	.cfi_endproc

loses_rsp:
	mov %rdi, %rsp
	ret $8
eighth:
	.cfi_startproc
	ret
	.cfi_endproc

calls_unproven:
	call loses_rsp
	ret $8
ninth:
	.cfi_startproc
	ret
	.cfi_endproc

# the return address is overwritten
overwrites:
	mov %rdi, (%rsp)
	ret
# before the end
last:
	.cfi_startproc
	ret
	.cfi_endproc

# behind all FDEs
	.p2align 4
behind:
	sub $40, %rsp
	add $40, %rsp
	ret

# two entries of one function: before one of them rbp has been overwritten (x264)
	.p2align 4
loads:
	mov 24(%rsp), %rbp
both:
	mov %eax, 16(%rsp)
	ret
	.p2align 4
enters_both:
	push %rbp
	sub $32, %rsp
	call both
	call loads
	add $32, %rsp
	pop %rbp
	ret

# rsp is lost, and then the register that told of it; the other way returns
	.p2align 4
loses_all:
	test %edi, %edi
	je 1f
	mov %rsp, %r10
	and $-32, %rsp
	call first
	hlt
1:	ret
	.p2align 4
tenth:
	.cfi_startproc
	ret
	.cfi_endproc
