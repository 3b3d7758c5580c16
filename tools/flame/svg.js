// SPDX-License-Identifier: GPL-2.0
/*
 * The script of a flame graph in SVG.  It makes a page of HTML within the SVG: a strip that stays,
 * with search and details, and below it the picture, as wide as the window.  What is zoomed and
 * searched is the fragment of the address, so that the browser's history and links have it.
 *
 * Frames are in the order of struct graph; their data-f is "start,total,depth", and ",1" if the
 * file stands behind the name.
 */
(function () {
"use strict";

const SVG = "http://www.w3.org/2000/svg", SIDE = 10;
const ROW = matchMedia("(pointer: coarse)").matches ? 24 : 16;
const root = document.documentElement, frames = [];
let zoomed = -1, at = -1, touched = false;	/* @at: the selected frame, or -1 */

function id(name) { return document.getElementById(name); }

function make_page() {
	const page = document.createElementNS(SVG, "foreignObject");
	page.innerHTML = `<div xmlns="http://www.w3.org/1999/xhtml" id="page">
		<meta name="viewport" content="width=device-width"/>
		<header><h1></h1>
		<input id="search" type="search" placeholder="Search (/)" aria-label="Search"
			title="A regular expression for names" spellcheck="false"/>
		<button id="case" title="Match case">Aa</button><output id="matched"></output>
		<button id="reset" title="Show all, search nothing">Reset</button>
		<p id="details" aria-live="polite"></p></header>
		<main><p></p><p></p>
		<svg xmlns="${SVG}" id="picture" width="100%" role="tree" aria-label="Stacks"/></main>
		</div>`;
	root.append(page);
	const [heading, , facts, legend] = page.querySelectorAll("h1, p");
	heading.textContent = heading.title = id("title").textContent;
	facts.textContent = id("facts").textContent;
	legend.append(...id("legend").children);
	id("picture").append(id("frames"));
	for (const name of ["back", "title", "facts", "legend"])
		id(name).remove();
	legend.id = "legend";
	for (const name of ["viewBox", "role", "aria-labelledby"])
		root.removeAttribute(name);
	for (const part of [root, page])
		["width", "height"].forEach(side => part.setAttribute(side, "100%"));
}

function read_frames() {
	const last = [], unit = ` ${root.dataset.unit}, `;
	for (const g of id("frames").children) {
		const [start, total, depth, has_file] = g.dataset.f.split(",").map(Number);
		const title = g.querySelector("title").textContent;
		const label = title.slice(0, title.lastIndexOf(unit)).replace(/: [0-9,]+$/, "");
		const name = has_file ? label.replace(/ \((?:[^()]|\([^()]*\))*\)$/, "") : label;
		const numbers = title.slice(label.length + 2), parent = depth ? last[depth - 1] : -1;
		const rect = g.querySelector("rect"), text = g.querySelector("text");
		rect.setAttribute("y", depth * ROW);
		rect.setAttribute("height", ROW - 1);
		g.setAttribute("tabindex", depth ? -1 : 0);
		g.setAttribute("role", "treeitem");
		g.setAttribute("aria-level", depth + 1);
		last[depth] = g.index = frames.length;
		frames.push({ g, rect, text, start, end: start + total, total, depth, parent, name, label,
			numbers });
	}
}

/* Forms of a name that are ever shorter: what says least goes first. */
function forms_of(name) {
	const forms = [];
	let last;
	do {	/* template arguments, from the inside */
		last = name;
		name = last.replace(/(\w|operator\W{1,3}?)<[^<>]*>/g, "$1");
	} while (name !== last);
	forms.push(name = name.replace(/([^r])\([^()]*\)(?: const)?$/, "$1"));
	forms.push(name = name.replace(/^<(.*?)(?: as .*)?>::/, "$1::")
		.replace(/\b(?:std|core|alloc|__\w+)::|\(anonymous namespace\)::/g, ""));
	forms.push(name = name.replace(/(^|[\s:(])[^\s:(]*\/(?=[^/\s])/g, "$1…/")
		.replace(/^\[.*\](?=\+0x)/, ""));
	for (const scopes of [2, 1])
		forms.push(name.split("::").slice(-scopes).join("::"));
	return forms;
}

/* What of a name has room in so many pixels, with 7.2 of them for a character */
function fit(f, width) {
	const room = Math.floor((width - 6) / 7.2);
	if (room < 3 || f.name.length <= room)
		return room < 3 ? "" : f.name;
	f.forms = f.forms || forms_of(f.name);
	const form = f.forms.find(each => each.length <= room) || f.forms[f.forms.length - 1];
	return form.length <= room ? form : form.slice(0, room - 1) + "…";
}

function draw() {
	const z = frames[zoomed], all = id("picture").parentElement.clientWidth - 2 * SIDE;
	let deepest = 0;
	for (const f of frames) {
		const above = f.depth < z.depth && f.start <= z.start && f.end >= z.end;
		const inside = f.depth >= z.depth && f.start >= z.start && f.end <= z.end;
		const x = above ? SIDE : SIDE + (f.start - z.start) / z.total * all;
		const width = above ? all : f.total / z.total * all, label = fit(f, width);
		f.shown = above || inside && width > 0.1;
		f.g.style.display = f.shown ? "" : "none";
		if (!f.shown)
			continue;
		deepest = Math.max(deepest, f.depth);
		f.g.classList.toggle("above", above);
		f.rect.setAttribute("x", x.toFixed(2));
		f.rect.setAttribute("width", (width > 2 ? width - 0.5 : width).toFixed(2));
		if (label || f.text) {
			f.text = f.text || f.g.appendChild(document.createElementNS(SVG, "text"));
			f.text.setAttribute("x", x + 3);
			f.text.setAttribute("y", f.depth * ROW + ROW / 2 + 4);
			f.text.textContent = label;
		}
	}
	id("picture").setAttribute("height", (deepest + 1) * ROW + SIDE);
}

function share(value, of) { return (100 * value / of).toFixed(2) + " %"; }

/* Say what a frame is; without one, the selected or the zoomed one. */
function details(f) {
	const z = frames[zoomed];
	f = f || frames[at < 0 ? zoomed : at];
	id("details").textContent = f.numbers + (zoomed && f.start >= z.start && f.end <= z.end ?
		`, ${share(f.total, z.total)} of what is zoomed` : "") + ": " + f.label;
}

/* "matched" is the share of what is zoomed that has a match in its stacks. */
function search(pattern, match_case) {
	const z = frames[zoomed];
	let end = -1, sum = 0, regexp = null, message = "";
	try {
		regexp = pattern && new RegExp(pattern, match_case ? "" : "i");
	} catch (error) {
		message = "not a regular expression";
	}
	for (const f of frames) {
		f.hit = !!regexp && f.depth > 0 && regexp.test(f.name);
		f.g.classList.toggle("hit", f.hit);
		if (f.hit && f.start >= end) {
			sum += Math.max(Math.min(f.end, z.end) - Math.max(f.start, z.start), 0);
			end = f.end;
		}
	}
	id("matched").textContent = regexp ? `matched: ${share(sum, z.total)}` : message;
}

function state() { return new URLSearchParams(location.hash.slice(1)); }

/* @replace: this is no step that the browser's history keeps. */
function go(change, replace) {
	const to = state();
	for (const key in change)
		if (change[key])
			to.set(key, change[key]);
		else
			to.delete(key);
	if (replace)
		location.replace("#" + to);
	else
		location.hash = to;
	apply();
}

function apply() {
	const to = state(), pattern = to.get("search") || "";
	const z = frames[+to.get("zoom")] ? +to.get("zoom") : 0;
	if (z !== zoomed) {
		zoomed = z;
		draw();
		reveal(frames[z]);
	}
	if (at >= 0 && !frames[at].shown)
		select(-1);
	search(pattern, to.get("case"));
	if (id("search").value !== pattern)
		id("search").value = pattern;
	id("case").setAttribute("aria-pressed", !!to.get("case"));
	id("reset").disabled = !zoomed && !pattern;
	details();
}

/* Scroll so that a frame is seen, with some of its callers. */
function reveal(f) {
	const main = id("picture").parentElement;
	const y = f.rect.getBoundingClientRect().top - main.getBoundingClientRect().top;
	if (y < 0 || y + ROW > main.clientHeight)
		main.scrollTop += y - main.clientHeight / 4;
}

function select(index) {
	if (at >= 0)
		frames[at].g.classList.remove("at");
	at = index;
	if (at >= 0) {
		frames[at].g.classList.add("at");
		reveal(frames[at]);
	}
	details();
}

/* The next frame that is shown and wanted, from @index on, in a direction; or -1 */
function next(index, step, wanted) {
	for (let i = index + step; i >= 0 && i < frames.length; i += step)
		if (frames[i].shown && wanted(frames[i]))
			return i;
	return -1;
}

function move(key) {
	const f = frames[at];
	let to = zoomed;
	if (f && key === "ArrowUp")
		to = f.parent;
	else if (f && key === "ArrowDown")
		to = next(at, 1, g => g.parent === at);
	else if (f)
		to = next(at, key === "ArrowLeft" ? -1 : 1, g => g.depth === f.depth);
	if (to < 0)
		return;
	select(to);
	frames[to].g.focus({ preventScroll: true });
}

/* Select the next match; behind the last one, the first. */
function find(step) {
	let to = next(at, step, f => f.hit);
	if (to < 0)
		to = next(step < 0 ? frames.length : -1, step, f => f.hit);
	if (to >= 0)
		select(to);
}

/* A finger has no hover: its first tap shows details, its second one zooms. */
function click(index) {
	if (touched && index !== at)
		select(index);
	else
		go({ zoom: index });
}

function press(event) {
	const on = event.target.tagName, typing = on === "input", key = event.key;
	if (event.altKey || event.metaKey || event.ctrlKey && (key !== "f" || typing))
		return;
	if (key === "Escape" && state().get("search"))
		go({ search: "" });
	else if (key === "Escape" && zoomed)
		go({ zoom: 0 });
	else if (key === "Escape")
		select(-1);
	else if (typing && key === "Enter")
		find(event.shiftKey ? -1 : 1);
	else if (typing)
		return;
	else if (key.startsWith("Arrow"))
		move(key);
	else if (key === "Enter" && at >= 0 && on !== "button")
		go({ zoom: at });
	else if (key === "/" || key === "f" && event.ctrlKey)
		id("search").focus();
	else
		return;
	event.preventDefault();
}

function on_frames(name, handle) {
	id("frames").addEventListener(name,
		event => handle(event.target.closest("#frames > g").index));
}

make_page();
read_frames();
if (!frames.length)
	return;
on_frames("click", click);
on_frames("focusin", select);
on_frames("mouseover", index => details(frames[index]));
id("frames").addEventListener("mouseleave", () => details());
id("search").addEventListener("input", () => go({ search: id("search").value }, true));
id("case").addEventListener("click", () => go({ case: !state().get("case") && 1 }, true));
id("reset").addEventListener("click", () => go({ zoom: 0, search: "" }));
window.addEventListener("keydown", press);
window.addEventListener("pointerdown", event => { touched = event.pointerType === "touch"; });
window.addEventListener("hashchange", apply);
window.addEventListener("resize", draw);
apply();
})();
