#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Samples of stock programs, unwound by libdw and with our tables and our step in user space: the
# addresses must be the same.  Without the tables of all files, or of some, each return address must
# have a call before it.  SAMPLES: samples of each program.
set -u

here=$(cd "$(dirname "$0")" && pwd -P)
TREE=$(cd "$here/../.." && pwd -P)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
# shellcheck source=selftests/ktap.sh
. "$TREE/selftests/ktap.sh"
# shellcheck source=selftests/system/oracle/programs.sh
. "$here/oracle/programs.sh"

sample=$TREE/build/selftests/oracle/sample
samples=${SAMPLES:-500} share=99
programs=(python3 perl git xz bash sqlite3 openssl as cc1plus clang postgres node java)
[ $# -eq 0 ] || programs=("$@")

# No sample differs, at least 100 could be compared, and no caller is invented.
compare() {
	local status=0
	input_of "$1" | "$sample" --here --cold --seconds 60 --samples "$samples" --period 500000 "$1" \
		"${command[@]}" >"$WORK/out" 2>"$WORK/err" || status=$?
	grep "^$1: samples " "$WORK/out" >>"$WORK/sums"
	if [ "$status" -eq 0 ] && ! grep -q " of [0-9]\{1,2\} comparable" "$WORK/out"; then
		return 0
	fi
	cat "$WORK/out" "$WORK/err"
	return 1
}

make -s --no-print-directory -C "$here/oracle" >/dev/null || exit 1
# "sample" exits with 4 where perf is refused.
"$sample" --here true true >/dev/null 2>"$WORK/err"
[ $? -ne 4 ] || ktap_skip_all "$(cat "$WORK/err")"
compare_all "${programs[@]}"
