import type { Neo4jError } from 'neo4j-driver';

/** By shape, since the error may come from another realm (jest). */
export function isNeo4jError(error: unknown): error is Neo4jError {
  return error instanceof Error && error.name === 'Neo4jError' && 'code' in error && typeof error.code === 'string';
}
