/* SPDX-License-Identifier: MIT */
/* Asks a worker questions, in order; of the waiting ones in a lane, only the
 * last. */

/** @typedef {import("./engine.js").Answer} Answer */
/** @typedef {{ name: string, blob: Blob }} Source */
/** @typedef {object} Question
 * @property {any} message
 * @property {string} [lane]
 * @property {(answer: Answer) => void} resolve
 * @property {(error: Error) => void} reject */

export class Overtaken extends Error {}

export class Asker {
	/** @param {() => Worker} make @param {WebAssembly.Module} module */
	constructor(make, module) {
		this.make = make;
		this.module = module;
		/** @type {Question[]} */
		this.queue = [];
		/** @type {Question | null} */
		this.current = null;
		/** @type {Source[]} */
		this.sources = [];
		this.id = 0;
		/** Why no engine starts.
		 * @type {Error | null} */
		this.broken = null;
		this.start();
	}
	start() {
		this.worker = this.make();
		this.worker.addEventListener("message", e => this.take(e.data));
		this.worker.addEventListener("error", e => {
			e.preventDefault();
			this.take({ id: this.id,
				broken: e.message || "the worker did not start" });
		});
		this.send({ what: "start", module: this.module }).catch(() => {});
	}
	/** @param {any} message @param {string} [lane] @returns {Promise<Answer>} */
	send(message, lane) {
		return new Promise((resolve, reject) => {
			if (this.broken) reject(this.broken);
			if (lane)
				this.queue = this.queue.filter(q => q.lane !== lane ||
					q.reject(new Overtaken()));
			this.queue.push({ message, lane, resolve, reject });
			this.next();
		});
	}
	next() {
		if (this.current || this.broken) return;
		this.current = this.queue.shift() ?? null;
		if (this.current)
			this.worker?.postMessage({ ...this.current.message,
				progress: undefined, id: ++this.id });
	}
	/** @param {any} data */
	take(data) {
		const asked = this.current;
		if (!asked || data.id !== this.id) return;
		if (data.done !== undefined) {
			asked.message.progress?.(data.done);
			return;
		}
		this.current = null;
		if (data.broken === undefined) {
			asked.resolve(data.reply);
		} else {
			this.fail(asked, new Error(tell(data.broken)));
		}
		this.next();
	}
	/** The next question goes to a new engine, unless none can be started.
	 * @param {Question} asked @param {Error} error */
	fail(asked, error) {
		asked.reject(error);
		if (asked.message.what !== "start") {
			this.restart();
			return;
		}
		this.broken = error;
		for (const q of this.queue) q.reject(error);
		this.queue = [];
	}
	/** Starts a new engine, with the traces of the old one. */
	restart() {
		const waiting = this.queue;
		const was = this.current;
		this.worker?.terminate();
		this.queue = [];
		this.current = null;
		was?.reject(new Overtaken());
		this.start();
		for (const source of this.sources)
			this.send({ what: "read", ...source }).catch(() => {});
		this.queue.push(...waiting);
	}
	/** @param {Source} source
	 * @param {(done: number) => void} [progress] bytes */
	async read(source, progress) {
		const answer = await this.send({ what: "read", ...source, progress });
		if (!answer.status)
			this.sources = [...this.sources.filter(s =>
				s.name !== source.name), source];
		return answer;
	}
	/** The answer, whatever its status.
	 * @param {string[]} argv @param {string} [lane] */
	ask(argv, lane) {
		return this.send({ what: "ask", argv }, lane);
	}
	end() {
		this.worker?.terminate();
		this.current?.reject(new Overtaken());
		for (const q of this.queue) q.reject(new Overtaken());
		this.queue = [];
	}
}

/** @param {string} broken */
function tell(broken) {
	return /memory|status 4|allocat/i.test(broken)
		? "The page ran out of memory, of which a tab has 4 GiB at most: " +
			"gpupool on the command line takes files of any size."
		: `gpupool could not continue: ${broken}.`;
}

/** The message of an answer that is an error.
 * @param {Answer} answer */
export function sentence(answer) {
	return answer.err.trim().replace(/^gpupool: /, "") ||
		`gpupool ended with status ${answer.status}.`;
}
