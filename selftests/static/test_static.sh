#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Rules for the sources that grep and other quick tools can check.
# shellcheck source=selftests/static/sources.sh
. "$(dirname "$0")/sources.sh"

check_shell_parses() {
	local file
	for file in $(shell_scripts); do
		bash -n "$file" || return
	done
}

check_python() {
	local files
	mapfile -t files < <(sources '*.py' selftests/run selftests/demo selftests/vm/run selftests/static/house)
	/usr/bin/python3 -c 'import ast, sys; [ast.parse(open(name).read(), name) for name in sys.argv[1:]]' "${files[@]}"
}

check_javascript() {
	sources '*.js' | xargs -d '\n' -n 1 node --check
}

check_whitespace() {
	local files
	mapfile -t files < <(sources | grep -Ev '\.(bin|elf|o|xz|rows)$')
	silent grep -nIE '[[:space:]]+$' "${files[@]}"
}

# No paths of one machine, and no addresses of package archives.
check_places() {
	local files
	mapfile -t files < <(sources | grep -v '^selftests/static/')
	silent grep -nIE '(^|[^[:alnum:]_.])/(work|home)/|/root/|/tmp/kd|(deb|security|snapshot)\.debian\.org|artifactory|\.internal\b' \
		"${files[@]}"
}

check_licence() {
	local files
	mapfile -t files < <(sources 'kmod/*' 'tools/*.[ch]' 'include/*' 'selftests/*.[ch]' 'selftests/*.sh' \
		'*.mk' '*.js' '*.css' Kbuild Makefile)
	silent awk 'FNR == 1 { if (last && !said) print last ": no SPDX line"; last = FILENAME; said = 0 }
		FNR <= 3 && /SPDX-License-Identifier/ { said = 1 }
		END { if (!said) print last ": no SPDX line" }' "${files[@]}"
}

# only REGEX WHERE ALLOWED...: of the files WHERE only those ALLOWED match REGEX
only() {
	local regex=$1 where=$2 files
	shift 2
	mapfile -t files < <(sources "$where" | grep -vxF "$(printf '%s\n' "$@")")
	silent grep -nE "$regex" "${files[@]}"
}

# only_code REGEX WHERE ALLOWED...: of the files WHERE, without comments and strings, only those ALLOWED match REGEX
only_code() {
	local regex=$1 where=$2 files file
	shift 2
	mapfile -t files < <(sources "$where" | grep -vxF "$(printf '%s\n' "$@")")
	for file in "${files[@]}"; do
		if [ ! -e "$tmp/code/$file" ]; then
			mkdir -p "$tmp/code/${file%/*}"
			gcc -fpreprocessed -dD -E -P -x c "$file" 2>/dev/null | sed 's/"[^"]*"/""/g' >"$tmp/code/$file"
		fi
	done
	silent grep -rE "$regex" "${files[@]/#/$tmp/code/}"
}

check_strangers() {
	silent grep -nE '#include "(netlink)\.h"' kmod/walk.[ch] kmod/frame.h kmod/table.[ch] kmod/callchain.[ch]
	silent grep -nE '#include "(walk|frame)\.h"' kmod/netlink*.[ch]
}

# What others have named goes through text_put_name().  Settings, and files of the cache, have our names.
check_names_printed() {
	local files
	mapfile -t files < <(sources 'tools/beectl/*.c' | grep -vxE 'tools/beectl/cmd_(cache|config)\.c')
	! grep -PzoH '\bf?(printf|puts)\([^;]*->(name|path|stops)\b[^;]*;' "${files[@]}" >"$tmp/printed" ||
		{ tr '\0' '\n' <"$tmp/printed"; return 1; }
}

ktap_plan 18
ktap_run "shell scripts parse" check_shell_parses
with /usr/bin/python3 "Python parses" check_python
with node "JavaScript parses" check_javascript
ktap_run "no trailing white space" check_whitespace
ktap_run "no path or host of one machine" check_places
ktap_run "every source says its licence" check_licence
ktap_run "libelf only in three files" only '<(libelf|gelf)\.h>' 'tools/*' tools/elf/elf.c tools/flame/plt.h \
	tools/flame/debug_image.c
ktap_run "libnl only in netlink/" only '<netlink/' 'tools/*' tools/netlink/events.c tools/netlink/exchange.c \
	tools/netlink/exchange.h tools/netlink/requests.c
ktap_run "libdw only in three files" only '<elfutils/' 'tools/*' \
	tools/verify/libdw.c tools/flame/elf_names.c tools/flame/inlines.h
ktap_run "ftrace only in hook.c" only_code 'ftrace' 'kmod/*.[ch]' kmod/hook.c kmod/compat.h
ktap_run "perf callchains only in callchain.c" only_code 'perf_callchain_(store|entry_ctx *\{)|\bctx->' \
	'kmod/*.[ch]' kmod/callchain.c
ktap_run "uprobes only in uprobe.c" only_code 'return_instance\b.*\{|utask|uprobes\.h' \
	'kmod/*.[ch]' kmod/uprobe.c
ktap_run "version tests only in compat.h" only_code 'LINUX_VERSION_CODE|KERNEL_VERSION' \
	'kmod/*.[ch]' kmod/compat.h
ktap_run "user memory only in uread.h" only_code '(copy_(from|to)_user|get_user|put_user|uaccess_begin|user_access)[a-z_]* *\(' \
	'kmod/*.[ch]' kmod/uread.h
# swap() evaluates its arguments twice.  With ++ in an argument of the other macros a reader would have to look up
# whether they do.
ktap_run "macros get arguments without side effects" only_code \
	'\b(swap|min|max|clamp|READ_ONCE|WRITE_ONCE|rcu_[a-z_]+)(_t)?\([^;]*(\+\+|--)' 'kmod/*.[ch]'
ktap_run "walk and netlink do not know each other" check_strangers
ktap_run "names of others are not printed as they are" check_names_printed
ktap_run "includes go one way, names have a noun, and no sentence leans on another line" selftests/static/house --check
ktap_finish
