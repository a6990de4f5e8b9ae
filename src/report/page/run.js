/* SPDX-License-Identifier: MIT */
/* A run's report, gpupool replay --format json, as the page shows it. */
import { bytes as bytesText, count as countText, counted,
	make } from "./common.js";

/** @typedef {any} Device A device of a run. */

/** The device with the most reserved memory.
 * @param {any} report */
export function fullest(report) {
	const devices = report.runs[0].devices;
	let best = 0;
	devices.forEach((/** @type {Device} */ d, /** @type {number} */ i) => {
		if (d.measures.peak_reserved_bytes >
		    devices[best].measures.peak_reserved_bytes)
			best = i;
	});
	return best;
}

/** @param {any} report @param {number} run @param {number} device
 * @returns {import("./chart.js").Line} */
export function lineOf(report, run, device) {
	const d = report.runs[run].devices[device];
	return { timeline: d.timeline, capacity: d.capacity,
		events: d.measures.at_end.event, /* what-ifs add some */
		peak: d.measures.at_peak.event,
		oom: d.first_oom ? d.first_oom.event : null };
}

/** @param {Device} d */
function reserved(d) {
	return d.estimate?.reserved ?? d.measures.peak_reserved_bytes;
}

/** @param {Device} d */
function reservedText(d) {
	const text = bytesText(reserved(d));
	return d.estimate ? `${text}, an estimate: ` +
		`${bytesText(d.estimate.low)} to ${bytesText(d.estimate.high)}` : text;
}

/** The rows of the table. Those of the replay's own peak are left out if it is
 * not shown, as are those that a trace does not have.
 * @type {{ label: string, of: (d: Device) => number,
 *	text: (n: number) => string, isOfPeak?: boolean }[]} */
const rows = [
	{ label: "Peak reserved", of: reserved, text: bytesText },
	{ label: "Recorded", text: bytesText,
		of: d => d.measures.recorded_reserved_bytes },
	{ label: "Allocated then", text: bytesText, isOfPeak: true,
		of: d => d.measures.at_peak.allocated_bytes },
	{ label: "Gap then", text: bytesText, isOfPeak: true,
		of: d => d.measures.at_peak.gap_bytes },
	{ label: "Peak allocated", text: bytesText,
		of: d => d.measures.peak_allocated_bytes },
	{ label: "OOMs", text: countText, of: d => d.measures.num_ooms },
	{ label: "Alloc retries", text: countText,
		of: d => d.measures.num_alloc_retries },
	{ label: "cudaMalloc calls", text: countText,
		of: d => d.device_calls.malloc },
	{ label: "Pages mapped", text: countText, of: d => d.device_calls.map },
];

/** @param {string} tag @param {string} text @param {number} [value] */
function cell(tag, text, value) {
	const made = document.createElement(tag);
	made.textContent = text;
	if (value !== undefined) made.dataset.value = String(value);
	return made;
}

/** @param {HTMLTableElement} table @param {Device} before
 * @param {Device} now the same one: there is nothing to compare */
export function showNumbers(table, before, now) {
	table.classList.toggle("alone", before === now);
	const shown = rows.filter(row => row.of(now) !== undefined &&
		!(now.estimate && row.isOfPeak));
	table.tBodies[0].replaceChildren(...shown.map(row => {
		const a = row.of(before), b = row.of(now);
		const tr = document.createElement("tr");
		const sign = b > a ? "+" : b < a ? "\u2212" : "";
		const head = cell("th", row.label);
		head.setAttribute("scope", "row");
		tr.append(head, cell("td", row.text(a), a),
			cell("td", row.of === reserved ? reservedText(now)
				: row.text(b), b),
			cell("td", a === b ? "same" : sign + row.text(Math.abs(b - a)),
				b - a));
		return tr;
	}));
}

/** Shows how reliable a trace is.
 * @param {HTMLElement} box @param {any} trace of a report */
export function tellDoubts(box, trace) {
	box.replaceChildren(...[["Path:", trace.values],
		["Unknown:", trace.not_told]].filter(([, text]) => text)
		.map(([title, text]) => make("p", "settings",
			make("b", "", title), " " + text)));
}

/** Shows why the peak is not the whole program's.
 * @param {HTMLElement} box
 * @param {Device} d */
export function tellPeak(box, d) {
	const recorded = d.measures.recorded_reserved_bytes ?? 0;
	const replayed = d.measures.peak_reserved_bytes;
	const told = [];
	if (recorded > replayed)
		told.push(`At least ${bytesText(recorded)} was reserved at the peak, ` +
			"as the recording itself says. Its requests account for " +
			`${bytesText(replayed)}, which the replay's numbers describe. A ` +
			"recording from the start of the program would show everything.");
	if (d.estimate)
		told.push("The trace begins with memory in use that was cached under " +
			"the recorded settings. Peak reserved is an estimate: " +
			`${d.estimate.how}. The pictures and tables below are the replay ` +
			"from that start.");
	box.hidden = !told.length;
	box.textContent = told.join(" ");
}

/** Shows what the run itself says, until the judge's verdict is there: see
 * judge.js.
 * @param {HTMLElement} box @param {Device} d */
export function showOutcome(box, d) {
	const ooms = d.measures.num_ooms;
	const headline = cell("p", ooms
		? `Out of memory: ${counted(ooms, "request")} ` +
			(ooms === 1 ? "is not served, in " : "are not served, the first in ") +
			`event ${countText(d.first_oom.event)}.`
		: d.capacity ? "It fits." : "No limit is set; it reserves " +
			`${bytesText(reserved(d))} at the most.`);
	headline.className = "headline";
	const note = cell("p", "Other settings are being tried ...");
	note.className = "note";
	box.className = "verdict" + (ooms ? " setting" : "");
	box.dataset.state = "asked";
	box.replaceChildren(headline, note);
}
