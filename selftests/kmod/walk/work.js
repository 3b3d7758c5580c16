// SPDX-License-Identifier: GPL-2.0
// work.js SECONDS: runs interpreted, then compiled code, several calls deep.
'use strict';

function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function tree(n) {
	return n ? { left: tree(n - 1), right: tree(n - 1), name: String(n) } : null;
}

function sort(n) {
	const words = Array.from({ length: n }, (_, i) => String(i * 7919 % n));
	words.sort((a, b) => a < b ? 1 : a > b ? -1 : 0);
	return words.map(w => w.replace(/[0-4]/g, 'x')).join().length;
}

let sum = 0;
for (const end = Date.now() + 1000 * Number(process.argv[2]); Date.now() < end;)
	sum += fib(18) + sort(300) + JSON.stringify(JSON.parse(JSON.stringify(tree(7)))).length;
console.log(sum);
