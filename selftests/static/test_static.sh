#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tools and greps can say about the sources without running them.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
cd "$tree"
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Everything that is or will be committed, without test inputs.
sources() {
	git -c safe.directory="$tree" ls-files -co --exclude-standard -- "$@" |
		while IFS= read -r file; do
			[ ! -f "$file" ] || echo "$file"
		done
}

have() {
	command -v "$1" >/dev/null
}

# with TOOL NAME CMD...: skipped when the tool is missing
with() {
	local tool=$1 name=$2
	shift 2
	if have "$tool"; then
		ktap_run "$name" "$@"
	else
		ktap_skip "$name" "$tool: not installed"
	fi
}

# silent CMD...: succeeds when CMD prints nothing
silent() {
	"$@" >"$tmp/said" 2>&1 || true
	[ ! -s "$tmp/said" ] || { head -n 60 "$tmp/said"; return 1; }
}

headers() {
	selftests/vm/kernel headers 6.12 2>/dev/null
}

# As tools/rooms.mk has them.
rooms() {
	sed -n 's/^rooms[[:space:]]*:= //p' tools/rooms.mk
}

tool_flags() {
	# shellcheck disable=SC2046  # a list of words
	printf ' %s' -D_GNU_SOURCE -Itools/include -Iinclude/uapi -I. $(printf -- '-Itools/%s ' $(rooms))
}

shell_scripts() {
	sources | while IFS= read -r file; do
		case $(head -c 40 "$file" | head -n1 | tr -d '\0') in
		'#!/bin/bash' | '#!/bin/sh' | '#!/bin/busybox sh') echo "$file" ;;
		esac
	done
}

check_shell() {
	local file
	for file in $(shell_scripts); do
		case $(head -n1 "$file") in
		*busybox*) shellcheck -s sh "$file" ;;
		*) shellcheck -x -S warning "$file" ;;
		esac
	done
}

check_python() {
	local file
	sources '*.py' selftests/run selftests/demo selftests/vm/run | while IFS= read -r file; do
		/usr/bin/python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$file"
	done
}

check_cppcheck() {
	local files flags
	read -r -a flags <<<"$(tool_flags)"
	mapfile -t files < <(sources 'tools/*.c'; echo kmod/table.c)
	cppcheck -q --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
		"${flags[@]}" "${files[@]}"
}

check_analyzer() {
	local flags files file
	read -r -a flags <<<"$(tool_flags) $(pkg-config --cflags libnl-3.0 libnl-genl-3.0 json-c libelf)"
	mapfile -t files < <(sources 'tools/*.c'; echo kmod/table.c)
	# It takes a pointer stored in a caller's structure for a leak; ASan judges those.
	printf '%s\n' "${files[@]}" | silent xargs -P 2 -n 1 \
		gcc -std=gnu11 -O1 -fanalyzer -Wno-analyzer-malloc-leak "${flags[@]}" -c -o /dev/null
}

check_sparse() {
	local kdir
	kdir=$(headers)
	make -s --no-print-directory ko KDIR="$kdir" objdir=build/static/sparse C=2 CF=-D__bee_sparse \
		>"$tmp/sparse" 2>&1 || { tail -n 40 "$tmp/sparse"; return 1; }
	! grep -E '(kmod|include)/.*(warning|error):' "$tmp/sparse"
}

check_extra_warnings() {
	make -s --no-print-directory ko KDIR="$(headers)" objdir=build/static/w1 W=1 \
		>"$tmp/w1" 2>&1 || { tail -n 40 "$tmp/w1"; return 1; }
	! grep -E 'warning:|error:' "$tmp/w1"
}

checkpatch() {
	local found
	for found in {"${KERNEL_SOURCE:-}",/usr/src/linux-source-*,build/vm/debug/linux-source-*}/scripts/checkpatch.pl; do
		[ ! -e "$found" ] || { echo "$found"; return; }
	done
}

# A module of more than one kernel asks for the version; it has macros as the kernel's, arguments
# twice; tables are read in user space too, where there is no BIT_ULL().
check_checkpatch() {
	local files ignored=LINUX_VERSION_CODE,CONSTANT_COMPARISON,MACRO_ARG_REUSE,BIT_MACRO
	mapfile -t files < <(sources 'kmod/*.[ch]' 'include/*.h')
	perl "$(checkpatch)" --no-tree --strict --terse --max-line-length=100 --ignore="$ignored" \
		-f "${files[@]}"
}

check_whitespace() {
	local files
	mapfile -t files < <(sources | grep -Ev '\.(bin|elf|o|xz|rows)$')
	silent grep -nIE '[[:space:]]+$' "${files[@]}"
}

# Of this machine, or of one place that packages came from.
check_places() {
	local files
	mapfile -t files < <(sources | grep -v '^selftests/static/')
	silent grep -nIE '(^|[^[:alnum:]_.])/(work|home)/|/root/|/tmp/kd|(deb|security|snapshot)\.debian\.org|artifactory|\.internal\b' \
		"${files[@]}"
}

check_licence() {
	local file bad=0
	for file in $(sources 'kmod/*' 'tools/*.[ch]' 'include/*' 'selftests/*.[ch]' 'selftests/*.sh' Kbuild Makefile); do
		head -n 3 "$file" | grep -q SPDX-License-Identifier || { echo "$file: no SPDX line"; bad=1; }
	done
	return "$bad"
}

# only REGEX WHERE ALLOWED...: the interface is used in its own files only
only() {
	local regex=$1 where=$2 files
	shift 2
	mapfile -t files < <(sources "$where" | grep -vxF "$(printf '%s\n' "$@")")
	silent grep -nE "$regex" "${files[@]}"
}

# Code, without comments: names in prose are no violation.
only_code() {
	local regex=$1 where=$2 files file
	shift 2
	mapfile -t files < <(sources "$where" | grep -vxF "$(printf '%s\n' "$@")")
	for file in "${files[@]}"; do
		gcc -fpreprocessed -dD -E -P -x c "$file" 2>/dev/null | sed 's/"[^"]*"/""/g' |
			grep -E "$regex" | sed "s|^|$file: |"
	done >"$tmp/uses" || true
	[ ! -s "$tmp/uses" ] || { cat "$tmp/uses"; return 1; }
}

check_strangers() {
	silent grep -nE '#include "(netlink)\.h"' kmod/walk.[ch] kmod/frame.h kmod/table.[ch] kmod/callchain.[ch]
	silent grep -nE '#include "(walk|frame)\.h"' kmod/netlink.[ch]
}

# A change of the list of objects that perf runs in NMI changes this test.
sampling_objects() {
	sed -n 's/^sampling-path := //p' Kbuild
}

# The instrumented kernel's module calls what the compiler put in.
sampling_builds() {
	find build/kmod -mindepth 1 -maxdepth 1 -type d ! -name '*-beedebug'
}

ALLOWED_SYMBOLS='^(bee_[a-z0-9_]+|__rcu_read_(lock|unlock)|rcu_read_.*|__x86_[a-z0-9_]+|__stack_chk_fail|copy_from_user_nmi|copy_from_kernel_nofault|irq_work_queue|jiffies|this_cpu_off|const_pcpu_hot|pcpu_hot|current_task|pv_info|pv_ops|crc32_le|memchr_inv|memcpy|memset|memcmp|__per_cpu_offset|__tracepoint_.*|cpu_number|__preempt_count)$'

check_sampling_symbols() {
	local dir object bad=0 seen=0
	for dir in $(sampling_builds); do
		for object in $(sampling_objects); do
			[ -e "$dir/$object" ] || continue
			seen=1
			nm -u "$dir/$object" | awk '{ print $2 }' | grep -Ev "$ALLOWED_SYMBOLS" |
				sed "s|^|${dir#build/kmod/}/$object: |" >"$tmp/symbols" || true
			[ ! -s "$tmp/symbols" ] || { cat "$tmp/symbols"; bad=1; }
		done
	done
	[ "$seen" = 1 ] || { echo "no object is built"; return 1; }
	return "$bad"
}

# The frames of perf's NMI handler lie above; 512 bytes are what the walk may take of 16 KiB.
check_sampling_stack() {
	local dir object objects seen=0
	for dir in $(sampling_builds); do
		objects=()
		for object in $(sampling_objects); do
			[ ! -e "$dir/$object" ] || objects+=("$dir/$object")
		done
		[ "${#objects[@]}" -gt 0 ] || continue
		seen=1
		selftests/static/stack_depth.py bee_callchain_user "${objects[@]}" >"$tmp/depth" || return 1
		cat "$tmp/depth"
		[ "$(cut -d ' ' -f 1 "$tmp/depth")" -lt 512 ] || return 1
	done
	[ "$seen" = 1 ] || { echo "no object is built"; return 1; }
}

ktap_plan 22
with shellcheck "shellcheck" check_shell
with /usr/bin/python3 "Python parses" check_python
with cppcheck "cppcheck" check_cppcheck
with gcc "gcc -fanalyzer" check_analyzer
if kdir=$(headers); then
	with sparse "sparse" check_sparse
	ktap_run "no warnings with W=1" check_extra_warnings
	ktap_run "the module builds" make -s --no-print-directory ko KDIR="$kdir"
	ktap_run "the sampling path calls no lock, allocator or printk" check_sampling_symbols
	ktap_run "the sampling path needs less than 512 bytes of stack" check_sampling_stack
else
	for name in sparse "no warnings with W=1" "the module builds" \
		"the sampling path calls no lock, allocator or printk" \
		"the sampling path needs less than 512 bytes of stack"; do
		ktap_skip "$name" "no headers of kernel 6.12"
	done
fi
if [ -n "$(checkpatch)" ]; then
	ktap_run "checkpatch" check_checkpatch
else
	ktap_skip "checkpatch" "no kernel source (make check-debug has one; or set KERNEL_SOURCE)"
fi
ktap_run "no trailing white space" check_whitespace
ktap_run "no path or host of one machine" check_places
ktap_run "every source says its licence" check_licence
ktap_run "libelf only in elf.c" only '<(libelf|gelf)\.h>' 'tools/*' tools/elf/elf.c
ktap_run "libnl only in netlink/" only '<netlink/' 'tools/*' tools/netlink/events.c tools/netlink/exchange.c \
	tools/netlink/exchange.h tools/netlink/requests.c
ktap_run "libdw only in verify/libdw.c" only '<elfutils/' 'tools/*' \
	tools/verify/libdw.c
ktap_run "ftrace only in hook.c" only_code 'ftrace' 'kmod/*.[ch]' kmod/hook.c kmod/compat.h
ktap_run "perf callchains only in callchain.c" only_code 'perf_callchain_(store|entry_ctx *\{)|\bctx->' \
	'kmod/*.[ch]' kmod/callchain.c
ktap_run "uprobes only in uprobe.c" only_code 'return_instance\b.*\{|utask|uprobes\.h' \
	'kmod/*.[ch]' kmod/uprobe.c
ktap_run "version tests only in compat.h" only_code 'LINUX_VERSION_CODE|KERNEL_VERSION' \
	'kmod/*.[ch]' kmod/compat.h
ktap_run "user memory only in uread.h" only_code '(copy_(from|to)_user|get_user|put_user)[a-z_]* *\(' \
	'kmod/*.[ch]' kmod/uread.h
ktap_run "walk and netlink do not know each other" check_strangers
ktap_finish
