import { describe, expect, test } from '@jest/globals';
import type { AuditEvent } from '../../src/governance/audit/entry.js';
import { createRecorder } from '../../src/governance/recorder.js';
import { newId } from '../../src/ids.js';
import { useDeps } from '../support/fixture.js';
import { createTestChain } from '../support/governance/chains.js';
import { recordsOf } from '../support/governance/records.js';

const deps = useDeps();
const { collections } = deps.mongo;

describe('the recorder', () => {
  test('has stored lifecycle, decision and audit entry when it resolves', async () => {
    const { audit, organizationId, stored } = await createTestChain(deps);
    const recorder = createRecorder({ collections, audit });
    const made = Array.from({ length: 40 }, () => recordsOf({ organizationId, projectId: newId() }));
    await Promise.all(
      made.map(async (records) => {
        await recorder.record(records);
        expect(await collections.lifecycles.findOne({ _id: records.lifecycle._id })).toEqual(records.lifecycle);
        expect(await collections.policy_decisions.findOne({ _id: records.decision._id })).toEqual(records.decision);
      }),
    );
    expect(new Set((await stored()).map(({ lifecycle_id }) => lifecycle_id))).toEqual(new Set(made.map(({ lifecycle }) => lifecycle._id)));
    expect(await audit.verify(organizationId)).toMatchObject({ valid: true, entries: 40 });
  });

  test('stores a call that met no policy', async () => {
    const { audit, organizationId } = await createTestChain(deps);
    const { lifecycle, audit: event } = recordsOf({ organizationId, projectId: newId() });
    await createRecorder({ collections, audit }).record({ lifecycle, audit: event });
    expect(await collections.policy_decisions.countDocuments({ organization_id: organizationId })).toBe(0);
  });

  test('rejects, and adds no audit entry, where the lifecycle is not stored', async () => {
    const { audit, organizationId, stored } = await createTestChain(deps);
    const recorder = createRecorder({ collections, audit });
    const records = recordsOf({ organizationId, projectId: newId() });
    await recorder.record(records);
    await expect(recorder.record(records)).rejects.toThrow('duplicate key');
    expect(await stored()).toHaveLength(1);
    await recorder.record(recordsOf({ organizationId, projectId: newId() }));
    expect(await stored()).toHaveLength(2);
  });

  test('rejects where the audit entry is not stored, after the lifecycle', async () => {
    const seen: boolean[] = [];
    const records = recordsOf({ organizationId: newId(), projectId: newId() });
    const append = async ({ lifecycle_id }: AuditEvent) => {
      seen.push((await collections.lifecycles.findOne({ _id: lifecycle_id ?? '' })) !== null);
      throw new Error('no chain');
    };
    await expect(createRecorder({ collections, audit: { append } }).record(records)).rejects.toThrow('no chain');
    expect(seen).toEqual([true]);
  });
});
