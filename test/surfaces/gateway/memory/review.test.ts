import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import type { ApiClient } from '../../../support/client.js';
import { createKey, personOf, useDeps } from '../../../support/fixture.js';
import { bearerClient } from '../../../support/gateway.js';
import { verifies } from '../../../support/verifies.js';
import { facts, livesIn, reached, remember, said, useMemoryProduct } from './memory-product.js';

const deps = useDeps();
const product = useMemoryProduct(deps);

const ontology = {
  entity_types: {
    Person: { properties: { city: { type: 'string' }, diagnosis: { type: 'string', personal: true } } },
    Company: {
      properties: { headquarters: { type: 'string' }, offices: { type: 'array' }, address: { type: 'object' } },
    },
  },
  relationship_types: { WORKS_AT: { from: ['Person'], to: ['Company'] } },
};

/** A memory that waits for its review, and a person who may decide. */
async function waiting(answer: (asked: string) => object, text: string, before: object[] = []) {
  const workspace = await product.workspace(answer, { ontology });
  for (const body of before)
    expect(await workspace.gateway.post('/v1/save-context', body)).toMatchObject({ status: 200 });
  const { memory_id } = await remember(workspace, { text, review: true, at: '2026-03-01T00:00:00Z' });
  await reached(workspace, memory_id, 'waiting');
  const person = await personOf(deps, workspace, { url: product.api.url });
  return { workspace, memory_id, person };
}

const reviewPath = (id: string, query = '') => `/v1/memories/${id}/review${query}`;

async function reviewOf(client: ApiClient, id: string): Promise<any> {
  const { status, body } = await client.get(reviewPath(id, '?limit=200'));
  expect([status, body.next_cursor ?? null]).toEqual([200, null]);
  return body;
}

const approve = (client: ApiClient, id: string, more: object = {}) =>
  client.post(`/inbox/memory:${id}/reply`, { decision: 'approve', ...more });

const acme = { type: 'Company', name: 'Acme' };
const acmeInParis = {
  entities: [acme],
  facts: [{ subject: acme, predicate: 'headquarters', object: 'Paris', valid_from: 1_600_000_000 }],
};

describe('GET /v1/memories/{memory_id}/review', () => {
  test('shows every fact, by page, and nothing is written meanwhile', async () => {
    verifies('memory.review.everything');
    const people = Array.from({ length: 130 }, (_, at) => `Person${at}`);
    const text = people.map((name) => `${name} lives in City-${name}.`).join(' ');
    const answer = (asked: string) => {
      const found = people.filter((name) => asked.includes(`${name} lives`));
      return {
        entities: found.map((name) => ({ type: 'Person', name, quote: name })),
        facts: found.map((name) => ({
          ...{ subject: name, predicate: 'city', object: `City-${name}`, quote: `${name} lives in City-${name}` },
        })),
      };
    };
    const { workspace, memory_id, person } = await waiting(answer, text);
    const seen: any[] = [];
    const digests = new Set<string>();
    for (let cursor: string | null = ''; cursor !== null;) {
      const { status, body } = await person.get(reviewPath(memory_id, `?limit=50${cursor && `&cursor=${cursor}`}`));
      expect([status, body.total_count]).toEqual([200, 260]);
      seen.push(...body.data);
      digests.add(body.payload_digest);
      cursor = body.next_cursor;
    }
    const cities = seen.filter(({ kind }) => kind === 'fact').map(({ object }) => object);
    expect(cities.sort()).toEqual(people.map((name) => `City-${name}`).sort());
    expect(seen.filter(({ kind }) => kind === 'entity')).toHaveLength(130);
    expect(digests.size).toBe(1);
    expect(await facts(workspace)).toEqual([]);
  });

  test('shows properties that are lists and objects, and the values that the quote does not contain', async () => {
    verifies('memory.review.everything', 'memory.review.quote');
    const properties = { offices: ['Lyon', 'Attackville'], address: { city: 'Nice', zip: 6000 } };
    const { memory_id, person } = await waiting(
      () => ({ entities: [{ ...acme, quote: 'Acme has an office in Lyon', properties }] }),
      'Acme has an office in Lyon. Hello.',
    );
    const { data, summary } = await reviewOf(person, memory_id);
    expect(data).toEqual([
      expect.objectContaining({
        ...{ kind: 'entity', name: 'Acme', properties, joins: null, quote: 'Acme has an office in Lyon' },
        not_in_quote: ['Attackville', 'Nice', '6000'],
      }),
    ]);
    expect(summary).toContain('1 entity');
    expect(summary).toContain('1 statement contains values that are not in the quoted text');
  });

  test('shows into which entity an alias merges a mention, and the facts that end', async () => {
    verifies('memory.review.everything', 'memory.review.quote');
    const answer = () => ({
      entities: [{ type: 'Company', name: 'Harmless Ltd', aliases: ['Acme'], quote: 'hello' }],
      facts: [{ subject: 'Harmless Ltd', predicate: 'headquarters', object: 'Attackville', quote: 'hello' }],
    });
    const { workspace, memory_id, person } = await waiting(answer, 'hello', [acmeInParis]);
    const { data } = await reviewOf(person, memory_id);
    const now = { object: 'Paris', valid_from: 1_600_000_000, valid_to: null };
    expect(data).toEqual([
      expect.objectContaining({
        kind: 'replacement',
        name: 'Acme',
        predicate: 'headquarters',
        before: now,
        object: 'Attackville',
      }),
      expect.objectContaining({
        ...{ kind: 'merge', name: 'Harmless Ltd', aliases: ['Acme'], not_in_quote: ['Harmless Ltd', 'Acme'] },
        joins: { entity_id: expect.any(String), name: 'Acme' },
      }),
      expect.objectContaining({ kind: 'fact', object: 'Attackville', not_in_quote: ['Attackville'] }),
    ]);
    expect(said(await facts(workspace))).toEqual(['Acme headquarters Paris']);
  });

  test('shows a merge that only a name from an earlier part of the text causes', async () => {
    verifies('memory.review.everything');
    const filler = 'Nothing happened that day. '.repeat(240);
    const answer = (asked: string) =>
      asked.includes('Alpha')
        ? { entities: [{ type: 'Company', name: 'Alpha', aliases: ['Acme'], quote: 'Alpha' }] }
        : { entities: [{ type: 'Company', name: 'Beta', aliases: ['Alpha'], quote: 'Beta' }] };
    const { memory_id, person } = await waiting(answer, `Alpha. ${filler}\n\nBeta.`, [acmeInParis]);
    const { data } = await reviewOf(person, memory_id);
    const merges = data.filter(({ kind }: any) => kind === 'merge');
    expect(merges.map(({ name, joins }: any) => [name, joins.name])).toEqual([
      ['Alpha', 'Acme'],
      ['Beta', 'Acme'],
    ]);
  });

  test('answers 404 in another project, and 409 when nothing waits', async () => {
    verifies('memory.tenancy', 'memory.review.everything');
    const text = 'Ada Lovelace lives in Berlin.';
    const { memory_id, person } = await waiting(() => livesIn('Ada Lovelace', 'Berlin', text), text);
    const other = await product.workspace(() => ({ entities: [] }));
    expect(await other.gateway.get(reviewPath(memory_id))).toMatchObject({ status: 404 });
    expect(await person.get(reviewPath(memory_id, '?cursor=YWZ0ZXI6MQ'))).toMatchObject({ status: 400 });
    const rejected = await person.post('/v1/memory', { operation: 'reject', memory_id });
    expect(rejected).toMatchObject({ status: 200 });
    expect(await person.get(reviewPath(memory_id))).toMatchObject({ status: 409 });
  });

  test('is whole for people who may decide, redacted for programs, and each reading by a person is audited', async () => {
    verifies('memory.review.redacted');
    const text = 'Ada Lovelace lives at ada.lovelace@example.com and has a cold.';
    const answer = () => {
      const found = livesIn('Ada Lovelace', 'ada.lovelace@example.com', text);
      return {
        ...found,
        facts: [...found.facts, { subject: 'Ada Lovelace', predicate: 'diagnosis', object: 'a cold', quote: text }],
      };
    };
    const { workspace, memory_id, person } = await waiting(answer, text);
    const whole = await reviewOf(person, memory_id);
    expect(whole.payload_view).toEqual({ is_redacted: false, has_hidden: false, is_shortened: false });
    for (const part of ['ada.lovelace@example.com', 'a cold']) expect(JSON.stringify(whole.data)).toContain(part);
    const entries = await deps.mongo.collections.audit_entries.find({ resource: `memory:${memory_id}` }).toArray();
    expect(entries.filter(({ action }) => action === 'memory.read-review')).toHaveLength(1);

    const redacted = await reviewOf(workspace.gateway, memory_id);
    const reader = bearerClient(
      await createKey(deps, { ...workspace, departmentId: '' }, { grants: ['svc:query.read'] }),
      product.api.url,
    );
    const item = { operation: 'get', item_id: `memory:${memory_id}` };
    const shown = [redacted, await reviewOf(reader, memory_id), (await workspace.gateway.post('/v1/inbox', item)).body];
    for (const each of shown) {
      expect(JSON.stringify(each)).not.toContain('ada.lovelace@');
      expect(JSON.stringify(each.data ?? each.items[0].body.statements)).not.toContain('a cold');
    }
    expect(redacted).toMatchObject({
      payload_digest: whole.payload_digest,
      payload_view: { is_redacted: true, has_hidden: true },
    });
    expect(shown[2].items[0].body).toMatchObject({ payload_digest: whole.payload_digest, summary: whole.summary });
  });
});

describe('approving a review', () => {
  const text = 'Acme is in Rome.';
  const inRome = () => ({
    entities: [{ ...acme, quote: 'Acme' }],
    facts: [{ subject: 'Acme', predicate: 'headquarters', object: 'Rome', quote: text }],
  });

  test('is refused if something else would be written than the person saw', async () => {
    verifies('memory.review.digest');
    const { workspace, memory_id, person } = await waiting(inRome, text);
    const first = await reviewOf(person, memory_id);
    expect(first.data.map(({ kind }: any) => kind)).toEqual(['entity', 'fact']);
    await workspace.gateway.post('/v1/save-context', acmeInParis);
    const approvals = [
      await approve(person, memory_id, { payload_digest: first.payload_digest }),
      await person.post('/v1/memory', { operation: 'approve', memory_id, payload_digest: first.payload_digest }),
      await person.get(reviewPath(memory_id, `?limit=1&cursor=${secondPage(first)}`)),
    ];
    for (const { status, body } of approvals)
      expect([status, body.error_description]).toEqual([409, expect.stringContaining('read it again')]);
    const second = await reviewOf(person, memory_id);
    expect(second.data.map(({ kind }: any) => kind)).toEqual(['replacement', 'merge', 'fact']);
    expect(await approve(person, memory_id, { payload_digest: second.payload_digest })).toMatchObject({ status: 200 });
    await reached(workspace, memory_id, 'completed');
    expect(said(await facts(workspace))).toEqual(['Acme headquarters Rome']);
  });

  /** The cursor of the second page, as the service makes it. */
  function secondPage({ payload_digest }: { payload_digest: string }): string {
    return Buffer.from(`after:1:${payload_digest}`).toString('base64url');
  }

  test('needs the digest from a program', async () => {
    verifies('memory.review.digest');
    const { workspace, memory_id } = await waiting(inRome, text);
    const colleague = { ...workspace, userId: newId(), departmentId: '' };
    const key = bearerClient(await createKey(deps, colleague), product.api.url);
    const reply = (more: object = {}) =>
      key.post('/v1/inbox', { operation: 'reply', item_id: `memory:${memory_id}`, decision: 'approve', ...more });
    for (const answer of [await reply(), await key.post('/v1/memory', { operation: 'approve', memory_id })])
      expect([answer.status, answer.body.error_description]).toEqual([
        422,
        expect.stringMatching(/^payload_digest: required/),
      ]);
    const { payload_digest } = await reviewOf(key, memory_id);
    expect(await reply({ payload_digest: payload_digest.replace(/^./, 'x') })).toMatchObject({ status: 409 });
    expect(await reply({ payload_digest })).toMatchObject({ status: 200 });
    await reached(workspace, memory_id, 'completed');
  });

  test('can always be rejected, also with an old digest', async () => {
    verifies('memory.review.digest');
    const { workspace, memory_id, person } = await waiting(inRome, text);
    const reply = { decision: 'reject', payload_digest: 'of another review' };
    expect(await person.post(`/inbox/memory:${memory_id}/reply`, reply)).toMatchObject({ status: 200 });
    await reached(workspace, memory_id, 'rejected');
  });
});
