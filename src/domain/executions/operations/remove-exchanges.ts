import type { Collections } from '../../../stores/collections.js';
import { exchangesOf } from '../exchanges.js';

/** Removes the stored exchanges of all steps of a deleted project. Safe to repeat. */
export async function removeExchanges(
  { executions, execution_exchanges }: Pick<Collections, 'executions' | 'execution_exchanges'>,
  projectID: string,
): Promise<void> {
  for await (const { _id } of executions.find({ projectID }, { projection: { _id: 1 } }))
    await execution_exchanges.deleteMany(exchangesOf(_id));
}
