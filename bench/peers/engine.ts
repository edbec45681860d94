import { waitUntil } from '../../stack/wait-until.js';
import type { SupervisedProcess } from '../../stack/supervised-process.js';

/** How many steps a flow has. */
export type Steps = 2 | 40;

/** An engine that runs flows of light steps. Each step makes a short text, and the engine stores its result. */
export interface Engine {
  name: string;
  /** Runs a flow to its end. */
  run(steps: Steps): Promise<void>;
  /** The processes that do the work. The processes below them count too. */
  pids: readonly number[];
  stop(): Promise<void>;
}

const startMs = 180_000;

/** @throws if the process ends, or does not answer within three minutes */
export function untilItAnswers(name: string, server: SupervisedProcess, check: () => Promise<void>): Promise<void> {
  return waitUntil(check, {
    assertRunning: async () => {
      const how = server.ended();
      if (how !== undefined) throw new Error(`${name} ended: ${how}`);
    },
    timeoutMs: startMs,
    late: (failure) => `${name} does not answer: ${failure}`,
    signal: undefined,
  });
}

/** @throws if the answer is not 2xx or is not the text of the last step */
export async function postForText(url: string, steps: Steps, body: object): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok || !text.includes(`Step ${steps} for bench`))
    throw new Error(`${url} answered with ${answer.status}: ${text.slice(0, 300)}`);
}
