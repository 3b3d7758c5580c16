# SPDX-License-Identifier: GPL-2.0
# Behind the system call of glibc's clone(), which has no CFI there, a jump leads to the code of the new
# thread.  That has no caller, so the jump is no tail call, and the code before it stays a gap.
	.text
	.type clone, @function
clone:
	.cfi_startproc
	mov $56, %eax
	.cfi_endproc
	syscall
	test %rax, %rax
	jl 2f
	je 1f
	ret
1:	.cfi_startproc
	.cfi_undefined rip
	xor %ebp, %ebp
	pop %rax
	pop %rdi
	call *%rax
	mov %rax, %rdi
	mov $60, %eax
	syscall
	.cfi_endproc
2:	.cfi_startproc
	or $-1, %rax
	ret
	.cfi_endproc
	.size clone, . - clone

# A branch to a function that has a caller when it begins is a tail call.
	test %rax, %rax
	je 3f
	ret
	.p2align 4
	.type later, @function
later:
3:	.cfi_startproc
	xor %ebp, %ebp
	.cfi_undefined rip
	hlt
	.cfi_endproc
	.size later, . - later
