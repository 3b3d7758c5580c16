#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The commands of README, the tutorial and the FAQ, as they stand there.
# once: 1
# timeout: 900
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

# Prints the commands of a page, in order: lines of blocks, and what the text has between double backquotes if it
# names what it is for.
commands() {
	/usr/bin/python3 - "$TREE/$1" <<-'END'
		import re, sys
		with open(sys.argv[1], encoding="utf-8") as file:
		    text = re.sub(r"\\\n\s*", "", file.read())
		programs = r"(?:sudo )?(?:selftests/setup|make|apt|systemctl|insmod|rmmod|perf|(?:\./)?beectl)\b"
		for found in re.finditer(rf"^(?:\t|    )({programs}.*)|``({programs} [^`]*)``", text, re.M):
		    line = found[1] or " ".join(found[2].split())
		    if "," not in line and (found[1] or re.search("PID|FILE|beeunwind", line)):
		        print(line.split("\t")[0].replace("sudo ", "").replace("./beectl", "beectl"))
	END
}

has_samples() {
	[ "$(stat -c %s perf.data)" -gt 16384 ]
}

# as_written COMMAND: run it; what is recorded for ten seconds there is for one here
as_written() {
	local line=$1 status=0

	rm -f flame.svg
	if [[ $line == *PID* ]]; then
		/usr/bin/perl -e '1 while 1' &
		line=${line//PID/$!}
	fi
	# A recording of a process that is given no time ends with the process.
	[[ $1 != "perf record"*PID ]] || { rm -f perf.data; guest_wait has_samples; pkill -x perl; } &
	line=${line//COMMAND/git log --stat}
	line=${line//FILE//usr/bin/perl}
	line=${line/sleep 10/sleep 1}
	echo "$line"
	eval "$line" </dev/null || status=1
	[[ $line != "beectl flame"* ]] || grep -q '</svg>' flame.svg || status=1
	pkill -x perl
	return "$status"
}

unset BEEUNWIND_LOAD
mkdir "$WORK/tree" && cd "$WORK/tree" || exit
install -m 755 "$BEECTL" beectl
install -m 755 "$(dirname "$BEECTL")/beectl-draw.so" beectl-draw.so
install -m 644 "$BEE_KO" beeunwind.ko
PATH=$PWD:$PATH
git init -q . && git -c user.name=x -c user.email=x commit -q --allow-empty -m "a commit"

for page in README Documentation/{tutorial,faq}.rst; do
	commands "$page"
done | awk '!seen[$0]++' >"$WORK/commands"
built='^(selftests/setup|make|apt)( |$)'
grep -vE "$built" "$WORK/commands" >"$WORK/run"
ktap_plan $(($(wc -l <"$WORK/run") + 1))
ktap_skip "README and the tutorial: $(grep -E "$built" "$WORK/commands" | paste -s -d ';')" \
	"the machine that this guest is made of was set up, and all is built"
while IFS= read -r line <&4; do
	ktap_run "README, tutorial or FAQ: this works as it is written: $line" as_written "$line"
done 4<"$WORK/run"
pkill -x beectl
ktap_finish
