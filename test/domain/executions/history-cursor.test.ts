import { afterEach, describe, expect, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { createFollowHistory } from '../../../src/temporal/history-cursor.js';
import { AppError } from '../../../src/base/errors.js';

const { EVENT_TYPE_WORKFLOW_TASK_COMPLETED, EVENT_TYPE_WORKFLOW_TASK_SCHEDULED } =
  proto.temporal.api.enums.v1.EventType;
const completed = EVENT_TYPE_WORKFLOW_TASK_COMPLETED;
const other = EVENT_TYPE_WORKFLOW_TASK_SCHEDULED;

type Page = { types: number[]; more: boolean };
const hangs = new Set<() => void>();
afterEach(() => {
  for (const release of hangs) release();
  hangs.clear();
});

/** A Temporal server with one run: it answers with the given pages and then stops answering. */
function temporalWith(historyLength: number, pages: (Page | Error)[]) {
  const tokens: unknown[] = [];
  let eventId = 0;
  const client: any = {
    options: { namespace: 'default' },
    workflow: { getHandle: () => ({ describe: async () => ({ historyLength }) }) },
    workflowService: {
      async getWorkflowExecutionHistory({ nextPageToken, waitNewEvent }: any) {
        expect(waitNewEvent).toBe(true);
        tokens.push(nextPageToken?.[0]);
        const page = pages.shift();
        if (page instanceof Error) throw page;
        if (!page) return new Promise((resolve) => hangs.add(() => resolve({ nextPageToken: [] })));
        const events = page.types.map((eventType) => ({ eventType, eventId: (eventId += 1) }));
        return { history: { events }, nextPageToken: page.more ? Uint8Array.of(tokens.length) : new Uint8Array() };
      },
    },
  };
  const call: any = (work: (given: unknown) => unknown) => work(client);
  const followHistory = createFollowHistory({ call, wait: call, client });
  return { tokens, left: () => pages.length, open: () => followHistory('execution/1', new AbortController().signal) };
}

describe('the cursor of a history', () => {
  test('goes to the end first, and then waits for a completed workflow task', async () => {
    const temporal = temporalWith(5, [
      { types: [other, completed, other], more: true },
      { types: [completed, other], more: true },
      { types: [other, other], more: true },
      { types: [], more: true },
      { types: [other, completed], more: true },
    ]);
    const cursor = temporal.open();
    expect(await cursor.next()).toBe(true);
    expect(temporal.left()).toBe(3);
    expect(await cursor.next()).toBe(true);
    expect(temporal.tokens).toEqual([undefined, 1, 2, 3, 4]);
  });

  test('waits for the first workflow task of a new run', async () => {
    const temporal = temporalWith(3, [
      { types: [other], more: true },
      { types: [other], more: true },
      { types: [completed], more: true },
    ]);
    const cursor = temporal.open();
    expect(await cursor.next()).toBe(true);
    expect(temporal.left()).toBe(0);
  });

  test('returns when the run closes, and begins again with the next run', async () => {
    const temporal = temporalWith(1, [
      { types: [completed], more: true },
      { types: [other], more: false },
      { types: [completed], more: true },
    ]);
    const cursor = temporal.open();
    expect(await cursor.next()).toBe(true);
    expect(await cursor.next()).toBe(true);
    expect(await cursor.next()).toBe(true);
    expect(temporal.tokens).toEqual([undefined, 1, undefined]);
  });

  test('continues where it was after Temporal did not answer', async () => {
    const temporal = temporalWith(1, [
      { types: [completed], more: true },
      new AppError('unavailable', 'no answer'),
      { types: [completed], more: true },
    ]);
    const cursor = temporal.open();
    expect(await cursor.next()).toBe(true);
    expect(await cursor.next()).toBe(false);
    expect(await cursor.next()).toBe(true);
    expect(temporal.tokens).toEqual([undefined, 1, 1]);
  });

  test('does not wait for more than 200 runs at a time', async () => {
    const temporal = temporalWith(
      1,
      Array.from({ length: 201 }, () => ({ types: [completed], more: true })),
    );
    const cursors = Array.from({ length: 201 }, temporal.open);
    for (const cursor of cursors) expect(await cursor.next()).toBe(true);
    const waits = cursors.slice(0, 200).map((cursor) => cursor.next());
    expect(await cursors[200]?.next()).toBe(false);
    for (const release of hangs) release();
    expect(await Promise.all(waits)).toEqual(waits.map(() => true));
  });
});
