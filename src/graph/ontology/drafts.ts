import { defineCollection, type Collections } from '../../stores/collections.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { newId } from '../../base/ids.js';
import { epochSeconds } from '../../base/time.js';
import type { Ontology, OntologyDefinition } from './definition.js';

/**
 * A draft of a project. `_id` is the project id. The definition is stored as JSON text, because its names may contain
 * characters that MongoDB field names cannot.
 */
interface OntologyDraftDocument {
  _id: string;
  organization_id: string;
  revision: string;
  base_version: number;
  definition: string;
  updated_at: number;
  updated_by: string;
}

/** A version in the history. `_id` is `<project>:<version>`. The graph stores the active version. */
interface OntologyVersionDocument {
  _id: string;
  project_id: string;
  version: number;
  ontology: string;
  committed_at: number;
  committed_by: string;
}

export interface Draft {
  revision: string;
  base_version: number;
  definition: OntologyDefinition;
  updated_at: number;
  updated_by: string;
}

type Stores = Pick<Collections, 'ontology_drafts' | 'ontology_versions'>;

export async function readDraft(collections: Stores, projectId: string): Promise<Draft | null> {
  const draft = await collections.ontology_drafts.findOne({ _id: projectId });
  if (!draft) return null;
  const { revision, base_version, updated_at, updated_by } = draft;
  const definition = JSON.parse(draft.definition) as OntologyDefinition;
  return { revision, base_version, updated_at, updated_by, definition };
}

export async function saveDraft(
  collections: Stores,
  place: { projectId: string; organizationId: string },
  draft: { definition: OntologyDefinition; baseVersion: number; userId: string },
): Promise<Draft> {
  const fields = {
    revision: newId(),
    base_version: draft.baseVersion,
    updated_at: epochSeconds(),
    updated_by: draft.userId,
  };
  const stored = { ...fields, organization_id: place.organizationId, definition: JSON.stringify(draft.definition) };
  await collections.ontology_drafts.updateOne({ _id: place.projectId }, { $set: stored }, { upsert: true });
  return { ...fields, definition: draft.definition };
}

/** Adds a committed version to the history. Repeating the call has no effect. */
export async function recordVersion(collections: Stores, projectId: string, ontology: Ontology): Promise<void> {
  const { version, committed_at, committed_by } = ontology;
  const record = {
    _id: `${projectId}:${version}`,
    project_id: projectId,
    version,
    committed_at,
    committed_by,
    ontology: JSON.stringify(ontology),
  };
  await collections.ontology_versions.insertOne(record).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
}

/** Deletes the draft unless it was redefined in the meantime. */
export async function deleteDraft(collections: Stores, projectId: string, revision: string): Promise<void> {
  await collections.ontology_drafts.deleteOne({ _id: projectId, revision });
}

export async function listVersions(
  collections: Stores,
  projectId: string,
): Promise<Pick<Ontology, 'version' | 'committed_at' | 'committed_by'>[]> {
  const found = await collections.ontology_versions
    .find({ project_id: projectId })
    .sort({ version: -1 })
    .limit(50)
    .toArray();
  return found.map(({ version, committed_at, committed_by }) => ({ version, committed_at, committed_by }));
}

export const ontologyDraftsCollection = defineCollection('ontology_drafts', {});
export const ontologyVersionsCollection = defineCollection('ontology_versions', {
  indexes: [{ keys: { project_id: 1, version: -1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    ontology_drafts: OntologyDraftDocument;
    ontology_versions: OntologyVersionDocument;
  }
}
