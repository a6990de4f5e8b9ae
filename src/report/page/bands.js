/* SPDX-License-Identifier: MIT */
/*
 * Each allocation as a band over time. gpupool view bands chooses what to draw
 * for the visible window. The picture is painted once, pixel by pixel, and is
 * moved and scaled until the next answer arrives.
 */
import { blockTeller, bytes, choiceOfBy, cleared, colour, count, counted, css,
	eachFrame, fit, isOtherRun, make, onKeys, placeIn, question, stage,
	tell, tick, variable, viewAsker, watchTheme } from "./common.js";

const LEFT = 72, TOP = 8, BOTTOM = 24; /* margins of the plot, in CSS pixels */
const COLUMNS = 2048;                  /* at most */
const LEGEND = 12;

/** Paints an answer, one pixel per column.
 * @param {any} answer @param {number} height @param {number} ceiling */
function paint(answer, height, ceiling) {
	const n = answer.columns.event.length;
	const image = new ImageData(n, height);
	const pixels = new Uint32Array(image.data.buffer);
	const at = new Float64Array(n); /* bytes, of what is painted so far */
	const scale = height / ceiling;
	const paints = answer.groups.map(group => {
		const [r, g, b] = colour(group.rank);
		const word = (/** @type {number} */ f) => (255 << 24 |
			b * f << 16 | g * f << 8 | r * f) >>> 0;
		return [word(1), word(.72)];
	});
	/** @param {number} c @param {number} size @param {number} fill
	 * @param {number} edge */
	const put = (c, size, fill, edge) => {
		const from = height - Math.round(at[c] * scale);
		at[c] += size;
		const to = Math.max(0, height - Math.round(at[c] * scale));
		for (let y = from - 1; y >= to; y--) pixels[y * n + c] = fill;
		if (from - to >= 4) pixels[to * n + c] = edge;
	};
	for (const band of answer.bands) {
		const [fill, edge] = paints[band.group];
		for (let c = band.first_column; c <= band.last_column; c++)
			put(c, band.bytes, fill, edge);
	}
	for (let c = 0; c < n; c++)
		put(c, answer.columns.rest_bytes[c],
			c & 2 ? 0xffa0a0a0 : 0xff8c8c8c, 0xff707070);
	return image;
}

/** The column of an event. @param {any} answer @param {number} event */
function columnOf(answer, event) {
	const from = answer.columns.from;
	let low = 0, high = from.length - 1;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (from[middle] <= event) low = middle;
		else high = middle - 1;
	}
	return low;
}

/** What is at a byte of a column: a band, "rest" or null.
 * @param {any} answer @param {number} column @param {number} byte */
function hit(answer, column, byte) {
	let at = 0;
	for (const band of answer.bands) {
		if (column < band.first_column || column > band.last_column) continue;
		if (byte >= at && byte < at + band.bytes)
			return { band, bottom: at };
		at += band.bytes;
	}
	return byte >= at && byte < at + answer.columns.rest_bytes[column]
		? { band: null, bottom: at } : null;
}

/** @param {HTMLElement} element @param {import("./common.js").Ask} ask
 * @param {import("./common.js").Options} options */
export function mount(element, ask, options) {
	const o = { by: "site", ...options };
	/** @type {any} */
	let answer = null;
	/** @type {HTMLCanvasElement|null} */
	let picture = null;
	let from = 0, to = 0, events = 1;   /* the window that is wanted */
	let shown = COLUMNS;
	let cursor = -1, byte = -1;         /* where the keyboard or the mouse is */
	let ceiling = 1, reservedToo = true;
	/** @type {any} */
	let chosen = null;

	const canvas = stage("bands", "slider");
	canvas.setAttribute("aria-label", "Allocations as bands over time. " +
		"Arrow keys move through events and bands, plus and minus zoom, " +
		"Enter chooses the band.");
	const said = make("p", "said soft");
	said.setAttribute("aria-live", "polite");
	const legend = make("ul", "legend");
	const block = make("aside", "block");
	const by = choiceOfBy("Colour by", o, () => refresh());
	const reserved = tick("up to reserved", true, isTicked => {
		reservedToo = isTicked;
		repaint();
	});
	const zoomOut = make("button", "", "Whole run");
	zoomOut.type = "button";
	zoomOut.addEventListener("click", () => move(0, events));
	const root = make("div", "view bands-view",
		make("div", "tools", by.element,
			reserved.element, zoomOut),
		canvas, said, legend, block);
	element.replaceChildren(root);
	const teller = blockTeller(block, ask, o);

	const asking = viewAsker(ask, taken, said);

	/* ---- asking, and taking answers ---- */

	function refresh() {
		/* While hidden, it has no width: the old picture is kept. */
		if (plotWidth() > 0)
			shown = Math.max(1, Math.round(Math.min(COLUMNS, plotWidth())));
		asking.put(question(o, "bands", "--from", String(from),
			...to ? ["--to", String(to)] : [],
			"--columns", String(shown), "--bands", "800"));
	}

	/** @param {any} given */
	function taken(given) {
		events = Math.max(1, given.events);
		if (!to) { from = given.from; to = given.to; }
		answer = given;
		by.offer(given.bys);
		if (cursor < 0) {
			cursor = typeof o.event === "number" ? o.event
				: o.event === "oom" && given.ooms.length ? given.ooms[0]
				: o.event === "end" ? events - 1 : given.peak.event;
		}
		fillLegend();
		repaint();
		root.dataset.bands = given.bands.length;
		root.dataset.from = given.from;
		root.dataset.to = given.to;
	}

	function repaint() {
		if (!answer) return;
		const most = reservedToo ? answer.columns.reserved_bytes
			: answer.columns.allocated_bytes;
		ceiling = Math.max(1, ...most) * 1.02;
		const image = paint(answer, Math.max(1, Math.round(plotHeight() *
			(window.devicePixelRatio || 1))), ceiling);
		picture = document.createElement("canvas");
		picture.width = image.width;
		picture.height = image.height;
		/** @type {any} */ (picture.getContext("2d")).putImageData(image, 0, 0);
		draw();
	}

	function fillLegend() {
		const sums = new Map();
		for (const band of answer.bands)
			sums.set(band.group, (sums.get(band.group) ?? 0) + band.bytes *
				(band.last_column - band.first_column + 1));
		const order = [...sums].sort((a, b) => b[1] - a[1]).slice(0, LEGEND);
		legend.replaceChildren(...order.map(([group]) => {
			const swatch = make("span", "swatch");
			swatch.style.backgroundColor = css(answer.groups[group].rank);
			return make("li", "", swatch, answer.groups[group].name);
		}));
		const others = answer.blocks - answer.bands.length;
		if (others > 0) {
			const swatch = make("span", "swatch rest");
			legend.append(make("li", "", swatch,
				`${counted(others, "smaller block")}, as one`));
		}
	}

	/* ---- where things are ---- */

	const plotWidth = () => canvas.clientWidth - LEFT - 8;
	const plotHeight = () => canvas.clientHeight - TOP - BOTTOM;
	/** @param {number} event */
	const xOf = event => LEFT + (event - from) / (to - from) * plotWidth();
	/** @param {number} value bytes */
	const y = value => TOP + (1 - value / ceiling) * plotHeight();
	/** @param {number} x */
	const eventAt = x => Math.max(0, Math.min(events - 1, Math.floor(
		from + (x - LEFT) / plotWidth() * (to - from))));
	/** @param {number} y */
	const byteAt = y => (1 - (y - TOP) / plotHeight()) * ceiling;

	/* ---- drawing ---- */

	function drawNow() {
		if (!answer || !picture) return;
		const c = cleared(canvas);
		c.save();
		c.beginPath();
		c.rect(LEFT, TOP, plotWidth(), plotHeight());
		c.clip();
		c.imageSmoothingEnabled = false;
		const x = xOf(answer.from), width = xOf(answer.to) - x;
		c.drawImage(picture, x, TOP, width, plotHeight());
		drawReserved(c);
		drawChosen(c);
		c.strokeStyle = variable(canvas, "mark");
		c.setLineDash([3, 3]);
		const at = xOf(cursor + .5);
		c.beginPath();
		c.moveTo(at, TOP);
		c.lineTo(at, TOP + plotHeight());
		c.stroke();
		c.restore();
		drawAxes(c);
	}
	const draw = eachFrame(drawNow);

	/** @param {CanvasRenderingContext2D} c */
	function drawReserved(c) {
		const columns = answer.columns, n = columns.from.length;
		c.strokeStyle = variable(canvas, "ink");
		c.lineWidth = 1.25;
		c.beginPath();
		for (let i = 0; i < n; i++) {
			/* The line is level over many columns: drawing a point
			 * for each would take most of a frame's time. */
			if (i && columns.reserved_bytes[i] === columns.reserved_bytes[i - 1])
				continue;
			const x = xOf(columns.from[i]);
			if (i) c.lineTo(x, y(columns.reserved_bytes[i - 1]));
			c.lineTo(x, y(columns.reserved_bytes[i]));
		}
		c.lineTo(xOf(answer.to), y(columns.reserved_bytes[n - 1]));
		c.stroke();
	}

	/** The outline of the band that was chosen.
	 * @param {CanvasRenderingContext2D} c */
	function drawChosen(c) {
		const band = chosen && answer.bands.find(b => b.id === chosen.id &&
			b.alloc_event === chosen.alloc_event);
		if (!band) return;
		const first = band.first_column, n = band.last_column - first + 1;
		const bottom = new Float64Array(n);
		for (const b of answer.bands) {
			if (b === band) break;
			const end = Math.min(b.last_column, band.last_column);
			for (let i = Math.max(b.first_column, first); i <= end; i++)
				bottom[i - first] += b.bytes;
		}
		/** @param {number} i */
		const x = i => xOf(first + i < answer.columns.from.length
			? answer.columns.from[first + i] : answer.to);
		c.setLineDash([]);
		c.strokeStyle = variable(canvas, "ink");
		c.lineWidth = 2;
		c.beginPath();
		for (let i = 0; i < n; i++) {
			c.lineTo(x(i), y(bottom[i] + band.bytes));
			c.lineTo(x(i + 1), y(bottom[i] + band.bytes));
		}
		for (let i = n - 1; i >= 0; i--) {
			c.lineTo(x(i + 1), y(bottom[i]));
			c.lineTo(x(i), y(bottom[i]));
		}
		c.closePath();
		c.stroke();
		c.lineWidth = 1;
	}

	/** @param {CanvasRenderingContext2D} c */
	function drawAxes(c) {
		c.fillStyle = variable(canvas, "soft");
		c.font = "11px system-ui, sans-serif";
		c.textBaseline = "middle";
		c.textAlign = "right";
		for (let i = 0; i <= 4; i++)
			c.fillText(bytes(Math.round(ceiling * i / 4)), LEFT - 6,
				Math.max(TOP + 6, TOP + plotHeight() * (1 - i / 4)));
		c.textBaseline = "top";
		for (let i = 0; i <= 4; i++) {
			const event = from + (to - from) * i / 4;
			/* With few events, not every position has one. */
			if (i % 4 && to - from < 4 && event % 1) continue;
			c.textAlign = i === 0 ? "left" : i === 4 ? "right" : "center";
			c.fillText(count(Math.round(event)),
				LEFT + plotWidth() * i / 4, TOP + plotHeight() + 6);
		}
	}

	/* ---- moving ---- */

	/** @param {number} a @param {number} b */
	function move(a, b) {
		const width = Math.max(1, Math.min(events, Math.round(b - a)));
		from = Math.max(0, Math.min(events - width, Math.round(a)));
		to = from + width;
		draw();
		refresh();
		tell(element, "window", { from, to });
	}

	/** @param {number} factor @param {number} around */
	function zoom(factor, around) {
		const width = Math.max(4, (to - from) * factor);
		const share = (around - from) / (to - from);
		move(around - share * width, around - share * width + width);
	}

	/** @param {number} event @param {number} at */
	function point(event, at) {
		if (!answer) return null;
		cursor = Math.max(0, Math.min(events - 1, event));
		byte = at;
		if (cursor < from || cursor >= to)
			move(cursor - (to - from) / 2, cursor + (to - from) / 2);
		const column = columnOf(answer, cursor);
		const found = hit(answer, column, byte);
		const words = words_of(column, found);
		said.textContent = words;
		canvas.setAttribute("aria-valuemin", "0");
		canvas.setAttribute("aria-valuemax", String(events - 1));
		canvas.setAttribute("aria-valuenow", String(cursor));
		canvas.setAttribute("aria-valuetext", words);
		draw();
		return found;
	}

	/** @param {number} column @param {any} found */
	function words_of(column, found) {
		const columns = answer.columns;
		const sums = `event ${count(columns.event[column])}: ` +
			`${bytes(columns.allocated_bytes[column])} allocated`;
		if (!found) return sums;
		if (!found.band)
			return `${sums}; ${bytes(columns.rest_bytes[column])} of ` +
				counted(columns.rest_blocks[column], "smaller block");
		const { band } = found;
		const until = band.free_event === null ? "the end"
			: count(band.free_event);
		const since = band.alloc_event === null ? "before the trace"
			: count(band.alloc_event);
		return `${sums}; block ${count(band.id)}: ${bytes(band.bytes)}, ` +
			`${since} to ${until}, ${answer.groups[band.group].name}`;
	}

	/** @param {any} found */
	function choose(found) {
		if (found?.band) {
			const event = answer.columns.event[columnOf(answer, cursor)];
			chosen = found.band;
			teller.show(chosen.id, event);
		}
		tell(element, "moment", { event: cursor });
		draw();
	}

	/** The next band above or below. @param {number} step */
	function climb(step) {
		const column = columnOf(answer, cursor);
		const middles = [];
		let at = 0;
		for (const b of answer.bands) {
			if (column < b.first_column || column > b.last_column) continue;
			middles.push(at + b.bytes / 2);
			at += b.bytes;
		}
		const above = middles.findIndex(m => m > byte);
		const now = above < 0 ? middles.length : above;
		const next = step > 0 ? (middles[now] === byte ? now + 1 : now)
			: now - 1 - (middles[now - 1] === byte ? 1 : 0);
		if (middles.length)
			point(cursor, middles[Math.max(0,
				Math.min(middles.length - 1, next))]);
	}

	onKeys(canvas, {
		ArrowLeft: () => point(cursor - stride(), byte),
		ArrowRight: () => point(cursor + stride(), byte),
		ArrowUp: () => climb(1),
		ArrowDown: () => climb(-1),
		PageUp: () => point(cursor - stride() * 20, byte),
		PageDown: () => point(cursor + stride() * 20, byte),
		Home: () => point(0, byte),
		End: () => point(events - 1, byte),
		"+": () => zoom(1 / 2, cursor),
		"=": () => zoom(1 / 2, cursor),
		"-": () => zoom(2, cursor),
		0: () => move(0, events),
		Enter: () => choose(point(cursor, byte)),
	}, () => !!answer);
	const stride = () => Math.max(1, Math.round((to - from) / plotWidth()));

	/** @type {{ x: number, from: number, to: number, moved: boolean }|null} */
	let drag = null;
	canvas.addEventListener("pointerdown", event => {
		drag = { x: placeIn(canvas, event)[0], from, to, moved: false };
	});
	canvas.addEventListener("pointermove", event => {
		const [x, y] = placeIn(canvas, event);
		if (!drag) {
			point(eventAt(x), byteAt(y));
			return;
		}
		if (!drag.moved && Math.abs(x - drag.x) < 4) return;
		if (!drag.moved) canvas.setPointerCapture(event.pointerId);
		drag.moved = true;
		const by = (drag.x - x) / plotWidth() * (drag.to - drag.from);
		move(drag.from + by, drag.to + by);
	});
	canvas.addEventListener("pointerup", event => {
		const [x, y] = placeIn(canvas, event);
		if (drag && !drag.moved) choose(point(eventAt(x), byteAt(y)));
		drag = null;
	});
	canvas.addEventListener("pointercancel", () => { drag = null; });
	canvas.addEventListener("wheel", event => {
		if (!answer) return;
		event.preventDefault();
		const [x] = placeIn(canvas, event);
		if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			const by = event.deltaX / plotWidth() * (to - from);
			move(from + by, to + by);
		} else {
			zoom(event.deltaY > 0 ? 1.25 : .8, eventAt(x));
		}
	}, { passive: false });

	const unfit = fit(canvas, () => {
		if (answer) repaint();
		drawNow(); /* at once: resizing clears a canvas */
		refresh();
	});
	const unwatch = watchTheme(() => { if (answer) { fillLegend(); repaint(); } });

	return {
		ready: asking.ready,
		/** @param {Partial<import("./common.js").Options>} changes */
		update(changes) {
			const anew = isOtherRun(changes);
			const was = { ...o };
			Object.assign(o, changes);
			if (o.trace !== was.trace || o.device !== was.device) {
				from = to = 0;
				cursor = -1;
			}
			if (anew) {
				teller.forget();
				chosen = null;
			}
			if (typeof changes.event === "number" && answer && !anew)
				point(changes.event, byte);
			if (anew || "by" in changes) refresh();
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
