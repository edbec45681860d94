import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import type { RequestContext } from '../../../http/context.js';
import type { Collections } from '../../../stores/collections.js';
import { insertOnce } from '../../../stores/mongo.js';
import { epochSeconds } from '../../../time.js';
import { newAgentflow } from '../agentflows/compose.js';
import type { AgentflowDocument } from '../agentflows/schemas.js';
import { readAgentflow, storeAgentflow } from '../agentflows/store.js';
import { contentOf } from './content.js';
import type { NewPublication, Publication, PublicationDetails, PublicationVersionDocument, UpdateCheck } from './schemas.js';

type Stores = Pick<Collections, 'publications' | 'publication_versions' | 'agentflows'>;

/**
 * Publishes an agentflow of the project, or its next version. What is published never changes afterwards.
 * @throws AppError `not_found`, `validation_failed` for a draft without agents
 */
export async function publish(collections: Collections, { principal, recordId }: RequestContext, request: NewPublication): Promise<PublicationDetails> {
  const agentflow = await readAgentflow(collections, principal, request.agentflow_id);
  if (agentflow.agents.length === 0) throw new AppError('validation_failed', 'the agentflow has no agents');
  const at = epochSeconds();
  const { _id, name, description, role, image, organization_id } = agentflow;
  await insertOnce(collections.publications, {
    ...{ _id, name, description, role, image, organization_id, agentflow_id: _id },
    ...{ latest_version: 0, created_at: at, updated_at: at },
  });
  const { version } = await addVersion(collections, {
    marketplace_id: _id,
    notes: request.notes,
    published_at: at,
    published_by: principal.userId,
    content: contentOf(agentflow),
    request_id: recordId,
  });
  await collections.publications.updateOne(
    { _id, latest_version: { $lt: version } },
    { $set: { name, description, role, image, latest_version: version, updated_at: at } },
  );
  return readPublication(collections, _id);
}

/** Versions are gapless: of two that are published at once the second takes the next number. */
async function addVersion(
  { publication_versions }: Stores,
  fields: Omit<PublicationVersionDocument, '_id' | 'version'>,
): Promise<{ version: number }> {
  const present = await publication_versions.find({ marketplace_id: fields.marketplace_id }, { projection: { version: 1, request_id: 1 } }).toArray();
  const mine = present.find(({ request_id }) => request_id === fields.request_id);
  if (mine) return mine;
  for (let version = present.length + 1; ; version += 1) {
    const made = await insertOnce(publication_versions, { _id: versionId(fields.marketplace_id, version), version, ...fields });
    if (made.request_id === fields.request_id) return made;
  }
}

function versionId(publicationId: string, version: number): string {
  return `${publicationId}:${version}`;
}

export async function readPublication({ publications, publication_versions }: Stores, id: string): Promise<PublicationDetails> {
  const publication = await publications.findOne({ _id: id });
  // Until its first version is there, it is not published.
  if (!publication || publication.latest_version === 0) throw notFound('the publication');
  const { latest_version } = publication;
  const published = { marketplace_id: id, version: { $lte: latest_version } };
  const [latest, versions] = await Promise.all([
    publication_versions.findOne({ _id: versionId(id, latest_version) }),
    publication_versions.find(published, { projection: { version: 1, notes: 1, published_at: 1 } }).sort({ version: -1 }).toArray(),
  ]);
  if (!latest) throw notFound('the publication');
  return {
    ...publication,
    versions: versions.map(({ version, notes, published_at }) => ({ version, notes, published_at })),
    agentflow: latest.content,
  };
}

/** A copy of the latest version in the caller's own project; a repeat of the request answers the first copy. */
export async function hire(deps: Pick<Deps, 'mongo' | 'customers'>, { principal, recordId }: RequestContext, id: string): Promise<AgentflowDocument> {
  const { agentflow: content, latest_version, _id: marketplace_id, agentflow_id } = await readPublication(deps.mongo.collections, id);
  const copy = newAgentflow(content, principal, recordId, epochSeconds());
  return storeAgentflow(deps, { ...copy, marketplace_id, parent_agentflow_id: agentflow_id, hired_version: latest_version });
}

/** `id` is the hired copy's, or the publication's: then its newest copy in the project. */
export async function checkUpdate({ agentflows, publications }: Stores, { projectId }: Principal, id: string): Promise<UpdateCheck> {
  const copies = { projectID: projectId, is_deleted: false };
  const [copy] = await agentflows
    .find({ ...copies, $or: [{ _id: id, marketplace_id: { $ne: '' } }, { marketplace_id: id }] })
    .sort({ _id: -1 })
    .limit(1)
    .toArray();
  const publication: Publication | null = copy ? await publications.findOne({ _id: copy.marketplace_id }) : null;
  if (!copy || !publication) throw notFound('the hired coworker');
  const hired_version = copy.hired_version ?? 1;
  const { latest_version } = publication;
  return { marketplace_id: publication._id, agentflow_id: copy._id, hired_version, latest_version, update_available: latest_version > hired_version };
}
