# shellcheck shell=bash disable=SC2120
# SPDX-License-Identifier: GPL-2.0
# Sourced by the static tests at their start: they run at the top of the tree, and have a directory
# $tmp that is removed when they end.
set -euo pipefail

tree=$(cd "$(dirname "$0")/../.." && pwd -P)
cd "$tree"
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# sources [PATTERN...]: prints the files that git tracks, or would add.  Of a release, which git does
# not know, all but what is built.
sources() {
	if [ -e .git ] && have git; then
		git -c safe.directory="$tree" ls-files -co --exclude-standard -- "$@"
	else
		unpacked "$@"
	fi | while IFS= read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done
}

# unpacked [PATTERN...]: prints the files below this directory.  As git's, "*" of a pattern matches "/" too.
unpacked() {
	local file pattern

	[ $# -gt 0 ] || set -- '*'
	find . \( -path ./.git -o -path ./build -o -path ./out -o -name __pycache__ \) -prune -o -type f -printf '%P\n' |
		grep -vxE 'beectl|beeunwind\.ko|compile_commands\.json' | LC_ALL=C sort |
		while IFS= read -r file; do
			for pattern; do
				# shellcheck disable=SC2053  # a pattern
				[[ $file != $pattern ]] || { echo "$file"; break; }
			done
		done
}

have() {
	command -v "$1" >/dev/null
}

# with TOOL NAME CMD...: a test that is skipped if the tool is missing
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

shell_scripts() {
	sources | xargs -d '\n' awk '/^#!\/bin\/(bash|sh|busybox sh)$/ { print FILENAME } { nextfile }'
}
