#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Facts that stand in two places of the tree must agree.
set -u
TREE=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TREE" || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck disable=SC2034  # for formats.sh
tree=$TREE
# shellcheck source=selftests/lib/formats.sh
. selftests/lib/formats.sh

# has_word FILE WORD WHERE: whether the word is in the file; complains about WHERE if not
has_word() {
	grep -qP -- "(?<![\w.-])\Q$2\E(?![\w-])" "$1" || { echo "$3: $2 is missing"; return 1; }
}

generated_is_current() {
	/usr/bin/python3 Documentation/netlink/gen-uapi.py "$1" | diff -u "$2" -
}

# If the layout or meaning of tables changes, their version must change too.
format_hash_is_known() {
	local version hash
	version=$(sed -n 's/^#define BEE_TABLE_VERSION[[:space:]]*//p' include/uapi/linux/beeunwind_table.h)
	hash=$(sed -e '/^ *\*/d; /^\/\*/d; s,/\*.*\*/,,; /^[[:space:]]*$/d' \
		include/uapi/linux/beeunwind_table.h | sha256sum | cut -c 1-16)
	grep -qx "$version $hash" selftests/sync/table-format.hash && return 0
	echo "version $version has hash $hash: if tables have changed take a new version, then"
	echo "enter \"$version $hash\" into selftests/sync/table-format.hash"
	return 1
}

versions_agree() {
	local tool module dkms debian rpm
	tool=$(sed -n 's/.*BEE_VERSION[^"]*"\(.*\)"/\1/p' tools/util/version.h)
	module=$(sed -n 's/.*BEE_VERSION[^"]*"\(.*\)"/\1/p' kmod/netlink.h)
	dkms=$(sed -n 's/PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
	debian=$(sed -n '1s/^beeunwind (\(.*\)).*/\1/p' debian/changelog)
	rpm=$(sed -n 's/^Version: *//p' packaging/beeunwind.spec)
	echo "tool $tool, module $module, dkms $dkms, debian $debian, rpm $rpm"
	[ -n "$tool" ] && [ "$tool" = "$module" ] && [ "$tool" = "$dkms" ] &&
		[ "$tool" = "$debian" ] && [ "$tool" = "$rpm" ] &&
		grep -q "^beeunwind $tool" NEWS
}

# is_for RELEASE: whether DKMS builds the module for kernels of that name.  Of Debian 12's dkms a function
# reads dkms.conf for another, whose own variable kernelver hides the one that has the name.
is_for() {
	local kernelver=$1 kernel_source_dir='' dkms_tree='' AUTOINSTALL='' BUILD_EXCLUSIVE_KERNEL=''
	# shellcheck source=dkms.conf
	reads() { . ./dkms.conf; }
	hides() { local kernelver='' && reads; }
	hides
	[[ $1 =~ $BUILD_EXCLUSIVE_KERNEL && $AUTOINSTALL ]]
}

# README names the newest series that the tests run on.  DKMS skips those after it, as it does those that
# kmod/compat.h refuses.  NEWS names the same, and testing.rst the series that the tests boot.
kernels_agree() {
	local newest news series minor release wrong=0
	newest=$(sed -n 's/^x86-64\. Linux 6\.1 .* to \([0-9]*\.[0-9]*\)[.,].*/\1/p' README)
	[ -n "$newest" ] || { echo "README: Requirements do not name the newest series"; return 1; }
	news=$(sed -n 's/^\* Linux 6\.1.* to \([0-9]*\.[0-9]*\) .*/\1/p' NEWS | head -n1)
	[ "$news" = "$newest" ] || { echo "NEWS: the newest series is ${news:-not named}, in README $newest"; wrong=1; }
	for series in $(sed -nE 's/^(KERNELS \?|(more_kernels|alike)\s*)=//p' Makefile | grep -oE '\b[0-9]+\.[0-9]+\b'); do
		has_word Documentation/testing.rst "$series" "Documentation/testing.rst, of kernels in Makefile" || wrong=1
	done
	series=${newest%.*} minor=${newest#*.}
	for release in 6.1.0-56-amd64 6.1.192 6.6.7 6.8.0-31-generic 6.12.117+deb12-rt-amd64 6.19.5-cloud-amd64 \
		7.0.1-amd64 "$newest.4+deb13-amd64" "$newest.0-rc1+"; do
		is_for "$release" || { echo "dkms.conf: not for $release, README is"; wrong=1; }
	done
	for release in 5.10.0-1-amd64 6.2.16-4-pve 6.5.0-9-generic "$series.$((minor + 1)).0-amd64" \
		"$((series + 1)).0.1-amd64" 16.12.1 6.120; do
		! is_for "$release" || { echo "dkms.conf: for $release, README is not"; wrong=1; }
	done
	return $wrong
}

# Whoever builds beectl is told of each library that it is linked with.
libraries_agree() {
	local package name missing=0
	for package in $(sed -n 's/^packages[[:space:]]*:= //p' tools/rooms.mk); do
		name=${package#lib} name=${name%.0}
		grep -qF "pkgconfig($package)" packaging/beeunwind.spec || { echo "beeunwind.spec: no $package"; missing=1; }
		grep -qE "^ (lib)?${name}[^ ]*-dev," debian/control || { echo "debian/control: no $package"; missing=1; }
		grep -qE "[[:space:]](lib)?${name}[^ ]*-dev\b" selftests/setup || { echo "selftests/setup: no $package"; missing=1; }
		grep -qE "\b(lib)?${name}\b" README || { echo "README: no $package"; missing=1; }
	done
	return $missing
}

# The packages of Debian and of RPM have the same pages, and test_packages.sh knows them.
packaged_pages_agree() {
	grep ^Documentation debian/beectl.docs | sort >"$work/debian"
	[ -s "$work/debian" ] || { echo "debian/beectl.docs: no pages"; return 1; }
	grep -o 'Documentation/[a-z-]*\.rst' packaging/beeunwind.spec | sort | diff "$work/debian" - ||
		{ echo "packaging/beeunwind.spec: it has not the pages of debian/beectl.docs"; return 1; }
	sed -n 's,.*/doc/beectl/\(.*\.rst\)$,Documentation/\1,p' selftests/cli/test_packages.sh | sort |
		diff "$work/debian" - || { echo "test_packages.sh: it has not the pages of debian/beectl.docs"; return 1; }
}

# commands: print what "beectl --help" lists: the commands of cmd_*.c, and "help"
commands() {
	local names
	names=$(./beectl --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
	diff <(sort <<<"$names") \
		<({ echo help; ls tools/beectl/cmd_*.c | sed 's/.*cmd_\(.*\)\.c/\1/'; } | sort) >&2 && echo "$names"
}

# options_of COMMAND: print all options that "beectl help COMMAND" describes, short and long ones, one a line
options_of() {
	./beectl help "$1" | sed -nE 's/^ +(-[a-zA-Z]|--[a-z-]+)(, (--[a-z-]+))?( .*|)$/\1 \3/p' | tr ' ' '\n' | grep .
}

# The completion offers every command that main.c dispatches, and the options of each one's help.
completion_is_complete() {
	local command word option names options missing=0
	# shellcheck source=tools/bash-completion/beectl
	. tools/bash-completion/beectl

	names=$(commands) || return
	offers "" >"$work/offers"
	for command in $names; do
		grep -qx "$command" "$work/offers" || { echo "$command is not offered"; missing=1; }
	done
	# "beectl help" shows the options of beectl itself.
	for command in ${names//help/}; do
		offers "$command" - >"$work/offers"
		[ "$command" != cache ] || for word in list clear prewarm; do
			offers cache $word -
		done >>"$work/offers"
		options=$(options_of "$command")
		[ -n "$options" ] || { echo "$command has no options"; missing=1; }
		for option in $options; do
			grep -qxe "$option" "$work/offers" || { echo "$command $option is not offered"; missing=1; }
		done
	done
	return $missing
}

# The man page lists the options of a command under its name, and has no mark-up that is left over.
man_page_is_complete() {
	local command option names options missing=0 man=Documentation/man/beectl.8.rst

	names=$(commands) || return
	for command in $names; do
		awk -v name="$command" '/^[-=]+$/ { on = /^-/ && last == name } on; { last = $0 }' $man >"$work/part"
		options=$(options_of "$command" | grep ^--)
		[ -n "$options" ] || { echo "$command has no options"; missing=1; }
		for option in $options; do
			[[ $option =~ ^--(help|version)$ ]] || grep -qE -e "(^|, )$option( |\$)" "$work/part" ||
				{ echo "$man: $option is not under $command"; missing=1; }
		done
	done
	! command -v rst2man >/dev/null || ! rst2man $man | grep '\*' || missing=1
	return $missing
}

# offers WORD...: what the completion offers for the last word
offers() {
	local COMP_WORDS=(beectl "$@") COMP_CWORD=$# COMPREPLY
	_beectl
	printf '%s\n' "${COMPREPLY[@]}"
}

completion_knows_values() {
	local key keys option
	# shellcheck source=tools/bash-completion/beectl
	. tools/bash-completion/beectl
	keys=$(sed -n 's/^\t{ "[^"]*", "\([a-z]*\)", [1-9].*/\1/p' tools/beectl/cmd_size.c)
	[ "$(wc -w <<<"$keys")" -ge 6 ] || { echo "keys: $keys"; return 1; }
	for key in name ratio row $keys; do
		offers size --sort "" | grep -x "$key" || { echo "size --sort $key is not offered"; return 1; }
	done
	for option in -p -t --pid --tid; do
		offers flame $option "" | grep -qx $$ || { echo "flame $option: no processes"; return 1; }
	done
	! offers flame -a -- ls -p "" | grep -x $$
}

# A user finds each format of beectl flame by its name and its suffix.
formats_are_told() {
	local man=Documentation/man/beectl.8.rst name suffix word missing=0
	# shellcheck source=tools/bash-completion/beectl
	. tools/bash-completion/beectl

	formats >"$work/formats"
	[ "$(wc -l <"$work/formats")" -ge 6 ] || { echo "selftests/lib/formats.sh finds too few formats"; return 1; }
	./beectl help flame >"$work/help" || return
	while read -r name suffix _; do
		for word in "$name" "$suffix"; do
			has_word "$work/help" "$word" "tools/beectl/cmd_flame.c, the help text" || missing=1
			has_word $man "$word" $man || missing=1
		done
		grep -qxF "\`\`$suffix\`\`" Documentation/flame.rst ||
			{ echo "Documentation/flame.rst: \`\`$suffix\`\` has no paragraph"; missing=1; }
	done <"$work/formats"
	# "summary" is printed, and no format of a file.
	diff <(cut -d' ' -f1 "$work/formats" | sort) <(offers flame --format "" | grep -vx summary | sort) ||
		{ echo "tools/bash-completion/beectl: --format does not offer the formats of tools/flame/output.c"; missing=1; }
	return $missing
}

# Walks end for each stop reason but "none", a test shows it, and the man page says what it is.
stop_reasons_are_complete() {
	/usr/bin/python3 - <<-'END'
	import glob, re, sys, yaml
	def read(pattern):
	    return "".join(open(name, encoding="utf-8").read() for name in sorted(glob.glob(pattern)))
	spec = yaml.safe_load(read("Documentation/netlink/specs/beeunwind.yaml"))
	enum, = (d for d in spec["definitions"] if d["name"] == "stop")
	man, module = read("Documentation/man/beectl.8.rst"), read("kmod/*.[ch]")
	loops = re.findall(r'^\t\{ "([a-z-]+)", in_', read("selftests/kmod/stops_work.c"), re.M)
	other, = re.findall(r"^NO_LOOP = (.*)$", read("selftests/kmod/test_stops.py"), re.M)
	wrong = []
	for name in [entry["name"] for entry in enum["entries"]][1:]:
	    if not re.fullmatch("[a-z-]{1,16}", name):
	        wrong.append(f"beeunwind.yaml: {name}: tools/beectl/stops.c takes 16 letters and dashes")
	    if not re.search(rf"\bBEEUNWIND_STOP_{name.upper().replace('-', '_')}\b", module):
	        wrong.append(f"kmod/: no walk ends for {name}")
	    if not re.search(rf"(?<![\w-]){name}(?![\w-])", man):
	        wrong.append(f"Documentation/man/beectl.8.rst: the stop reason {name} is missing")
	    if name not in loops and f'"{name}"' not in other:
	        wrong.append(f"selftests/kmod/stops_work.c: it has no loop in which walks end for {name}")
	sys.exit("\n".join(wrong) or 0)
	END
}

# What beectl finds in the memory of a process that runs code without a file is tested and explained.
runtimes_are_complete() {
	/usr/bin/python3 - <<-'END'
	import glob, re, sys
	def read(pattern):
	    return "".join(open(name, encoding="utf-8").read() for name in sorted(glob.glob(pattern, recursive=True)))
	pages, tests, wrong = read("Documentation/*.rst"), read("selftests/unit/**/*_test.c"), []
	for header in sorted(glob.glob("tools/jit/*.h")):
	    functions = re.findall(r"^[a-z][\w ]*[ *](\w+)\(", read(header), re.M)
	    if not any(re.search(rf"\b{name}\(", tests) for name in functions):
	        wrong.append(f"selftests/unit/jit: no test calls a function of {header}")
	    if header[:-1] + "c" not in pages:
	        wrong.append(f"Documentation/jit.rst: it does not name {header[:-1]}c")
	workloads = re.findall(r'^    "([^"]+)": \("', read("selftests/system/workloads"), re.M)
	figures = read("Documentation/completeness.rst")
	if len(workloads) < 40:
	    wrong.append("selftests/system/workloads: the list of workloads is not found")
	for name in workloads:
	    if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", figures):
	        wrong.append(f"Documentation/completeness.rst: no figures of the workload {name}")
	sys.exit("\n".join(wrong) or 0)
	END
}

# The catalogue of stop reasons has a section for each one, in the order of the netlink
# specification, with meaning, cause and remedy.
stop_reasons_are_explained() {
	/usr/bin/python3 - Documentation/netlink/specs/beeunwind.yaml Documentation/stop-reasons.rst <<-'END'
	import re, sys, yaml
	spec, text = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
	enum, = (d for d in yaml.safe_load(spec)["definitions"] if d["name"] == "stop")
	wanted = [entry["name"] for entry in enum["entries"]]
	parts = re.split(r"^([a-z-]+)\n=+$", text, flags=re.M)[1:]
	sections = dict(zip(parts[::2], parts[1::2]))
	if list(sections) != wanted:
	    sys.exit(f"Documentation/stop-reasons.rst: the sections are not the stop reasons in their order:\n"
	             f"specification: {wanted}\ncatalogue: {list(sections)}")
	for name, body in sections.items():
	    for word in ("*Meaning.*", "*Usual cause.*", "*What to do.*"):
	        if body.count(word) != 1:
	            sys.exit(f"{name}: {word} is there {body.count(word)} times")
	END
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ktap_plan 14
if /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
	ktap_run "beeunwind.h is what the YNL spec gives" \
		generated_is_current uapi include/uapi/linux/beeunwind.h
	ktap_run "names.h is what the YNL spec gives" generated_is_current names tools/netlink/names.h
	ktap_run "every stop reason is explained" stop_reasons_are_explained
	ktap_run "every stop reason is in the module, in the man page and in a test of walks" \
		stop_reasons_are_complete
else
	ktap_skip "beeunwind.h is what the YNL spec gives" "python3-yaml is not installed"
	ktap_skip "names.h is what the YNL spec gives" "python3-yaml is not installed"
	ktap_skip "every stop reason is explained" "python3-yaml is not installed"
	ktap_skip "every stop reason is in the module, in the man page and in a test of walks" \
		"python3-yaml is not installed"
fi
ktap_run "what finds code without a file has a unit test and a page, and each workload has figures" \
	runtimes_are_complete
ktap_run "the table format has not changed under its version" format_hash_is_known
ktap_run "all files that tell beeunwind's version agree" versions_agree
ktap_run "README, NEWS, dkms.conf and testing.rst name the same kernels" kernels_agree
ktap_run "README, packages and selftests/setup ask for the libraries of tools/rooms.mk" libraries_agree
ktap_run "the packages of Debian and of RPM have the same pages" packaged_pages_agree
if [ -x ./beectl ]; then
	ktap_run "the completion offers all commands and options" completion_is_complete
	ktap_run "the man page lists options where they belong" man_page_is_complete
	ktap_run "help, man page, flame.rst and completion have every format of beectl flame" formats_are_told
else
	ktap_skip "the completion offers all commands and options" "beectl is not built"
	ktap_skip "the man page lists options where they belong" "beectl is not built"
	ktap_skip "help, man page, flame.rst and completion have every format of beectl flame" \
		"beectl is not built"
fi
ktap_run "the completion knows sort keys and processes" completion_knows_values
ktap_finish
