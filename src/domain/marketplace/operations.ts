import { z } from 'zod';
import { AppError, notFound } from '../../base/errors.js';
import { textFacts } from '../../governance/operations/operation.js';
import type { Collections } from '../../stores/collections.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import { insertOnce } from '../../stores/insert-once.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { pick } from '../../base/pick.js';
import { epochSeconds } from '../../base/time.js';
import { isEmpty, newAgentflow } from '../agentflows/rules.js';
import { ownValue, production } from '../agentflows/record/channels.js';
import { Agentflow, type AgentflowDocument } from '../agentflows/record.js';
import { findAgentflow, storeAgentflow, toAgentflow } from '../agentflows/operations/store.js';
import { causesOfFlow } from '../caused-rules.js';
import { defineOperation, reads, writes } from '../operation.js';
import { findRelease, snapshotOf } from '../releases/operations.js';
import type { ReleaseContent } from '../releases/record.js';
import { contentOf, contentOfCopy } from './content.js';
import { chosenConnectors } from './slots.js';
import {
  NewHire,
  NewPublication,
  Publication,
  PublicationDetails,
  UpdateCheck,
  type PublicationVersionDocument,
} from './schemas.js';
import { Id } from '../../base/ids.js';
export { publicationsCollection, publicationVersionsCollection } from './schemas.js';

type Stores = Pick<Collections, 'publications' | 'publication_versions'>;

const key = z.object({ id: Id });

export const listPublications = defineOperation({
  name: 'marketplace.list',
  ...reads,
  input: ListQuery,
  output: listOf(Publication),
  run: ({ deps, input }) => listPage(deps.mongo.collections.publications, {}, input, 'created_at'),
});

export const readPublication = defineOperation({
  name: 'marketplace.read',
  ...reads,
  key,
  output: PublicationDetails,
  run: ({ deps, key: { id } }) => findPublication(deps.mongo.collections, id),
});

/** Published versions never change. Throws `validation_failed` for a draft without agents. */
export const publish = defineOperation({
  name: 'marketplace.publish',
  ...writes,
  facts: textFacts('agentflow_id'),
  input: NewPublication,
  output: PublicationDetails,
  errors: ['not_found', 'validation_failed'],
  async run({ deps, ctx: { principal, recordId }, input }) {
    const { collections } = deps.mongo;
    const saved = await findAgentflow(collections, principal, input.agentflow_id);
    const published = await publishedOf(collections, saved);
    if (isEmpty(published.agentflow)) throw new AppError('validation_failed', 'the agentflow has no agents');
    const at = epochSeconds();
    const { _id, organization_id } = saved;
    const { version } = await addVersion(collections, {
      marketplace_id: _id,
      notes: input.notes,
      published_at: at,
      published_by: principal.userId,
      release: published.release,
      ...contentOf(published),
      request_id: recordId,
    });
    await showVersion(collections, _id, {
      always: {
        ...pick(published.agentflow, 'name', 'description', 'role', 'image'),
        ...{ latest_version: version, updated_at: at },
      },
      first: { organization_id, agentflow_id: _id, created_at: at },
    });
    return findPublication(collections, _id);
  },
});

/** The release in production or, if the agentflow was never released, the saved agentflow. */
async function publishedOf(
  collections: Collections,
  saved: AgentflowDocument,
): Promise<Pick<ReleaseContent, 'agentflow' | 'slots'> & { release: number | null }> {
  const { latest_version, channels } = saved;
  if (latest_version === undefined) return { ...(await snapshotOf(collections, saved)).content, release: null };
  const pointer = ownValue(channels, production);
  if (!pointer)
    throw new AppError(
      'validation_failed',
      'the agentflow has releases, and none of them is in production: promote one',
    );
  const { agentflow, slots } = await findRelease(collections, saved._id, pointer.version);
  return { agentflow, slots, release: pointer.version };
}

/** Copies the latest version into the caller's project. A repeated request returns the first copy. */
export const hireAgentflow = defineOperation({
  name: 'marketplace.hire',
  ...writes,
  facts: textFacts('id'),
  causes: causesOfFlow((_, published) => published),
  key,
  input: NewHire,
  async subject({ deps: { mongo }, key: { id } }) {
    const { collections } = mongo;
    if (!(await collections.publications.findOne({ _id: id }, { projection: { _id: 1 } }))) return undefined;
    return (await findPublication(collections, id)).agentflow;
  },
  output: Agentflow,
  errors: ['plan_limit', 'validation_failed'],
  async run({ deps, ctx: { principal, recordId }, key: { id }, input }) {
    const { collections } = deps.mongo;
    const { agentflow, latest_version, agentflow_id, slots } = await findPublication(collections, id);
    const content = contentOfCopy(agentflow, {
      connectors: await chosenConnectors(collections, principal.projectId, slots, input.slots),
      own: { from: agentflow_id, to: recordId },
    });
    const copy = await storeAgentflow(deps, {
      ...newAgentflow(content, principal, recordId, epochSeconds()),
      marketplace_id: id,
      parent_agentflow_id: agentflow_id,
      hired_version: latest_version,
    });
    return toAgentflow(copy);
  },
});

/** `id` is that of the hired copy, or of the publication; the latter selects its newest copy in the project. */
export const checkUpdate = defineOperation({
  name: 'marketplace.check-update',
  ...reads,
  key,
  output: UpdateCheck,
  async run({ deps, ctx, key: { id } }) {
    const { agentflows, publications } = deps.mongo.collections;
    const copies = { projectID: ctx.principal.projectId, is_deleted: false };
    const [copy] = await agentflows
      .find({ ...copies, $or: [{ _id: id, marketplace_id: { $ne: '' } }, { marketplace_id: id }] })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    const publication = copy && (await publications.findOne({ _id: copy.marketplace_id }));
    if (!copy || !publication) throw notFound('the hired coworker');
    const hired_version = copy.hired_version ?? 1;
    const { latest_version } = publication;
    return {
      marketplace_id: publication._id,
      agentflow_id: copy._id,
      hired_version,
      latest_version,
      update_available: latest_version > hired_version,
    };
  },
});

/** Creates the publication, or moves it to a later version. */
async function showVersion(
  { publications }: Stores,
  _id: string,
  { always, first }: { always: Partial<Publication> & { latest_version: number }; first: Partial<Publication> },
): Promise<void> {
  try {
    await publications.updateOne(
      { _id, latest_version: { $lt: always.latest_version } },
      { $set: always, $setOnInsert: first },
      { upsert: true },
    );
  } catch (error) {
    // If the publication already shows this or a later version, the filter misses it and the upsert conflicts on `_id`.
    if (!isDuplicateKey(error)) throw error;
  }
}

/** Version numbers have no gaps: if two are published at once, the second one takes the next number. */
async function addVersion(
  { publication_versions }: Stores,
  fields: Omit<PublicationVersionDocument, '_id' | 'version'>,
): Promise<{ version: number }> {
  const present = await publication_versions
    .find({ marketplace_id: fields.marketplace_id }, { projection: { version: 1, request_id: 1 } })
    .toArray();
  const mine = present.find(({ request_id }) => request_id === fields.request_id);
  if (mine) return mine;
  for (let version = present.length + 1; ; version += 1) {
    const added = await insertOnce(publication_versions, {
      _id: versionId(fields.marketplace_id, version),
      version,
      ...fields,
    });
    if (added.request_id === fields.request_id) return added;
  }
}

function versionId(publicationId: string, version: number): string {
  return `${publicationId}:${version}`;
}

async function findPublication(
  { publications, publication_versions }: Stores,
  id: string,
): Promise<PublicationDetails> {
  const publication = await publications.findOne({ _id: id });
  if (!publication) throw notFound('the publication');
  const { latest_version } = publication;
  const published = { marketplace_id: id, version: { $lte: latest_version } };
  const [latest, versions] = await Promise.all([
    publication_versions.findOne({ _id: versionId(id, latest_version) }),
    publication_versions
      .find(published, { projection: { version: 1, notes: 1, published_at: 1, release: 1 } })
      .sort({ version: -1 })
      .toArray(),
  ]);
  if (!latest) throw notFound('the publication');
  return {
    ...publication,
    versions: versions.map(({ version, notes, published_at, release = null }) => ({
      ...{ version, notes, published_at, release },
    })),
    slots: latest.slots ?? [],
    agentflow: latest.content,
  };
}
