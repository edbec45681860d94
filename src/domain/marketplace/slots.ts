import { AppError } from '../../base/errors.js';
import type { Collections } from '../../stores/collections.js';
import { connectorsBy, slotProblem, unknownSlots } from '../releases/operations.js';
import type { PublicationSlot } from './schemas.js';

export interface ChosenConnector {
  connector_id: string;
  name: string;
  /** Of the connector of a table. */
  table_id: string | undefined;
}

/**
 * The connectors that a person chose for a copy, by the paths of the skills and steps that use them.
 * @throws AppError `validation_failed` for unknown slots, and for connectors that do not exist in the project or do not fit
 */
export async function chosenConnectors(
  { connectors }: Pick<Collections, 'connectors'>,
  projectId: string,
  slots: readonly PublicationSlot[],
  named: Readonly<Record<string, string>>,
): Promise<Map<string, ChosenConnector>> {
  const found = await connectorsBy(connectors, projectId, Object.values(named));
  const used = slots.filter(({ name }) => Object.hasOwn(named, name));
  const problems = [
    ...unknownSlots({ slots }, named),
    ...used.flatMap((slot) => slotProblem(slot, named[slot.name] ?? '', found.get(named[slot.name] ?? '')) ?? []),
  ];
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  const chosen = new Map<string, ChosenConnector>();
  for (const { name, used_by } of used) {
    const connector = found.get(named[name] ?? '');
    if (!connector) continue;
    for (const path of used_by)
      chosen.set(path, { connector_id: connector._id, name: connector.name, table_id: connector.table_id });
  }
  return chosen;
}
