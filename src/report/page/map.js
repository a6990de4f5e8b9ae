/* SPDX-License-Identifier: MIT */
/*
 * Segments and blocks at a moment: segments one after another, the largest
 * first, and in each its blocks by address; what pins free memory is framed.
 */
import { blockTeller, bytes, choiceOfBy, cleared, count, counted, css,
	eachFrame, fit, isOtherRun, make, onKeys, placeIn, question, stage,
	tick, variable, viewAsker, watchTheme } from "./common.js";

const LINES = 26;          /* least number of lines for all reserved memory */
const LINE = 22, BAR = 15; /* pixels */
const GAP = 3;             /* between segments */
const PINS = 20;           /* listed */

/** The layout: {x, y, width} by segment, and the total height.
 * @param {any[]} segments @param {number} width */
function lay(segments, width) {
	const all = segments.reduce((sum, s) => sum + s.bytes, 0);
	const largest = segments.length ? segments[0].bytes : 1;
	const line = Math.max(largest, all / LINES, 1);
	let x = 0, y = 0;
	const places = segments.map(s => {
		const wide = Math.max(2, s.bytes / line * width - GAP);
		if (x && x + wide > width + 1) { x = 0; y += LINE; }
		const place = { x, y, width: wide };
		x += wide + GAP;
		return place;
	});
	return { places, height: y + LINE };
}

/** @param {HTMLElement} element @param {import("./common.js").Ask} ask
 * @param {import("./common.js").Options} options */
export function mount(element, ask, options) {
	const o = { by: "site", ...options };
	/** @type {any} */
	let answer = null;
	/** @type {any[]} */
	let segments = [];
	/** @type {{ places: any[], height: number }} */
	let layout = { places: [], height: LINE };
	let pinned = new Set();     /* addresses of segments and pages */
	let at = [0, 0];            /* segment and block under the cursor */

	const canvas = stage("map", "img");
	const said = make("p", "said soft");
	said.setAttribute("aria-live", "polite");
	const title = make("p", "said");
	const block = make("aside", "block");
	const by = choiceOfBy("Colour by", o, () => refresh());
	const before = tick("before the event", !!o.before, isTicked => {
		o.before = isTicked;
		refresh();
	});
	const pins = make("ol", "pins");
	const root = make("div", "view map-view",
		make("div", "tools", by.element, before.element),
		title, canvas, said,
		make("details", "", make("summary", "",
			"What pins free memory"), pins), block);
	element.replaceChildren(root);
	const teller = blockTeller(block, ask, o);

	const asking = viewAsker(ask, taken, title);

	function refresh() {
		asking.put(question(o, "state",
			...o.event === undefined ? [] : ["--at", String(o.event)],
			...o.before ? ["--before"] : []));
	}

	/** @param {any} given */
	function taken(given) {
		answer = given;
		by.offer(given.bys);
		segments = [...given.segments].sort((a, b) => b.bytes - a.bytes ||
			a.address - b.address);
		pinned = new Set(given.pins.map((/** @type {any} */ p) => p.address));
		at = [0, 0];
		title.textContent = `${bytes(given.reserved_bytes)} reserved in ` +
			`${counted(segments.length, "segment")}, ` +
			`${bytes(given.allocated_bytes)} allocated ` +
			`${given.before ? "before" : "at"} ${given.when}`;
		canvas.setAttribute("aria-label", title.textContent +
			". Arrow keys move from block to block, Enter chooses one.");
		fillPins();
		arrange();
		root.dataset.event = given.event;
		root.dataset.reserved = given.reserved_bytes;
		root.dataset.allocated = given.allocated_bytes;
	}

	function fillPins() {
		pins.replaceChildren(...answer.pins.slice(0, PINS).map(
			(/** @type {any} */ pin) => {
				const button = make("button", "", `block ${count(pin.ids[0])}`);
				button.type = "button";
				button.addEventListener("click", () => choose(pin.ids[0]));
				const others = pin.ids.length - 1;
				return make("li", "", `${bytes(pin.free_bytes)} of ` +
					`${bytes(pin.bytes)} held by `, button,
				others ? ` and ${count(others)} more` : "");
			}));
		if (answer.pins.length > PINS)
			pins.append(make("li", "soft",
				`${count(answer.pins.length - PINS)} more`));
		if (!answer.pins.length)
			pins.append(make("li", "soft", "Nothing does."));
	}

	function arrange() {
		layout = lay(segments, Math.max(40, canvas.clientWidth - 2));
		canvas.style.height = Math.min(1200, layout.height + 4) + "px";
		draw();
	}

	function drawNow() {
		if (!answer) return;
		const c = cleared(canvas);
		c.translate(1, 1);
		const free = variable(canvas, "free"), held = variable(canvas, "held");
		const waiting = variable(canvas, "waiting");
		const edge = variable(canvas, "edge");
		segments.forEach((s, i) => {
			const p = layout.places[i];
			c.fillStyle = free;
			c.fillRect(p.x, p.y, p.width, BAR);
			drawBlocks(c, s, p, waiting);
			c.strokeStyle = pinned.has(s.address) ? held : edge;
			c.lineWidth = pinned.has(s.address) ? 1.5 : .5;
			c.strokeRect(p.x, p.y, p.width, BAR);
		});
		drawCursor(c);
	}
	const draw = eachFrame(drawNow);

	/** @param {CanvasRenderingContext2D} c @param {any} s @param {any} p
	 * @param {string} waiting */
	function drawBlocks(c, s, p, waiting) {
		for (const b of s.blocks) {
			if (b.state === "free") continue;
			const x = p.x + b.offset / s.bytes * p.width;
			const wide = b.bytes / s.bytes * p.width;
			c.fillStyle = b.state === "pending_free" || b.group === undefined
				? waiting : css(answer.groups[b.group].rank);
			c.fillRect(x, p.y, Math.max(.6, wide > 3 ? wide - .6 : wide), BAR);
		}
	}

	/** @param {CanvasRenderingContext2D} c */
	function drawCursor(c) {
		const s = segments[at[0]], b = s?.blocks[at[1]];
		if (!b || document.activeElement !== canvas) return;
		const p = layout.places[at[0]];
		c.strokeStyle = variable(canvas, "ink");
		c.lineWidth = 2;
		c.strokeRect(p.x + b.offset / s.bytes * p.width, p.y - 1,
			Math.max(3, b.bytes / s.bytes * p.width), BAR + 2);
	}

	/** @param {number} x @param {number} y @returns {number[]|null} */
	function find(x, y) {
		const i = layout.places.findIndex(p => y >= p.y && y < p.y + LINE &&
			x >= p.x && x <= p.x + p.width + GAP);
		if (i < 0) return null;
		const s = segments[i], p = layout.places[i];
		const offset = (x - p.x) / p.width * s.bytes;
		const k = s.blocks.findIndex((/** @type {any} */ b) =>
			offset >= b.offset && offset < b.offset + b.bytes);
		return k < 0 ? null : [i, k];
	}

	/** @param {number[]|null} place */
	function point(place) {
		if (!place) return;
		at = place;
		const s = segments[at[0]], b = s.blocks[at[1]];
		const state = b.state === "pending_free" ? "pending free" : b.state;
		said.textContent = `${bytes(b.bytes)} ${state}` +
			(b.id === undefined ? "" : `, block ${count(b.id)}`) +
			(b.group === undefined ? "" : `, ${answer.groups[b.group].name}`) +
			`; segment of ${bytes(s.bytes)}, stream ${s.stream}, ` +
			`${bytes(s.free_bytes)} free` +
			(pinned.has(s.address) ? ", pinned" : "");
		draw();
	}

	/** @param {number|undefined} id */
	function choose(id) {
		if (id !== undefined) teller.show(id, answer.event);
	}

	/** The next block, across segments. @param {number} step */
	function walk(step) {
		let [i, k] = at;
		if (!segments.length) return;
		k += step;
		if (k < 0) {
			if (!i) return;
			i--;
			k = segments[i].blocks.length - 1;
		} else if (k >= segments[i].blocks.length) {
			if (i + 1 >= segments.length) return;
			i++;
			k = 0;
		}
		point([i, k]);
	}

	onKeys(canvas, {
		ArrowLeft: () => walk(-1),
		ArrowRight: () => walk(1),
		ArrowUp: () => point([Math.max(0, at[0] - 1), 0]),
		ArrowDown: () => point([Math.min(segments.length - 1, at[0] + 1), 0]),
		Home: () => point([0, 0]),
		End: () => point([segments.length - 1, 0]),
		Enter: () => choose(segments[at[0]].blocks[at[1]].id),
	}, () => !!segments.length);
	canvas.addEventListener("focus", draw);
	canvas.addEventListener("blur", draw);
	/** @param {MouseEvent} event */
	const under = event => {
		const [x, y] = placeIn(canvas, event);
		return find(x - 1, y - 1);
	};
	canvas.addEventListener("pointermove", event => point(under(event)));
	canvas.addEventListener("click", event => {
		const place = under(event);
		point(place);
		if (place) choose(segments[place[0]].blocks[place[1]].id);
	});

	let width = 0;
	const unfit = fit(canvas, () => {
		if (!answer) return;
		if (canvas.clientWidth === width) drawNow();
		else arrange();
		width = canvas.clientWidth;
	});
	const unwatch = watchTheme(() => draw());
	refresh();

	return {
		ready: asking.ready,
		/** @param {Partial<import("./common.js").Options>} changes */
		update(changes) {
			Object.assign(o, changes);
			before.input.checked = !!o.before;
			if (isOtherRun(changes)) teller.forget();
			refresh();
		},
		destroy() {
			asking.end();
			teller.end();
			unfit();
			unwatch();
			root.remove();
		},
	};
}
