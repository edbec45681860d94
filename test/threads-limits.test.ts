import { afterAll, expect, test } from '@jest/globals';
import { createMcpChecks } from '../src/threads/mcp-checks.js';
import { createThreads } from '../src/threads/threads.js';
import { verifies } from './support/verifies.js';

const patient = createThreads({ longestWaitMs: 600_000 });
/** Nothing waits here for a free thread. */
const impatient = createThreads({ longestWaitMs: 1 });
afterAll(() => Promise.all([patient.close(), impatient.close()]));

const word = (pattern: string) => ({ type: 'object', properties: { word: { type: 'string', pattern } } });
const endless = { schema: word('^(b+)+$'), value: { word: `${'b'.repeat(40)}!` } };
const wrong = { schema: word('^a+$'), value: { word: 'b' } };

test('the time limit of a job does not include its wait for a thread', async () => {
  verifies('mcp-client.unchecked');
  const { problemOfOutput } = createMcpChecks(patient);
  // They occupy all threads for longer than the limit of one check.
  const slow = ['one', 'two', 'one', 'two'].map((owner) => problemOfOutput(endless, { owner }));
  const waiting = problemOfOutput(wrong, { owner: 'three' });
  expect(await waiting).toContain('does not match the output schema');
  for (const problem of await Promise.all(slow)) expect(problem).toContain('could not be checked');
});

test('without a free thread a result is not the fault of the server', async () => {
  verifies('mcp-client.unchecked');
  const checks = createMcpChecks(impatient);
  expect(await checks.problemOfOutput(wrong, { owner: 'one' })).toBeUndefined();
  expect(await checks.problemsOfSchemas([{ schema: { type: 'int' }, isOutput: true }], { owner: 'one' })).toEqual([]);
});
