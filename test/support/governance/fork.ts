import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { packageRoot } from '../../../src/base/packages.js';

interface Helper<M> {
  child: ChildProcess;
  messages: M[];
  /** Starts its work. The process was started and connected before. */
  go(): void;
  ended: Promise<unknown>;
}

/** Another OS process with the product's own code, ready to start; `script` is in this folder. */
export async function startHelper<M>(script: string, options: object): Promise<Helper<M>> {
  const child = fork(
    path.join(packageRoot, 'dist/test/support/governance', `${script}.js`),
    [JSON.stringify(options)],
    { execArgv: [] },
  );
  const messages: M[] = [];
  const ended = once(child, 'exit');
  await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`${script} ended with ${String(code)}`))),
  ]);
  child.on('message', (message) => messages.push(message as M));
  return { child, messages, go: () => child.send('go'), ended };
}

/** Called in the helper: reports that it is ready, and waits for the start signal. */
export async function readyToGo(): Promise<void> {
  process.send?.('ready');
  await once(process, 'message');
}
