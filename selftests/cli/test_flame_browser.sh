#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The flame graph in a browser, asked of the DOM: what lib/flame_browser.js does there; and what is for
# speedscope, in that program's own page.  $SPEEDSCOPE: its npm package, unpacked.
# slow: 1
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need chromium

# in_browser OPTION... URL: the DOM after some seconds of its own time
in_browser() {
	HOME=$work chromium --headless --no-sandbox --user-data-dir="$work/profile" --virtual-time-budget=5000 \
		--allow-file-access-from-files --dump-dom "$@" 2>"$work/errors"
}

in_browser --disable-gpu "data:text/html,<p>ready</p>" | grep -q "<p>ready</p>" || ktap_skip_all "chromium does not start here"

# draw NAME [OPTION...]: NAME.svg of the text on stdin
draw() {
	local name=$1
	shift
	cat >"$work/$name" && "$beectl" flame "$work/$name" "$@" -o "$work/$name.svg" ||
		{ echo "Bail out! no graph $name"; exit 1; }
}

# A stack of 200 frames, and 1,000 functions side by side.
"$python" - <<'END' | draw graph
print("wide;" + ";".join(f"deep{i}" for i in range(200)), 1000)
for i in range(1000):
    print(f"wide;side{i:03};leaf", 1)
END
printf '%s\n' "p 7 1.0: 1 cycles:" "401010 main (/bin/main (deleted))" "" "p 7 1.0: 1 cycles:" \
	"401020 g(int) (/bin/main (deleted))" | draw files
# Sixteen names, each with a sixteenth of the width.
printf 'p;%s 1\n' 'std::vector<std::pair<int, char>, std::allocator<int> >::push_back' 'operator<' 'operator>><char, std::char_traits<char> >' \
	'std::__cxx11::basic_string<char>::~basic_string' 'ns::inner::Class<int>::a_method' \
	'<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend' 'JS:*fib /tmp/some/folder/of/mine/x.js:1:14' \
	'py::work:/usr/lib/python3/site/w.py' 'a_function_whose_name_is_long_but_plain' '[libverylongname.so.1]+0x1234' \
	'(anonymous namespace)::local_function' 'main::{lambda(auto:1)#2}::operator()' 'f<(char)60>' 'f(std::map<int, int>) const' \
	'operator new' 'a<b<c<d>>>::e' | draw names
for i in {1..9}; do echo "p;a;b$i $i"; done | draw before
echo "p;a;b9 3" | draw diff --diff "$work/before"

cp "$(dirname "$0")/../lib/flame_browser.js" "$work"
for name in graph files names diff; do
	echo '<!DOCTYPE html><script src="flame_browser.js"></script>' >"$work/$name.html"
done
"$python" "$(dirname "$0")/../lib/browser.py" "$work/browser" "file://$work/"{graph,files,names,diff}.html >"$work/answers"

# answers LINE...: these were given
answers() {
	local line
	for line in "$@"; do
		grep -qxF -- "$line" "$work/answers" || { echo "not given: $line"; cat "$work/answers"; return 1; }
	done
}
# Its table of functions: total and self of each.
check_speedscope() {
	printf '%s\n' "p;a;b<&\";a 3" "p;a 2" "p;c 5" >"$work/few"
	"$beectl" flame "$work/few" -o "$work/few.speedscope.json" && "$python" - "$work" <<-'END' || return
		import base64, sys
		with open(sys.argv[1] + "/few.speedscope.json", "rb") as file:
		    data = base64.b64encode(file.read()).decode()
		with open(sys.argv[1] + "/few.js", "w", encoding="utf-8") as file:
		    file.write(f'speedscope.loadFileFromBase64("few.json", "{data}")')
	END
	in_browser --enable-unsafe-swiftshader "file://$speedscope#view=sandwich&localProfilePath=$work/few.js" >"$work/dom"
	"$python" - "$work" <<-'END' | diff - <(printf '%s\n' "a 5 (50%) 5 (50%)" "b<&\" 3 (30%) 0 (<0.01%)" "c 5 (50%) 5 (50%)" "p 10 (100%) 0 (<0.01%)")
		import html, re, sys
		with open(sys.argv[1] + "/dom", encoding="utf-8") as file:
		    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", file.read(), re.S)]
		rows = [[html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in row] for row in rows]
		for total, self, name in sorted((row for row in rows if len(row) == 3), key=lambda row: row[2]):
		    print(name, total, self)
	END
}

ktap_plan 19
ktap_run "a flame graph in a browser has all frames" answers frames=2202
ktap_run "the first screen of a flame graph has its root on top, search, reset and details" answers \
	"title=Flame graph,Flame graph" "first screen=true,true,true,true,true" "root on top=true"
ktap_run "a flame graph is as wide as its window" answers "width of 420=true,true,true,true" \
	"width of 1280=true,true,true,true" "width of 3840=true,true,true,true"
ktap_run "search and details stay where they are when a flame graph is scrolled" \
	answers "scrolled=false,true,true,true"
ktap_run "a click zooms into a frame of a flame graph" \
	answers "zoomed=true,true,false,true" "text=side500" "fragment=true"
ktap_run "details of a frame have its shares of all and of what is zoomed" answers \
	"share of zoomed=1 samples, 0.05 %, 100.00 % of what is zoomed: side500" "hover=1,000 samples, 50.00 %: deep199"
ktap_run "the share of a search's matches in a flame graph is of what is zoomed" \
	answers "search=matched: 0.50 %" \
	"matched of zoomed=matched: 100.00 %" "matched elsewhere=matched: 0.00 %"
ktap_run "Escape in a flame graph ends the search first, then the zoom" \
	answers "first Escape=,false,true" "second Escape=true,"
ktap_run "a flame graph is searched by a regular expression" \
	answers "slash=search" "hit=true" "mistake=not a regular expression"
ktap_run "a search in a flame graph ignores case until the switch is pressed" answers \
	"with case=matched: 0.00 %,true,#search=%5ESIDE00%5B0-9%5D%24&case=1"
ktap_run "Enter shows the next match in a flame graph" answers "next hit=1 samples, 0.05 %: side001" \
	"typing moves nothing=1 samples, 0.05 %: side001"
ktap_run "reset ends search and zoom of a flame graph" answers "reset=,,true"
ktap_run "a flame graph is used with the keyboard" \
	answers "tab=0" "selected=2,000 samples, 100.00 %: wide,true,treeitem,2" \
	"right=1 samples, 0.05 %: side000" "entered=true" "up=2,000 samples, 100.00 %: wide" \
	"down=1 samples, 0.05 %, 100.00 % of what is zoomed: side000" "unselected=0" \
	"deep=1,000 samples, 50.00 %: deep197,true"
ktap_run "a first touch shows details of a frame, a second one zooms into it" answers \
	"first tap=1 samples, 0.05 %: side500,true" "second tap=false"
ktap_run "the address of a flame graph has what is zoomed and searched" answers \
	"permalink=false,matched: 0.00 %,DEEP150,true" "permalink is seen=true" "broken link=true,matched: 0.00 %" \
	"back=true,2,000 samples, 100.00 %, 100.00 % of what is zoomed: wide"
ktap_run "a search in a flame graph does not look at names of files" \
	answers "without file=matched: 50.00 %" "file=matched: 0.00 %" "name=g(int)"
ktap_run "names in narrow frames give up first what says least" answers \
	"wide=local_function|vec::Vec::extend|JS:*fib …/x.js:1:14|[libverylongname.so.1]+0x1234|a<b<c<d>>>::e|a_function_whose_name_is_long_b…|f(std::map<int, int>) const|f<(char)60>|{lambda(auto:1)#2}::operator()|ns::inner::Class<int>::a_method|operator new|operator<|operator>>|py::work:…/w.py|basic_string::~basic_string|std::vector::push_back" \
	"narrow=local_function|vec::Vec::extend|JS:*fib …/x.js:…|+0x1234|a<b<c<d>>>::e|a_function_whos…|f|f<(char)60>|operator()|Class::a_method|operator new|operator<|operator>>|py::work:…/w.py|~basic_string|push_back" \
	"slivers=|||||||||||||||"
ktap_run "the legend has only what occurs" answers "legend=user,thread" "legend of changes=5 % more,as before"
speedscope=$(realpath -e "${SPEEDSCOPE:-/usr/lib/node_modules/speedscope}/dist/release/index.html" 2>/dev/null)
if [ "$speedscope" ]; then
	ktap_run "speedscope opens flame's file for it" check_speedscope
else
	ktap_skip "speedscope opens flame's file for it" \
		"\$SPEEDSCOPE is not set, and npm has not installed it"
fi
ktap_finish
