import { epochSeconds } from '../../base/time.js';
import type { ScheduleDocument } from './record.js';

type Pauses = ScheduleDocument['pauses'];

const maxPauses = 200;

export function pausedSince({ pauses }: Pick<ScheduleDocument, 'pauses'>, from: number, reason?: 'limit'): Pauses {
  return [...pauses, { from, to: null, ...(reason && { reason }) }].slice(-maxPauses);
}

/** The pauses of a record after a change of its status, its limit or its end. */
export function pausesAfter(record: ScheduleDocument, fields: Partial<ScheduleDocument>): { pauses?: Pauses } {
  const at = fields.updated_at ?? epochSeconds();
  const isRaised = fields.limit !== undefined && (fields.limit ?? Infinity) > (record.limit ?? Infinity);
  const isOver = ({ reason }: Pauses[number]) => fields.status === 'active' || (reason === 'limit' && isRaised);
  const pauses = [
    ...record.pauses.map((pause) => (isOver(pause) ? { ...pause, to: pause.to ?? at } : pause)),
    ...endedUntil(at, record, fields),
  ];
  const isPaused = fields.status === 'paused' && record.status !== 'paused';
  return { pauses: isPaused ? pausedSince({ pauses }, at) : pauses.slice(-maxPauses) };
}

/** The period from the end of a schedule until a change gives it another end. */
function endedUntil(at: number, { ends_at, status }: ScheduleDocument, fields: Partial<ScheduleDocument>): Pauses {
  if (ends_at == null || fields.ends_at === undefined) return [];
  // Planned times are whole seconds, and the end belongs to the schedule.
  const from = Math.min(Math.floor(ends_at) + 1, at);
  return from < at || status === 'completed' ? [{ from, to: at, reason: 'ended' }] : [];
}
