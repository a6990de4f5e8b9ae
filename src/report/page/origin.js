/* SPDX-License-Identifier: MIT */
/* Where the page's other parts come from: files beside it in a folder, or, if
 * the page is a single file, its own elements. */

/** @param {string} id */
const inside = id => document.getElementById(id)?.textContent?.trim();

/** @param {string} text base64 @returns {Uint8Array} */
function bytesOf(text) {
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	return bytes;
}

/** @returns {Promise<WebAssembly.Module>} */
export async function wasm() {
	const packed = inside("gpupool-wasm");
	if (!packed)
		return WebAssembly.compile(await
			(await fetch("gpupool.wasm")).arrayBuffer());
	const stream = new Blob([bytesOf(packed)]).stream()
		.pipeThrough(new (/** @type {any} */ (globalThis)
			.DecompressionStream)("gzip"));
	return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

export function makeWorker() {
	const script = inside("gpupool-worker");
	if (!script) return new Worker("worker.js", { type: "module" });
	const url = URL.createObjectURL(new Blob([script],
		{ type: "text/javascript" }));
	return new Worker(url);
}

/** Traces that the page brings along.
 * @returns {Promise<import("./asker.js").Source[]>} */
export async function traces() {
	return [...document.querySelectorAll("script[data-trace]")].map(script => ({
		name: /** @type {HTMLElement} */ (script).dataset.trace ?? "",
		blob: new Blob([bytesOf(script.textContent?.trim() ?? "")]),
	}));
}
