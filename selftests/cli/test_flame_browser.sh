#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The flame graph in a browser: zoom, search, reset, back, keyboard, details, asked of the DOM; and
# what is for speedscope, in that program's own page.  $SPEEDSCOPE: its npm package, unpacked.
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

# A stack of 200 frames, and 1,000 functions side by side.
"$python" - >"$work/stacks" <<'END'
print("wide;" + ";".join(f"deep{i}" for i in range(200)), 1000)
for i in range(1000):
    print(f"wide;side{i:03};leaf", 1)
END
"$beectl" flame "$work/stacks" -o "$work/graph.svg" || { echo "Bail out! no graph"; exit 1; }
printf '%s\n' "p 7 1.0: 1 cycles:" "401010 main (/bin/main (deleted))" "" "p 7 1.0: 1 cycles:" "401020 g(int) (/bin/main (deleted))" \
	>"$work/script"
"$beectl" flame "$work/script" -o "$work/files.svg" || { echo "Bail out! no graph of files"; exit 1; }

# What a user does, step by step.  Each step's answer becomes a line of the element "result".
"$python" - "$work" <<'END'
import sys
work = sys.argv[1]
common = r"""
var answers = [];
function frame(name) {
  return Array.prototype.find.call(document.getElementById("frames").children, function (g) {
    return g.querySelector("title").textContent.indexOf(name + ":") === 0;
  });
}
function say(what, value) { answers.push(what + "=" + value); }
function shown(name) { return frame(name).style.display !== "none"; }
function width(name) { return Math.round(frame(name).querySelector("rect").getAttribute("width")); }
function key(name) { window.dispatchEvent(new KeyboardEvent("keydown", { key: name, cancelable: true })); }
function click(element) { element.dispatchEvent(new MouseEvent("click", { bubbles: true })); }
function text(id) { return document.getElementById(id).textContent; }
"""
steps = {}
steps["files"] = r"""
window.prompt = function () { return "main$"; };
key("/");
say("without file", text("matched"));
window.prompt = function () { return "bin"; };
key("/");
say("file", text("matched"));
say("name", frame("g(int) (/bin/main (deleted))").querySelector("text").textContent);
document.getElementById("result").textContent = answers.join("\n");
"""
steps["graph"] = r"""
say("frames", document.getElementById("frames").children.length);
say("all", width("all"));
click(frame("side500"));
say("zoomed", [width("side500"), width("leaf") > 0, shown("side499"), shown("wide"), width("wide")]);
say("text", frame("side500").querySelector("text").textContent);
say("fragment", location.hash.indexOf("#zoom=") === 0);
window.prompt = function () { return "^side00[0-9]$"; };
key("/");
say("search", text("matched"));
say("hit", frame("side003").classList.contains("hit"));
window.prompt = function () { return "("; };
key("/");
say("mistake", text("matched"));
key("Escape");
say("reset", [shown("side499"), text("matched"), location.hash]);
key("ArrowUp");
key("ArrowUp");
say("selected", text("details"));
key("ArrowUp");
key("ArrowRight");
say("right", text("details"));
key("Enter");
say("entered", width("side000"));
key("ArrowDown");
say("down", text("details"));
key("ArrowUp");
say("up", text("details"));
click(frame("side999"));
key("Enter");
say("hidden", [width("side999"), document.querySelectorAll("#frames > .at").length]);
click(document.getElementById("reset"));
frame("deep199").dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
say("details", text("details"));
click(document.getElementById("reset"));
click(frame("deep100"));
history.back();
window.addEventListener("hashchange", function () {
  if (answers[answers.length - 1].indexOf("back=") !== 0 && shown("side499"))
    say("back", shown("side499"));
  document.getElementById("result").textContent = answers.join("\n");
});
document.getElementById("result").textContent = answers.join("\n");
"""
for name, script in steps.items():
    with open(f"{work}/{name}.svg", encoding="utf-8") as file:
        svg = file.read()
    svg = svg.replace("</svg>", "<desc id=\"result\"/><script><![CDATA[window.addEventListener(\"load\", function () { setTimeout(function () {" + common + script + "}, 1); });]]></script></svg>")
    with open(f"{work}/{name}-steps.svg", "w", encoding="utf-8") as file:
        file.write(svg)
END
for name in graph files; do
	in_browser --disable-gpu "file://$work/$name-steps.svg" >"$work/$name.dom"
	"$python" - "$work/$name.dom" >>"$work/answers" <<-'END'
		import html, re, sys
		found = re.search(r'<desc id="result">(.*?)</desc>', open(sys.argv[1], encoding="utf-8").read(), re.S)
		print(html.unescape(found[1]) if found else "no answer")
	END
done

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

ktap_plan 10
ktap_run "all frames are there" answers frames=2202 all=1180
ktap_run "zoom" answers "zoomed=1180,true,false,true,1180" "text=side500" "fragment=true"
ktap_run "search, with the share that matches" answers "search=matched: 0.50 %" "hit=true" \
	"mistake=not a regular expression"
ktap_run "reset" answers "reset=true,,"
ktap_run "keyboard" answers "selected=wide: 2,000 samples, 100.00 %" "right=side000: 1 samples, 0.05 %" \
	"entered=1180" "down=wide: 2,000 samples, 100.00 %"
ktap_run "the file is not searched" answers "without file=matched: 50.00 %" "file=matched: 0.00 %" "name=g(int)"
ktap_run "what is not shown any more is not selected" answers "up=side000: 1 samples, 0.05 %" "hidden=1180,0"
ktap_run "details" answers "details=deep199: 1,000 samples, 50.00 %"
ktap_run "back" answers "back=true"
speedscope=$(realpath -e "${SPEEDSCOPE:-/usr/lib/node_modules/speedscope}/dist/release/index.html" 2>/dev/null)
if [ "$speedscope" ]; then
	ktap_run "speedscope opens what is for it" check_speedscope
else
	ktap_skip "speedscope opens what is for it" "\$SPEEDSCOPE is not set, and npm has not installed it"
fi
ktap_finish
