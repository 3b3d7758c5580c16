#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Rows of stock files against readelf's interpretation of the same CFI.
#	BEECTL=path	test another beectl
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/ktap.sh
. "$here/../ktap.sh"
# shellcheck source=selftests/lib/stock_files.sh
. "$here/../lib/stock_files.sh"

beectl=${BEECTL:-$here/../../beectl}
[ -x "$beectl" ] || ktap_skip_all "beectl is not built"
command -v readelf >/dev/null || ktap_skip_all "readelf: not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check_file() {
	"$beectl" dump --rows "$1" >"$work/rows" && "$here/../lib/readelf_rows.py" "$1" "$work/rows"
}

mapfile -t files < <(stock_files)
ktap_plan ${#files[@]}
for file in "${files[@]}"; do
	ktap_run "$file" check_file "$file"
done
ktap_finish
