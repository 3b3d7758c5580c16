# shellcheck shell=bash disable=SC2034  # what the script that sources it uses
# SPDX-License-Identifier: GPL-2.0
# Shared by the tests that run beectl on this machine; source it instead of ktap.sh.  Sets here,
# tree, beectl, python, and work, a directory that is removed when the script ends.
#	BEECTL=path PYTHON=path		test another beectl, with another python3
set -u
export PERF_CONFIG=/dev/null	# instead of the user's and the machine's
export BEEUNWIND_LOAD=no	# beectl loads no module into this machine
here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
# shellcheck source=selftests/ktap.sh
. "$tree/selftests/ktap.sh"

# need TOOL...: skip the whole script unless all of these are installed
need() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || ktap_skip_all "$tool: not installed"
	done
}

# with TOOL NAME COMMAND...: a test that needs a tool
with() {
	local tool=$1
	shift
	if command -v "$tool" >/dev/null; then
		ktap_run "$@"
	else
		ktap_skip "$1" "$tool: not installed"
	fi
}

# sanitized_beectl: build the beectl of "make DEBUG=1", which has ASan and UBSan, and have it tested.  A smaller
# quarantine than ASan's own, as one test limits beectl's memory.
sanitized_beectl() {
	flock "$tree/tools" make -s --no-print-directory -C "$tree" DEBUG=1 tools >&2 || return
	export ASAN_OPTIONS=quarantine_size_mb=64
	beectl=$tree/build/debug/beectl
}

beectl=$(realpath "${BEECTL:-$tree/beectl}")
python=${PYTHON:-/usr/bin/python3}
[ -x "$beectl" ] || ktap_skip_all "beectl is not built"
need "$python"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shared_library NAME: print the library's path, if it is installed
shared_library() {
	/sbin/ldconfig -p | sed -n "s|^[[:space:]]*$1 (.*x86-64.*) => ||p" | head -n1
}

# Print the paths of the well-known ELF files that are installed, a small one first.
stock_files() {
	local name path
	for name in ld-linux-x86-64.so.2 libc.so.6 libstdc++.so.6 libcrypto.so.3 libLLVM-14.so.1; do
		path=$(shared_library "$name")
		[ -n "$path" ] && printf '%s\n' "$path"
	done
	for path in /usr/bin/python3 /usr/bin/git /usr/bin/perl /bin/bash; do
		[ -x "$path" ] && printf '%s\n' "$path"
	done
}

# json_keys COMMAND: what Documentation/json.rst says of its JSON
json_keys() {
	awk -v command="$1" '/^=+$/ { on = last == command } on; { last = $0 }' "$tree/Documentation/json.rst"
}

# lists_names COMMAND FILE: json.rst has all names in FILE, which is JSON of COMMAND
lists_names() {
	json_keys "$1" | "$python" -c 'if True:
		import json, re, sys
		def names(value):
		    if isinstance(value, list):
		        return set().union(*map(names, value))
		    return set(value).union(*map(names, value.values())) if isinstance(value, dict) else set()
		with open(sys.argv[1], encoding="utf-8") as file:
		    missing = names(json.load(file)) - set(re.findall(r"\w+", sys.stdin.read()))
		assert not missing, missing' "$2"
}
