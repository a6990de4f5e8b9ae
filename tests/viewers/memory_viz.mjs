// SPDX-License-Identifier: MIT
// PyTorch's MemoryViz.js, without a page: it unpickles the snapshot, names its
// addresses, and lays out both timelines.
//
// usage: node memory_viz.mjs MemoryViz.js SNAPSHOT
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import assert from 'node:assert';

const [script, snapshot] = process.argv.slice(2);

// Whatever is asked of the drawing library is answered with itself.
const stub = new Proxy(function () {}, {
  get: (_target, key) => (key === Symbol.toPrimitive ? () => 0 : stub),
  apply: () => stub,
});
globalThis.stub = stub;

// Its imports are from the network; its functions are not exported.
const text =
  readFileSync(script, 'utf8').replace(
    /^import (.*) from ".*";$/gm,
    (_line, names) =>
      names
        .replace(/^\* as |[{}]/g, '')
        .split(',')
        .map(name => `const ${name.trim()} = globalThis.stub;`)
        .join(' '),
  ) + '\nexport {unpickle, annotate_snapshot, process_alloc_data};\n';
const copy = join(dirname(fileURLToPath(import.meta.url)), 'viz_copy.mjs');
writeFileSync(copy, text);
const viz = await import(pathToFileURL(copy));

const bytes = readFileSync(snapshot);
const data = viz.unpickle(
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
);
const allocs = data.device_traces.map(
  trace => trace.filter(e => e.action === 'alloc').length,
);
viz.annotate_snapshot(data);
for (let device = 0; device < allocs.length; device++) {
  for (const plot_segments of [false, true]) {
    const layout = viz.process_alloc_data(data, device, plot_segments, 15000);
    if (plot_segments) continue;
    assert(layout.elements_length >= allocs[device]);
    assert(!allocs[device] || layout.max_size > 0);
    for (let i = 0; i < Math.min(9, layout.elements_length); i++)
      assert(layout.context_for_id(i).startsWith('Addr: b'));
  }
}
