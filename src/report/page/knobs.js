/* SPDX-License-Identifier: MIT */
/* Controls for the allocator's settings, made from gpupool help settings.json. */

/** @typedef {object} Knob
 * @property {string} name @property {string | null} flag
 * @property {string} type @property {number} since @property {string} takes
 * @property {string} default @property {string | null} alias_of
 * @property {string} sentence */

/** Settings by name; those that are missing have PyTorch's default.
 * @typedef {Map<string, string>} Settings */

/** Parses "a:1,b:[2:3,4:5]", cutting at the commas outside of brackets.
 * @param {string} conf @returns {Settings} */
export function parseConf(conf) {
	const settings = new Map();
	let depth = 0, from = 0;
	for (let i = 0; i <= conf.length; i++) {
		if (conf[i] === "[") depth++;
		if (conf[i] === "]") depth--;
		if (i < conf.length && (conf[i] !== "," || depth > 0)) continue;
		const item = conf.slice(from, i).trim(), at = item.indexOf(":");
		if (at > 0)
			settings.set(item.slice(0, at).trim(), item.slice(at + 1).trim());
		from = i + 1;
	}
	return settings;
}

/** @param {Settings} settings */
export function confOf(settings) {
	return [...settings].map(([name, value]) => `${name}:${value}`).join(",");
}

const MIB = [21, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
	2048, 4096, 8192];
const RATIOS = Array.from({ length: 19 }, (_, i) =>
	((i + 1) / 20).toFixed(2).replace(/0$/, ""));
const DIVISIONS = [1, 2, 4, 8, 16, 32, 64];

/** What a slider or a list offers, after "not set".
 * @param {Knob} knob @returns {string[] | null} */
function choices(knob) {
	switch (knob.type) {
	case "MiB": return MIB.map(String);
	case "ratio": return RATIOS;
	case "divisions": return DIVISIONS.map(String);
	case "bool": return ["False", "True"];
	default: return null;
	}
}

/** @param {string} tag @param {Record<string, string>} [attributes]
 * @param {(Node | string)[]} [children] */
export function element(tag, attributes = {}, children = []) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes))
		made.setAttribute(name, value);
	made.append(...children);
	return made;
}

/** One control; its value is "" where the setting is not set. */
class Control {
	/** @param {Knob} knob @param {() => void} changed */
	constructor(knob, changed) {
		const id = `knob-${knob.name}`;
		this.knob = knob;
		this.list = choices(knob);
		this.value = "";
		this.changed = changed;
		this.shown = element("output", { for: id });
		this.input = this.makeInput(id);
		this.help = element("small", { id: `${id}-help` },
			[`${knob.sentence} Takes: ${knob.takes}.`]);
		this.root = element("div", { class: "knob" }, [
			element("label", { for: id }, [knob.name]), this.input,
			this.shown, this.help]);
		this.show();
	}
	/** @param {string} id @returns {HTMLInputElement} */
	makeInput(id) {
		const input = /** @type {HTMLInputElement} */ (element("input",
			{ id, "aria-describedby": `${id}-help`,
				"data-knob": this.knob.name }));
		if (this.knob.type === "bool") {
			input.type = "checkbox";
			input.setAttribute("role", "switch");
		} else if (this.list) {
			input.type = "range";
			input.min = "0";
			input.max = String(this.list.length);
		} else {
			input.type = "text";
			input.placeholder = this.knob.default;
		}
		input.addEventListener("input", () => {
			this.value = this.typed(input);
			this.show();
			this.changed();
		});
		return input;
	}
	/** @param {HTMLInputElement} input */
	typed(input) {
		if (input.type === "checkbox")
			return input.checked ? "True"
				: this.knob.default === "True" ? "False" : "";
		if (input.type === "range")
			return Number(input.value)
				? /** @type {string[]} */ (this.list)[Number(input.value) - 1]
				: "";
		return input.value.trim();
	}
	/** @param {string} value */
	set(value) {
		this.value = value;
		if (this.input.type === "checkbox")
			this.input.checked = (value || this.knob.default) === "True";
		else if (this.input.type === "range")
			this.input.value = String(this.place(value));
		else
			this.input.value = value;
		this.show();
	}
	/** The slider's position: the first choice not below the value. A value
	 * between two choices is kept until the slider moves.
	 * @param {string} value */
	place(value) {
		const list = /** @type {string[]} */ (this.list);
		if (!value) return 0;
		const at = list.findIndex(v => Number(v) >= Number(value));
		return at < 0 ? list.length : at + 1;
	}
	show() {
		const text = this.value || `${this.knob.default} (default)`;
		this.shown.textContent = text;
		this.input.setAttribute("aria-valuetext", text);
		this.root.classList.toggle("set", !!this.value);
	}
	/** @param {number} release */
	offer(release) {
		const isThere = this.knob.since <= release;
		this.root.hidden = !isThere && !this.value;
	}
}

export class Knobs {
	/** @param {HTMLElement} main @param {HTMLElement} more
	 * @param {Knob[]} table @param {() => void} changed */
	constructor(main, more, table, changed) {
		this.controls = table.filter(k => !k.alias_of && k.type !== "word")
			.map(k => new Control(k, changed));
		/** @type {Settings} */
		this.others = new Map(); /* that no control has */
		for (const control of this.controls)
			(control.knob.flag ? main : more).append(control.root);
	}
	/** @returns {Settings} */
	settings() {
		const settings = new Map(this.others);
		for (const c of this.controls)
			if (c.value) settings.set(c.knob.name, c.value);
		return settings;
	}
	/** @param {Settings} settings */
	set(settings) {
		this.others = new Map(settings);
		for (const c of this.controls) {
			c.set(settings.get(c.knob.name) ?? "");
			this.others.delete(c.knob.name);
		}
	}
	/** @param {number} release */
	offer(release) {
		for (const c of this.controls) c.offer(release);
	}
}
