import { collections as definitions } from '../../src/collections.js';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createAudit } from '../../src/governance/audit/audit.js';
import { entryId } from '../../src/governance/audit/entry.js';
import { createPolicyStore } from '../../src/governance/policy/store.js';
import { PolicyRule } from '../../src/governance/policy/rule.js';
import { newId } from '../../src/base/ids.js';
import { createMongo, type Mongo } from '../../src/stores/mongo.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { createTestChain, eventOf } from '../support/governance/chains.js';
import { startReplicaSet } from '../support/replica-set.js';
import { testRun } from '../support/run.js';
import { catalog } from '../../src/catalog.js';
import { verifies } from '../support/verifies.js';

/** Accesses the stored data directly, not through the replica set. */
const direct = useDeps();
const uri = testRun().env.MONGODB_URI ?? '';
const members = await startReplicaSet(uri);
const processes: Mongo[] = [];
afterAll(async () => {
  await Promise.all(processes.map((mongo) => mongo.close()));
  await members.close();
});

/** Connects to the store as another process of the product does. */
function startProcess(): Mongo {
  const mongo = createMongo({ collections: definitions, uri: members.uri(new URL(uri).pathname.slice(1)) });
  processes.push(mongo);
  return mongo;
}

async function kill({ db: { client } }: Mongo): Promise<void> {
  // A killed process makes no further attempts, but a client that closes can still make one.
  (client as any).topology.selectServer = () => Promise.reject(new Error('killed'));
  await client.close(true);
}

describe('an audit chain', () => {
  test('is not broken by a failover that undoes an entry which another process has read', async () => {
    verifies('store.audit-chain.failover');
    const doomed = startProcess();
    const { organizationId, signer, checkpointFolder, audit, append } = await createTestChain({
      ...direct,
      mongo: doomed,
    });
    const chainIn = (mongo: Mongo) =>
      createAudit({
        collections: mongo.collections,
        signer,
        checkpointFolder,
        checkpointEvery: Infinity,
        checkpointSeconds: 3600,
      });
    await append(3);
    members.isolate();
    const lost = audit.append(eventOf(organizationId, 4)).catch(() => 'never told');
    await eventually(async () =>
      expect(await direct.mongo.collections.audit_entries.findOne({ _id: entryId(organizationId, 4) })).not.toBeNull(),
    );
    await eventually(() => expect(members.waiting).toHaveLength(1));
    await kill(doomed);
    const second = chainIn(startProcess());
    const acknowledged = second.append(eventOf(organizationId, 5));
    await eventually(() => expect(members.waiting).toHaveLength(2));
    await members.failover();
    expect(await lost).toBe('never told');
    expect(await acknowledged).toMatchObject({ seq: 4 });
    expect(await chainIn(startProcess()).append(eventOf(organizationId, 6))).toMatchObject({ seq: 5 });
    expect(await second.append(eventOf(organizationId, 7))).toMatchObject({ seq: 6 });
    expect(await second.verify(organizationId)).toMatchObject({ valid: true, entries: 6 });
  });

  test('continues from the stored entries after a restored backup', async () => {
    verifies('store.audit-chain.failover');
    const { organizationId, audit, append, remove } = await createTestChain({ ...direct, mongo: startProcess() });
    await append(5);
    await remove(4, 5);
    const isInsert = ({ name, collection }: { name: string; collection: string }) =>
      name === 'insert' && collection === 'audit_entries';
    void members.fault(isInsert, 'not_primary');
    void members.fault(isInsert, 'not_primary');
    await expect(audit.append(eventOf(organizationId, 6))).rejects.toThrow('not primary');
    expect(await audit.append(eventOf(organizationId, 7))).toMatchObject({ seq: 4 });
    expect(await audit.verify(organizationId)).toMatchObject({ valid: true, entries: 4 });
  });
});

describe('a policy version', () => {
  test('that a failover undoes is not enforced by a process that read it', async () => {
    verifies('store.policies.failover');
    const organization_id = newId();
    const [doomed, asking, other] = [startProcess(), startProcess(), startProcess()];
    const versionOf = (policy_id: string) => ({
      organization_id,
      version: 1,
      policies: [PolicyRule.parse({ policy_id, effect: 'forbid' })],
      created_by: 'user',
      created_at: 1,
    });
    members.isolate();
    const lost = createPolicyStore(doomed.collections, catalog)
      .append(versionOf('undone'))
      .catch(() => 'never told');
    await eventually(() => expect(members.waiting).toHaveLength(1));
    const asked = createPolicyStore(asking.collections, catalog);
    expect((await asked.current(organization_id)).version).toBe(0);
    await kill(doomed);
    await members.failover();
    expect(await lost).toBe('never told');
    await createPolicyStore(other.collections, catalog).append(versionOf('acknowledged'));
    expect([...(await asked.current(organization_id)).rules.keys()]).toContain('acknowledged');
  });
});
