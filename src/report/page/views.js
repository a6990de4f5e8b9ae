/* SPDX-License-Identifier: MIT */
/* The views that the page shows below its timeline: see README.md. */

/** @typedef {object} View
 * @property {(options: object) => void} update
 * @property {() => void} destroy */
/** @typedef {(element: HTMLElement, ask: (argv: string[]) =>
 *	Promise<Uint8Array>, options: object) => View} Mount */

/** @type {{ title: string, mount: Mount }[]} */
export const views = [];
