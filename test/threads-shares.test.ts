import { afterAll, expect, test } from '@jest/globals';
import { createExtraction } from '../src/domain/knowledge/extraction.js';
import { createThreads } from '../src/threads/threads.js';
import { verifies } from './support/verifies.js';

const threads = createThreads({ longestWaitMs: 600_000 });
afterAll(() => threads.close());

/** A text that takes long to redact. */
const slow = { text: 'a@b.example 4111 1111 1111 1111 '.repeat(20_000) };

test('the jobs of one owner wait for each other, and another owner does not wait for them', async () => {
  verifies('shares.threads');
  const ended: string[] = [];
  const run = (owner: string, job: unknown) =>
    threads.run('redactAnswer', job, { owner, timeoutMs: 600_000 }).then(() => ended.push(owner));
  const busy = Array.from({ length: 6 }, () => run('busy', slow));
  await run('other', { text: 'short' });
  expect(ended.filter((owner) => owner === 'busy').length).toBeLessThanOrEqual(1);
  await Promise.all(busy);
});

test('a document of one organization is read while many of another wait', async () => {
  verifies('shares.documents');
  const extract = createExtraction();
  const { signal } = new AbortController();
  const ended: string[] = [];
  const html = Buffer.from(`<p>${'<b>word</b> '.repeat(200_000)}</p>`);
  const busy = Array.from({ length: 4 }, () =>
    extract('text', html, 'text/html', { owner: 'busy', signal }).then(() => ended.push('busy')),
  );
  await extract('text', Buffer.from('a line'), 'text/plain', { owner: 'other', signal });
  expect(ended.length).toBeLessThanOrEqual(1);
  await Promise.all(busy);
});
