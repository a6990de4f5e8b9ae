/* SPDX-License-Identifier: MIT */
/* The verdict on a run and its explanation, from the page of gpupool explain,
 * of which only gpupool's own elements are taken, without scripts. */

/** A page as text. @param {Uint8Array} bytes */
export const parsePage = bytes => new DOMParser().parseFromString(
	new TextDecoder().decode(bytes), "text/html");

/** Puts the device's part into the two boxes; with two runs, the verdict on the
 * last. With several ranks, the one that is explained may differ from the one
 * whose numbers are shown, so it is named.
 * @param {Document | Element} page @param {number} device its index
 * @param {HTMLElement} verdict @param {HTMLElement} findings */
export function showJudged(page, device, verdict, findings) {
	const section = page.querySelector(
		`section.device[data-device="${device}"]`) ??
		page.querySelector("section.device");
	/** @type {any} */
	const rank = (page.ownerDocument ?? page).querySelector("header p.run")
		?.cloneNode(true);
	if (rank) rank.className = "note";
	const said = [...section?.querySelectorAll(".verdict") ?? []].at(-1);
	verdict.dataset.state = "answered";
	verdict.className = said?.className ?? "verdict";
	verdict.replaceChildren(...rank ? [rank] : [],
		...said?.cloneNode(true).childNodes ?? []);
	findings.replaceChildren(...[...section?.children ?? []]
		.filter(child => !child.matches(".replaced"))
		.map(child => child.cloneNode(true)));
	findings.dispatchEvent(new CustomEvent("gpupool-tables",
		{ bubbles: true }));
}
