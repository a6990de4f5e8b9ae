/* SPDX-License-Identifier: MIT */
/* gpupool as WebAssembly: files go in as bytes, a question gives bytes back.
 * See src/commands/wasm/entry.c. */

/**
 * @typedef {object} Answer
 * @property {number} status The exit status of the command line.
 * @property {Uint8Array} out What it prints.
 * @property {string} err What it says on standard error.
 */

const NO_FILE = 8; /* WASI's EBADF: there are no files */
const MOST = 2 ** 32 - 2 ** 16; /* most bytes that its memory can have */

/** The imports that WASI's library needs.
 * @param {WebAssembly.Module} module
 * @param {() => DataView} view of the memory, which may have moved */
function imports(module, view) {
	/** @type {Record<string, (...args: any[]) => number>} */
	const own = {
		clock_time_get: (id, precision, to) => {
			const now = BigInt(Math.round(performance.now() * 1e6));
			view().setBigUint64(to, now, true);
			return 0;
		},
		environ_sizes_get: (count, bytes) => {
			view().setUint32(count, 0, true);
			view().setUint32(bytes, 0, true);
			return 0;
		},
		environ_get: () => 0,
		proc_exit: status => {
			throw new Error(`gpupool ended with status ${status}`);
		},
	};
	/** @type {Record<string, Record<string, (...args: any[]) => number>>} */
	const all = {};
	for (const { module: from, name } of WebAssembly.Module.imports(module)) {
		all[from] = all[from] ?? {};
		all[from][name] = own[name] ?? (() => NO_FILE);
	}
	return all;
}

export class Engine {
	/** @param {WebAssembly.Module} module */
	constructor(module) {
		const instance = new WebAssembly.Instance(module, imports(module,
			() => new DataView(this.calls.memory.buffer)));
		/** @type {any} */
		this.calls = instance.exports;
		this.calls._initialize();
	}
	/** @param {number} size */
	room(size) {
		const at = size < MOST ? this.calls.gp_page_room(size) >>> 0 : 0;
		if (!at) throw new RangeError("there is not enough memory");
		return at;
	}
	/** @param {number} at @param {Uint8Array} bytes */
	write(at, bytes) {
		new Uint8Array(this.calls.memory.buffer).set(bytes, at);
	}
	/** @param {string} text */
	text(text) {
		const bytes = new TextEncoder().encode(text + "\0");
		const at = this.room(bytes.length);
		this.write(at, bytes);
		return at;
	}
	/** @param {number} which */
	bytes(which) {
		return new Uint8Array(this.calls.memory.buffer,
			this.calls.gp_page_text(which) >>> 0,
			this.calls.gp_page_length(which) >>> 0).slice();
	}
	/** @param {number} status @returns {Answer} */
	answer(status) {
		return { status, out: this.bytes(0),
			err: new TextDecoder().decode(this.bytes(1)) };
	}
	/** Reads a trace and holds it under its name.
	 * @param {string} name
	 * @param {number} size
	 * @param {AsyncIterable<Uint8Array> | Iterable<Uint8Array>} parts
	 * @param {(done: number) => void} [progress] bytes */
	async read(name, size, parts, progress) {
		const to = this.room(size);
		let at = 0;
		for await (const part of parts) {
			if (at + part.length > size) break;
			this.write(to + at, part);
			at += part.length;
			progress?.(at);
		}
		return this.answer(this.calls.gp_page_read(this.text(name), to, at));
	}
	/** @param {string[]} argv the arguments after "gpupool" */
	ask(argv) {
		const words = argv.join("\0");
		return this.answer(this.calls.gp_page_ask(this.text(words),
			argv.length));
	}
}
