import { describe, expect, test } from '@jest/globals';
import type { AuditEvent } from '../../src/governance/audit/entry.js';
import { createRecorder } from '../../src/governance/recorder.js';
import { newId } from '../../src/base/ids.js';
import { useDeps } from '../support/fixture.js';
import { createTestChain } from '../support/governance/chains.js';
import { recordsOf } from '../support/governance/records.js';

const deps = useDeps();
const { collections } = deps.mongo;

describe('the recorder', () => {
  test('has stored the lifecycle with its decision and the audit entry when it resolves', async () => {
    const { audit, organizationId, stored } = await createTestChain(deps);
    const recorder = createRecorder({ collections, audit });
    const made = Array.from({ length: 40 }, () => recordsOf({ organizationId, projectId: newId() }));
    await Promise.all(
      made.map(async (records) => {
        await recorder.record(records);
        expect(await collections.lifecycles.findOne({ _id: records.lifecycle._id })).toEqual(records.lifecycle);
      }),
    );
    expect(new Set((await stored()).map(({ lifecycle_id }) => lifecycle_id))).toEqual(
      new Set(made.map(({ lifecycle }) => lifecycle._id)),
    );
    expect(await audit.verify(organizationId)).toMatchObject({ valid: true, entries: 40 });
  });

  test('rejects if the lifecycle cannot be stored', async () => {
    const { audit, organizationId } = await createTestChain(deps);
    const bulkWrite = () => Promise.reject(new Error('no store'));
    const lifecycles = Object.assign(Object.create(collections.lifecycles), { bulkWrite });
    const recorder = createRecorder({ collections: { ...collections, lifecycles }, audit });
    const records = recordsOf({ organizationId, projectId: newId() });
    await expect(recorder.record(records)).rejects.toThrow('no store');
    expect(await audit.verify(organizationId)).toMatchObject({ valid: true });
  });

  test('stores nothing about a held call in the audit chain before its lifecycle, which names the approval', async () => {
    const { audit, organizationId, stored } = await createTestChain(deps);
    const bulkWrite = () => Promise.reject(new Error('no store'));
    const lifecycles = Object.assign(Object.create(collections.lifecycles), { bulkWrite });
    const recorder = createRecorder({ collections: { ...collections, lifecycles }, audit });
    const { lifecycle, audit: event } = recordsOf({ organizationId, projectId: newId() });
    const held = { lifecycle: { ...lifecycle, status: 'pending_approval' as const }, audit: event };
    await expect(recorder.record(held)).rejects.toThrow('no store');
    await recorder.close();
    await audit.close();
    expect(await stored()).toEqual([]);
  });

  test('rejects if the audit entry cannot be stored', async () => {
    const append = () => Promise.reject(new Error('no chain'));
    const records = recordsOf({ organizationId: newId(), projectId: newId() });
    await expect(createRecorder({ collections, audit: { append } }).record(records)).rejects.toThrow('no chain');
  });

  test('stores the lifecycle and the audit entry at the same time', async () => {
    const { audit, organizationId } = await createTestChain(deps);
    let chained: () => void = () => undefined;
    const appended = new Promise<void>((resolve) => (chained = resolve));
    const bulkWrite = async (...given: Parameters<typeof collections.lifecycles.bulkWrite>) => {
      await appended;
      return collections.lifecycles.bulkWrite(...given);
    };
    const lifecycles = Object.assign(Object.create(collections.lifecycles), { bulkWrite });
    const append = (event: AuditEvent) => audit.append(event).finally(chained);
    const records = recordsOf({ organizationId, projectId: newId() });
    await createRecorder({ collections: { ...collections, lifecycles }, audit: { append } }).record(records);
    expect(await collections.lifecycles.findOne({ _id: records.lifecycle._id })).toEqual(records.lifecycle);
  });
});
