/* SPDX-License-Identifier: MIT */
/* Makes the page's pictures move: see report/film_code.h for what it reads. */
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const UNIT = 512, LINES = 18, LINE = 20, BAR = 14, LEFT = 76, PLOT = 210;
const TOP = 26; /* of the plot; above it stands the cursor's text */
const MAP = 0, UNMAP = 1, ALLOC = 2, WAIT = 3, FREE = 4;
const count = n => n.toLocaleString("en-US");

/* As C's printf has it: halves go to the even digit. */
function fixed(n, digits) {
	const scaled = n * 10 ** digits, whole = Math.floor(scaled);
	return scaled - whole === .5 && whole % 2 === 0
		? (whole / 10 ** digits).toFixed(digits) : n.toFixed(digits);
}

function bytes(n) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let u = 0;
	while (n >= 1023.95 && u < 4) { n /= 1024; u++; }
	return (!u ? n : fixed(n, n < 99.995 ? 2 : 1)) + " " + units[u];
}

/* ---- reading ---- */

function reader(text) {
	const raw = atob(text);
	let at = 0;
	const next = () => {
		let value = 0, scale = 1, byte;
		do {
			byte = raw.charCodeAt(at++);
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte & 128);
		return value;
	};
	const signed = () => {
		const n = next();
		return n % 2 ? -(n + 1) / 2 : n / 2;
	};
	return { next, signed, more: () => at < raw.length };
}

const LEVELS = ["reserved", "allocated", "active", "requested", "split",
	"largest"];

function readMoments(text) {
	const r = reader(text), list = [];
	let last = { event: 0 };
	for (const key of LEVELS) last[key] = 0;
	while (r.more()) {
		const m = { event: last.event + r.next() };
		for (const key of LEVELS) m[key] = last[key] + r.signed();
		list.push(last = m);
	}
	return list;
}

/* Shots in order; an alloc's is the block itself. */
function readFilm(text) {
	const r = reader(text), shots = [], blocks = [];
	let event = 0, memory = 0, block = 0;
	while (r.more()) {
		const tag = r.next(), kind = tag & 7;
		const s = { kind, event: event += r.next() };
		if (kind === MAP || kind === UNMAP) {
			s.addr = memory + r.signed();
			s.size = r.next();
			memory = s.addr;
			if (kind === MAP) {
				s.stream = r.next();
				s.pool = r.next();
				s.expandable = !!(tag & 8);
				s.small = !!(tag & 16);
				memory += s.size;
			}
		} else if (kind === ALLOC) {
			s.addr = block = block + r.signed();
			s.size = r.next();
			s.waste = r.signed();
			s.site = r.next() - 1;
			blocks.push(s);
		} else {
			s.block = blocks[blocks.length - r.next()];
		}
		shots.push(s);
	}
	return shots;
}

/* ---- memory at a moment ---- */

class Memory {
	constructor(run) {
		this.run = run;
		this.shots = readFilm(run.film);
		this.layout();
		this.reset();
	}
	reset() {
		this.at = 0;
		this.ranges = []; /* {addr, size, shot} by address */
		this.held = new Set();
	}
	/* Where an address ever in use is drawn: without what lies between. */
	layout() {
		const maps = this.shots.filter(s => s.kind === MAP)
			.sort((a, b) => a.addr - b.addr);
		this.spans = [];
		let all = 0;
		for (const m of maps) {
			const last = this.spans[this.spans.length - 1];
			const end = last ? last.addr + last.size : -1;
			if (last && m.addr <= end) {
				const more = m.addr + m.size - end;
				if (more > 0) { last.size += more; all += more; }
				continue;
			}
			this.spans.push({ addr: m.addr, size: m.size, at: all });
			all += m.size;
		}
		this.all = all;
		this.perLine = Math.max(1, Math.ceil(all / LINES));
	}
	place(addr) {
		let low = 0, high = this.spans.length - 1;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (this.spans[middle].addr <= addr) low = middle;
			else high = middle - 1;
		}
		const s = this.spans[low];
		return s ? s.at + addr - s.addr : 0;
	}
	addressAt(place) {
		for (const s of this.spans)
			if (place >= s.at && place < s.at + s.size)
				return s.addr + place - s.at;
		return -1;
	}
	/* The last event not after this one that the film shows truly. */
	frame(event) {
		if (this.run.every === 1) return event;
		let end = Math.floor((event + 1) / this.run.every) *
			this.run.every;
		for (const e of [this.run.peak, this.run.oom])
			if (e !== null && e <= event && e + 1 > end)
				end = e + 1;
		if (event >= this.run.events - 1) return event;
		return Math.max(0, end - 1);
	}
	goTo(event) {
		event = this.frame(event);
		if (this.event !== undefined && event < this.event) this.reset();
		this.event = event;
		for (; this.at < this.shots.length &&
		     this.shots[this.at].event <= event; this.at++)
			this.follow(this.shots[this.at]);
		return this;
	}
	follow(s) {
		if (s.kind === MAP) {
			let i = this.ranges.findIndex(r => r.addr > s.addr);
			if (i < 0) i = this.ranges.length;
			this.ranges.splice(i, 0,
				{ addr: s.addr, size: s.size, shot: s });
		} else if (s.kind === UNMAP) {
			this.unmap(s.addr, s.addr + s.size);
		} else if (s.kind === ALLOC) {
			s.waiting = false;
			this.held.add(s);
		} else if (s.kind === WAIT) {
			s.block.waiting = true;
		} else {
			this.held.delete(s.block);
		}
	}
	unmap(from, to) {
		const kept = [];
		for (const r of this.ranges) {
			const end = r.addr + r.size;
			if (end <= from || r.addr >= to) { kept.push(r); continue; }
			if (r.addr < from)
				kept.push({ addr: r.addr, size: from - r.addr,
					shot: r.shot });
			if (end > to)
				kept.push({ addr: to, size: end - to,
					shot: r.shot });
		}
		this.ranges = kept;
	}
	/* Segments with their blocks. */
	segments() {
		const list = [], held = [...this.held]
			.sort((a, b) => a.addr - b.addr);
		for (const r of this.ranges) {
			const last = list[list.length - 1];
			if (last && r.shot.expandable && last.shot.expandable &&
			    last.addr + last.size === r.addr &&
			    last.shot.stream === r.shot.stream &&
			    last.shot.pool === r.shot.pool)
				last.size += r.size;
			else
				list.push({ addr: r.addr, size: r.size,
					shot: r.shot, blocks: [] });
		}
		let i = 0;
		for (const s of list) {
			s.used = 0;
			for (; i < held.length &&
			     held[i].addr < s.addr + s.size; i++) {
				s.blocks.push(held[i]);
				s.used += held[i].size;
			}
		}
		return list;
	}
}

/* ---- drawing ---- */

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

function showTip(event, text) {
	tip.textContent = text;
	tip.hidden = !text;
	tip.style.left = Math.min(event.clientX + 14,
		innerWidth - tip.offsetWidth - 8) + "px";
	tip.style.top = event.clientY + 16 + "px";
}

function pen(canvas, height) {
	const width = canvas.parentNode.clientWidth;
	const scale = window.devicePixelRatio || 1;
	canvas.width = Math.round(width * scale);
	canvas.height = Math.round(height * scale);
	canvas.style.height = height + "px";
	const g = canvas.getContext("2d");
	g.scale(scale, scale);
	g.font = "11px system-ui, sans-serif";
	return [g, width];
}

const color = name =>
	getComputedStyle(document.documentElement).getPropertyValue("--" + name);

function stepOf(top) {
	let unit = 1;
	while (unit < top / 1024) unit *= 1024;
	for (let scale = 1;; scale *= 10)
		for (const s of [1, 2, 5])
			if (unit * scale * s * 6 >= top) return unit * scale * s;
}

class Timeline {
	constructor(view, run, holder) {
		this.view = view;
		this.run = run;
		this.canvas = document.createElement("canvas");
		this.canvas.tabIndex = 0;
		this.canvas.setAttribute("role", "slider");
		this.canvas.setAttribute("aria-label",
			"Moment of the run; arrow keys move, plus and minus zoom");
		this.canvas.setAttribute("aria-valuemin", 0);
		this.canvas.setAttribute("aria-valuemax", view.events - 1);
		holder.replaceChildren(this.canvas);
		this.listen();
	}
	x(event) {
		const [from, to] = this.view.range;
		return LEFT + (event - from) / (to - from) * (this.width - LEFT - 8);
	}
	eventAt(clientX) {
		const box = this.canvas.getBoundingClientRect();
		const [from, to] = this.view.range;
		const part = (clientX - box.left - LEFT) / (this.width - LEFT - 8);
		return Math.round(from + part * (to - from));
	}
	listen() {
		const c = this.canvas, view = this.view;
		let dragged = null, moved = false;
		c.addEventListener("pointerdown", e => {
			dragged = { x: e.clientX, range: [...view.range] };
			moved = false;
			try { c.setPointerCapture(e.pointerId); } catch (_) {}
		});
		c.addEventListener("pointermove", e => {
			if (!dragged) return;
			const [from, to] = dragged.range;
			const by = (dragged.x - e.clientX) / (this.width - LEFT - 8);
			if (Math.abs(dragged.x - e.clientX) > 4) moved = true;
			if (!moved) return;
			if (to - from >= view.events) view.show(this.eventAt(e.clientX));
			else view.zoomTo(from + by * (to - from),
				to + by * (to - from));
		});
		const up = () => { dragged = null; };
		c.addEventListener("pointerup", up);
		c.addEventListener("pointercancel", up);
		c.addEventListener("click", e => {
			if (!moved) view.show(this.eventAt(e.clientX));
			moved = false;
		});
		c.addEventListener("wheel", e => {
			if (!e.deltaY) return;
			e.preventDefault();
			view.zoom(e.deltaY > 0 ? 1.25 : .8, this.eventAt(e.clientX));
		}, { passive: false });
		c.addEventListener("keydown", e => view.key(e));
	}
	draw() {
		const [g, width] = pen(this.canvas, TOP + PLOT + 36), view = this.view;
		this.width = width;
		const [from, to] = view.range, floor = TOP + PLOT;
		const y = n => floor - n / view.top * PLOT;
		const step = stepOf(view.top);
		g.lineWidth = 1;
		g.textAlign = "right";
		for (let at = 0; at <= view.top; at += step) {
			g.strokeStyle = color("line");
			g.beginPath(); g.moveTo(LEFT, y(at));
			g.lineTo(width - 8, y(at)); g.stroke();
			g.fillStyle = color("soft");
			g.fillText(at ? bytes(at) : "0", LEFT - 8, y(at) + 4);
		}
		const series = this.run.series(from, to);
		g.save();
		g.beginPath(); g.rect(LEFT, 0, width - LEFT - 8, floor); g.clip();
		this.area(g, y, series, "reserved", "free", "edge");
		this.area(g, y, series, "active", "waiting", "waiting");
		this.area(g, y, series, "allocated", "allocated", "allocated");
		g.restore();
		g.fillStyle = color("soft");
		g.textAlign = "left";
		g.fillText("event " + count(Math.round(from)), LEFT, floor + 17);
		g.textAlign = "right";
		g.fillText(count(Math.round(to)), width - 8, floor + 17);
		this.marks(g, floor);
		this.cursor(g, y, floor);
	}
	area(g, y, series, key, fill, stroke) {
		g.beginPath();
		g.moveTo(this.x(this.view.range[0]), y(0));
		for (const m of series) {
			const x = this.x(m.event);
			g.lineTo(x, y(m.before ? m.before[key] : m[key]));
			g.lineTo(x, y(m[key]));
		}
		g.lineTo(this.x(this.view.range[1]),
			y(series.length ? series[series.length - 1][key] : 0));
		g.lineTo(this.x(this.view.range[1]), y(0));
		g.fillStyle = color(fill); g.strokeStyle = color(stroke);
		g.lineWidth = .8;
		g.fill(); g.stroke();
	}
	/* Below the axis, each beside its line, on the side that leaves room
	 * for the other. */
	marks(g, floor) {
		const { peak, oom } = this.run;
		if (oom === null || oom === peak) {
			this.mark(g, peak, oom === peak
				? "peak, out of memory" : "peak", floor);
			return;
		}
		const apart = this.x(oom) - this.x(peak);
		const near = g.measureText("out of memory").width + 50;
		this.mark(g, peak, "peak", floor, apart >= 0 && apart < near);
		this.mark(g, oom, "out of memory", floor,
			apart < 0 && apart > -near);
	}
	mark(g, event, text, floor, isLeft) {
		const [from, to] = this.view.range;
		if (event < from || event > to) return;
		const x = this.x(event), wide = g.measureText(text).width;
		isLeft = isLeft || x + wide + 5 > this.width - 8;
		g.strokeStyle = g.fillStyle = color("mark");
		g.setLineDash([3, 3]);
		g.beginPath(); g.moveTo(x, TOP); g.lineTo(x, floor + 4); g.stroke();
		g.setLineDash([]);
		g.textAlign = isLeft ? "right" : "left";
		g.fillText(text, x + (isLeft ? -5 : 5), floor + 31);
	}
	cursor(g, y, floor) {
		const at = this.view.event, m = this.run.moment(at);
		const idle = m.reserved ? (m.reserved - m.allocated) / m.reserved : 0;
		const text = `${this.view.when(at)}: ${bytes(m.reserved)} reserved, ` +
			`${bytes(m.allocated)} allocated, ` +
			`${fixed(idle * 100, 1)} % idle`;
		const short = `${count(at)}: ${bytes(m.reserved)}, ` +
			`${bytes(m.allocated)} allocated`;
		this.canvas.setAttribute("aria-valuenow", at);
		this.canvas.setAttribute("aria-valuetext", text);
		const x = this.x(at);
		if (x < LEFT || x > this.width) return;
		const fits = g.measureText(text).width < this.width - LEFT - 8;
		const shown = fits ? text : short;
		const wide = g.measureText(shown).width;
		const left = Math.max(Math.min(Math.max(x - wide / 2, LEFT),
			this.width - wide - 8), 0);
		g.strokeStyle = color("ink"); g.lineWidth = 1;
		g.beginPath(); g.moveTo(x, TOP - 6); g.lineTo(x, floor); g.stroke();
		g.fillStyle = color("ink"); g.textAlign = "left";
		g.fillText(shown, left, TOP - 11);
	}
}

class MapPicture {
	constructor(view, run, holder) {
		this.view = view;
		this.run = run;
		this.when = holder.querySelector(".when");
		this.canvas = document.createElement("canvas");
		this.canvas.setAttribute("role", "img");
		holder.querySelector("svg").replaceWith(this.canvas);
		this.canvas.addEventListener("pointermove", e => this.hover(e));
		this.canvas.addEventListener("pointerleave",
			() => { tip.hidden = true; });
		this.canvas.addEventListener("click", e => this.pick(e));
		this.stack = document.createElement("pre");
		this.stack.className = "stack";
		this.stack.hidden = true;
		this.canvas.after(this.stack);
	}
	span(g, from, size, fill) {
		const per = this.run.memory.perLine;
		g.fillStyle = fill;
		while (size > 0) {
			const line = Math.floor(from / per);
			const part = Math.min(size, (line + 1) * per - from);
			const w = part / per * this.width;
			g.fillRect((from - line * per) / per * this.width,
				line * LINE + 2, Math.max(w, .35), BAR);
			from += part; size -= part;
		}
	}
	outline(g, from, size) {
		const per = this.run.memory.perLine;
		while (size > 0) {
			const line = Math.floor(from / per);
			const part = Math.min(size, (line + 1) * per - from);
			g.strokeRect((from - line * per) / per * this.width,
				line * LINE + 2, part / per * this.width, BAR);
			from += part; size -= part;
		}
	}
	draw() {
		const memory = this.run.memory.goTo(this.view.event);
		const [g, width] = pen(this.canvas, LINES * LINE + 4);
		const used = color("allocated"), waiting = color("waiting");
		const free = color("free");
		this.width = width;
		this.list = memory.segments();
		this.span(g, 0, memory.all, color("empty"));
		for (const s of this.list) {
			const at = memory.place(s.addr);
			this.span(g, at, s.size, free);
			for (const b of s.blocks)
				this.span(g, at + b.addr - s.addr, b.size,
					b.waiting ? waiting : used);
			g.strokeStyle = color("edge"); g.lineWidth = .6;
			this.outline(g, at, s.size);
		}
		this.tell(memory);
	}
	tell(memory) {
		let all = 0, used = 0, blocks = 0;
		for (const s of this.list) {
			all += s.size; used += s.used; blocks += s.blocks.length;
		}
		this.when.textContent = `At ${this.view.when(memory.event)}: ` +
			`${count(this.list.length)} segments, ` +
			`${bytes(all * UNIT)} reserved; ${count(blocks)} blocks ` +
			`hold ${bytes(used * UNIT)}`;
		this.when.dataset.event = memory.event;
		this.when.dataset.segments = this.list.length;
		this.when.dataset.reserved = all * UNIT;
		this.when.dataset.blocks = blocks;
		this.when.dataset.active = used * UNIT;
		this.canvas.setAttribute("aria-label",
			"Memory by address. " + this.when.textContent);
	}
	/* The segment below the pointer, and the block in it. */
	below(e) {
		const box = this.canvas.getBoundingClientRect();
		const memory = this.run.memory;
		const line = Math.floor((e.clientY - box.top) / LINE);
		const addr = memory.addressAt((line + (e.clientX - box.left) /
			this.width) * memory.perLine);
		const s = (this.list || []).find(r => addr >= r.addr &&
			addr < r.addr + r.size);
		return [s, s && s.blocks.find(k => addr >= k.addr &&
			addr < k.addr + k.size)];
	}
	hover(e) {
		const [s, b] = this.below(e);
		if (!s) { tip.hidden = true; return; }
		showTip(e, (b ? this.blockText(b) : "free\n") + this.segmentText(s));
	}
	/* What is clicked stays, with its whole stack. */
	pick(e) {
		const [s, b] = this.below(e);
		this.stack.textContent = b ? this.blockText(b) +
			this.segmentText(s) + fullStack(b.site) : "";
		this.stack.hidden = !b;
	}
	blockText(b) {
		return `${bytes(b.size * UNIT)} ` +
			`${b.waiting ? "pending free: waits for a stream" : "allocated"}` +
			`, ${bytes(b.size * UNIT - b.waste)} requested\n` +
			`since ${this.view.when(b.event)}\n` + siteText(b.site, "\n");
	}
	segmentText(s) {
		return `in a ${bytes(s.size * UNIT)} segment, ` +
			`${(s.used / s.size * 100).toFixed(0)} % in use\n` +
			`${data.streams[s.shot.stream]}` +
			(s.shot.pool ? `, ${data.pools[s.shot.pool]}` : "");
	}
}

/* [name, place of the frame that gives it, frames from the innermost on] */
const siteName = site => site < 0 ? "" : data.sites[site][0];

const stackOf = site => data.sites[site].slice(2);

const machinery = new Set(data.machinery);
const CALLERS = 3; /* told while the pointer is over a block */

/* Where the program asked, and what called it there. */
function siteText(site, end) {
	if (site < 0) return "";
	const callers = stackOf(site).slice(data.sites[site][1] + 1)
		.filter(i => !machinery.has(i)).slice(0, CALLERS)
		.map(i => data.frames[i]);
	return [siteName(site), ...callers].join("\n  called by ") + end;
}

function fullStack(site) {
	return site < 0 ? "" : "\nthe whole stack, innermost first:\n  " +
		stackOf(site).map(i => data.frames[i]).join("\n  ");
}

/* ---- a run, and all runs of a device ---- */

class Run {
	constructor(raw, events) {
		this.peak = raw.peak;
		this.oom = raw.oom;
		this.every = raw.every;
		this.film = raw.film;
		this.events = events;
		this.moments = readMoments(raw.moments);
		this.memory = new Memory(this);
	}
	/* Behind every event that changes something, where the film is whole:
	 * from its shots; else the thinned moments. */
	exact() {
		if (this.lines) return this.lines;
		if (this.every !== 1) return this.moments;
		const lines = [];
		let m = { event: 0, reserved: 0, active: 0, allocated: 0 };
		for (const s of this.memory.shots) {
			if (s.event !== m.event) {
				lines.push(m);
				m = { ...m, event: s.event };
			}
			if (s.kind === MAP) m.reserved += s.size * UNIT;
			else if (s.kind === UNMAP) m.reserved -= s.size * UNIT;
			else if (s.kind === ALLOC) {
				m.active += s.size * UNIT;
				m.allocated += s.size * UNIT;
				s.gone = false;
			} else {
				const size = s.block.size * UNIT;
				if (!s.block.gone) m.allocated -= size;
				s.block.gone = true;
				if (s.kind === FREE) m.active -= size;
			}
		}
		lines.push(m);
		return this.lines = lines;
	}
	index(list, event) {
		let low = -1, high = list.length - 1;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (list[middle].event <= event) low = middle;
			else high = middle - 1;
		}
		return low;
	}
	moment(event) {
		const list = this.exact();
		return list[this.index(list, event)] ||
			{ event: 0, reserved: 0, active: 0, allocated: 0 };
	}
	series(from, to) {
		const fine = this.exact();
		const near = fine.length && to - from < this.events / 8;
		const list = near ? fine : this.moments;
		const first = Math.max(0, this.index(list, from));
		const last = this.index(list, to);
		const out = [];
		for (let i = first; i <= last; i++) {
			const m = list[i];
			out.push(i > first ? { ...m, before: list[i - 1] }
				: { ...m, event: Math.max(m.event, from) });
		}
		return out;
	}
}

class View {
	/* "step 20 (event 143)" */
	when(event) {
		const at = "event " + count(event);
		const step = this.steps.find(([first, end]) =>
			event >= first && event < end);
		return step ? `step ${step[2]} (${at})` : at;
	}
	constructor(raw, section) {
		this.events = Math.max(raw.events, 1);
		this.top = raw.top;
		this.steps = raw.steps;
		this.range = [0, this.events];
		this.section = section;
		this.runs = raw.runs.map(r => new Run(r, this.events));
		const lines = section.querySelectorAll(".timeline");
		const maps = section.querySelectorAll(".map");
		this.timelines = this.runs.map((r, i) =>
			new Timeline(this, r, lines[i]));
		this.maps = this.runs.map((r, i) =>
			new MapPicture(this, r, maps[i]));
		this.event = this.runs[0].oom ?? this.runs[0].peak;
		this.controls();
		new ResizeObserver(() => this.draw()).observe(lines[0]);
		matchMedia("(prefers-color-scheme: dark)")
			.addEventListener("change", () => this.draw());
	}
	controls() {
		const box = this.section.querySelector(".controls");
		const add = (text, act) => {
			const b = document.createElement("button");
			b.type = "button";
			b.textContent = text;
			b.addEventListener("click", act);
			box.append(b);
		};
		this.runs.forEach((r, i) => {
			const name = this.runs.length > 1 ? " of " + "AB"[i] : "";
			add("Peak" + name, () => this.show(r.peak));
			if (r.oom !== null)
				add("Out of memory" + name, () => this.show(r.oom));
		});
		add("End", () => this.show(this.events - 1));
		add("Zoom in", () => this.zoom(.5, this.event));
		add("Zoom out", () => this.zoom(2, this.event));
		add("All", () => this.zoomTo(0, this.events));
		const hint = document.createElement("span");
		hint.className = "hint";
		hint.textContent = "Click the timeline for that moment's map, a block of " +
			"the map for its stack; wheel or +/\u2212 zooms, " +
			"arrows step.";
		box.append(hint);
	}
	show(event) {
		this.event = Math.min(Math.max(Math.round(event), 0),
			this.events - 1);
		this.draw();
	}
	zoomTo(from, to) {
		const width = Math.min(Math.max(to - from, 20), this.events);
		from = Math.min(Math.max(from, 0), this.events - width);
		this.range = [from, from + width];
		this.draw();
	}
	zoom(factor, at) {
		const [from, to] = this.range;
		this.zoomTo(at - (at - from) * factor, at + (to - at) * factor);
	}
	key(e) {
		const [from, to] = this.range;
		const page = Math.max(1, Math.round((to - from) / 20));
		const keys = {
			ArrowLeft: () => this.show(this.event - (e.shiftKey ? page : 1)),
			ArrowRight: () => this.show(this.event + (e.shiftKey ? page : 1)),
			PageDown: () => this.show(this.event + page),
			PageUp: () => this.show(this.event - page),
			Home: () => this.show(0),
			End: () => this.show(this.events - 1),
			"+": () => this.zoom(.5, this.event),
			"-": () => this.zoom(2, this.event),
			"0": () => this.zoomTo(0, this.events),
		};
		if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
		e.preventDefault();
		keys[e.key]();
	}
	/* Once a frame, however often it is asked for. */
	draw() {
		if (this.isAsked) return;
		this.isAsked = true;
		requestAnimationFrame(() => {
			this.isAsked = false;
			this.drawNow();
		});
	}
	drawNow() {
		tip.hidden = true;
		for (const t of this.timelines) t.draw();
		for (const m of this.maps) m.draw();
		this.pins();
	}
	/* Segments that are mostly free and cannot go: what is in them. */
	pins() {
		const box = this.section.querySelector(".pins");
		const rows = [];
		this.maps.forEach((m, i) => {
			for (const s of m.list)
				if (s.blocks.length && s.used < s.size)
					rows.push({ s, run: i });
		});
		rows.sort((a, b) => (b.s.size - b.s.used) - (a.s.size - a.s.used));
		box.replaceChildren();
		if (!rows.length) return;
		const title = document.createElement("h2");
		title.textContent = "Held open at this moment";
		const table = document.createElement("table");
		const pair = this.runs.length > 1, numbers = pair ? 1 : 0;
		table.createTHead().append(row("th", [...(pair ? ["run"] : []),
			"segment", "free in it", "in use", "blocks",
			"longest held"], numbers));
		const body = table.createTBody();
		for (const { s, run } of rows.slice(0, 8)) {
			const oldest = s.blocks.reduce((a, b) =>
				a.event <= b.event ? a : b);
			body.append(row("td", [...(pair ? ["AB"[run]] : []),
				bytes(s.size * UNIT),
				bytes((s.size - s.used) * UNIT),
				bytes(s.used * UNIT), count(s.blocks.length),
				`${bytes(oldest.size * UNIT)} since ` +
				this.when(oldest.event) + (oldest.site < 0 ? ""
					: ", " + siteName(oldest.site))], numbers));
		}
		const scroll = document.createElement("div");
		scroll.className = "scroll";
		scroll.append(table);
		box.append(title, scroll);
	}
}

/* Four numbers from that column on. */
function row(tag, texts, numbers) {
	const tr = document.createElement("tr");
	texts.forEach((text, i) => {
		const cell = document.createElement(tag);
		cell.textContent = text;
		if (i >= numbers && i < numbers + 4) cell.className = "n";
		if (tag === "th") cell.scope = "col";
		tr.append(cell);
	});
	return tr;
}

const sections = document.querySelectorAll(".device");
const views = data.devices.map((d, i) => new View(d, sections[i]));

/* page.html#event=4711 opens at that event. */
function followHash() {
	const match = /^#event=(\d+)$/.exec(location.hash);
	if (match) views.forEach(v => v.show(Number(match[1])));
}
addEventListener("hashchange", followHash);
followHash();
views.forEach(v => v.drawNow());
document.documentElement.dataset.ready = "yes";
})();
