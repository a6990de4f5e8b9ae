/* SPDX-License-Identifier: MIT */
/*
 * All views on one page, mounted as in a report's page. ?trace=FILE names the
 * trace, ?only=bands a single view, ?do=NAME what is done to it; the result is
 * in #log.
 */
import { mount as bands } from "./bands.js";
import { mount as holders } from "./holders.js";
import { mount as events } from "./events.js";
import { mount as map } from "./map.js";

const asked = new URLSearchParams(location.search);
const mounts = { bands, holders, events, map };
const views = {};
let questions = 0, waiting = 0;

async function ask(argv) {
	questions++;
	waiting++;
	try {
		const reply = await fetch("/ask",
			{ method: "POST", body: JSON.stringify(argv) });
		if (!reply.ok) throw new Error(await reply.text());
		return new Uint8Array(await reply.arrayBuffer());
	} finally {
		waiting--;
	}
}

const element = name => document.getElementById(name);
const log = value => {
	element("log").textContent += JSON.stringify(value) + "\n";
};
const pause = ms => new Promise(done => setTimeout(done, ms));
/* Waits until no question was asked for a while. */
async function settle() {
	for (let quiet = 0; quiet < 4; quiet = waiting ? 0 : quiet + 1)
		await pause(100);
}
const frame = () => new Promise(done => requestAnimationFrame(done));

const options = { trace: asked.get("trace") };
if (asked.get("event")) options.event = Number(asked.get("event"));
if (asked.get("by")) options.by = asked.get("by");
if (asked.get("conf")) options.args = ["--alloc-conf", asked.get("conf")];
for (const [name, mount] of Object.entries(mounts)) {
	if (asked.get("only") && asked.get("only") !== name) {
		element(name).parentElement.remove();
		continue;
	}
	views[name] = mount(element(name), ask, options);
	for (const told of ["moment", "block", "window"])
		element(name).addEventListener("gpupool-" + told, event => {
			log([name, told, event.detail]);
			if (told !== "moment") return;
			for (const other of Object.keys(views))
				if (other !== name) views[other].update(event.detail);
		});
}

function key(target, ...names) {
	for (const name of names)
		target.dispatchEvent(new KeyboardEvent("keydown",
			{ key: name, bubbles: true, cancelable: true }));
}

/* A click there, with all the events that precede one. */
function click(target, x, y) {
	const box = target.getBoundingClientRect();
	const where = { bubbles: true, clientX: box.left + x,
		clientY: box.top + y, pointerId: 1 };
	for (const kind of ["pointermove", "pointerdown", "pointerup"])
		target.dispatchEvent(new PointerEvent(kind, where));
	target.dispatchEvent(new MouseEvent("click", where));
}

const deeds = {
	async nothing() {},
	/* Zooms in until single events are columns, and selects a band there.
	 */
	async zoom() {
		const canvas = element("bands").querySelector("canvas");
		for (let i = 0; i < 40; i++) key(canvas, "+");
		await settle();
		key(canvas, "ArrowUp", "ArrowUp", "Enter");
		await settle();
	},
	async click() {
		const canvas = element("bands").querySelector("canvas");
		click(canvas, 72 + (canvas.clientWidth - 80) / 2,
			canvas.clientHeight - 30);
		await settle();
	},
	/* The time of each frame while zooming and moving without a pause. */
	async frames() {
		const canvas = element("bands").querySelector("canvas");
		const box = canvas.getBoundingClientRect(), times = [];
		for (let i = 0; i < 120; i++) {
			const start = performance.now();
			canvas.dispatchEvent(new WheelEvent("wheel", { bubbles: true,
				cancelable: true, clientX: box.left + 500,
				clientY: box.top + 100, deltaY: i % 40 < 20 ? -1 : 1 }));
			await frame();
			times.push(performance.now() - start);
		}
		times.sort((a, b) => a - b);
		log({ median: times[60], p95: times[114], worst: times[119] });
	},
	async step() {
		const grid = element("events").querySelector(".scroller");
		key(grid, "ArrowDown", "ArrowDown", "ArrowDown", "Enter");
		await settle();
	},
	async find() {
		const input = element("events").querySelector("input[type=search]");
		input.value = asked.get("text");
		input.dispatchEvent(new Event("input", { bubbles: true }));
		await settle();
	},
	async end() {
		key(element("events").querySelector(".scroller"), "End");
		await settle();
	},
	async walk() {
		const canvas = element("map").querySelector("canvas");
		canvas.focus();
		key(canvas, "ArrowRight", "ArrowLeft", "Home", "Enter");
		await settle();
	},
	async destroy() {
		for (const view of Object.values(views)) view.destroy();
		log(Object.keys(views).map(n => element(n).children.length));
	},
};

addEventListener("error", event => log({ error: event.message }));
await Promise.all(Object.values(views).map(view => view.ready));
await settle();
await deeds[asked.get("do") ?? "nothing"]();
await frame();
log({ questions });
document.documentElement.dataset.ready = "yes";
await fetch("/done",
	{ method: "POST", body: document.documentElement.outerHTML });
