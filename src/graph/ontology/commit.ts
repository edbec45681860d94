import type { ManagedTransaction } from 'neo4j-driver';
import { AppError } from '../../errors.js';
import { writeEntities } from '../store/entities.js';
import { resealFacts } from '../store/reseal-facts.js';
import { writeRelationships } from '../store/relationships.js';
import { inReadTransaction, inWriteTransaction, type Connection } from '../store/sessions.js';
import { checkEntity, checkRelationship, type Problem } from './check.js';
import { personalOf, personalPredicates, type Ontology, type OntologyDefinition } from './definition.js';
import { scan, type Page } from './scan.js';
import { lockProject, putInForce, readOntology } from './state.js';

export interface Violations {
  count: number;
  /** The first ten, by id and property; no values. */
  samples: string[];
}

export interface NewOntology {
  definition: OntologyDefinition;
  /** The version that the draft was made from; another one in force is a conflict. */
  baseVersion: number;
  committedAt: number;
  committedBy: string;
}

/** How stored data would fare under a definition. */
export function violationsOf(graph: Connection, projectId: string, definition: OntologyDefinition): Promise<Violations> {
  return inReadTransaction(graph, async (tx) => {
    const violations: Violations = { count: 0, samples: [] };
    for await (const page of scan(tx, projectId)) check(page, definition, violations);
    return violations;
  });
}

export async function currentOntology(graph: Connection, projectId: string): Promise<Ontology | null> {
  return inReadTransaction(graph, (tx) => readOntology(tx, projectId));
}

/**
 * Puts a definition in force as the next version, and seals or opens what it marks otherwise than the one before.
 * Throws AppError `conflict` where another version was committed since, 422 `S4:validate-input` where stored data
 * does not fit.
 */
export function commitOntology(graph: Connection, projectId: string, next: NewOntology): Promise<Ontology> {
  return inWriteTransaction(graph, async (tx) => {
    const current = await lockProject(tx, projectId);
    if ((current?.version ?? 0) !== next.baseVersion) {
      throw new AppError('conflict', `the ontology is at version ${current?.version ?? 0} and the draft was made from ${next.baseVersion}; define it again`);
    }
    const violations: Violations = { count: 0, samples: [] };
    for await (const page of scan(tx, projectId)) {
      check(page, next.definition, violations);
      if (violations.count === 0) await reseal(tx, projectId, page, current, next.definition);
    }
    refuseViolations(violations);
    await resealFacts(tx, projectId, changedPredicates(current, next.definition), personalPredicates(next.definition));
    const ontology = { version: next.baseVersion + 1, committed_at: next.committedAt, committed_by: next.committedBy, ...next.definition };
    await putInForce(tx, projectId, ontology);
    return ontology;
  });
}

export function refuseViolations({ count, samples }: Violations): void {
  if (count === 0) return;
  throw new AppError('S4:validate-input', `the draft does not fit stored data in ${count} places: ${samples.join('; ')}`);
}

function check(page: Page, definition: OntologyDefinition, into: Violations): void {
  const note = (what: string, problems: readonly Problem[]) => {
    into.count += problems.length;
    for (const { place, says } of problems) if (into.samples.length < 10) into.samples.push(`${what}: ${place} ${says}`);
  };
  for (const entity of page.entities) note(`${entity.type} ${entity.id}`, checkEntity(definition, entity));
  for (const each of page.relationships) note(`${each.type} ${each.from} → ${each.to}`, checkRelationship(definition, each));
}

async function reseal(tx: ManagedTransaction, projectId: string, page: Page, before: Ontology | null, after: OntologyDefinition): Promise<void> {
  const changed = (kind: 'entity_types' | 'relationship_types', type: string) => !equal(personalOf(before, kind, type), personalOf(after, kind, type));
  await writeEntities(tx, projectId, page.entities.filter(({ type }) => changed('entity_types', type)), after);
  await writeRelationships(tx, projectId, page.relationships.filter(({ type }) => changed('relationship_types', type)), after);
}

function changedPredicates(before: Ontology | null, after: OntologyDefinition): string[] {
  const was = personalPredicates(before);
  const is = personalPredicates(after);
  return [...new Set([...was, ...is])].filter((name) => was.has(name) !== is.has(name));
}

function equal(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((each) => b.has(each));
}
