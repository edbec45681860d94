import { afterAll, describe, expect, test } from '@jest/globals';
import { BSON } from 'mongodb';
import { isAppError } from '../../src/base/errors.js';
import { newId } from '../../src/base/ids.js';
import { createRowInserter } from '../../src/domain/tables/insert.js';
import { rowsOf } from '../../src/domain/tables/record.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { principalOf } from '../support/governance/approvals.js';
import type { SentCommand } from '../support/mongo-wire.js';
import { startReplicaSet } from '../support/replica-set.js';
import { testRun } from '../support/run.js';
import { createTable } from '../support/tables.js';
import { verifies } from '../support/verifies.js';

const uri = testRun().env.MONGODB_URI ?? '';
const members = await startReplicaSet(uri);
const through = useDeps({ MONGODB_URI: members.uri(new URL(uri).pathname.slice(1)) });
const direct = useDeps();
afterAll(() => members.close());

const mebibyte = 1024 * 1024;

describe('rows that wait for a slow store', () => {
  test('never fill the document of their table and are all inserted once', async () => {
    verifies('store.tables.pending-bounded');
    const workspace = await createWorkspace(direct);
    const table = await createTable(workspace, [{ column_name: 'Text', column_type: 'string' }]);
    const readTable = () => direct.mongo.collections.tables.findOne({ _id: table._id });
    const bytesOf = async () => BSON.calculateObjectSize({ ...(await readTable()) });

    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    const isRows = ({ name, collection }: SentCommand) => name === 'insert' && collection === `table_${table._id}`;
    for (let at = 0; at < 200; at += 1) void members.fault(isRows, { until });

    const column = table.columns.find(({ column_name }) => column_name === 'Text').column_id as string;
    const principal = principalOf('OWNER', {
      projectId: workspace.projectID,
      organizationId: workspace.organizationId,
    });
    const records = [{ [column]: 'x'.repeat(3.5 * mebibyte) }];
    const requests = Array.from({ length: 6 }, () => ({ principal, records, recordId: newId(), repeatable: true }));
    // The inserters act as separate processes. As clients should, each repeats its request until it succeeds.
    const insert = async (request: (typeof requests)[number]): Promise<void> => {
      for (;;) {
        const outcome = await createRowInserter(through)(table._id, request).catch((error: unknown) => error);
        if (!(outcome instanceof Error)) return;
        // On a busy machine, the store can be slower than the time limit of the driver, which a bulk write wraps.
        expect(isAppError(outcome) ? outcome.code : outcome.name).toMatch(
          /^(unavailable|MongoNetworkTimeoutError|MongoBulkWriteError)$/,
        );
      }
    };
    const inserted = Promise.all(requests.map(insert));

    const tries = () =>
      members.sent.filter(
        ({ name, collection, body }) =>
          name === 'update' && collection === 'tables' && body.updates[0].u.$inc?.pending_bytes > 0,
      ).length;
    await eventually(async () => expect(await bytesOf()).toBeGreaterThan(10 * mebibyte));
    await eventually(() => expect(tries()).toBeGreaterThan(requests.length));
    expect(await bytesOf()).toBeLessThan(13 * mebibyte);
    release();
    await inserted;
    expect(await rowsOf(direct.mongo, table._id).countDocuments({})).toBe(requests.length);
    await eventually(async () =>
      expect(await readTable()).toMatchObject({ row_count: requests.length, pending: {}, pending_bytes: 0 }),
    );
  });
});
