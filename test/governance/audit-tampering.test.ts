import { describe, expect, test } from '@jest/globals';
import { appendFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createActiveChains } from '../../src/governance/audit/active-chains.js';
import { createCheckpointFile } from '../../src/governance/audit/checkpoint-file.js';
import { entryId, hashOf, unchained, type AuditEntryDocument } from '../../src/governance/audit/entry.js';
import type { Checkpoint } from '../../src/governance/audit/statement.js';
import { newId } from '../../src/base/ids.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { createTestChain, eventOf, type TestChain } from '../support/governance/chains.js';
import { createLocalSigner } from '../support/governance/local-signer.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { audit_checkpoints: checkpoints } = deps.mongo.collections;

/** Thirty entries, with checkpoints over the first ten and the first twenty. */
async function sealedChain(): Promise<TestChain> {
  const chain = await createTestChain(deps);
  for (const _round of [1, 2]) {
    await chain.append(10);
    await chain.audit.checkpoint(chain.organizationId);
  }
  await chain.append(10);
  expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
    valid: true,
    entries: 30,
    first_broken_seq: null,
    checkpoint: { entries: 20 },
  });
  return chain;
}

const entryAt = async ({ stored }: TestChain, seq: number) => (await stored())[seq - 1] as AuditEntryDocument;
const withHash = ({ _id, hash: _hash, ...content }: AuditEntryDocument): AuditEntryDocument => ({
  _id,
  ...content,
  hash: hashOf(content),
});

describe('verification of an audit chain', () => {
  test.each([
    ['entry_id', 'another'],
    ['seq', 99],
    ['at', 1],
    ['actor', 'nobody'],
    ['action', 'docs'],
    ['resource', ''],
    ['outcome', 'denied'],
    ['lifecycle_id', null],
    ['prev_hash', '0'.repeat(64)],
    ['hash', 'f'.repeat(64)],
    ['added', 'field'],
    ['at', Number.NaN],
    ['resource', { $gt: '' }],
  ])('finds and names an entry whose %s was changed to %j', async (field, value) => {
    verifies('audit.tamper.changed');
    const chain = await sealedChain();
    await chain.put({ ...(await entryAt(chain, 7)), [field]: value });
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
      valid: false,
      first_broken_seq: 7,
      entries: 30,
    });
  });

  test('finds a changed entry with a recomputed hash', async () => {
    verifies('audit.tamper.changed');
    const chain = await sealedChain();
    await chain.put(withHash({ ...(await entryAt(chain, 25)), actor: 'nobody' }));
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({ valid: false, first_broken_seq: 26 });
  });

  test.each([[[1]], [[7]], [[7, 8, 9]], [[24]]])('finds and names removed entries %j', async (seqs) => {
    verifies('audit.tamper.removed');
    const chain = await sealedChain();
    await chain.remove(...seqs);
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({ valid: false, first_broken_seq: seqs[0] });
  });

  test('finds and names an inserted entry', async () => {
    const chain = await sealedChain();
    const last = await entryAt(chain, 30);
    await chain.put(withHash({ ...last, _id: entryId(chain.organizationId, 31), seq: 31 }));
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({ valid: false, first_broken_seq: 31 });
  });

  test.each(['as they are', 'with each other’s positions'])(
    'finds and names two entries that were swapped %s',
    async (how) => {
      verifies('audit.tamper.removed');
      const chain = await sealedChain();
      const [a, b] = [await entryAt(chain, 5), await entryAt(chain, 17)];
      const place = ({ _id, seq, prev_hash }: AuditEntryDocument) =>
        how === 'as they are' ? { _id } : { _id, seq, prev_hash };
      const rehash = how === 'as they are' ? (entry: AuditEntryDocument) => entry : withHash;
      await chain.put(rehash({ ...a, ...place(b) }));
      await chain.put(rehash({ ...b, ...place(a) }));
      const { valid, first_broken_seq } = await chain.audit.verify(chain.organizationId);
      expect({ valid, first_broken_seq }).toEqual({ valid: false, first_broken_seq: how === 'as they are' ? 5 : 6 });
    },
  );

  test.each([
    [[20], 20],
    [[19, 20], 19],
    [Array.from({ length: 20 }, (_, at) => at + 1), 1],
  ])('finds a truncated chain by the checkpoints', async (cut, first) => {
    verifies('audit.tamper.cut');
    const chain = await sealedChain();
    await chain.remove(...Array.from({ length: 10 }, (_, at) => at + 21), ...cut);
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({ valid: false, first_broken_seq: first });
  });

  test('finds a truncated chain without its checkpoints by the copies outside the database', async () => {
    verifies('audit.tamper.cut');
    const chain = await sealedChain();
    await chain.remove(...Array.from({ length: 20 }, (_, at) => at + 11));
    await checkpoints.deleteOne({ _id: entryId(chain.organizationId, 2) });
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
      valid: false,
      first_broken_seq: 11,
      checkpoint: { entries: 10 },
    });
  });

  test.each([
    [0, 1],
    [14, 11],
  ])(
    'finds a chain that was rewritten after entry %d, and names the first entry that no checkpoint covers',
    async (after, first) => {
      verifies('audit.tamper.rewritten');
      const chain = await sealedChain();
      await chain.rewriteAfter(after);
      expect(await chain.audit.verify(chain.organizationId)).toMatchObject({ valid: false, first_broken_seq: first });
      await checkpoints.deleteMany({ organization_id: chain.organizationId });
      expect(await chain.audit.verify(chain.organizationId)).toMatchObject({ valid: false, first_broken_seq: first });
    },
  );

  test('finds a rewritten chain whose checkpoints were signed with another key', async () => {
    verifies('audit.tamper.rewritten');
    const chain = await sealedChain();
    await chain.rewriteAfter(0);
    await checkpoints.deleteMany({ organization_id: chain.organizationId });
    const forger = await createTestChain(deps);
    const head = await entryAt(chain, 30);
    const payload = {
      organization: chain.organizationId,
      number: 1,
      entries: 30,
      head_hash: head.hash,
      at: 1,
      previous: null,
    };
    const statement = await forger.signer.sign(payload, 'audit-checkpoint+jwt');
    await checkpoints.insertOne({
      _id: entryId(chain.organizationId, 1),
      organization_id: chain.organizationId,
      statement,
    });
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
      valid: false,
      first_broken_seq: 1,
      checkpoint: null,
    });
    rmSync(chain.checkpointFolder, { recursive: true });
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
      valid: false,
      first_broken_seq: 1,
      checkpoint: null,
    });
  });

  test('treats a stored checkpoint without a pinned key as a break, but not a line that a crash truncated', async () => {
    verifies('audit.pinned-keys');
    const chain = await sealedChain();
    const kept = createCheckpointFile(chain.checkpointFolder);
    expect((await kept.pinned()).keys).toHaveLength(1);
    appendFileSync(
      path.join(chain.checkpointFolder, `${encodeURIComponent(chain.organizationId)}.jws`),
      '\neyJhbGciOi',
    );
    await kept.append(chain.organizationId, (await kept.read(chain.organizationId)).at(-1) ?? '');
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({ valid: true });
    const forger = await createTestChain(deps);
    const payload = {
      organization: chain.organizationId,
      number: 3,
      entries: 30,
      head_hash: (await entryAt(chain, 30)).hash,
      at: 1,
      previous: null,
    };
    await kept.append(chain.organizationId, await forger.signer.sign(payload, 'audit-checkpoint+jwt'));
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
      valid: false,
      reason: 'a kept checkpoint is not signed by a pinned key',
    });
  });

  test('does not sign a checkpoint over a chain that changed since the last one', async () => {
    const chain = await sealedChain();
    await chain.put({ ...(await entryAt(chain, 25)), outcome: 'denied' });
    await expect(chain.audit.checkpoint(chain.organizationId)).rejects.toThrow('broken at entry 25');
    expect(await checkpoints.countDocuments({ organization_id: chain.organizationId })).toBe(2);
  });

  test('does not sign a checkpoint over entries that were rewritten after their process wrote them', async () => {
    const chain = await sealedChain();
    await chain.rewriteAfter(25);
    await expect(chain.audit.checkpoint(chain.organizationId)).rejects.toThrow('the audit chain is broken');
  });
});

describe('checkpoints of an audit chain', () => {
  test.each([
    ['removed', 1],
    ['removed', 2],
    ['replaced', 1],
    ['replaced', 2],
  ])('are found when one is %s: number %d', async (how, number) => {
    verifies('audit.tamper.rewritten');
    const chain = await sealedChain();
    await chain.audit.checkpoint(chain.organizationId);
    const _id = entryId(chain.organizationId, number);
    const other = entryId(chain.organizationId, 3);
    if (how === 'removed') await checkpoints.deleteOne({ _id });
    else
      await checkpoints.updateOne(
        { _id },
        { $set: { statement: (await checkpoints.findOne({ _id: other }))?.statement ?? '' } },
      );
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
      valid: false,
      reason: expect.stringContaining('checkpoint'),
    });
  });

  test('verify after a rotation of the signing key, while the old key is published', async () => {
    verifies('gateway.audit.checkpoints');
    const chain = await sealedChain();
    await chain.signer.rotate();
    await chain.audit.checkpoint(chain.organizationId);
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
      valid: true,
      checkpoint: { number: 3, entries: 30 },
    });
    await checkpoints.deleteOne({ _id: entryId(chain.organizationId, 3) });
    rmSync(chain.checkpointFolder, { recursive: true });
    expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
      valid: true,
      checkpoint: { number: 2, entries: 20 },
    });
  });

  test('cannot be replaced by a statement of another type or of another chain', async () => {
    const chain = await sealedChain();
    const foreign = await createLocalSigner(chain.signer.privateJwk());
    const at = (await entryAt(chain, 30)).hash;
    const last = await checkpoints.findOne({ _id: entryId(chain.organizationId, 2) });
    const payload = {
      number: 3,
      entries: 30,
      head_hash: at,
      at: 1,
      previous: null,
      organization: chain.organizationId,
    };
    for (const statement of [
      await foreign.sign(payload, 'JWT'),
      await foreign.sign({ ...payload, organization: 'other' }, 'audit-checkpoint+jwt'),
      'nonsense',
      last?.statement.slice(0, -4) ?? '',
    ]) {
      await checkpoints.replaceOne(
        { _id: entryId(chain.organizationId, 3) },
        { organization_id: chain.organizationId, statement },
        { upsert: true },
      );
      expect(await chain.audit.verify(chain.organizationId)).toMatchObject({
        valid: false,
        first_broken_seq: 21,
        checkpoint: { entries: 20 },
      });
    }
  });

  test('are created automatically after a number of entries and a time', async () => {
    const chain = await createTestChain(deps, { checkpointEvery: 5 });
    await chain.append(5);
    await chain.append(1);
    await chain.audit.close();
    const timed = await createTestChain(deps, { checkpointSeconds: 0.05 });
    await timed.append(1);
    for (const { organizationId, audit } of [chain, timed]) {
      await eventually(async () =>
        expect(await audit.verify(organizationId)).toMatchObject({
          valid: true,
          checkpoint: { number: expect.any(Number) },
        }),
      );
    }
    await timed.audit.close();
    expect((await chain.audit.verify(chain.organizationId)).checkpoint?.entries).toBe(6);
  });

  test('are made by the next sweep if an attempt failed, without another entry', async () => {
    let attempts = 0;
    const seal = (_id: string, { seq }: { seq: number }) => {
      attempts += 1;
      if (attempts === 1) return Promise.reject(new Error('the store is away'));
      return Promise.resolve({ entries: seq } as Checkpoint);
    };
    const { collections } = deps.mongo;
    const chains = createActiveChains({ collections, checkpoints: { seal }, checkpointSeconds: 0.05 });
    const organizationId = newId();
    await chains.appender(organizationId).append(unchained(eventOf(organizationId, 1)));
    await eventually(() => expect(attempts).toBe(2));
    await chains.close();
    expect(attempts).toBe(2);
  });

  test('are made for an entry that takes longer to store than a sweep takes', async () => {
    const sealed = new Set<string>();
    const seal = (organizationId: string, { seq }: { seq: number }) => {
      sealed.add(organizationId);
      return Promise.resolve({ entries: seq } as Checkpoint);
    };
    const [slow, quick] = [newId(), newId()];
    let store = () => {};
    const allowed = new Promise<void>((resolve) => (store = resolve));
    const audit_entries = Object.create(deps.mongo.collections.audit_entries, {
      insertMany: {
        async value(documents: AuditEntryDocument[], options: object) {
          if (documents[0]?._id.startsWith(`${slow}:`)) await allowed;
          return deps.mongo.collections.audit_entries.insertMany(documents, options);
        },
      },
    });
    const chains = createActiveChains({
      collections: { audit_entries },
      checkpoints: { seal },
      checkpointSeconds: 0.05,
    });
    const append = (organizationId: string) =>
      chains.appender(organizationId).append(unchained(eventOf(organizationId, 1)));
    const stored = append(slow);
    await append(quick);
    // The sweep that seals this chain has processed both chains.
    await eventually(() => expect(sealed).toContain(quick));
    store();
    await stored;
    await eventually(() => expect(sealed).toContain(slow));
    await chains.close();
  });
});
