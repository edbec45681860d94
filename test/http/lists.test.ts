import { describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { rowsOf } from '../../src/domain/tables/record.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { bearerClient } from '../support/gateway.js';
import { recordsOf } from '../support/governance/records.js';
import { createTable } from '../support/tables.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { collections } = deps.mongo;

describe('the total of a list', () => {
  test('is exact up to 10,000 and a lower bound beyond', async () => {
    verifies('lists.counted-to-10000');
    const { projectID, organizationId, apiKey } = await createWorkspace(deps);
    const callOf = () => recordsOf({ projectId: projectID, organizationId }).lifecycle;
    await collections.lifecycles.insertMany(Array.from({ length: 10_000 }, callOf));
    const list = async () => (await bearerClient(apiKey).get('/v1/policy-decisions?limit=1')).body;
    const { total_count, total_is_lower_bound } = await list();
    expect([total_count, total_is_lower_bound]).toEqual([10_000, undefined]);
    await collections.lifecycles.insertOne(callOf());
    expect(await list()).toMatchObject({ total_count: 10_000, total_is_lower_bound: true, data: [{}] });
    // The stand-in for MongoDB reads all records of a collection for most queries.
    await collections.lifecycles.deleteMany({ project_id: projectID });
  });

  test('of filtered table records is counted in the same way, and is exact without a filter', async () => {
    verifies('lists.counted-to-10000');
    const workspace = await createWorkspace(deps);
    const table = await createTable(workspace);
    const rows = Array.from({ length: 10_001 }, (_, at) => ({ _id: newId(), row_id: at + 1, coworker_user_id: 'u' }));
    await rowsOf(deps.mongo, table._id).insertMany(rows);
    await collections.tables.updateOne(
      { _id: table._id },
      { $set: { row_count: rows.length, last_row_id: rows.length } },
    );
    const filtered = await table.records({ limit: '1', filter: JSON.stringify({ coworker_user_id: 'u' }) });
    expect(filtered).toMatchObject({ total_count: 10_000, total_is_lower_bound: true });
    const all = await table.records({ limit: '1' });
    expect([all.total_count, all.total_is_lower_bound]).toEqual([10_001, undefined]);
  });
});
