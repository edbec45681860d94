import type { ManagedTransaction } from 'neo4j-driver';
import type { Ontology } from './definition.js';

/** Holds until the transaction ends: writes to one project's graph come one after the other, on any number of processes. */
export async function lockProject(tx: ManagedTransaction, projectId: string): Promise<Ontology | null> {
  const { records } = await tx.run('MERGE (s:ProjectState {key: $projectId}) SET s.locked_at = timestamp() RETURN s.ontology AS ontology', { projectId });
  return ontologyOf(records[0]?.get('ontology'));
}

/** The ontology in force; null where none was committed. */
export async function readOntology(tx: ManagedTransaction, projectId: string): Promise<Ontology | null> {
  const { records } = await tx.run('MATCH (s:ProjectState {key: $projectId}) RETURN s.ontology AS ontology', { projectId });
  return ontologyOf(records[0]?.get('ontology'));
}

/** Only under {@link lockProject}. */
export async function putInForce(tx: ManagedTransaction, projectId: string, ontology: Ontology): Promise<void> {
  await tx.run('MATCH (s:ProjectState {key: $projectId}) SET s.ontology = $ontology', { projectId, ontology: JSON.stringify(ontology) });
}

function ontologyOf(text: unknown): Ontology | null {
  return typeof text === 'string' ? (JSON.parse(text) as Ontology) : null;
}
