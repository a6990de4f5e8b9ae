/* SPDX-License-Identifier: MIT */
/* The timeline of a run from its report, in front of that of another run. */
import { bytes as bytesText, count as countText, counted } from "./common.js";

/** @typedef {{ bins: number, reserved_bytes: number[],
 *	allocated_bytes: number[], active_bytes: number[] }} Timeline */
/** @typedef {{ timeline: Timeline, events: number, capacity: number | null,
 *	peak: number | null, oom: number | null }} Line */

const LEFT = 76, RIGHT = 10, TOP = 22, BOTTOM = 26, HEIGHT = 260;

/** @param {string} name */
const color = name =>
	getComputedStyle(document.documentElement).getPropertyValue("--" + name);

/** @param {number} top */
function stepOf(top) {
	let unit = 1;
	while (unit < top / 1024) unit *= 1024;
	for (let scale = 1; ; scale *= 10)
		for (const s of [1, 2, 5])
			if (unit * scale * s * 6 >= top) return unit * scale * s;
}

export class Chart {
	/** @param {HTMLCanvasElement} canvas
	 * @param {(event: number) => void} chosen */
	constructor(canvas, chosen) {
		this.canvas = canvas;
		/** @type {Line | null} */
		this.now = null;
		/** @type {Line | null} */
		this.before = null;
		this.at = 0; /* the moment that is looked at */
		this.chosen = chosen;
		canvas.addEventListener("click", e => {
			if (!this.now) return;
			const box = canvas.getBoundingClientRect();
			const part = (e.clientX - box.left - LEFT) /
				(box.width - LEFT - RIGHT);
			this.choose(part * this.events());
		});
		canvas.addEventListener("keydown", e => this.key(e));
		new ResizeObserver(() => this.draw()).observe(canvas);
		matchMedia("(prefers-color-scheme: dark)")
			.addEventListener("change", () => this.draw());
	}
	/** @param {number} event */
	choose(event) {
		if (!this.now) return;
		const last = Math.max(this.now.events - 1, 0);
		this.at = Math.min(Math.max(Math.round(event), 0), last);
		this.draw();
		this.chosen(this.at);
	}
	/** @param {KeyboardEvent} e */
	key(e) {
		if (!this.now || e.ctrlKey || e.metaKey || e.altKey) return;
		const page = Math.max(1, Math.round(this.now.events / 20));
		/** @type {Record<string, number>} */
		const to = { ArrowLeft: this.at - (e.shiftKey ? page : 1),
			ArrowRight: this.at + (e.shiftKey ? page : 1),
			PageUp: this.at - page, PageDown: this.at + page,
			Home: 0, End: this.now.events - 1 };
		if (!(e.key in to)) return;
		e.preventDefault();
		this.choose(to[e.key]);
	}
	/** @param {Line | null} now @param {Line | null} before */
	show(now, before) {
		this.now = now;
		this.before = before;
		this.draw();
	}
	/** The number of events of the longer line. */
	events() {
		return Math.max(this.now?.events ?? 0, this.before?.events ?? 0, 1);
	}
	top() {
		let top = 1;
		for (const line of [this.now, this.before])
			for (const n of line ? line.timeline.reserved_bytes : [])
				if (n > top) top = n;
		const limit = this.now?.capacity;
		return limit && limit < top * 1.5 ? Math.max(top, limit) : top;
	}
	draw() {
		const canvas = this.canvas, width = canvas.clientWidth;
		const scale = window.devicePixelRatio || 1;
		if (!width || !this.now) return;
		canvas.width = Math.round(width * scale);
		canvas.height = Math.round(HEIGHT * scale);
		const g = /** @type {CanvasRenderingContext2D} */ (
			canvas.getContext("2d"));
		g.scale(scale, scale);
		g.font = "11px system-ui, sans-serif";
		this.width = width - LEFT - RIGHT;
		this.floor = HEIGHT - BOTTOM;
		this.most = this.top() * 1.04;
		this.axis(g);
		this.area(g, this.now, "reserved_bytes", "free", "edge");
		this.area(g, this.now, "active_bytes", "waiting", "waiting");
		this.area(g, this.now, "allocated_bytes", "allocated", "allocated");
		if (this.before) this.outline(g, this.before);
		this.marks(g);
		this.tell();
	}
	/** @param {number} n */
	y(n) {
		return (this.floor ?? 0) - n / (this.most ?? 1) *
			((this.floor ?? 0) - TOP);
	}
	/** @param {number} event */
	x(event) {
		return LEFT + event / this.events() * (this.width ?? 0);
	}
	/** @param {CanvasRenderingContext2D} g */
	axis(g) {
		const most = this.most ?? 1, step = stepOf(most);
		g.lineWidth = 1;
		g.textAlign = "right";
		for (let at = 0; at <= most; at += step) {
			g.strokeStyle = color("line");
			g.beginPath();
			g.moveTo(LEFT, this.y(at));
			g.lineTo(LEFT + (this.width ?? 0), this.y(at));
			g.stroke();
			g.fillStyle = color("soft");
			g.fillText(at ? bytesText(at) : "0", LEFT - 8, this.y(at) + 4);
		}
		g.fillText(counted(this.now?.events ?? 0, "event"),
			this.x(this.now?.events ?? 0), (this.floor ?? 0) + 16);
	}
	/** @param {CanvasRenderingContext2D} g @param {Line} line
	 * @param {"reserved_bytes" | "active_bytes" | "allocated_bytes"} key */
	path(g, line, key) {
		const values = line.timeline[key];
		const wide = line.events / Math.max(values.length, 1);
		values.forEach((n, i) => {
			g.lineTo(this.x(i * wide), this.y(n));
			g.lineTo(this.x((i + 1) * wide), this.y(n));
		});
	}
	/** @param {CanvasRenderingContext2D} g @param {Line} line
	 * @param {"reserved_bytes" | "active_bytes" | "allocated_bytes"} key
	 * @param {string} fill @param {string} stroke */
	area(g, line, key, fill, stroke) {
		g.beginPath();
		g.moveTo(LEFT, this.y(0));
		this.path(g, line, key);
		g.lineTo(this.x(line.events), this.y(0));
		g.fillStyle = color(fill);
		g.strokeStyle = color(stroke);
		g.lineWidth = .8;
		g.fill();
		g.stroke();
	}
	/** @param {CanvasRenderingContext2D} g @param {Line} line */
	outline(g, line) {
		g.beginPath();
		this.path(g, line, "reserved_bytes");
		g.strokeStyle = color("ink");
		g.setLineDash([4, 3]);
		g.lineWidth = 1.2;
		g.stroke();
		g.setLineDash([]);
	}
	/** @param {CanvasRenderingContext2D} g @param {number} event
	 * @param {string} text @param {string} tone
	 * @param {number} [until] another mark's place, which its text must not
	 * reach */
	mark(g, event, text, tone, until = Infinity) {
		const x = this.x(event), wide = g.measureText(text).width;
		const isLeft = x + wide + 5 >
			Math.min(until > x ? until : Infinity, LEFT + (this.width ?? 0));
		g.strokeStyle = g.fillStyle = color(tone);
		g.beginPath();
		g.moveTo(x, TOP - 6);
		g.lineTo(x, this.floor ?? 0);
		g.stroke();
		g.textAlign = isLeft ? "right" : "left";
		g.fillText(text, x + (isLeft ? -4 : 4), TOP - 8);
	}
	/** @param {CanvasRenderingContext2D} g */
	marks(g) {
		const { oom, capacity } = /** @type {Line} */ (this.now);
		if (capacity && capacity <= (this.most ?? 0)) {
			g.strokeStyle = color("mark");
			g.beginPath();
			g.moveTo(LEFT, this.y(capacity));
			g.lineTo(LEFT + (this.width ?? 0), this.y(capacity));
			g.stroke();
		}
		const isOther = oom !== null && oom !== this.at;
		this.mark(g, this.at, "event " + countText(this.at), "ink",
			isOther ? this.x(oom) : Infinity);
		if (isOther)
			this.mark(g, oom, "out of memory", "mark", this.x(this.at));
	}
	tell() {
		const now = /** @type {Line} */ (this.now);
		/* Divided last: 7 / 153 * 153 is less than 7. */
		const bin = Math.min(now.timeline.bins - 1, Math.floor(this.at *
			now.timeline.bins / Math.max(now.events, 1)));
		const text = !now.events ? "no events" :
			`event ${countText(this.at)}: up to ` +
			`${bytesText(now.timeline.reserved_bytes[bin] ?? 0)} reserved, ` +
			`${bytesText(now.timeline.allocated_bytes[bin] ?? 0)} allocated`;
		this.canvas.setAttribute("aria-valuemax",
			String(Math.max(0, now.events - 1)));
		this.canvas.setAttribute("aria-valuenow", String(this.at));
		this.canvas.setAttribute("aria-valuetext", text);
	}
}
