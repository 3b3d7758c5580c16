# shellcheck shell=bash disable=SC2154  # who sources it sets tree
# SPDX-License-Identifier: GPL-2.0
# The output formats of beectl flame, from the table that beectl has them from.

# formats: print a line for each format, with its name, its suffix and the rest of its entry
formats() {
	sed -n '/^const struct output outputs/,/^};/p' "$tree/tools/flame/output.c" | tr -d '\n' |
		grep -o '{ \.name = "[^}]*}' | sed 's/^{ \.name = "\([^"]*\)", \.suffix = "\([^"]*\)",*/\1 \2/'
}

# written_formats: print the names of those that show a graph with names, which is all but raw
written_formats() {
	formats | awk '/\.write =/ { print $1 }'
}
