import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/*
 * Loaded into a process before its own code (`node --import`). Appends to the file LOOP_PROBE_FILE how long the main thread
 * computed between two turns of its event loop, in milliseconds of processor time, to which other processes do not add.
 */
const reportedFrom = 10;
const everyMs = 5;
const file = process.env.LOOP_PROBE_FILE ?? '';
const stat = `/proc/${process.pid}/task/${process.pid}/schedstat`;
const computed = existsSync(stat)
  ? () => Number(readFileSync(stat, 'utf8').split(' ')[0]) / 1e6
  : () => performance.now();

let last = computed();
setInterval(() => {
  const block = computed() - last;
  if (block > reportedFrom) appendFileSync(file, `${block.toFixed(1)}\n`);
  last = computed();
}, everyMs).unref();
