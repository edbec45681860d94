import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { auditRoutes } from '../../src/surfaces/gateway/routes/audit.js';
import { verifyStatement, type Checkpoint } from '../../src/governance/audit/statement.js';
import { verifyAuditFile } from '../../src/governance/audit/verify-file.js';
import type { ApiClient } from '../support/client.js';
import { useDeps } from '../support/fixture.js';
import { createTestChain, type TestChain } from '../support/governance/chains.js';
import { serveRoutes, type RouteServer } from '../support/governance/gateway-server.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
let chain: TestChain;
let server: RouteServer;
let owner: ApiClient;

beforeAll(async () => {
  chain = await createTestChain(deps);
  await chain.append(7);
  await chain.audit.checkpoint(chain.organizationId);
  await chain.append(5);
  server = await serveRoutes({ ...deps, governance: { ...deps.governance, audit: chain.audit } }, auditRoutes);
  owner = server.as({ organizationId: chain.organizationId });
});
afterAll(() => server.close());

describe('GET /v1/audit', () => {
  test('lists the entries of the organization, newest first, a page at a time', async () => {
    verifies('gateway.audit.list');
    const seqs: number[] = [];
    let path = '/v1/audit?limit=5';
    for (let pages = 0; pages < 3; pages += 1) {
      const { status, body } = await owner.get(path);
      expect(status).toBe(200);
      expect(body.total_count).toBe(12);
      seqs.push(...body.data.map((entry: { seq: number }) => entry.seq));
      for (const [at, entry] of body.data.slice(0, -1).entries()) expect(entry.prev_hash).toBe(body.data[at + 1].hash);
      path = `/v1/audit?limit=5&cursor=${body.next_cursor}`;
      if (pages === 2) expect(body.next_cursor).toBeNull();
    }
    expect(seqs).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('is empty for an organization without actions, and refuses a foreign cursor', async () => {
    const fresh = await createTestChain(deps);
    expect((await server.as({ organizationId: fresh.organizationId }).get('/v1/audit')).body).toEqual({
      data: [],
      total_count: 0,
      next_cursor: null,
    });
    expect((await owner.get('/v1/audit?cursor=YWZ0ZXI6eA')).status).toBe(400);
  });
});

describe('GET /v1/audit/verify', () => {
  test('reports validity, length, head and the last checkpoint', async () => {
    verifies('gateway.audit.verify');
    const { status, body } = await owner.get('/v1/audit/verify');
    expect(status).toBe(200);
    const head = (await chain.stored()).at(-1)?.hash;
    expect(body).toMatchObject({
      valid: true,
      entries: 12,
      head_hash: head,
      first_broken_seq: null,
      checkpoint: { number: 1, entries: 7 },
      reason: null,
    });
  });
});

describe('GET /v1/audit/checkpoints', () => {
  test('lists signed statements that verify against the published keys', async () => {
    verifies('gateway.audit.checkpoints');
    const { status, body } = await owner.get('/v1/audit/checkpoints');
    expect(status).toBe(200);
    expect(body.total_count).toBe(1);
    const [checkpoint] = body.data as Checkpoint[];
    expect(checkpoint).toMatchObject({
      organization: chain.organizationId,
      number: 1,
      entries: 7,
      head_hash: (await chain.stored())[6]?.hash,
      previous: null,
    });
    expect(await verifyStatement(checkpoint?.statement ?? '', await chain.signer.jwks())).toEqual(checkpoint);
  });
});

describe('GET /v1/audit/export', () => {
  test('streams JSON Lines that the offline check accepts', async () => {
    verifies('gateway.audit.export');
    const { status, headers, body } = await owner.get('/v1/audit/export');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/x-ndjson');
    const verdict = await verifyAuditFile(async function* () {
      yield* String(body).trimEnd().split('\n');
    });
    expect(verdict).toMatchObject({ status: 'valid', entries: 12 });
  });
});

describe('every audit route', () => {
  test.each(['/v1/audit', '/v1/audit/verify', '/v1/audit/checkpoints', '/v1/audit/export'])(
    '%s requires an admin role',
    async (path) => {
      for (const role of ['ORG_ADMIN', 'PROJECT_ADMIN'])
        expect((await server.as({ organizationId: chain.organizationId, role }).get(path)).status).toBe(200);
      const refused = await server.as({ organizationId: chain.organizationId, role: 'MEMBER' }).get(path);
      expect({ status: refused.status, error: refused.body.error }).toEqual({ status: 403, error: 'S2:resolve-scope' });
    },
  );
});
