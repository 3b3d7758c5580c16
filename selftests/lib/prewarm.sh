#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the tables of what many tests in guests run, which an emulated CPU would take half a minute for in
# each guest: prewarm.sh DIR.  Not of what tests look at while it has no table, as databases.
set -eu
cd "$(dirname "$0")/../.."
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin	# as in a guest
programs=(bash busybox cat dash git node perf perl python3 sleep sqlite3 true xz)

mkdir -p "$1"
chmod 700 "$1"
mapfile -t files < <(for name in "${programs[@]}"; do type -P "$name"; done)
mapfile -t libraries < <(ldd "${files[@]}" beectl 2>/dev/null | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u)
BEEUNWIND_CACHE=$1 ./beectl cache prewarm -q ./beectl "${files[@]}" "${libraries[@]}" /lib64/ld-linux-x86-64.so.2
