import type { Collections } from '../../../stores/collections.js';
import { queryProblems } from '../../tables/operations/items.js';
import type { AgentflowDocument } from '../record.js';

/** Why the rows of tables cannot be the items of `map` steps. */
export async function tableProblems(
  collections: Pick<Collections, 'tables'>,
  { projectID, steps = [] }: Pick<AgentflowDocument, 'projectID' | 'steps'>,
): Promise<string[]> {
  const found = steps.map(async (step) => {
    if (step.type !== 'map' || typeof step.items === 'string') return [];
    const problems = await queryProblems({ collections }, projectID, step.items);
    return problems.map((problem) => `steps.${step._id}.items.${problem}`);
  });
  return (await Promise.all(found)).flat();
}
