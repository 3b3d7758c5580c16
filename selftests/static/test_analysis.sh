#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compilers and checkers find no fault in the sources.
# slow: 1
# shellcheck source=selftests/static/sources.sh
. "$(dirname "$0")/sources.sh"

# Prints the list of rooms (folders of tools/) in tools/rooms.mk.
rooms() {
	sed -n 's/^rooms[[:space:]]*:= //p' tools/rooms.mk
}

# tool_flags -I|-iquote: prints the preprocessor options for the files of tools/
tool_flags() {
	# shellcheck disable=SC2046  # a list of words
	printf ' %s' -D_GNU_SOURCE -Itools/include -Iinclude/uapi "${1}." $(printf -- "${1}tools/%s " $(rooms))
}

check_shell() {
	local busybox
	busybox=$(shell_scripts | xargs -d '\n' grep -lx '#!/bin/busybox sh')
	xargs -d '\n' shellcheck -s sh <<<"$busybox"
	shell_scripts | grep -vxF "$busybox" | xargs -d '\n' -P 2 -n 8 shellcheck -x -S warning
}

check_cppcheck() {
	local files flags
	read -r -a flags <<<"$(tool_flags -I)"
	mapfile -t files < <(sources 'tools/*.c'; echo kmod/table.c)
	# Debian 13's version takes "fclose(out) ?" for a use of what it closes; ASan finds real ones.
	cppcheck -q --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches --suppress=deallocuse \
		"${flags[@]}" "${files[@]}"
}

check_analyzer() {
	local flags files file
	read -r -a flags <<<"$(tool_flags -iquote) $(pkg-config --cflags libnl-3.0 libnl-genl-3.0 json-c libelf)"
	mapfile -t files < <(sources 'tools/*.c'; echo kmod/table.c)
	# It reports pointers stored in a caller's structure as leaks; ASan finds real leaks.  gcc 14 takes
	# standard streams, which are to stay open, for leaks too.
	printf '%s\n' "${files[@]}" | silent xargs -P 2 -n 1 \
		gcc -std=gnu11 -O1 -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-fd-leak \
		"${flags[@]}" -c -o /dev/null
}

# Builds the module with all of the compiler's warnings, and with sparse if it is installed.  It removes
# what an earlier run built: the compiler warns only of what it compiles.
build_to_warn() {
	local checker=()
	rm -rf build/static/warn
	! command -v sparse >/dev/null || checker=(C=2 CF=-D__bee_sparse)
	make -s --no-print-directory -j2 ko KDIR="$kdir" objdir=build/static/warn W=1 "${checker[@]}" \
		>"$tmp/warnings" 2>&1
}

check_sparse() {
	build_to_warn || { tail -n 40 "$tmp/warnings"; return 1; }
	! grep -E '(kmod|include)/.*(warning|error):' "$tmp/warnings"
}

# The compiler's warnings end with the option that turns them on; sparse has some about the kernel's
# own headers.
check_extra_warnings() {
	[ -e "$tmp/warnings" ] || build_to_warn || { tail -n 40 "$tmp/warnings"; return 1; }
	! grep -E 'warning:.*\[-W|error:' "$tmp/warnings"
}

checkpatch() {
	local found
	for found in {"${KERNEL_SOURCE:-}",/usr/src/linux-source-*,build/vm/debug/linux-source-*}/scripts/checkpatch.pl; do
		[ ! -e "$found" ] || { echo "$found"; return; }
	done
}

# Ignored: version checks, as the module is built for several kernels; macros that evaluate an
# argument twice, as the kernel's own do; shifts instead of BIT_ULL(), as user space, which reads
# tables too, has no BIT_ULL().
check_checkpatch() {
	local files ignored=LINUX_VERSION_CODE,CONSTANT_COMPARISON,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE,BIT_MACRO
	mapfile -t files < <(sources 'kmod/*.[ch]' 'include/*.h')
	perl "$(checkpatch)" --no-tree --strict --terse --max-line-length=100 --ignore="$ignored" \
		-f "${files[@]}"
}

# Prints the objects whose code runs in perf's NMI handler, as Kbuild lists them, of the module just built.
sampling_objects() {
	sed -n 's/^sampling-path := //p' Kbuild | tr ' ' '\n' | sed "s,^,$built/,"
}

# What the sampling path may call besides its own functions.
ALLOWED_CALLS='__rcu_read_(lock|unlock)|rcu_read_.*|__x86_[a-z0-9_]+|__stack_chk_fail|copy_from_user_nmi|copy_from_kernel_nofault|irq_work_queue|llist_add_batch|memchr_inv|memcpy|memset|memcmp'

check_sampling_calls() {
	local objects
	mapfile -t objects < <(sampling_objects)
	selftests/static/stack_depth.py calls bee_callchain_user,bee_callchain_give "${objects[@]}" >"$tmp/calls" || return
	! grep -vxE "$ALLOWED_CALLS" "$tmp/calls"
}

# The walk may take 512 bytes of the 16 KiB stack, as it runs on top of perf's NMI handler.
check_sampling_stack() {
	local objects
	mapfile -t objects < <(sampling_objects)
	selftests/static/stack_depth.py bee_callchain_user "${objects[@]}" >"$tmp/depth"
	cat "$tmp/depth"
	[ "$(cut -d ' ' -f 1 "$tmp/depth")" -lt 512 ]
}

ktap_plan 9
with shellcheck "shellcheck" check_shell
with cppcheck "cppcheck" check_cppcheck
with gcc "gcc -fanalyzer" check_analyzer
missing=0
kdir=$(selftests/vm/kernel headers 6.12 2>"$tmp/said") || missing=$?
if [ "$missing" -ne 4 ]; then
	[ "$missing" -eq 0 ] || ktap_diag "$(cat "$tmp/said")"
	with sparse "sparse" check_sparse
	ktap_run "the module builds without warnings of W=1" check_extra_warnings
	ktap_run "the module builds for Linux 6.12" make -s --no-print-directory -j2 ko KDIR="$kdir"
	built=build/kmod/$(cat "$kdir/include/config/kernel.release" || true)
	ktap_run "the sampling path calls no lock, allocator or printk" check_sampling_calls
	ktap_run "the sampling path needs less than 512 bytes of stack" check_sampling_stack
else
	for name in sparse "the module builds without warnings of W=1" "the module builds for Linux 6.12" \
		"the sampling path calls no lock, allocator or printk" \
		"the sampling path needs less than 512 bytes of stack"; do
		ktap_skip "$name" "$(tail -n 1 "$tmp/said")"
	done
fi
if [ -n "$(checkpatch)" ]; then
	ktap_run "checkpatch" check_checkpatch
else
	ktap_skip "checkpatch" "no kernel source (make check-debug has one; or set KERNEL_SOURCE)"
fi
ktap_finish
