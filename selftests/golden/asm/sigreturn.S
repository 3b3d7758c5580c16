# SPDX-License-Identifier: GPL-2.0
# Code in front of musl's signal trampoline, which handlers return to: the byte before it, by which its
# rule is looked up, must not have the rule of the function that ends there.
	.text
	.type framed, @function
framed:
	.cfi_startproc
	call leaf_in_front
	ret
	.cfi_endproc
	.size framed, . - framed

# Proven, as in sigemptyset(), whose object the linker puts before that of the trampoline.
	.type leaf_in_front, @function
leaf_in_front:
	movq $0, (%rdi)
	xor %eax, %eax
	ret
	nop
	.type restore, @function
restore:
	mov $15, %rax
	syscall

# With an FDE, and one of the trampoline that does not begin before its first byte.
	.type framed_in_front, @function
framed_in_front:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	ret
	.cfi_endproc
	nop
	.type restore_eax, @function
restore_eax:
	.cfi_startproc
	.cfi_undefined rip
	mov $15, %eax
	syscall
	.cfi_endproc

# No trampoline: here padding has the rule of the function that ends there.
	.type plain, @function
plain:
	.cfi_startproc
	ret
	.cfi_endproc
	nop
	.type other, @function
other:
	.cfi_startproc
	.cfi_undefined rip
	mov $14, %eax
	syscall
	.cfi_endproc
