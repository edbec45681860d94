import type { ManagedTransaction } from 'neo4j-driver';
import { AppError } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { writeEntities } from '../store/entities.js';
import { resealFactPage } from '../store/reseal-facts.js';
import { writeRelationships } from '../store/relationships.js';
import { elementKey, type VectorKind } from '../vectors/elements.js';
import { forgetVectors } from '../vectors/noting.js';
import { inReadTransaction, inWriteTransaction, type Connection } from '../store/sessions.js';
import { checkEntity, checkRelationship, type Problem } from './check.js';
import {
  personalOf,
  personalPredicates,
  withPersonalOf,
  type Ontology,
  type OntologyDefinition,
} from './definition.js';
import {
  firstCursor,
  entityPage,
  relationshipPage,
  type Cursor,
  type ScannedEntity,
  type ScannedRelationship,
} from './scan.js';
import { activate, endPending, lockProject, readOntology, renewPending, type PendingCommit } from './state.js';

interface Violations {
  count: number;
  /** The first ten violations, by id and property. They contain no values. */
  samples: string[];
}

interface NewOntology {
  definition: OntologyDefinition;
  /** The version on which the draft is based. A different current version is a conflict. */
  baseVersion: number;
  committedAt: number;
  committedBy: string;
}

/** Checks stored data against a definition, one transaction per page. */
export async function violationsOf(
  graph: Connection,
  projectId: string,
  definition: OntologyDefinition,
): Promise<Violations> {
  const violations: Violations = { count: 0, samples: [] };
  const passes: Pass[] = [
    async (tx, after) => {
      const { items, next } = await entityPage(tx, projectId, after);
      checkEntities(items, definition, violations);
      return next;
    },
    async (tx, after) => {
      const { items, next } = await relationshipPage(tx, projectId, after);
      checkRelationships(items, definition, violations);
      return next;
    },
  ];
  await eachPage(passes, (work) => inReadTransaction(graph, work, { projectIds: [projectId] }));
  return violations;
}

/** Works on one page, and returns its last element. */
type Pass = (tx: ManagedTransaction, after: Cursor) => Promise<Cursor | undefined>;
type PageWork = (tx: ManagedTransaction) => Promise<Cursor | undefined>;

/** Runs each pass to its end, one transaction per page. */
async function eachPage(
  passes: readonly Pass[],
  inTransaction: (work: PageWork) => Promise<Cursor | undefined>,
): Promise<void> {
  for (const pass of passes) {
    for (let after: Cursor | undefined = firstCursor; after;) {
      const from: Cursor = after;
      after = await inTransaction((tx) => pass(tx, from));
    }
  }
}

export async function currentOntology(graph: Connection, projectId: string): Promise<Ontology | null> {
  return inReadTransaction(graph, (tx) => readOntology(tx, projectId), { projectIds: [projectId] });
}

/**
 * Activates a definition as the next version, in batches. Until then, the previous version is active, properties that
 * the new version marks as personal are sealed, and saves must match both versions (`state.ts`). Properties that are no
 * longer personal are unsealed afterwards. An interrupted commit changes no version, and the next commit or save
 * repairs the seals.
 * @throws AppError `conflict` if another version was committed since or another commit is in progress, `invalid_input`
 * if stored data does not match
 */
export async function commitOntology(graph: Connection, projectId: string, next: NewOntology): Promise<Ontology> {
  const pending: PendingCommit = { id: newId(), definition: next.definition };
  const before = await begin(graph, projectId, pending, next.baseVersion);
  const ontology = {
    version: next.baseVersion + 1,
    committed_at: next.committedAt,
    committed_by: next.committedBy,
    ...next.definition,
  };
  try {
    await inBatches(graph, projectId, pending, {
      marks: withPersonalOf(next.definition, before),
      check: next.definition,
    });
    await whilePending(graph, projectId, pending, (tx) => activate(tx, projectId, ontology));
  } catch (error) {
    await rollBack(graph, projectId, pending).catch(() => undefined);
    throw error;
  }
  if (marksFewer(before, next.definition))
    await inBatches(graph, projectId, pending, { marks: next.definition, check: null });
  await whilePending(graph, projectId, pending, (tx) => endPending(tx, projectId));
  return ontology;
}

function begin(
  graph: Connection,
  projectId: string,
  pending: PendingCommit,
  baseVersion: number,
): Promise<Ontology | null> {
  return inWriteTransaction(graph, projectId, async (tx) => {
    const { ontology, pending: other } = await lockProject(tx, projectId);
    const version = ontology?.version ?? 0;
    if (other && other.id !== pending.id)
      throw new AppError('conflict', 'another commit of the ontology is under way; try again in a minute');
    if (version !== baseVersion) {
      throw new AppError(
        'conflict',
        `the ontology is at version ${version} and the draft was made from ${baseVersion}; define it again`,
      );
    }
    await renewPending(tx, projectId, pending);
    return ontology;
  });
}

/** Runs one short transaction of the commit and renews the commit. Fails if the commit has expired. */
function whilePending<T>(
  graph: Connection,
  projectId: string,
  pending: PendingCommit,
  work: (tx: ManagedTransaction) => Promise<T>,
): Promise<T> {
  return inWriteTransaction(graph, projectId, async (tx) => {
    const { pending: held } = await lockProject(tx, projectId);
    if (held?.id !== pending.id)
      throw new AppError('conflict', 'the commit expired because one of its steps took too long; commit again');
    await renewPending(tx, projectId, pending);
    return work(tx);
  });
}

/** Checks all stored data, and seals exactly the marked properties. */
async function inBatches(
  graph: Connection,
  projectId: string,
  pending: PendingCommit,
  { marks, check }: { marks: OntologyDefinition; check: OntologyDefinition | null },
): Promise<void> {
  const options = { ontology: marks, embeds: graph.embeds };
  const passes: Pass[] = [
    async (tx, after) => {
      const { items, next } = await entityPage(tx, projectId, after);
      refuseViolations(checkEntities(items, check));
      const resealed = items.filter((each) => needsResealing(each, personalOf(marks, 'entity_types', each.type)));
      await writeEntities(tx, projectId, resealed, options);
      await forgetVectors(tx, keysOf(projectId, 'entity', resealed));
      return next;
    },
    async (tx, after) => {
      const { items, next } = await relationshipPage(tx, projectId, after);
      refuseViolations(checkRelationships(items, check));
      const resealed = items.filter((each) => needsResealing(each, personalOf(marks, 'relationship_types', each.type)));
      await forgetVectors(tx, keysOf(projectId, 'relationship', resealed));
      await writeRelationships(tx, projectId, resealed, options);
      return next;
    },
    (tx, after) => resealFactPage(tx, projectId, after, { personal: personalPredicates(marks), embeds: graph.embeds }),
  ];
  await eachPage(passes, (work) => whilePending(graph, projectId, pending, work));
}

/**
 * Unseals the properties that were sealed for the failed commit. The active ontology may be the new one, if only the
 * answer to its activation was lost.
 */
async function rollBack(graph: Connection, projectId: string, { id }: PendingCommit): Promise<void> {
  const active = await currentOntology(graph, projectId);
  const inForce: OntologyDefinition = active ?? { entity_types: {}, relationship_types: {} };
  const pending = { id, definition: inForce };
  await inBatches(graph, projectId, pending, { marks: inForce, check: null });
  await whilePending(graph, projectId, pending, (tx) => endPending(tx, projectId));
}

function keysOf(projectId: string, kind: VectorKind, items: readonly { id: string }[]): string[] {
  return items.map(({ id }) => elementKey(projectId, kind, id));
}

function needsResealing(
  { properties, sealed }: ScannedEntity | ScannedRelationship,
  personal: ReadonlySet<string>,
): boolean {
  const wanted = Object.keys(properties).filter((name) => personal.has(name) && properties[name] !== null);
  return wanted.length !== sealed.size || wanted.some((name) => !sealed.has(name));
}

function marksFewer(before: OntologyDefinition | null, after: OntologyDefinition): boolean {
  return (['entity_types', 'relationship_types'] as const).some((kind) =>
    Object.keys(before?.[kind] ?? {}).some((type) =>
      [...personalOf(before, kind, type)].some((name) => !personalOf(after, kind, type).has(name)),
    ),
  );
}

export function refuseViolations({ count, samples }: Violations): void {
  if (count === 0) return;
  throw new AppError('invalid_input', `the draft does not fit stored data in ${count} places: ${samples.join('; ')}`);
}

function checkEntities(
  items: readonly ScannedEntity[],
  definition: OntologyDefinition | null,
  into: Violations = { count: 0, samples: [] },
): Violations {
  for (const each of items) note(into, `${each.type} ${each.id}`, checkEntity(definition, each));
  return into;
}

function checkRelationships(
  items: readonly ScannedRelationship[],
  definition: OntologyDefinition | null,
  into: Violations = { count: 0, samples: [] },
): Violations {
  for (const each of items) note(into, `${each.type} ${each.from} → ${each.to}`, checkRelationship(definition, each));
  return into;
}

function note(into: Violations, what: string, problems: readonly Problem[]): void {
  into.count += problems.length;
  for (const { place, says } of problems) if (into.samples.length < 10) into.samples.push(`${what}: ${place} ${says}`);
}
