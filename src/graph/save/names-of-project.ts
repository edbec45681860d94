import type { ManagedTransaction } from 'neo4j-driver';
import { AppError } from '../../base/errors.js';

/*
 * Each name of a type or property becomes a token of the database, which has a limited number of tokens for all
 * projects and never frees one. Therefore a project may use a limited number of names.
 */
export const nameBounds = { entity_types: 300, relationship_types: 300, property_names: 2000 };

export type NamesOfProject = Record<keyof typeof nameBounds, string[]>;

interface Named {
  type: string;
  properties: object;
}

/**
 * Adds the names of a save to those of the project. Returns null if there is no new name.
 * @throws AppError `invalid_input` above the limit
 */
export async function planNames(
  tx: ManagedTransaction,
  projectId: string,
  { entities, relationships }: { entities: readonly Named[]; relationships: readonly Named[] },
): Promise<NamesOfProject | null> {
  const added: NamesOfProject = {
    entity_types: entities.map(({ type }) => type),
    relationship_types: relationships.map(({ type }) => type),
    property_names: [...entities, ...relationships].flatMap(({ properties }) => Object.keys(properties)),
  };
  const { records } = await tx.run(
    'MATCH (s:ProjectState {key: $projectId}) RETURN s.entity_types AS entity_types, s.relationship_types AS relationship_types, s.property_names AS property_names',
    { projectId },
  );
  let isNew = false;
  const names = { ...added };
  for (const kind of Object.keys(nameBounds) as (keyof typeof nameBounds)[]) {
    const known = (records[0]?.get(kind) as string[] | null | undefined) ?? [];
    names[kind] = [...new Set([...known, ...added[kind]])];
    if (names[kind].length === known.length) continue;
    isNew = true;
    if (names[kind].length > nameBounds[kind]) {
      throw new AppError(
        'invalid_input',
        `the project would have ${names[kind].length} different ${kind.replace('_', ' ')}; at most ${nameBounds[kind]} are allowed, and a name counts for good`,
      );
    }
  }
  return isNew ? names : null;
}

/** Stores the names. Call only under the lock of the project. */
export async function keepNames(
  tx: ManagedTransaction,
  projectId: string,
  names: NamesOfProject | null,
): Promise<void> {
  if (names) await tx.run('MATCH (s:ProjectState {key: $projectId}) SET s += $names', { projectId, names });
}
