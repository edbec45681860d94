import { collections as definitions } from '../src/collections.js';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Collection } from 'mongodb';
import { createAppender } from '../src/governance/audit/appender.js';
import { createChainCheck } from '../src/governance/audit/chain-check.js';
import {
  chain,
  entryId,
  genesis,
  unchained,
  type AuditEntryDocument,
  type UnchainedEntry,
} from '../src/governance/audit/entry.js';
import { createGroup } from '../src/stores/group.js';
import { newId } from '../src/base/ids.js';
import { createMongo } from '../src/stores/mongo.js';
import type { BenchEnvironment } from './environment.js';
import { figure, median, range, type Figure } from './measure.js';

type Mode = 'chained' | 'bare' | 'bare in groups';

interface Load {
  mode: Mode;
  uri: string;
  organizationId: string;
  callers: number;
  calls: number;
}

const durable = { writeConcern: { w: 'majority', journal: true } } as const;
const callers = 16;
const calls = 1500;
const rounds = 3;
const verified = 100_000;

/**
 * Compares audit appends of two processes to one chain with equally durable bare inserts of the same documents. Also
 * measures the verifier.
 */
export async function benchAudit({ env }: BenchEnvironment): Promise<Figure[]> {
  const uri = env.MONGODB_URI ?? '';
  const rates: Record<Mode, number[]> = { bare: [], 'bare in groups': [], chained: [] };
  const modes = Object.keys(rates) as Mode[];
  for (const mode of modes) await measureRound({ mode, uri, callers, calls: 200, organizationId: newId() });
  for (let round = 0; round < rounds; round += 1) {
    for (const mode of modes)
      rates[mode].push(await measureRound({ mode, uri, callers, calls, organizationId: newId() }));
  }
  const chained = median(rates.chained);
  return [
    figure(
      'audit appends of two processes against bare inserts, one by one',
      '1/s',
      chained,
      median(rates.bare),
      'at least 0.6',
    ),
    figure(
      'audit appends against bare inserts in the same groups',
      '1/s',
      chained,
      median(rates['bare in groups']),
      'none set',
    ),
    figure('audit entries verified', '1/s', verifierRate(), 50_000, 'at least 1'),
  ];
}

/**
 * Returns how many entries per second the verifier checks in memory: canonical JSON, hash, link and mark of each entry.
 */
function verifierRate(): number {
  const organizationId = newId();
  const stored = chain(
    organizationId,
    genesis(organizationId),
    range(verified).map(() => entryOf(organizationId)),
  );
  const marks = [{ entries: verified, head_hash: stored.at(-1)?.hash ?? '' }];
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const check = createChainCheck(organizationId, marks);
    const began = performance.now();
    for (const entry of stored) check.take(entry);
    seconds.push((performance.now() - began) / 1000);
    if (check.end().finding) throw new Error('the chain that was just made is not sound');
  }
  return verified / median(seconds);
}

async function measureRound(load: Load): Promise<number> {
  const children = [0, 1].map(() =>
    fork(fileURLToPath(import.meta.url), ['load', JSON.stringify(load)], { execArgv: [] }),
  );
  await Promise.all(children.map((child) => once(child, 'message')));
  const began = performance.now();
  const done = children.map((child) => once(child, 'message'));
  for (const child of children) child.send('go');
  await Promise.all(done);
  const seconds = (performance.now() - began) / 1000;
  await Promise.all(children.map(end));
  return (2 * load.calls) / seconds;
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.send('end');
  await exited;
}

function entryOf(organizationId: string): UnchainedEntry {
  const event = {
    actor: `user_jwt:${newId()}`,
    action: 'query-context',
    resource: `project:${newId()}`,
    outcome: 'completed',
    lifecycle_id: newId(),
  };
  return unchained({ organization_id: organizationId, ...event });
}

/** Returns the function that appends or inserts one entry in a child process. */
function writerOf(
  { mode, organizationId }: Load,
  entries: Collection<AuditEntryDocument>,
  scratch: Collection<AuditEntryDocument>,
): () => Promise<unknown> {
  const appender = createAppender({ entries, organizationId, onAppended: () => undefined });
  if (mode === 'chained') return () => appender.append(entryOf(organizationId));
  let seq = 0;
  const document = () => {
    seq += 1;
    const [chainedEntry] = chain(organizationId, genesis(organizationId), [entryOf(organizationId)]);
    return { ...(chainedEntry as AuditEntryDocument), _id: entryId(`${organizationId}-${process.pid}`, seq) };
  };
  if (mode === 'bare') return () => scratch.insertOne(document(), durable);
  const group = createGroup<AuditEntryDocument, void>(async (batch) => {
    await scratch.insertMany(
      batch.map(({ item }) => item),
      { ordered: true, ...durable },
    );
    for (const { resolve } of batch) resolve();
  });
  return () => group.add(document());
}

async function runLoad(load: Load): Promise<void> {
  const mongo = createMongo({ collections: definitions, uri: load.uri });
  await mongo.ping();
  const write = writerOf(load, mongo.collections.audit_entries, mongo.db.collection('bench_inserts'));
  process.send?.('ready');
  await once(process, 'message');
  let left = load.calls;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await write();
  };
  await Promise.all(Array.from({ length: load.callers }, caller));
  process.send?.('done');
  await once(process, 'message');
  await mongo.close();
  process.disconnect?.();
}

if (process.argv[2] === 'load') await runLoad(JSON.parse(process.argv[3] ?? '') as Load);
