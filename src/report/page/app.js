/* SPDX-License-Identifier: MIT */
/* The page that replays: files in, a picture and its controls out. */
import { Asker, Overtaken, sentence } from "./asker.js";
import { Chart } from "./chart.js";
import { Knobs, confOf, element, parseConf } from "./knobs.js";
import { makeWorker, traces, wasm } from "./origin.js";
import { fullest, lineOf, showNumbers, showVerdict } from "./run.js";
import { views } from "./views.js";

/** @param {string} id @returns {any} */
const by = id => document.getElementById(id);
const decode = (/** @type {Uint8Array} */ bytes) =>
	new TextDecoder().decode(bytes);

/** What the page shows. */
const state = {
	asker: /** @type {Asker | null} */ (null),
	module: /** @type {WebAssembly.Module | null} */ (null),
	/** Workers of their own, so that a control never waits for them: for
	 * questions that take long, and for views.
	 * @type {Map<string, Asker>} */
	helpers: new Map(),
	/** @type {string[]} */
	names: [],
	/** @type {any} */
	recorded: null,
	/** @type {any} */
	report: null,
	device: 0,
	/** @type {import("./views.js").View[]} */
	views: [],
	isEdited: false,
};
/** @type {Knobs} */
let knobs;
/** @type {Chart} */
let chart;

/** @param {string} text */
function say(text) {
	by("said").textContent = text;
}

/** @param {string} text "": all is well */
function complain(text) {
	by("trouble").textContent = text;
	by("trouble").hidden = !text;
}

/** @param {unknown} error */
function complainOf(error) {
	if (error instanceof Overtaken) return;
	complain(error instanceof Error ? error.message : String(error));
}

/* ---- settings, as words of a command line ---- */

function args() {
	if (!state.isEdited) return [];
	const words = ["--alloc-conf", confOf(knobs.settings()),
		"--torch", by("release").value];
	const capacity = by("capacity").value.trim();
	return capacity ? [...words, "--capacity", capacity] : words;
}

/** @param {string} release "2.10" */
function isRenamed(release) {
	return Number(release.split(".")[1]) >= 10;
}

function lineText() {
	const name = isRenamed(by("release").value) ? "PYTORCH_ALLOC_CONF"
		: "PYTORCH_CUDA_ALLOC_CONF";
	return `${name}=${confOf(knobs.settings())}`;
}

/* ---- the link ---- */

function hashText() {
	const words = new URLSearchParams();
	if (state.isEdited) {
		words.set("conf", confOf(knobs.settings()));
		words.set("torch", by("release").value);
		if (by("capacity").value.trim())
			words.set("capacity", by("capacity").value.trim());
	}
	if (chart.at) words.set("event", String(chart.at));
	return "#" + words;
}

/* What the page's maker asked for, where the link asks for nothing. */
function startWords() {
	const text = by("start")?.textContent;
	return new URLSearchParams(text ? JSON.parse(text) : {});
}

function followHash() {
	const words = location.hash.length > 1
		? new URLSearchParams(location.hash.slice(1)) : startWords();
	if (words.has("conf")) {
		state.isEdited = true;
		knobs.set(parseConf(words.get("conf") ?? ""));
		by("capacity").value = words.get("capacity") ?? "";
		const release = words.get("torch") ?? "";
		if ([...by("release").options].some(o => o.value === release))
			by("release").value = release;
	}
	if (/^\d+$/.test(words.get("event") ?? ""))
		chart.at = Number(words.get("event"));
}

function showLink() {
	by("line").textContent = lineText();
	by("link").href = hashText();
	try {
		history.replaceState(null, "", hashText());
	} catch (_) {
		/* A page from a file may not be let; the link is there. */
	}
}

/* ---- workers beside the one that follows the controls ---- */

/** @param {string} name */
function helper(name) {
	const known = state.helpers.get(name);
	if (known) return known;
	const made = new Asker(makeWorker,
		/** @type {WebAssembly.Module} */ (state.module));
	for (const source of state.asker?.sources ?? [])
		if (state.names.includes(source.name))
			made.read(source).catch(() => {});
	state.helpers.set(name, made);
	return made;
}

/** @param {string} name */
function dismiss(name) {
	state.helpers.get(name)?.worker?.terminate();
	state.helpers.delete(name);
}

/* ---- the run ---- */

/** @param {string[]} words @param {string} lane */
async function replay(words, lane) {
	const asker = /** @type {Asker} */ (state.asker);
	const answer = await asker.ask(["replay", ...state.names, ...words,
		"--format", "json", "--quiet"], lane);
	if (answer.status && !answer.out.length)
		throw new Error(sentence(answer));
	return { report: JSON.parse(decode(answer.out)), ms: answer.ms ?? 0 };
}

function show() {
	const device = Math.min(state.device,
		state.report.runs[0].devices.length - 1);
	const before = state.recorded.runs[0].devices[device];
	const run = state.report.runs.length - 1;
	const now = state.report.runs[run].devices[device];
	chart.show(lineOf(state.report, run, device), state.isEdited
		? lineOf(state.recorded, 0, device) : null);
	showNumbers(by("numbers"), before, now);
	showVerdict(by("verdict"), now);
}

/* From a change of a control to the picture of it. */
async function change() {
	const began = performance.now();
	knobs.offer(Number(by("release").value.split(".")[1]));
	showLink();
	try {
		const { report } = await replay(args(), "live");
		state.report = report;
		complain("");
		show();
		by("run").dataset.took = (performance.now() - began).toFixed(0);
		by("run").dataset.conf = confOf(knobs.settings());
		updateViews();
	} catch (error) {
		complainOf(error);
	}
}

const SETTLED_MS = 250; /* since the last change of a control */
let settling = 0;

function updateViews() {
	clearTimeout(settling);
	settling = setTimeout(() => {
		for (const view of state.views) view.update({ args: args() });
	}, SETTLED_MS);
}

function edited() {
	state.isEdited = true;
	change();
}

function asRecorded() {
	const run = state.recorded.runs[0];
	const capacity = run.devices[state.device]?.capacity;
	state.isEdited = false;
	knobs.set(parseConf(run.alloc_conf ?? ""));
	by("capacity").value = capacity ? `${capacity}B` : "";
	by("release").value = run.torch;
}

function chooseDevice() {
	const devices = state.recorded.trace.devices;
	state.device = fullest(state.recorded);
	by("device-choice").hidden = devices.length < 2;
	by("device").replaceChildren(...devices.map(
		(/** @type {any} */ d, /** @type {number} */ i) =>
			element("option", { value: String(i) }, [String(d.device)])));
	by("device").value = String(state.device);
}

/** @param {string[]} argv */
async function askForView(argv) {
	const answer = await helper("views").ask(argv);
	if (answer.status) throw new Error(sentence(answer));
	return answer.out;
}

function mountViews() {
	for (const view of state.views) view.destroy();
	by("views").replaceChildren();
	state.views = views.map(({ title, mount }) => {
		const box = element("div");
		by("views").append(element("section", {}, [
			element("h2", {}, [title]), box]));
		return mount(box, askForView, { trace: state.names[0], args: args(),
			device: state.recorded.trace.devices[state.device].device });
	});
}

/** @param {number} event */
function chosen(event) {
	showLink();
	for (const view of state.views) view.update({ event });
}

/* ---- files ---- */

/** Names are told apart, as files of two folders may have the same.
 * @param {string} name @param {string[]} taken */
function freeName(name, taken) {
	let free = name;
	for (let i = 2; taken.includes(free) || /^-/.test(free); i++)
		free = `${i}-${name}`;
	return free;
}

/** @param {import("./asker.js").Source[]} sources */
async function open(sources) {
	const asker = /** @type {Asker} */ (state.asker);
	const began = performance.now();
	/** @type {string[]} */
	const names = [];
	complain("");
	try {
		for (const source of sources) {
			const name = freeName(source.name, names);
			say(`Reading ${source.name} ...`);
			const answer = await asker.read({ name, blob: source.blob });
			if (answer.status) throw new Error(sentence(answer));
			names.push(name);
		}
		state.names = names;
		say("Replaying ...");
		state.recorded = state.report = (await replay([], "live")).report;
	} catch (error) {
		say("");
		complainOf(error);
		return;
	}
	if (!state.recorded.runs[0].devices.length) {
		complain("The file has no device in it: there is nothing to replay.");
		say("");
		return;
	}
	begin();
	by("run").dataset.opened = (performance.now() - began).toFixed(0);
	document.documentElement.dataset.ready = "yes";
}

/* A trace has been read and replayed as it was recorded. */
function begin() {
	const run = state.recorded.runs[0];
	const kept = document.getElementById("static");
	for (const name of [...state.helpers.keys()]) dismiss(name);
	if (kept) kept.hidden = true;
	by("run").hidden = false;
	by("run-title").textContent = state.names.join(", ");
	by("recorded").textContent = `Recorded with ${run.alloc_conf ||
		"default settings"}; PyTorch ${run.torch}`;
	chooseDevice();
	asRecorded();
	chart.at = lineOf(state.recorded, 0, state.device).oom ??
		lineOf(state.recorded, 0, state.device).peak ?? 0;
	followHash();
	by("answer").hidden = true;
	say("");
	show();
	mountViews();
	if (state.isEdited) change();
	else showLink();
	knobs.offer(Number(by("release").value.split(".")[1]));
}

/** @param {FileList | null | undefined} files */
function openFiles(files) {
	if (files?.length)
		open([...files].map(file => ({ name: file.name, blob: file })));
}

/* ---- questions that take their time ---- */

/** @param {string} command */
function questionOf(command) {
	const capacity = by("capacity").value.trim();
	const words = [command, ...state.names, "--quiet"];
	if (command === "explain") return [...words, ...args()];
	if (command === "headroom") return words;
	return capacity && state.isEdited ? [...words, "--capacity", capacity]
		: words;
}

/** @param {string} command */
async function study(command) {
	const argv = questionOf(command), pre = by("answer");
	pre.hidden = false;
	pre.textContent = `gpupool ${argv.join(" ")} ...`;
	pre.dataset.state = "asked";
	by("stop").hidden = false;
	try {
		const answer = await helper("study").ask(argv, "study");
		pre.textContent = answer.out.length ? decode(answer.out)
			: sentence(answer);
		pre.dataset.state = answer.status > 1 ? "refused" : "answered";
		by("stop").hidden = true;
	} catch (error) {
		if (error instanceof Overtaken) return;
		pre.textContent = error instanceof Error ? error.message : "";
		pre.dataset.state = "refused";
		by("stop").hidden = true;
	}
}

function stop() {
	dismiss("study");
	by("answer").textContent = "Stopped.";
	by("stop").hidden = true;
}

/* ---- controls ---- */

/** @param {any} table */
function makeControls(table) {
	knobs = new Knobs(by("knobs"), by("more-knobs"), table.settings, edited);
	for (let r = table.first_release; r <= table.last_release; r++)
		by("release").append(element("option", { value: `2.${r}` },
			[`2.${r}`]));
	by("release").addEventListener("change", edited);
	by("capacity").addEventListener("change", edited);
	by("capacity-slider").addEventListener("input", () => {
		const most = state.recorded?.runs[0].devices[state.device]
			?.measures.peak_reserved_bytes ?? 0;
		const part = Number(by("capacity-slider").value) / 100;
		by("capacity").value = part
			? `${Math.ceil(most * part / 2 ** 20)}MiB` : "";
		edited();
	});
	by("reset").addEventListener("click", () => {
		asRecorded();
		change();
	});
	by("device").addEventListener("change", () => {
		state.device = Number(by("device").value);
		show();
		for (const view of state.views)
			view.update({ device:
				state.recorded.trace.devices[state.device].device });
	});
	by("copy").addEventListener("click", copy);
	by("stop").addEventListener("click", stop);
	for (const button of document.querySelectorAll("[data-ask]"))
		button.addEventListener("click", () => study(
			/** @type {HTMLElement} */ (button).dataset.ask ?? ""));
}

async function copy() {
	try {
		await navigator.clipboard.writeText(lineText());
		say("Copied.");
	} catch (_) {
		getSelection()?.selectAllChildren(by("line"));
		say("The line is selected: copy it with Ctrl-C.");
	}
}

function listen() {
	by("files").addEventListener("change", () => {
		openFiles(by("files").files);
		by("files").value = ""; /* the same file may be chosen again */
	});
	addEventListener("dragover", e => {
		e.preventDefault();
		by("drop").classList.add("over");
	});
	addEventListener("dragleave", () => by("drop").classList.remove("over"));
	addEventListener("drop", e => {
		e.preventDefault();
		by("drop").classList.remove("over");
		openFiles(e.dataTransfer?.files);
	});
	addEventListener("hashchange", () => {
		if (!state.recorded) return;
		followHash();
		change();
	});
	by("views").addEventListener("gpupool-moment",
		(/** @type {CustomEvent} */ e) => chart.choose(e.detail.event));
}

async function start() {
	by("app").hidden = false;
	chart = new Chart(by("chart"), chosen);
	listen();
	state.module = await wasm();
	state.asker = new Asker(makeWorker, state.module);
	const answer = await state.asker.ask(["help", "settings.json"]);
	makeControls(JSON.parse(decode(answer.out)));
	document.documentElement.dataset.engine = "ready";
	const inside = await traces();
	if (inside.length) await open(inside);
}

start().catch(error => complain("This browser cannot run the page: " +
	(error instanceof Error ? error.message : String(error)) + "."));
