/* SPDX-License-Identifier: MIT */
/* Sortable tables: a click on a column's head sorts by it, and another one in
 * the opposite order. */
"use strict";
(() => {
function makeSortable(table) {
	const heads = [...table.tHead.rows[0].cells];
	heads.forEach((head, column) => {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = head.textContent;
		head.replaceChildren(button);
		button.addEventListener("click", () => {
			const down = head.getAttribute("aria-sort") !== "descending";
			heads.forEach(h => h.removeAttribute("aria-sort"));
			head.setAttribute("aria-sort", down ? "descending" : "ascending");
			const key = r => r.cells[column].dataset.value ??
				r.cells[column].textContent;
			const body = table.tBodies[0];
			const order = (a, b) => isNaN(key(a)) || isNaN(key(b))
				? key(a).localeCompare(key(b)) : key(a) - key(b);
			body.append(...[...body.rows].sort((a, b) =>
				down ? order(b, a) : order(a, b)));
		});
	});
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
/* Tables that were added later. */
addEventListener("gpupool-tables", e => {
	for (const table of e.target.querySelectorAll("table.sortable"))
		if (!table.tHead.querySelector("button")) makeSortable(table);
});
document.documentElement.dataset.tables = "ready";
})();
