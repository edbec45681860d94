import { describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { entryId, genesis } from '../../src/governance/audit/entry.js';
import { findHead } from '../../src/governance/audit/head.js';
import { newId } from '../../src/base/ids.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { createTestChain, eventOf } from '../support/governance/chains.js';
import { startHelper } from '../support/governance/fork.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { collections } = deps.mongo;

describe('an audit chain', () => {
  test('links every entry to the preceding one by SHA-256 over canonical JSON', async () => {
    verifies('audit.chain');
    const { append, stored, organizationId } = await createTestChain(deps);
    await append(50);
    await append(7);
    const entries = await stored();
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 57 }, (_, at) => at + 1));
    let previous = genesis(organizationId).hash;
    for (const { _id, hash: own, ...content } of entries) {
      expect(content.prev_hash).toBe(previous);
      expect(own).toBe(hash('sha256', canonicalize(content) ?? ''));
      expect(_id).toBe(entryId(organizationId, content.seq));
      previous = own;
    }
  });

  test('gives each append its position and distinguishes values without well-formed text', async () => {
    const { audit, organizationId, stored } = await createTestChain(deps);
    const odd = {
      ...eventOf(organizationId, 1),
      actor: 'lone \ud800 surrogate',
      resource: `\0${'x'.repeat(5000)}`,
      lifecycle_id: null,
    };
    expect((await audit.append(odd)).seq).toBe(1);
    expect((await audit.append(eventOf(organizationId, 2))).seq).toBe(2);
    expect((await stored())[0]?.resource).toHaveLength(1000);
    expect(await audit.verify(organizationId)).toMatchObject({ valid: true, entries: 2 });
  });

  test('remains one chain when two processes append concurrently', async () => {
    verifies('audit.chain');
    const { organizationId, audit, stored, checkpointFolder } = await createTestChain(deps);
    const options = {
      uri: testRun().env.MONGODB_URI,
      organizationId,
      projectId: newId(),
      calls: 400,
      callers: 16,
      checkpointFolder,
    };
    const processes = await Promise.all([
      startHelper<string>('record-process', options),
      startHelper<string>('record-process', options),
    ]);
    for (const { go } of processes) go();
    await Promise.all(processes.map(({ ended }) => ended));
    const acknowledged = processes.flatMap(({ messages }) => messages);
    expect(acknowledged).toHaveLength(800);
    const entries = await stored();
    expect(new Set(entries.map(({ lifecycle_id }) => lifecycle_id))).toEqual(new Set(acknowledged));
    expect(entries).toHaveLength(800);
    expect(await audit.verify(organizationId)).toMatchObject({
      valid: true,
      entries: 800,
      head_hash: entries.at(-1)?.hash,
      first_broken_seq: null,
    });
  });

  test('is valid and contains every acknowledged call after a kill of an appending process in a burst', async () => {
    verifies('pipeline.stored-before-answer');
    const { organizationId, audit, stored, checkpointFolder, append } = await createTestChain(deps);
    const options = {
      uri: testRun().env.MONGODB_URI,
      organizationId,
      projectId: newId(),
      callers: 32,
      checkpointFolder,
    };
    for (let round = 1; round <= 3; round += 1) {
      const { child, messages, go, ended } = await startHelper<string>('record-process', options);
      go();
      await eventually(() => expect(messages.length).toBeGreaterThan(60 * round), { everyMs: 5 });
      child.kill('SIGKILL');
      await ended;
      const entries = await stored();
      const present = new Set(entries.map(({ lifecycle_id }) => lifecycle_id));
      expect(messages.filter((id) => !present.has(id))).toEqual([]);
      for (const id of messages) expect(await collections.lifecycles.findOne({ _id: id })).not.toBeNull();
      expect(await audit.verify(organizationId)).toMatchObject({ valid: true, entries: entries.length });
    }
    const before = (await stored()).length;
    await append(3);
    expect(await audit.verify(organizationId)).toMatchObject({ valid: true, entries: before + 3 });
  });

  test.each(['before', 'after'])('does not duplicate an entry whose insert failed %s it took effect', async (when) => {
    const entries = new Proxy(collections.audit_entries, {
      get(target, name) {
        if (name !== 'insertMany') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
        return async (documents: never[], options: object) => {
          if (failures > 0) {
            failures -= 1;
            if (when === 'after') await target.insertMany(documents.slice(0, 2), options);
            throw new Error('connection reset');
          }
          return target.insertMany(documents, options);
        };
      },
    });
    const { organizationId, append, audit, stored } = await createTestChain(deps, {
      collections: { ...collections, audit_entries: entries },
    });
    let failures = 0;
    await append(1);
    failures = 1;
    await append(10);
    const lifecycles = (await stored()).map(({ lifecycle_id }) => lifecycle_id);
    expect(lifecycles).toHaveLength(11);
    expect(new Set(lifecycles).size).toBe(11);
    failures = Infinity;
    // If the insert took effect, the entry is found and acknowledged.
    if (when === 'before') await expect(append(1)).rejects.toThrow('connection reset');
    else await append(1);
    failures = 0;
    await append(1);
    expect(await audit.verify(organizationId)).toMatchObject({ valid: true });
  });
});

describe('findHead', () => {
  test.each([0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 100])('finds the last of %d entries', async (count) => {
    const { organizationId, append, stored } = await createTestChain(deps);
    await append(count);
    const last = (await stored()).at(-1);
    const { seq, hash: found } = await findHead(collections.audit_entries, organizationId);
    expect({ seq, found }).toEqual({ seq: count, found: last?.hash ?? genesis(organizationId).hash });
  });

  test.each([1, 2, 8, 16])('finds the head even if entry %d is missing', async (missing) => {
    const { organizationId, append, remove } = await createTestChain(deps);
    await append(20);
    await remove(missing);
    expect(await findHead(collections.audit_entries, organizationId)).toMatchObject({ seq: 20 });
  });
});
