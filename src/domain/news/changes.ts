import type { Collection, Document } from 'mongodb';
import type { Mongo } from '../../stores/mongo.js';
import { isNoSlice } from '../executions/operations/filter.js';
import {
  toApprovalEvent,
  toExecutionEvent,
  toMemoryEvent,
  toRecordsEvent,
  toScheduleEvent,
  shownFields,
  type ProjectEvent,
} from './record.js';

export interface Change {
  key: string;
  projectId: string;
  event: ProjectEvent;
  /** The state that viewers see. A write that does not change it is not reported. */
  state?: string;
}

/** The maximum number of changes of one read. */
export const pageSize = 1000;

interface Source {
  name: keyof typeof shownFields;
  project: 'projectID' | 'project_id';
  /** Records are read with `shownFields` only. */
  eventOf(record: never): ProjectEvent;
  /** Which of the records people see. */
  filter?: Document;
  /** Set for executions, whose records are also written when a step ends, which lists do not show. */
  stateOf?(record: Document): string;
}

const sources: readonly Source[] = [
  {
    name: 'executions',
    project: 'projectID',
    // A run on items of another run is news only if it waits for people.
    filter: { $or: [isNoSlice, { 'execution_context.waiting_for': { $exists: true } }] },
    eventOf: toExecutionEvent,
    stateOf: ({ status, execution_context }) => JSON.stringify([status, execution_context]),
  },
  { name: 'approvals', project: 'project_id', eventOf: toApprovalEvent },
  { name: 'memories', project: 'project_id', eventOf: toMemoryEvent },
  { name: 'schedules', project: 'projectID', eventOf: toScheduleEvent },
  { name: 'project_news', project: 'project_id', eventOf: toRecordsEvent },
];

/** The records of these projects that were written since `from`, in the order of the writes. At most `pageSize`. */
export async function changesOf(
  collections: Mongo['collections'],
  projectIds: string[],
  from: number,
): Promise<Change[]> {
  const found = await Promise.all(
    sources.map(async ({ name, project, filter, eventOf, stateOf }) => {
      const records = await (collections[name] as unknown as Collection)
        .find(
          { [project]: { $in: projectIds }, changed_at: { $gte: from }, ...filter },
          { projection: shownFields[name] },
        )
        .sort({ changed_at: 1 })
        .limit(pageSize)
        .toArray();
      return records.map((record): Change => {
        const state = stateOf?.(record);
        const change = { key: `${name}/${String(record._id)}`, projectId: String(record[project]) };
        return { ...change, event: eventOf(record as never), ...(state !== undefined && { state }) };
      });
    }),
  );
  return found
    .flat()
    .sort((a, b) => a.event.seq - b.event.seq)
    .slice(0, pageSize);
}
