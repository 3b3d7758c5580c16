// SPDX-License-Identifier: GPL-2.0
/*
 * What a user does with a flame graph, step by step, for cli/test_flame_browser.sh.  A page's name says
 * which: NAME.html takes the steps of this name, with NAME.svg in an iframe.  "answer" will be what they
 * say, a line each.
 */
"use strict";

const name = location.pathname.replace(/.*\/|\.html$/g, ""), frame = document.createElement("iframe"), answers = [];
let win, doc;

function say(what, value) { answers.push(`${what}=${value}`); }
function id(name) { return doc.getElementById(name); }
function text(name) { return id(name).textContent; }
function shown(g) { return g.style.display !== "none"; }
function click(element) { element.dispatchEvent(new win.MouseEvent("click", { bubbles: true })); }
function box(name) {
	return Array.from(id("frames").children).find(g => g.querySelector("title").textContent.startsWith(name + ":"));
}
function width(name) { return Math.round(box(name).querySelector("rect").getAttribute("width")); }
function label(name) { return box(name).querySelector("text").textContent; }
function key(name, target) {
	(target || doc.documentElement).dispatchEvent(new win.KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
}
function search(pattern) {
	id("search").value = pattern;
	id("search").dispatchEvent(new win.Event("input", { bubbles: true }));
}
function tap(element) {
	element.dispatchEvent(new win.PointerEvent("pointerdown", { bubbles: true, pointerType: "touch" }));
	click(element);
}
/* Wait until it is so, while the browser draws a hundred times at most. */
async function until(is_so) {
	for (let i = 0; i < 100 && !is_so(); i++)
		await new Promise(requestAnimationFrame);
}
function resize(size) {
	frame.style.width = size + "px";
	return until(() => Math.abs(size - width("all")) < 50);
}
/* Whether all of an element is on the screen. */
function seen(element) {
	const at = element.getBoundingClientRect();
	return at.width > 0 && at.top >= 0 && at.left >= 0 && at.bottom <= win.innerHeight && at.right <= win.innerWidth;
}

const steps = {
	async graph() {
		const gutter = 20 + win.innerWidth - id("picture").parentElement.clientWidth;
		say("frames", id("frames").children.length);
		say("title", [doc.title, doc.querySelector("h1").textContent]);
		say("first screen", ["search", "case", "reset", "details"].map(name => seen(id(name))).concat(seen(box("all"))));
		say("root on top", box("all").getBoundingClientRect().top < box("wide").getBoundingClientRect().top);
		for (const size of [420, 1280, 3840]) {
			await resize(size);
			say(`width of ${size}`, [size - gutter - width("all") <= 1, seen(id("search")), seen(id("reset")),
				id("page").scrollWidth <= size]);
		}
		await resize(1220);
		box("deep199").scrollIntoView();
		say("scrolled", ["all", "deep199"].map(name => seen(box(name))).concat(seen(id("search")), seen(id("details"))));
		box("all").scrollIntoView();

		click(box("side500"));
		say("zoomed", [width("side500") === width("wide"), width("leaf") > 0, shown(box("side499")), shown(box("wide"))]);
		say("text", label("side500"));
		say("fragment", win.location.hash.startsWith("#zoom="));
		say("share of zoomed", text("details"));
		search("leaf");
		say("matched of zoomed", text("matched"));
		search("side49");
		say("matched elsewhere", text("matched"));
		key("Escape");
		say("first Escape", [text("matched"), shown(box("side499")), win.location.hash !== ""]);
		key("Escape");
		say("second Escape", [shown(box("side499")), win.location.hash]);

		key("/");
		say("slash", doc.activeElement.id);
		search("^SIDE00[0-9]$");
		say("search", text("matched"));
		say("hit", box("side003").classList.contains("hit"));
		click(id("case"));
		say("with case", [text("matched"), id("case").getAttribute("aria-pressed"), win.location.hash]);
		click(id("case"));
		key("Enter", id("search"));
		key("Enter", id("search"));
		say("next hit", text("details"));
		key("ArrowDown", id("search"));
		say("typing moves nothing", text("details"));
		search("(");
		say("mistake", text("matched"));
		click(id("reset"));
		say("reset", [text("matched"), win.location.hash, id("reset").disabled]);

		click(box("wide"));
		click(box("side500"));
		win.history.back();
		await until(() => shown(box("side499")));
		say("back", [shown(box("side499")), text("details")]);
		click(id("reset"));
		await this.keyboard();
		await this.touch();
		await this.permalink();
	},

	async keyboard() {
		say("tab", box("all").getAttribute("tabindex"));
		key("ArrowDown");
		key("ArrowDown");
		say("selected", [text("details"), doc.activeElement === box("wide"), doc.activeElement.getAttribute("role"),
			doc.activeElement.getAttribute("aria-level")]);
		key("ArrowDown");
		key("ArrowRight");
		say("right", text("details"));
		key("Enter");
		say("entered", width("side000") === width("all"));
		key("ArrowUp");
		say("up", text("details"));
		key("ArrowDown");
		say("down", text("details"));
		click(box("all"));
		click(box("side999"));
		say("unselected", doc.querySelectorAll("#frames > .at").length);
		key("Escape");
		for (let i = 0; i < 200; i++)
			key("ArrowDown");
		say("deep", [text("details"), seen(doc.activeElement)]);
		box("deep199").dispatchEvent(new win.MouseEvent("mouseover", { bubbles: true }));
		say("hover", text("details"));
	},

	async touch() {
		tap(box("side500"));
		say("first tap", [text("details"), shown(box("side499"))]);
		tap(box("side500"));
		say("second tap", shown(box("side499")));
		key("Escape");
	},

	async permalink() {
		const index = Array.from(id("frames").children).indexOf(box("deep100"));
		await open(`graph.svg?again#zoom=${index}&search=DEEP150&case=1`);
		say("permalink", [shown(box("side000")), text("matched"), id("search").value, id("case").getAttribute("aria-pressed")]);
		say("permalink is seen", seen(box("deep100")));
		win.location.hash = "#zoom=99999999&search=%E0&x";
		await until(() => shown(box("side000")));
		say("broken link", [shown(box("side000")), text("matched")]);
	},

	async files() {
		search("main$");
		say("without file", text("matched"));
		search("bin");
		say("file", text("matched"));
		say("name", label("g(int) (/bin/main (deleted))"));
		say("legend", Array.from(id("legend").children).map(item => item.textContent));
	},

	async names() {
		for (const [size, words] of [[3840, "wide"], [1980, "narrow"], [420, "slivers"]]) {
			await resize(size);
			say(words, Array.from(id("frames").children).slice(2).map(g => g.querySelector("text").textContent).join("|"));
		}
	},

	async diff() {
		say("legend of changes", Array.from(id("legend").children).map(item => item.textContent));
	},
};

async function open(url) {
	const loaded = new Promise(done => frame.addEventListener("load", done, { once: true }));
	frame.src = url;
	await loaded;
	win = frame.contentWindow;
	doc = win.document;
}

async function take_steps() {
	frame.style = "border: 0; width: 1220px; height: 800px";
	document.documentElement.append(frame);
	await open(`${name}.svg`);
	try {
		await steps[name]();
	} catch (error) {
		say("error", error.stack);
	}
	return answers.join("\n");
}

const answer = take_steps();
