import type { ManagedTransaction } from 'neo4j-driver';
import { isAppError, notFound } from '../../base/errors.js';
import { languageFields, languageStateOf, type LanguageState } from '../language/state.js';
import { withPersonalOf, type Ontology, type OntologyDefinition } from './definition.js';

/** A commit in progress. It expires unless its process renews it. */
export interface PendingCommit {
  id: string;
  definition: OntologyDefinition;
}

export interface ProjectState {
  /** The active ontology, or null if none was committed. */
  ontology: Ontology | null;
  pending: PendingCommit | null;
  /**
   * The definition for sealing, which contains the personal properties of both definitions. Null if no commit was ever
   * started.
   */
  seals: OntologyDefinition | null;
  language: LanguageState;
}

const emptyDefinition: OntologyDefinition = { entity_types: {}, relationship_types: {} };
const leaseMs = 30_000;
const state = `s.ontology AS ontology, s.sealed AS sealed, s.pending_id AS pendingId, s.deleted AS isDeleted, CASE WHEN s.pending_until > timestamp() THEN s.pending END AS pending, ${languageFields} AS language`;

/**
 * Locks the project until the transaction ends, so that writes to its graph run one at a time across all processes.
 * @throws AppError `not_found` if the project was deleted
 */
export async function lockProject(tx: ManagedTransaction, projectId: string): Promise<ProjectState> {
  const { records } = await tx.run(
    `MERGE (s:ProjectState {key: $projectId}) SET s.locked_at = timestamp() RETURN ${state}`,
    { projectId },
  );
  if (records[0]?.get('isDeleted') === true) throw notFound('the project');
  return stateOf(records[0]);
}

/** Returns the result of background work, or `otherwise` if its project was deleted. */
export function unlessDeleted<T>(work: Promise<T>, otherwise: T): Promise<T> {
  return work.catch((error: unknown) => {
    if (isAppError(error) && error.code === 'not_found') return otherwise;
    throw error;
  });
}

export async function readState(tx: ManagedTransaction, projectId: string): Promise<ProjectState> {
  const { records } = await tx.run(`MATCH (s:ProjectState {key: $projectId}) RETURN ${state}`, { projectId });
  return stateOf(records[0]);
}

/** Reads the active ontology, or null if none was committed. */
export async function readOntology(tx: ManagedTransaction, projectId: string): Promise<Ontology | null> {
  return (await readState(tx, projectId)).ontology;
}

/** Activates a version. Call this and the next two functions only under {@link lockProject}. */
export async function activate(tx: ManagedTransaction, projectId: string, ontology: Ontology): Promise<void> {
  await tx.run('MATCH (s:ProjectState {key: $projectId}) SET s.ontology = $ontology', {
    projectId,
    ontology: JSON.stringify(ontology),
  });
}

/** Starts or renews a commit. */
export async function renewPending(
  tx: ManagedTransaction,
  projectId: string,
  { id, definition }: PendingCommit,
): Promise<void> {
  await tx.run(
    'MATCH (s:ProjectState {key: $projectId}) SET s.pending_id = $id, s.pending = $definition, s.pending_until = timestamp() + $leaseMs, s.sealed = true',
    { projectId, id, definition: JSON.stringify(definition), leaseMs },
  );
}

export async function endPending(tx: ManagedTransaction, projectId: string): Promise<void> {
  await tx.run('MATCH (s:ProjectState {key: $projectId}) REMOVE s.pending_id, s.pending, s.pending_until', {
    projectId,
  });
}

function stateOf(record: { get(key: string): unknown } | undefined): ProjectState {
  const text = (key: string) => {
    const value = record?.get(key);
    return typeof value === 'string' ? value : null;
  };
  const [active, pendingId, definition] = [text('ontology'), text('pendingId'), text('pending')];
  const ontology = active === null ? null : (JSON.parse(active) as Ontology);
  const pending =
    pendingId === null || definition === null
      ? null
      : { id: pendingId, definition: JSON.parse(definition) as OntologyDefinition };
  const inForce = ontology ?? (record?.get('sealed') === true ? emptyDefinition : null);
  const seals = pending ? withPersonalOf(pending.definition, inForce) : inForce;
  return { ontology, pending, seals, language: languageStateOf(record?.get('language')) };
}
