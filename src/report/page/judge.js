/* SPDX-License-Identifier: MIT */
/* What the judge says of a run, and what explains it: gpupool explain's page, of
 * which only our own elements are taken, with no scripts. */

/** A page as text. @param {Uint8Array} bytes */
export const parsePage = bytes => new DOMParser().parseFromString(
	new TextDecoder().decode(bytes), "text/html");

/** The device's part goes into the two boxes: of two runs the verdict on the
 * last.  Of several ranks, the one that is explained may be another than the one
 * whose numbers are shown, and is named.
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
