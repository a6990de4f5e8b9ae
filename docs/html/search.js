// SPDX-License-Identifier: MIT
// The start page: shows the entries that contain every word of the field, flags
// and keys included; if the field is empty, only the pages.
"use strict";
const field = document.querySelector("input");
const pages = document.querySelector("#pages");
const found = document.querySelector("#found");
const entries = Array.from(found.querySelectorAll("li"));
const none = document.querySelector("#none");

function look() {
	const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
	let count = 0;

	for (const entry of entries) {
		const text = entry.textContent.toLowerCase();

		entry.hidden = !words.every((word) => text.includes(word));
		count += entry.hidden ? 0 : 1;
	}
	pages.hidden = words.length > 0;
	found.hidden = words.length === 0;
	none.hidden = words.length === 0 || count > 0;
}

field.addEventListener("input", look);
if (location.hash.startsWith("#q="))
	field.value = decodeURIComponent(location.hash.slice(3));
field.parentNode.hidden = false;
look();
