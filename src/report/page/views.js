/* SPDX-License-Identifier: MIT */
/* The views that the page shows below its timeline: see README.md. */
import { mount as mountBands } from "./bands.js";
import { mount as mountEvents } from "./events.js";
import { mount as mountHolders } from "./holders.js";
import { mount as mountMap } from "./map.js";

/** @typedef {object} View
 * @property {(options: object) => void} update
 * @property {() => void} destroy */
/** @typedef {(element: HTMLElement, ask: (argv: string[]) =>
 *	Promise<Uint8Array>, options: object) => View} Mount */

/** @type {{ title: string, mount: Mount }[]} */
export const views = [
	{ title: "Every allocation over time", mount: mountBands },
	{ title: "Who holds the memory at this moment", mount: mountHolders },
	{ title: "Segments and blocks at this moment", mount: mountMap },
	{ title: "Events", mount: mountEvents },
];
