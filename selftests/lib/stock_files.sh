# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Stock files that tests look at; source after ktap.sh.

# Print the path of each, by name; nothing for those that are not installed.
stock_files() {
	local name path
	for name in libc.so.6 ld-linux-x86-64.so.2 libstdc++.so.6 libcrypto.so.3 libLLVM-14.so.1; do
		path=$(/sbin/ldconfig -p | sed -n "s|^[[:space:]]*$name (.*x86-64.*) => ||p" | head -n1)
		[ -n "$path" ] && printf '%s\n' "$path"
	done
	for path in /usr/bin/python3 /usr/bin/git /usr/bin/perl /bin/bash; do
		[ -x "$path" ] && printf '%s\n' "$path"
	done
}
