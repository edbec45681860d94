import { epochSeconds } from '../../time.js';
import type { ScheduleDocument } from './record.js';

type Pauses = ScheduleDocument['pauses'];

const maxPauses = 200;

export function pausedSince({ pauses }: Pick<ScheduleDocument, 'pauses'>, from: number, reason?: 'limit'): Pauses {
  return [...pauses, { from, to: null, ...(reason && { reason }) }].slice(-maxPauses);
}

/** The pauses of a record after a change of its status. */
export function pausesAfter(
  record: ScheduleDocument,
  { status, updated_at }: Partial<ScheduleDocument>,
): { pauses?: Pauses } {
  const at = updated_at ?? epochSeconds();
  if (status === 'paused') return record.status === 'paused' ? {} : { pauses: pausedSince(record, at) };
  return status === 'active' ? { pauses: record.pauses.map((pause) => ({ ...pause, to: pause.to ?? at })) } : {};
}
