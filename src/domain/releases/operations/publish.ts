import { z } from 'zod';
import { AppError, notFound } from '../../../base/errors.js';
import { Digest } from '../../../base/hash.js';
import { Id } from '../../../base/ids.js';
import { epochSeconds } from '../../../base/time.js';
import { textFacts } from '../../../governance/operations/operation.js';
import type { Collections } from '../../../stores/collections.js';
import { isDuplicateKey } from '../../../stores/mongo.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import { findAgentflow } from '../../agentflows/operations/store.js';
import { defineOperation, writes } from '../../operation.js';
import { exampleRelease, Release, toRelease, type ReleaseDocument } from '../record.js';
import { snapshotOf } from './snapshot.js';

export const NewRelease = z
  .strictObject({
    note: z.string().max(2000).default('').describe('What has changed, for people.'),
    external_id: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'An id of the caller, such as that of a build. Publishing the same content under it again returns the same release; other content is refused with 409.',
      ),
    base: Digest.optional().describe(
      'The digest of the release on which the content is based. If another release was published since, the answer is 409.',
    ),
    projectID: z.string().optional(),
  })
  .meta({ id: 'ReleaseInput', example: { note: exampleRelease.note, external_id: 'build-117' } });
type NewRelease = z.infer<typeof NewRelease>;

/** Publishes the saved agentflow as its next release. No channel points to it yet. */
export const publishRelease = defineOperation({
  name: 'release.publish',
  ...writes,
  facts: textFacts('id'),
  key: z.object({ id: Id }),
  input: NewRelease,
  output: Release,
  errors: ['conflict', 'validation_failed'],
  lookUp: async ({ key: { id } }) => ({ resource: { type: 'agentflow', id } }),
  async boundState({ deps, ctx, key: { id } }) {
    const { collections } = deps.mongo;
    return { digest: (await snapshotOf(collections, await findAgentflow(collections, ctx.principal, id))).digest };
  },
  async run({ deps, ctx: { principal, recordId }, key: { id }, input }) {
    const { collections } = deps.mongo;
    const agentflow = await findAgentflow(collections, principal, id);
    return toRelease(await publish(collections, agentflow, { ...input, by: principal.userId, request: recordId }));
  },
});

interface Publication extends Pick<NewRelease, 'external_id' | 'base'> {
  note: string;
  by: string;
  /** The record id of the call: a repeat returns the release that it has published. */
  request: string;
}

/**
 * Stores the agentflow as its next release. Concurrent calls get different versions.
 * @throws AppError `validation_failed` with all that is wrong, `conflict` for another `base` or for other content of the `external_id`
 */
export async function publish(
  collections: Collections,
  agentflow: AgentflowDocument,
  { by, request, note, external_id, base }: Publication,
): Promise<ReleaseDocument> {
  const { agentflow_versions } = collections;
  const { content, digest, problems } = await snapshotOf(collections, agentflow);
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  const released = { agentflow_id: agentflow._id };
  for (;;) {
    // Read first: if another call publishes after it, this version is taken, so no id names two releases.
    const latest = await latestRelease(collections, agentflow._id);
    const repeated = await agentflow_versions.findOne({ ...released, request });
    if (repeated) return await shown(collections, repeated);
    const present = external_id === undefined ? null : await agentflow_versions.findOne({ ...released, external_id });
    if (present) return await shown(collections, sameContent(present, digest));
    if (base !== undefined && base !== latest?.digest)
      throw new AppError(
        'conflict',
        `base: the latest release is ${latest ? `${latest.version} with the digest ${latest.digest}` : 'none'}; compare it with your content, then publish with its digest`,
      );
    const version = (latest?.version ?? 0) + 1;
    const release: ReleaseDocument = {
      _id: `${agentflow._id}:${version}`,
      agentflow_id: agentflow._id,
      projectID: agentflow.projectID,
      ...{ version, digest, note, request },
      base: latest?.digest ?? null,
      published_at: epochSeconds(),
      published_by: by,
      external_id: external_id ?? null,
      ...content,
    };
    try {
      await agentflow_versions.insertOne(release);
      return await shown(collections, release);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

/** After a crash between both writes, the repeated call or the next release makes the first one known. */
async function shown({ agentflows }: Collections, release: ReleaseDocument): Promise<ReleaseDocument> {
  await agentflows.updateOne({ _id: release.agentflow_id }, { $max: { latest_version: release.version } });
  return release;
}

function sameContent(release: ReleaseDocument, digest: string): ReleaseDocument {
  if (release.digest === digest) return release;
  throw new AppError(
    'conflict',
    `external_id: release ${release.version} has this id, and other content; use another id for this content`,
  );
}

async function latestRelease({ agentflow_versions }: Collections, id: string): Promise<ReleaseDocument | undefined> {
  const [latest] = await agentflow_versions.find({ agentflow_id: id }).sort({ version: -1 }).limit(1).toArray();
  return latest;
}

/** @throws AppError `not_found` */
export async function findRelease(
  { agentflow_versions }: Pick<Collections, 'agentflow_versions'>,
  id: string,
  version: number,
): Promise<ReleaseDocument> {
  const found = await agentflow_versions.findOne({ _id: `${id}:${version}` });
  if (!found) throw notFound('the release');
  return found;
}
