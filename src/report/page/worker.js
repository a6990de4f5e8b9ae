/* SPDX-License-Identifier: MIT */
/* The worker: one engine, one question at a time. */
import { Engine } from "./engine.js";

/** @type {Engine | undefined} */
let engine;

/** @param {Blob} blob */
async function* partsOf(blob) {
	const reader = blob.stream().getReader();
	for (;;) {
		const { value, done } = await reader.read();
		if (done) return;
		yield value;
	}
}

/** @param {number} id @param {{ what: string, module?: WebAssembly.Module, name?: string,
 *	blob?: Blob, argv?: string[] }} q */
async function answer(id, q) {
	if (q.what === "start") {
		engine = new Engine(/** @type {WebAssembly.Module} */ (q.module));
		return {};
	}
	if (!engine) throw new Error("the engine has not been started");
	if (q.what === "read" && q.blob)
		return engine.read(q.name ?? "", q.blob.size, partsOf(q.blob),
			done => postMessage({ id, done }));
	return engine.ask(q.argv ?? []);
}

addEventListener("message", async event => {
	const { id, ...question } = event.data;
	try {
		const reply = await answer(id, question);
		postMessage({ id, reply });
	} catch (error) {
		/* The state of its memory can no longer be trusted. */
		postMessage({ id, broken: String(error instanceof Error
			? error.message : error) });
	}
});
