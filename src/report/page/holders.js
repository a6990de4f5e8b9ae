/* SPDX-License-Identifier: MIT */
/* Who holds the memory at a moment: at the peak, at an OOM, at any event. */
import { bytes, choiceOfBy, count, css, make, percent, question, tell,
	viewAsker, watchTheme } from "./common.js";

const SHOWN = 100; /* rows before the rest is asked for */

/** @param {HTMLElement} element @param {import("./common.js").Ask} ask
 * @param {import("./common.js").Options} options */
export function mount(element, ask, options) {
	const o = { by: "site", ...options };
	/** @type {any} */
	let answer = null;
	let shown = SHOWN;

	const by = choiceOfBy("Stack by", o, () => refresh());
	const when = make("select", "");
	when.addEventListener("change", () => {
		o.event = when.value;
		refresh();
		if (/^\d+$/.test(when.value))
			tell(element, "moment", { event: Number(when.value) });
	});
	const number = make("input", "");
	number.type = "number";
	number.min = "0";
	number.addEventListener("change", () => {
		if (!number.value) return;
		o.event = Number(number.value);
		refresh();
		tell(element, "moment", { event: o.event });
	});
	const title = make("p", "said");
	title.setAttribute("aria-live", "polite");
	const bar = make("div", "stackbar");
	bar.setAttribute("role", "img");
	const body = make("tbody", "");
	const table = make("table", "holders",
		make("caption", "soft", "Who holds the memory that is allocated"),
		make("thead", "", make("tr", "", ...["", "bytes", "share", "blocks",
			"held by"].map(text => {
			const head = make("th", "", text);
			head.scope = "col";
			return head;
		}))), body);
	const more = make("button", "", "");
	more.type = "button";
	more.hidden = true;
	more.addEventListener("click", () => {
		shown *= 10;
		draw();
	});
	const root = make("div", "view holders-view",
		make("div", "tools", by.element,
			make("label", "choice", "At ", when),
			make("label", "choice", "or event ", number)),
		title, bar, table, more);
	element.replaceChildren(root);

	const asking = viewAsker(ask, taken, title);

	function refresh() {
		shown = SHOWN;
		asking.put(question(o, "holders",
			...o.event === undefined || o.event === "" ? []
				: ["--at", String(o.event)],
			...o.before ? ["--before"] : []));
	}

	/** @param {any} given */
	function taken(given) {
		answer = given;
		by.offer(given.bys);
		fillWhen();
		number.value = given.event;
		number.max = String(Math.max(0, given.events - 1));
		draw();
	}

	/** The peak, each OOM and the end. */
	function fillWhen() {
		const rows = [["peak", "the peak"]];
		answer.ooms.forEach((/** @type {number} */ event,
			/** @type {number} */ i) => rows.push(["oom:" + (i + 1),
			`out of memory ${i + 1}: event ${count(event)}`]));
		rows.push(["end", "the end"], ["", "an event"]);
		when.replaceChildren(...rows.map(([value, text]) => {
			const option = make("option", "", text);
			option.value = value;
			return option;
		}));
		const now = String(o.event ?? (answer.ooms.length ? "oom:1" : "peak"));
		when.value = now === "oom" ? "oom:1"
			: rows.some(row => row[0] === now) ? now : "";
	}

	function draw() {
		const whole = answer.allocated_bytes, rows = answer.holders;
		title.textContent = `${bytes(whole)} allocated, ` +
			`${bytes(answer.reserved_bytes)} reserved ` +
			`${answer.before ? "before" : "at"} ${answer.when}`;
		const cut = rows.slice(0, shown);
		body.replaceChildren(...cut.map(row_of));
		const rest = rows.slice(shown);
		more.hidden = !rest.length;
		more.textContent = `${count(rest.length)} more, ` + bytes(rest.reduce(
			(/** @type {number} */ sum, /** @type {any} */ r) =>
				sum + r.bytes, 0));
		drawBar(rows, whole);
		root.dataset.allocated = whole;
		root.dataset.event = answer.event;
	}

	/** @param {any} row */
	function row_of(row) {
		const swatch = make("span", "swatch");
		swatch.style.backgroundColor = css(row.rank);
		const name = make("td", "name", row.name);
		if (row.site?.length > 1) {
			const stack = make("ol", "stack");
			for (const frame of row.site) stack.append(make("li", "", frame));
			name.replaceChildren(make("details", "",
				make("summary", "", row.name), stack));
		}
		const cell = (/** @type {string} */ text) => make("td", "n", text);
		const line = make("tr", "", make("td", "", swatch),
			cell(bytes(row.bytes)), cell(percent(row.bytes,
				answer.allocated_bytes)), cell(count(row.blocks)), name);
		line.dataset.bytes = row.bytes;
		return line;
	}

	/** @param {any[]} rows @param {number} whole */
	function drawBar(rows, whole) {
		bar.setAttribute("aria-label", rows.slice(0, 5).map(r =>
			`${r.name}: ${percent(r.bytes, whole)}`).join("; "));
		bar.replaceChildren(...rows.slice(0, 60).map(row => {
			const piece = make("span", "piece");
			piece.style.width = `${row.bytes / Math.max(1, whole) * 100}%`;
			piece.style.backgroundColor = css(row.rank);
			piece.title = `${row.name}: ${bytes(row.bytes)}`;
			return piece;
		}));
	}

	const unwatch = watchTheme(() => { if (answer) draw(); });
	refresh();
	return {
		ready: asking.ready,
		/** @param {Partial<import("./common.js").Options>} changes */
		update(changes) {
			Object.assign(o, changes);
			refresh();
		},
		destroy() {
			asking.end();
			unwatch();
			root.remove();
		},
	};
}
