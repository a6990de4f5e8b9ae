/* SPDX-License-Identifier: MIT */
/*
 * The list of events, to step through and to search. Only the visible rows are
 * requested and built, however many rows there are.
 */
import { bytes, count, counted, isOtherRun, make, onKeys, question, tell,
	viewAsker } from "./common.js";

const ROW = 24;            /* pixels */
const TALLEST = 8_000_000; /* browsers limit the height of an element */
const AROUND = 60;         /* rows requested beyond the visible ones */

const OPS = [["", "all events"], ["alloc", "allocations"], ["free", "frees"],
	["alloc,free", "allocations and frees"],
	["segment_alloc,segment_free,segment_map,segment_unmap", "segments"],
	["oom", "out of memory"], ["mark", "marks"]];

/** @param {any} row */
function cells(row) {
	return [count(row.event), row.op,
		row.bytes === undefined ? "" : bytes(row.bytes),
		row.id === undefined ? "" : count(row.id),
		bytes(row.allocated_bytes), bytes(row.reserved_bytes),
		row.text ?? row.site_name ?? ""];
}

/** @param {HTMLElement} element @param {import("./common.js").Ask} ask
 * @param {import("./common.js").Options} options */
export function mount(element, ask, options) {
	let o = { ...options };
	let found = 0, first = 0;
	/** @type {any[]} */
	let rows = [];              /* from row first on */
	let current = 0;            /* row that is chosen */
	let wantsEvent = -1;        /* that is to become current */
	const id = "events-" + Math.random().toString(36).slice(2);

	const find = make("input", "");
	find.type = "search";
	find.placeholder = "file, line or function";
	const least = make("input", "size");
	least.placeholder = "0";
	least.size = 9;
	const most = make("input", "size");
	most.placeholder = "any";
	most.size = 9;
	const op = make("select", "");
	for (const [value, text] of OPS) {
		const option = make("option", "", text);
		option.value = value;
		op.append(option);
	}
	const said = make("p", "said soft");
	said.setAttribute("aria-live", "polite");
	const list = make("div", "rows");
	const spacer = make("div", "spacer", list);
	const scroller = make("div", "scroller", spacer);
	scroller.tabIndex = 0;
	scroller.setAttribute("role", "grid");
	scroller.setAttribute("aria-label", "Events; arrow keys step through them");
	scroller.setAttribute("aria-colcount", "7");
	const head = make("div", "row head", ...["event", "what", "bytes", "block",
		"allocated", "reserved", "where"].map(text => make("span", "", text)));
	const root = make("div", "view events-view",
		make("div", "tools",
			make("label", "choice", "Find ", find),
			make("label", "choice", "from ", least),
			make("label", "choice", "to ", most),
			make("label", "choice", "of ", op)),
		said, head, scroller);
	element.replaceChildren(root);

	const asking = viewAsker(ask, taken, said);
	/* Finds the row of an event by counting the matches before it. */
	const counting = viewAsker(ask, given => {
		wantsEvent = -1;
		if (found) go(Math.min(given.found, found - 1), false);
	}, said);

	/** @returns {string[]} */
	const filter = () => [
		...find.value ? ["--find", find.value] : [],
		...least.value ? ["--min-size", least.value] : [],
		...most.value ? ["--max-size", most.value] : [],
		...op.value ? ["--op", op.value] : []];

	const seen = () => Math.ceil(scroller.clientHeight / ROW) + 1;
	const height = () => Math.min(TALLEST, found * ROW);
	/* If there are more rows than an element can be tall, a pixel stands
	 * for several. */
	const topRow = () => {
		const room = Math.max(1, height() - scroller.clientHeight);
		const last = Math.max(0, found - scroller.clientHeight / ROW);
		return Math.min(last, scroller.scrollTop / room * last);
	};

	/** @param {number} row */
	function refresh(row) {
		const from = Math.max(0, Math.floor(row) - AROUND);
		asking.put(question({ ...o, by: undefined }, "events", ...filter(),
			"--row", String(from), "--rows", String(seen() + 2 * AROUND)));
	}

	/** @param {any} given */
	function taken(given) {
		const anew = given.found !== found;
		found = given.found;
		first = given.row;
		rows = given.rows;
		scroller.setAttribute("aria-rowcount", String(found));
		spacer.style.height = height() + "px";
		said.textContent = found === given.events
			? counted(found, "event")
			: `${count(found)} of ${counted(given.events, "event")}`;
		root.dataset.found = String(found);
		current = Math.max(0, Math.min(current, found - 1));
		if (anew && wantsEvent >= 0) seek(wantsEvent);
		draw();
	}

	function draw() {
		const top = topRow(), from = Math.floor(top);
		const lines = [];
		let missing = false;
		for (let i = from; i < Math.min(found, from + seen()); i++) {
			const row = rows[i - first];
			if (row === undefined) missing = true;
			lines.push(line_of(i, row));
		}
		list.style.transform =
			`translateY(${scroller.scrollTop - (top - from) * ROW}px)`;
		list.replaceChildren(...lines);
		scroller.setAttribute("aria-activedescendant", `${id}-${current}`);
		if (missing) refresh(from);
	}

	/** @param {number} i @param {any} row */
	function line_of(i, row) {
		const line = make("div", "row" + (i === current ? " current" : ""),
			...(row ? cells(row) : ["", "", "", "", "", "", ""]).map(text => {
				const cell = make("span", "", text);
				cell.setAttribute("role", "gridcell");
				return cell;
			}));
		line.id = `${id}-${i}`;
		line.setAttribute("role", "row");
		line.setAttribute("aria-rowindex", String(i + 1));
		line.setAttribute("aria-selected", String(i === current));
		if (row) line.dataset.event = row.event;
		if (row?.site_name) line.title = row.site_name;
		line.addEventListener("click", () => {
			scroller.focus();
			go(i, true);
		});
		return line;
	}

	/** @param {number} row @param {boolean} tells */
	function go(row, tells) {
		current = Math.max(0, Math.min(found - 1, row));
		const whole = Math.floor(scroller.clientHeight / ROW) || 1;
		const top = topRow();
		if (current < top || current > top + whole - 1) {
			const last = Math.max(1, found - scroller.clientHeight / ROW);
			const wanted = current < top ? current : current - whole + 1;
			scroller.scrollTop = Math.min(1, wanted / last) *
				Math.max(1, height() - scroller.clientHeight);
		}
		draw();
		const known = rows[current - first];
		if (!tells || !known) return;
		tell(element, "moment", { event: known.event });
		if (known.id !== undefined)
			tell(element, "block", { id: known.id, event: known.event });
	}

	/** @param {number} event */
	function seek(event) {
		wantsEvent = event;
		if (!filter().length) {
			wantsEvent = -1;
			go(event, false);
			return;
		}
		if (event > 0)
			counting.put(question({ ...o, by: undefined }, "events",
				...filter(), "--to", String(event), "--rows", "1"));
		else
			go(0, false);
	}

	onKeys(scroller, {
		ArrowUp: () => go(current - 1, true),
		ArrowDown: () => go(current + 1, true),
		PageUp: () => go(current - seen() + 2, true),
		PageDown: () => go(current + seen() - 2, true),
		Home: () => go(0, true),
		End: () => go(found - 1, true),
		Enter: () => go(current, true),
	}, () => found > 0);
	scroller.addEventListener("scroll", draw);
	let timer = 0;
	const searched = () => {
		clearTimeout(timer);
		timer = window.setTimeout(() => {
			current = 0;
			rows = [];
			scroller.scrollTop = 0;
			refresh(0);
		}, 150);
	};
	for (const input of [find, least, most, op])
		input.addEventListener("input", searched);

	const observer = new ResizeObserver(() => { if (found) draw(); });
	observer.observe(scroller);
	if (typeof o.event === "number") wantsEvent = o.event;
	refresh(typeof o.event === "number" ? o.event : 0);

	return {
		ready: asking.ready,
		/** @param {Partial<import("./common.js").Options>} changes */
		update(changes) {
			o = { ...o, ...changes };
			if (isOtherRun(changes)) {
				rows = [];
				refresh(current);
			}
			if (typeof changes.event === "number" &&
			    rows[current - first]?.event !== changes.event)
				seek(changes.event);
		},
		destroy() {
			clearTimeout(timer);
			asking.end();
			counting.end();
			observer.disconnect();
			root.remove();
		},
	};
}
