import { requirements, type RequirementId } from '../requirements.js';

const known = new Set(requirements.map(({ id }) => id));

/**
 * Names the requirements that a test proves. The gate in `requirements.test.ts` reads these calls from the sources,
 * so they are the first statements of the test's callback, with string literals.
 */
export function verifies(...ids: [RequirementId, ...RequirementId[]]): void {
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw new Error(`no such requirement: ${unknown.join(', ')}`);
}
