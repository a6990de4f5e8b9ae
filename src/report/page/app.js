/* SPDX-License-Identifier: MIT */
/* The page that replays traces: it reads files, and shows a picture with
 * controls. */
import { Asker, Overtaken, sentence } from "./asker.js";
import { Chart } from "./chart.js";
import { parsePage, showJudged } from "./judge.js";
import { Knobs, confOf, element, parseConf } from "./knobs.js";
import { makeWorker, traces, wasm } from "./origin.js";
import { fullest, lineOf, showNumbers, showOutcome, tellDoubts,
	tellPeak } from "./run.js";
import { views } from "./views.js";

/** @param {string} id @returns {any} */
const by = id => document.getElementById(id);
const decode = (/** @type {Uint8Array} */ bytes) =>
	new TextDecoder().decode(bytes);

/** What the page shows. */
const state = {
	asker: /** @type {Asker | null} */ (null),
	module: /** @type {WebAssembly.Module | null} */ (null),
	/** Separate workers for long questions and for views, so that controls
	 * never wait for them.
	 * @type {Map<string, Asker>} */
	helpers: new Map(),
	/** @type {string[]} */
	names: [],
	/** @type {any} */
	recorded: null,
	/** The same of the rank that the report is about.
	 * @type {any} */
	before: null,
	/** @type {any} */
	report: null,
	device: 0,
	rank: "", /* "": all of them */
	/** @type {import("./views.js").View[]} */
	views: [],
	inViews: { trace: "", device: 0 },
	isEdited: false,
	/** How often files were chosen: the last ones are shown. */
	opened: 0,
	/** How often a control was changed. */
	changes: 0,
	/** What every question contains besides the controls' settings.
	 * @type {string[]} */
	flags: [],
	/** The judge's answer about this run.
	 * @type {Document | Element | null} */
	judged: null,
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

/** @returns {string[]} */
const operands = () => state.rank ? [state.rank] : state.names;

function settingArgs() {
	if (!state.isEdited) return [];
	const words = ["--alloc-conf", confOf(knobs.settings()),
		"--torch", by("release").value];
	const capacity = by("capacity").value.trim();
	return capacity ? [...words, "--capacity", capacity] : words;
}

const args = () => [...settingArgs(), ...state.flags];

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
	words.set("event", String(chart.at));
	return "#" + words;
}

/** The exact size in the largest unit that allows it: "4GiB".
 * @param {number} size */
function sizeText(size) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let u = 0;
	for (; u < units.length - 1 && size % 1024 === 0; u++) size /= 1024;
	return size + units[u];
}

/** The options of the command that made the page. */
const wanted = JSON.parse(by("start")?.textContent ?? "{}");

/** If the link has no settings, the page begins with those it was made with.
 * @param {boolean} isFirst */
function followHash(isFirst) {
	const words = new URLSearchParams(location.hash.slice(1));
	if (isFirst && !words.has("conf"))
		for (const name of ["conf", "torch", "capacity"])
			if (name in wanted) words.set(name, wanted[name]);
	if (words.has("conf")) {
		state.isEdited = true;
		knobs.set(parseConf(words.get("conf") ?? ""));
		const capacity = words.get("capacity") ?? "";
		by("capacity").value = /^\d+B$/.test(capacity)
			? sizeText(parseInt(capacity)) : capacity;
		const release = words.get("torch") ?? "";
		if ([...by("release").options].some(o => o.value === release))
			by("release").value = release;
	}
	if (isFirst && state.isEdited) state.flags = wanted.words ?? [];
	if (/^\d+$/.test(words.get("event") ?? ""))
		chart.at = Math.min(Number(words.get("event")),
			Math.max(0, state.before.trace.devices[state.device].events - 1));
}

/* Shows what has no control: another allocator, or what-ifs. */
function showFlags() {
	by("also").hidden = !state.flags.length;
	by("also").textContent = "The numbers and the verdict also apply to this; " +
		`the views below do not: ${state.flags.join(" ")}`;
}

function showLink() {
	by("line").textContent = lineText();
	showFlags();
	by("link").href = hashText();
	try {
		history.replaceState(null, "", hashText());
	} catch (_) {
		/* A page from a file may not be allowed to; the link shows it
		 * anyway. */
	}
}

/* ---- workers besides the one for the controls ---- */

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
	state.helpers.get(name)?.end();
	state.helpers.delete(name);
}

/* ---- the run ---- */

/** @param {Asker | null} asker @param {string[]} names
 * @param {string[]} words */
async function replay(asker, names, words) {
	const answer = await /** @type {Asker} */ (asker).ask(["replay", ...names,
		...words, "--format", "json", "--quiet"], "live");
	if (answer.status && !answer.out.length)
		throw new Error(sentence(answer));
	return JSON.parse(decode(answer.out));
}

/** Replays as recorded.
 * @param {Asker | null} asker @param {string[]} names */
async function replayRecorded(asker, names) {
	const report = await replay(asker, names, []);
	if (report.runs[0].devices.length) return report;
	throw new Error(`${names.join(", ")}: there is no device in it, and ` +
		"nothing to replay.");
}

/** The rank that a report is about, replayed as recorded: under other settings
 * another rank may be the worst.
 * @param {any} report @param {number} turn of state.changes */
async function recordedOf(report, turn) {
	for (const known of [state.before, state.recorded])
		if (known.trace.path === report.trace.path) return known;
	if (turn !== state.changes) throw new Overtaken();
	const before = await replayRecorded(state.asker, [report.trace.path]);
	if (turn !== state.changes) throw new Overtaken();
	return before;
}

function show() {
	const device = Math.min(state.device,
		state.report.runs[0].devices.length - 1);
	const before = state.before.runs[0].devices[device];
	const run = state.report.runs.length - 1;
	const now = state.report.runs[run].devices[device];
	chart.show(lineOf(state.report, run, device), state.isEdited
		? lineOf(state.before, 0, device) : null);
	showNumbers(by("numbers"), before, now);
	tellPeak(by("peak-told"), now);
	tellDoubts(by("doubts"), state.report.trace);
	by("rank").options[0].textContent = `all ${state.names.length}: ` +
		`the worst${state.rank ? "" : `, ${shownTrace()},`} is shown`;
	showMoments(lineOf(state.report, run, device));
	if (state.judged)
		showJudged(state.judged, device, by("verdict"), by("findings"));
	else
		showOutcome(by("verdict"), now);
	by("findings").hidden = !state.judged;
}

/** @param {import("./chart.js").Line} line */
function showMoments(line) {
	/** @type {[string, number | null][]} */
	const moments = [["Peak", line.peak], ["Out of memory", line.oom],
		["End", line.events - 1]];
	by("moments").replaceChildren(...moments.filter(m => m[1] !== null)
		.map(([text, event]) => {
			const button = element("button", { type: "button" }, [text]);
			button.addEventListener("click", () =>
				chart.choose(Number(event)));
			return button;
		}));
}

/* The judge tries many settings: it runs in a worker of its own, which is ended
 * when the question changes, so that the controls have the processor to
 * themselves. */
async function judge() {
	const argv = ["explain", ...operands(), ...args(), "--format", "html",
		"--quiet"];
	try {
		const answer = await helper("judge").ask(argv, "judge");
		if (!answer.out.length) throw new Error(sentence(answer));
		state.judged = parsePage(answer.out);
		show();
	} catch (error) {
		if (!(error instanceof Overtaken)) refuse(error);
	}
}

/** Shows that there is no verdict.
 * @param {unknown} error why */
function refuse(error) {
	by("verdict").dataset.state = "refused";
	by("verdict").lastElementChild.textContent =
		error instanceof Error ? error.message : "";
}

/** Updates the picture after a control has changed.
 * @param {Document | Element | null} [judged] a verdict that is known
 * already */
async function change(judged = null) {
	const began = performance.now(), turn = ++state.changes;
	if (state.helpers.get("judge")?.current) dismiss("judge");
	knobs.offer(Number(by("release").value.split(".")[1]));
	showLink();
	try {
		const report = await replay(state.asker, operands(), args());
		const before = await recordedOf(report, turn);
		const isOther = before !== state.before;
		Object.assign(state, { report, before, judged });
		if (isOther) {
			beginRank();
			showLink();
		}
		complain("");
		show();
		by("run").dataset.took = (performance.now() - began).toFixed(0);
		by("run").dataset.conf = confOf(knobs.settings());
		settle();
	} catch (error) {
		if (error instanceof Overtaken) return;
		complainOf(error);
		if (by("verdict").dataset.state === "asked") refuse(null);
	}
}

const SETTLED_MS = 250; /* since the last change of a control */
let settling = 0;

function settle() {
	clearTimeout(settling);
	settling = setTimeout(() => {
		if (!state.judged) judge();
		const { trace, device } = state.inViews;
		state.inViews = { trace: shownTrace(), device: shownDevice() };
		const isSame = trace === shownTrace() && device === shownDevice();
		for (const view of state.views)
			view.update({ ...state.inViews, args: settingArgs(),
				...isSame ? {} : { event: chart.at } });
	}, SETTLED_MS);
}

/** The path of the rank that the numbers are about. */
const shownTrace = () => state.report.trace.path;
const shownDevice = () => state.report.trace.devices[state.device].device;

function edited() {
	state.isEdited = true;
	change();
}

function asRecorded() {
	const run = state.recorded.runs[0];
	const capacity = run.devices[state.device]?.capacity;
	state.isEdited = false;
	state.flags = [];
	knobs.set(parseConf(run.alloc_conf ?? ""));
	by("capacity").value = capacity ? sizeText(capacity) : "";
	by("release").value = run.torch;
}

function chooseRank() {
	by("rank-choice").hidden = state.names.length < 2;
	by("rank").replaceChildren(element("option", { value: "" }),
		...state.names.map(name => element("option", { value: name }, [name])));
	by("rank").value = state.rank;
}

async function takeRank() {
	const was = state.rank;
	state.rank = by("rank").value;
	try {
		state.recorded = await replayRecorded(state.asker, operands());
		state.before = state.recorded;
		beginRank();
		await change();
	} catch (error) {
		if (error instanceof Overtaken) return;
		complainOf(error);
		state.rank = by("rank").value = was;
	}
}

function chooseDevice() {
	const devices = state.before.trace.devices;
	state.device = fullest(state.before);
	by("device-choice").hidden = devices.length < 2;
	by("device").replaceChildren(...devices.map(
		(/** @type {any} */ d, /** @type {number} */ i) =>
			element("option", { value: String(i) }, [String(d.device)])));
	by("device").value = String(state.device);
}

/** Another device is shown. */
function beginDevice() {
	const line = lineOf(state.before, 0, state.device);
	chart.at = line.oom ?? line.peak ?? 0;
}

/** Another trace is shown. */
function beginRank() {
	chooseDevice();
	beginDevice();
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
	state.inViews = { trace: shownTrace(), device: shownDevice() };
	state.views = views.map(({ title, mount }) => {
		const box = element("div");
		by("views").append(element("section", {}, [
			element("h2", {}, [title]), box]));
		return mount(box, askForView, { ...state.inViews,
			args: settingArgs(), event: chart.at });
	});
}

/** @param {number} event */
function chosen(event) {
	showLink();
	/* The views show the trace, to which what-ifs may have added events. */
	const last = state.report.trace.devices[state.device].events - 1;
	for (const view of state.views)
		view.update({ event: Math.min(event, Math.max(0, last)) });
}

/* ---- files ---- */

/** Makes a name unique: files of two folders may have the same.
 * @param {string} name @param {string[]} taken */
function freeName(name, taken) {
	let free = name;
	for (let i = 2; taken.includes(free) || /^-/.test(free); i++)
		free = `${i}-${name}`;
	return free;
}

/** Reads a file once, in a worker that ends afterwards: the other workers then
 * read a smaller form, and the memory for a large file is released.
 * @param {import("./asker.js").Source} source
 * @returns {Promise<import("./asker.js").Source>} */
async function pack(source) {
	const reader = new Asker(makeWorker,
		/** @type {WebAssembly.Module} */ (state.module));
	const size = source.blob.size;
	try {
		const answer = await reader.read(source, done => say(
			`Reading ${source.name}: ` + (done < size
				? `${Math.floor(done / size * 100)} %`
				: "all is here; finding the requests ...")));
		if (answer.status) throw new Error(sentence(answer));
		const packed = await reader.ask(["convert", source.name, "-",
			"--to", "binary", "--quiet"]);
		if (packed.status) throw new Error(sentence(packed));
		return { name: source.name, blob: new Blob([packed.out]) };
	} finally {
		reader.end();
	}
}

/** The files chosen last replace those that are shown once they have been
 * replayed; until then, and if that fails, the controls keep working with the
 * old ones.
 * @param {import("./asker.js").Source[]} sources
 * @param {boolean} isOwn they came with the page */
async function open(sources, isOwn) {
	const asker = new Asker(makeWorker,
		/** @type {WebAssembly.Module} */ (state.module));
	const began = performance.now();
	const turn = ++state.opened;
	complain("");
	try {
		const names = await readAll(asker, sources, isOwn, turn);
		say("Replaying ...");
		const report = await replayRecorded(asker, names);
		if (turn !== state.opened) throw new Overtaken();
		state.asker?.end();
		Object.assign(state, { asker, names, rank: "", recorded: report,
			before: report, report });
	} catch (error) {
		asker.end();
		if (turn !== state.opened) return; /* other files were chosen since */
		say("");
		complainOf(error);
		return;
	}
	begin(isOwn);
	by("run").dataset.opened = (performance.now() - began).toFixed(0);
	document.documentElement.dataset.ready = "yes";
}

/** @param {Asker} asker @param {import("./asker.js").Source[]} sources
 * @param {boolean} isOwn @param {number} turn of state.opened
 * @returns {Promise<string[]>} their names */
async function readAll(asker, sources, isOwn, turn) {
	/** @type {string[]} */
	const names = [];
	for (const { name: given, blob } of sources) {
		const name = freeName(given, names);
		say(`Reading ${name} ...`);
		const source = isOwn ? { name, blob } : await pack({ name, blob });
		if (turn !== state.opened) throw new Overtaken();
		const answer = await asker.read(source);
		if (answer.status) throw new Error(sentence(answer));
		names.push(name);
	}
	return names;
}

/** A trace has been read and replayed as it was recorded.
 * @param {boolean} isOwn */
function begin(isOwn) {
	const run = state.recorded.runs[0];
	for (const name of [...state.helpers.keys()]) dismiss(name);
	by("run").hidden = false;
	by("run").after(by("drop"));
	by("title").textContent = state.names.join(", ");
	by("recorded").textContent = `Recorded with ${run.alloc_conf ||
		"default settings"}; PyTorch ${run.torch}`;
	chooseRank();
	beginRank();
	asRecorded();
	followHash(isOwn);
	/* The page already contains the judge's answer. */
	state.judged = isOwn && !location.hash.includes("conf=") ? by("still") : null;
	by("answer").hidden = true;
	say("");
	show();
	mountViews();
	if (state.isEdited) {
		change(state.judged);
	} else {
		showLink();
		if (!state.judged) judge();
	}
	knobs.offer(Number(by("release").value.split(".")[1]));
}

/** @param {FileList | null | undefined} files */
function openFiles(files) {
	if (files?.length)
		open([...files].map(file => ({ name: file.name, blob: file })),
			false);
}

/* ---- questions that take long ---- */

/** @param {string} command */
function questionOf(command) {
	const capacity = by("capacity").value.trim();
	const words = [command, ...operands(), "--quiet"];
	if (command === "explain") return [...words, ...args()];
	if (command === "headroom") return [...words, ...settingArgs()];
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
		const most = state.before?.runs[0].devices[state.device]
			?.measures.peak_reserved_bytes ?? 0;
		const part = Number(by("capacity-slider").value) / 100;
		by("capacity").value = part
			? `${Math.ceil(most * part / 2 ** 20)}MiB` : "";
		edited();
	});
	by("rank").addEventListener("change", takeRank);
	by("reset").addEventListener("click", () => {
		asRecorded();
		change();
	});
	by("device").addEventListener("change", () => {
		state.device = Number(by("device").value);
		beginDevice();
		showLink();
		show();
		settle();
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
		followHash(false);
		chosen(chart.at);
		change();
	});
	by("views").addEventListener("gpupool-moment",
		(/** @type {CustomEvent} */ e) => chart.choose(e.detail.event));
}

async function start() {
	by("app").hidden = false;
	if (document.querySelector("#still [data-table=differences]"))
		by("verdict").before(by("numbers").parentElement);
	chart = new Chart(by("chart"), chosen);
	listen();
	state.module = await wasm();
	state.asker = new Asker(makeWorker, state.module);
	const answer = await state.asker.ask(["help", "settings.json"]);
	makeControls(JSON.parse(decode(answer.out)));
	document.documentElement.dataset.engine = "ready";
	const inside = await traces();
	if (inside.length) await open(inside, true);
}

start().catch(error => complain("This browser cannot run the page: " +
	(error instanceof Error ? error.message : String(error)) + "."));
