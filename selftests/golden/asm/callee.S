# SPDX-License-Identifier: GPL-2.0
# CFAs in a register that callees save, as in the dynamic linker's _dl_runtime_resolve().
	.text
resolve:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov %rsp, %rbx
	.cfi_def_cfa_register rbx
	and $-64, %rsp
	call pushes
	nop
	call *%rax
	call pushes_late
	call keeps
	call moves
	call elsewhere
	call no_fde
	call leaves
	call leaves_late
	call leaves_early
	call leaves_anywhere
	call has_cold
	call cold_pops
	call cold_leaves
	call pushes
	mov %rbx, %rsp
	.cfi_def_cfa_register rsp
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc

# the register in the third word of the frame, popped in two places
pushes:
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	jmp *%rdx
	je 1f
	.cfi_remember_state
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	pop %rbx
	.cfi_adjust_cfa_offset -8
	pop %rbp
	.cfi_adjust_cfa_offset -8
	ret
1:	.cfi_restore_state
	call *%rax
	.cfi_endproc

# the frame is as deep as it will be before the register is in it
pushes_late:
	.cfi_startproc
	sub $16, %rsp
	.cfi_adjust_cfa_offset 16
	mov %rbx, 8(%rsp)
	.cfi_rel_offset rbx, 8
	add $16, %rsp
	.cfi_adjust_cfa_offset -16
	ret
	.cfi_endproc

# no need to save it
keeps:
	.cfi_startproc
	ret
	.cfi_endproc

# below rsp, where it does not follow from rsp whether it is saved
moves:
	.cfi_startproc
	mov %rbx, -8(%rsp)
	.cfi_offset rbx, -16
	mov -8(%rsp), %rbx
	ret
	.cfi_endproc

# in two places
elsewhere:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	ret
	.cfi_endproc

# jumps into another function, in whose frames the word is not
leaves:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	jmp keeps
	.cfi_endproc

# jumps to keeps() when its own frame is gone, as _dl_profile_fixup(), or not there yet, or by a register
leaves_late:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	pop %rbx
	.cfi_adjust_cfa_offset -8
	jmp keeps
	.cfi_endproc
leaves_early:
	.cfi_startproc
	jne keeps
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
leaves_anywhere:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	pop %rbx
	.cfi_adjust_cfa_offset -8
	jmp *%rax
	.cfi_endproc

# jumps into a part of its own with the same frame, which jumps back
has_cold:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	jne has_cold_cold
1:	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
has_cold_cold:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	call *%rax
	jmp 1b
	.cfi_endproc

# the register is not in the frame of the other part to its end
cold_pops:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	jne 1f
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
1:	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc

# the other part jumps into another function
cold_leaves:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	jne 1f
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
1:	call *%rax
	jmp keeps
	.cfi_endproc

no_fde:
	push %rbx
	pop %rbx
	ret
# before the end
last:
	.cfi_startproc
	ret
	.cfi_endproc

# the first instruction with the CFA in rbx is a call, and another follows at once
resolve_at_once:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov %rsp, %rbx
	.cfi_def_cfa_register rbx
	call pushes
	call has_cold
	call undefined
	mov %rbx, %rsp
	.cfi_def_cfa_register rsp
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc

# its CIE says that the register is lost, so it is not the caller's before it is saved
undefined:
	.cfi_startproc simple
	.cfi_undefined rbx
	.cfi_def_cfa rsp, 8
	.cfi_offset rip, -8
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
