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

# sources [PATTERN...]: prints the files that git tracks, or would add
sources() {
	git -c safe.directory="$tree" ls-files -co --exclude-standard -- "$@" |
		while IFS= read -r file; do
			[ ! -f "$file" ] || echo "$file"
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
