import { isAppError } from '../../../base/errors.js';
import { epochSeconds } from '../../../base/time.js';
import { defineCollection, type Collections } from '../../../stores/collections.js';
import { insertOnce } from '../../../stores/insert-once.js';
import { production } from '../../agentflows/record/channels.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import type { Deps } from '../../deps.js';
import type { ReleaseDocument } from '../record.js';
import { point } from './point.js';
import { findRelease, publish } from './publish.js';
import { startsOf } from '../rules/starts.js';
import { snapshotOf } from './snapshot.js';

type UpgradeDeps = Pick<Deps, 'mongo' | 'log'>;

const _id = 'releases';

/** A promoted version before there were releases. */
type EarlierVersion = Pick<ReleaseDocument, '_id' | 'agentflow_id' | 'version' | 'agentflow'> & {
  promoted_at: number;
  promoted_by: string;
};

/**
 * Makes releases of what ran before there were releases: promoted versions, and the saved agentflows of schedules and triggers.
 * Runs once in an installation, before it serves requests and polls for work. Safe to repeat after a crash.
 */
export async function publishWhatRuns(deps: UpgradeDeps): Promise<void> {
  const { collections } = deps.mongo;
  if (await collections.upgrades.findOne({ _id })) return;
  await completeVersions(collections);
  const promoted = collections.agentflows.find({ promoted_version: { $exists: true }, is_deleted: false });
  for await (const agentflow of promoted) {
    if (agentflow.channels?.[production]) continue;
    const release = await findRelease(collections, agentflow._id, agentflow.promoted_version ?? 0);
    await pointProduction(deps, agentflow, release);
  }
  for (const id of await startedByThemselves(collections)) await publishSaved(deps, id, new Set());
  await insertOnce(collections.upgrades, { _id, at: epochSeconds() });
}

/** Adds to promoted versions what releases have in addition. */
async function completeVersions(collections: Collections): Promise<void> {
  const { agentflow_versions } = collections;
  let before: { agentflow_id: string; digest: string } | undefined;
  for await (const found of agentflow_versions.find({}).sort({ agentflow_id: 1, version: 1 })) {
    const base = before?.agentflow_id === found.agentflow_id ? before.digest : null;
    const { agentflow_id, version } = found;
    if ('digest' in found) {
      before = found;
      continue;
    }
    const { _id: id, agentflow, promoted_at, promoted_by } = found as EarlierVersion;
    const { content, digest } = await snapshotOf(collections, agentflow);
    const fields = { published_at: promoted_at, published_by: promoted_by, note: '', external_id: null, request: id };
    await agentflow_versions.updateOne({ _id: id }, { $set: { ...content, ...fields, digest, base } });
    await collections.agentflows.updateOne({ _id: agentflow_id }, { $max: { latest_version: version } });
    before = { agentflow_id, digest };
  }
}

/** The agentflows that schedules and triggers start. */
async function startedByThemselves({ schedules, connectors }: Collections): Promise<Set<string>> {
  const ids = new Set<string>();
  const present = { is_deleted: false };
  for await (const { coworker_id } of schedules.find(present, { projection: { coworker_id: 1 } })) ids.add(coworker_id);
  for await (const { triggers } of connectors.find(present, { projection: { triggers: 1 } }))
    for (const { agentflow_id } of triggers) if (agentflow_id !== undefined) ids.add(agentflow_id);
  return ids;
}

/** Publishes the saved agentflow, after those that it starts. What is promoted stays in production. */
async function publishSaved(deps: UpgradeDeps, id: string, open: ReadonlySet<string>): Promise<void> {
  const { collections } = deps.mongo;
  const agentflow = await collections.agentflows.findOne({ _id: id });
  if (!agentflow || agentflow.is_deleted || open.has(id)) return;
  for (const { agentflow_id } of startsOf(agentflow)) await publishSaved(deps, agentflow_id, new Set([...open, id]));
  const by = agentflow.edited_by.at(-1) ?? '';
  const publication = { note: 'Published by the upgrade to releases', by, request: `upgrade/${id}` };
  const release = await publish(collections, agentflow, publication).catch((error: unknown) => {
    if (!isAppError(error) || error.code !== 'validation_failed') throw error;
    deps.log.warn(
      { agentflow: id, problem: error.message },
      'an agentflow with a schedule or trigger could not be published; until it is promoted, they start no runs',
    );
    return undefined;
  });
  if (!release) return;
  if (!agentflow.channels?.[production]) return pointProduction(deps, agentflow, release);
  const { version } = agentflow.channels[production];
  if (agentflow.channels[production].digest !== release.digest)
    deps.log.warn(
      { agentflow: id, production: version, published: release.version },
      'schedules and triggers of this agentflow ran it as it was saved, and now run its promoted release; what was saved is published as well',
    );
}

async function pointProduction(
  { mongo, log }: UpgradeDeps,
  agentflow: AgentflowDocument,
  release: ReleaseDocument,
): Promise<void> {
  const target = { release, slots: {}, split: null };
  const change = {
    ...{ channel: production, target, note: 'The upgrade to releases', by: release.published_by, request: release._id },
    ...{ approval_id: null, lifecycle_id: null },
  };
  await point(mongo.collections, agentflow, change);
  log.info({ agentflow: agentflow._id, version: release.version }, 'the upgrade has put this release into production');
}

export const upgradesCollection = defineCollection('upgrades', {});

declare module '../../../stores/collections.js' {
  interface Documents {
    /** The changes of records that were made once in this installation. */
    upgrades: { _id: string; at: number };
  }
}
