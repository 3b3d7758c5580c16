#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What goes into a table comes out of it: rows of stock files before and after packing.
#	BEECTL=path	test another beectl
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/ktap.sh
. "$here/../ktap.sh"
# shellcheck source=selftests/lib/stock_files.sh
. "$here/../lib/stock_files.sh"

beectl=${BEECTL:-$here/../../beectl}
[ -x "$beectl" ] || ktap_skip_all "beectl is not built"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check_file() {
	"$beectl" dump --rows --unpacked "$1" >"$work/unpacked" &&
		"$beectl" compile -q "$1" -o "$work/table" &&
		"$beectl" dump --rows "$work/table" >"$work/packed" &&
		[ "$(wc -l <"$work/packed")" -gt 100 ] &&
		cmp "$work/unpacked" "$work/packed"
}

mapfile -t files < <(stock_files)
ktap_plan ${#files[@]}
for file in "${files[@]}"; do
	ktap_run "$file" check_file "$file"
done
ktap_finish
