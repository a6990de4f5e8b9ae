/* SPDX-License-Identifier: MIT */
/* What the views of a run share: see README.md. */

/**
 * @typedef {(argv: string[]) => Promise<Uint8Array>} Ask
 * @typedef {object} Options
 * @property {string} trace
 * @property {string[]} [args]
 * @property {number} [device]
 * @property {number|string} [event]
 * @property {boolean} [before]
 * @property {string} [by]
 */

/** @param {number} n */
export const count = n => n.toLocaleString("en-US");

/** @param {number} n @param {string} word */
export const counted = (n, word) =>
	`${count(n)} ${word}${n === 1 ? "" : "s"}`;

/** Rounds like C's printf: ties go to the even digit.
 * @param {number} n @param {number} digits */
function fixed(n, digits) {
	const scaled = n * 10 ** digits, whole = Math.floor(scaled);
	return scaled - whole === .5 && whole % 2 === 0
		? (whole / 10 ** digits).toFixed(digits) : n.toFixed(digits);
}

/** @param {number} n */
export function bytes(n) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	let u = 0;
	while (n >= 1023.95 && u < 6) { n /= 1024; u++; }
	return (!u ? n : fixed(n, n < 99.995 ? 2 : 1)) + " " + units[u];
}

/** As in gpupool's texts: 99.96 % is not shown as 100 %, nor 0.04 % as 0 %.
 * @param {number} part @param {number} whole */
export function percent(part, whole) {
	const n = part / whole * 100;
	if (!whole) return "";
	if (part < whole && n >= 99.95) return "99.9 %";
	if (part > 0 && n < .05) return "<0.1 %";
	return (part === 0 || part === whole ? n : fixed(n, 1)) + " %";
}

/** An element with a class, a text and children; a text is never markup.
 * @param {string} tag @param {string} [name]
 * @param {...(Node|string)} children @returns {any} */
export function make(tag, name, ...children) {
	const element = document.createElement(tag);
	if (name) element.className = name;
	element.append(...children);
	return element;
}

/**
 * Parses a report's JSON so that a name cannot change how its surroundings
 * look: a character that is invisible, or that changes the direction of text,
 * becomes "?", as in gpupool's own texts. gpupool writes all of these as
 * escapes.
 * @param {string} text
 */
export function parse(text) {
	return JSON.parse(text.replace(/\\(u[0-9a-f]{4}|.)/g, (all, what) =>
		/^(u0009|u000a|u0023|ufffd|.)$/.test(what) ? all : "?"));
}

/** @param {Options} options @param {string} view @param {...string} more */
export function question(options, view, ...more) {
	const argv = ["view", view, options.trace, "--format", "json",
		...options.args ?? [], ...more];
	if (options.device !== undefined)
		argv.push("--device", String(options.device));
	if (options.by !== undefined) argv.push("--by", options.by);
	return argv;
}

/**
 * Asks one question at a time. Of the questions that come in the meantime, only
 * the last is asked, and an answer that has been overtaken is dropped.
 * @param {Ask} ask
 * @param {(answer: any) => void} take
 * @param {(message: string) => void} fail
 */
export function asker(ask, take, fail) {
	/** @type {string[]|null} */
	let next = null;
	let busy = false, gone = false;
	async function run() {
		busy = true;
		while (next && !gone) {
			const argv = next;
			next = null;
			try {
				const raw = await ask(argv);
				const answer = parse(new TextDecoder().decode(raw));
				if (!next && !gone) take(answer);
			} catch (error) {
				if (!next && !gone)
					fail(error instanceof Error ? error.message
						: String(error));
			}
		}
		busy = false;
	}
	return {
		/** @param {string[]} argv */
		put(argv) {
			next = argv;
			if (!busy) run();
		},
		end() { gone = true; next = null; },
	};
}

/** Asks a view's questions: answers go to take, and error messages into the
 * element `said`. ready is fulfilled when either is shown for the first time.
 * @param {Ask} ask @param {(answer: any) => void} take @param {any} said */
export function viewAsker(ask, take, said) {
	/** @type {(value?: unknown) => void} */
	let isReady = () => {};
	const ready = new Promise(resolve => { isReady = resolve; });
	const asking = asker(ask, answer => {
		said.classList.remove("trouble");
		take(answer);
		isReady();
	}, message => {
		said.textContent = message;
		said.classList.add("trouble");
		isReady();
	});
	return { ...asking, ready };
}

/** Whether the changes choose another run, to which no earlier answer applies.
 * @param {object} changes */
export const isOtherRun = changes =>
	"trace" in changes || "args" in changes || "device" in changes;

/* ---- colours ---- */

const HUES = [212, 28, 145, 340, 265, 185, 50, 5, 95, 300, 235, 165];

const dark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;

/** The colour of the group with this rank, as red, green, blue.
 * @param {number} rank @returns {[number, number, number]} */
export function colour(rank) {
	const round = Math.floor(rank / HUES.length) % 3;
	const light = (dark() ? [60, 48, 72] : [50, 64, 38])[round] / 100;
	const strong = [.52, .38, .3][round], hue = HUES[rank % HUES.length];
	/** @param {number} n */
	const part = n => {
		const k = (n + hue / 30) % 12;
		const a = strong * Math.min(light, 1 - light);
		return Math.round(255 * (light - a *
			Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	};
	return [part(0), part(8), part(4)];
}

/** @param {number} rank */
export const css = rank => `rgb(${colour(rank).join(" ")})`;

/** A colour of the page's style sheet. @param {Element} element
 * @param {string} name */
export const variable = (element, name) =>
	getComputedStyle(element).getPropertyValue("--" + name).trim() || "#888";

/** Calls `call` when the theme changes between light and dark; returns a
 * function that ends this.
 * @param {() => void} call */
export function watchTheme(call) {
	const query = window.matchMedia("(prefers-color-scheme: dark)");
	query.addEventListener("change", call);
	return () => query.removeEventListener("change", call);
}

/** Draws once per frame, however often it is requested.
 * @param {() => void} draw */
export function eachFrame(draw) {
	let asked = 0;
	return () => {
		if (asked) return;
		asked = requestAnimationFrame(() => { asked = 0; draw(); });
	};
}

/** Keeps a canvas as large as its element, in the screen's pixels; returns a
 * function that ends this.
 * @param {HTMLCanvasElement} canvas @param {() => void} resized */
export function fit(canvas, resized) {
	const observer = new ResizeObserver(() => {
		if (!canvas.clientWidth) return; /* hidden for now */
		const scale = window.devicePixelRatio || 1;
		canvas.width = Math.max(1, Math.round(canvas.clientWidth * scale));
		canvas.height = Math.max(1, Math.round(canvas.clientHeight * scale));
		resized();
	});
	observer.observe(canvas);
	return () => observer.disconnect();
}

/** A control for what a view is coloured or stacked by: the groupings that its
 * answers list.
 * @param {string} label @param {Options} options whose by is set
 * @param {() => void} chosen */
export function choiceOfBy(label, options, chosen) {
	const select = make("select", "");
	/** @param {string[]} names */
	const offer = names => {
		if (names.join() !== [...select.options].map(o => o.value).join())
			select.replaceChildren(...names.map(name => {
				const option = make("option", "", name);
				option.value = name;
				return option;
			}));
		select.value = options.by;
	};
	offer([options.by ?? "site"]);
	select.addEventListener("change", () => {
		options.by = select.value;
		chosen();
	});
	return { element: make("label", "choice", label + " ", select), offer };
}

/** A checkbox.
 * @param {string} text @param {boolean} isTicked
 * @param {(isTicked: boolean) => void} changed */
export function tick(text, isTicked, changed) {
	const input = make("input", "");
	input.type = "checkbox";
	input.checked = isTicked;
	input.addEventListener("change", () => changed(input.checked));
	return { element: make("label", "choice", input, " " + text), input };
}

/* ---- canvases ---- */

/** A canvas that can have the keyboard focus.
 * @param {string} name @param {string} role
 * @returns {HTMLCanvasElement} */
export function stage(name, role) {
	const canvas = make("canvas", name);
	canvas.tabIndex = 0;
	canvas.setAttribute("role", role);
	return canvas;
}

/** Clears a canvas, for drawing in CSS pixels.
 * @param {HTMLCanvasElement} canvas */
export function cleared(canvas) {
	const c = /** @type {CanvasRenderingContext2D} */ (
		canvas.getContext("2d"));
	const scale = window.devicePixelRatio || 1;
	c.setTransform(scale, 0, 0, scale, 0, 0);
	c.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
	return c;
}

/** @param {Element} element @param {Record<string, () => void>} keys
 * @param {() => boolean} isThere whether there is something to move in */
export function onKeys(element, keys, isThere) {
	element.addEventListener("keydown", (/** @type {any} */ event) => {
		const does = keys[event.key];
		if (!does || !isThere() || event.ctrlKey || event.metaKey) return;
		event.preventDefault();
		does();
	});
}

/** The mouse's position in an element.
 * @param {Element} element
 * @param {MouseEvent} event @returns {[number, number]} */
export function placeIn(element, event) {
	const box = element.getBoundingClientRect();
	return [event.clientX - box.left, event.clientY - box.top];
}

/** Notifies the page by an event of the element.
 * @param {Element} element @param {string} name
 * @param {object} detail */
export const tell = (element, name, detail) =>
	element.dispatchEvent(new CustomEvent("gpupool-" + name,
		{ detail, bubbles: true }));

/* ---- one block, with its stack ---- */

/** @param {any} block */
function facts(block) {
	const from = block.alloc_event === null ? "before the trace"
		: "event " + count(block.alloc_event);
	const to = block.free_event === null ? "the end"
		: "event " + count(block.free_event);
	const waits = block.free_completed_event !== null &&
		block.free_completed_event !== block.free_event
		? ", its memory until event " + count(block.free_completed_event)
		: "";
	return [
		["size", bytes(block.bytes) + ` (${count(block.bytes)} B)`],
		["requested", bytes(block.requested_bytes) +
			` (${count(block.requested_bytes)} B)`],
		["lives", `from ${from} to ${to}${waits}`],
		["address", "0x" + block.address.toString(16)],
		["segment", block.segment ? `${bytes(block.segment.bytes)} at 0x` +
			block.segment.address.toString(16) +
			(block.segment.expandable ? ", expandable" : "") : "not known"],
		["stream", String(block.stream)],
		["pool", block.pool.join(", ")],
	];
}

/** Fills an element with all that is known of a block.
 * @param {Element} element @param {Ask} ask @param {Options} options */
export function blockTeller(element, ask, options) {
	const begin = () => asker(ask, block => {
		const list = make("dl", "facts");
		for (const [name, value] of facts(block))
			list.append(make("dt", "", name), make("dd", "", value));
		const stack = make("ol", "stack");
		for (const frame of block.site ?? []) stack.append(make("li", "", frame));
		element.replaceChildren(
			make("h4", "", "Block " + count(block.id)), list,
			block.site ? stack : make("p", "soft", "No stack was recorded."));
		element.setAttribute("data-block", block.id);
	}, message => element.replaceChildren(make("p", "trouble", message)));
	let asking = begin();
	return {
		/** @param {number} id @param {number} event */
		show(id, event) {
			tell(element, "block", { id, event });
			asking.put(question({ ...options, by: undefined }, "block",
				"--block", String(id), "--at", String(event)));
		},
		/** What is shown is from another run. */
		forget() {
			asking.end();
			asking = begin();
			element.replaceChildren();
		},
		end: () => asking.end(),
	};
}
