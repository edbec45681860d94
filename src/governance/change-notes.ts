import { defineCollection, expiring, type Collections } from '../stores/collections.js';

/** When records of one kind last changed in a project. `_id` is `<project id>/<kind>`. */
export interface ProjectNewsDocument {
  _id: string;
  project_id: string;
  kind: string;
  /** Epoch milliseconds, by the clock of the process that wrote it. */
  changed_at: number;
  expires_at: Date;
}

type Stores = Pick<Collections, 'project_news'>;
type Note = Pick<ProjectNewsDocument, 'project_id' | 'kind'>;

const batchMs = 200;
/**
 * Longer than the period for which a stream can be resumed (src/domain/news/watch.ts). A note also expires if it was
 * stored after its project had been deleted.
 */
const keptMs = 2 * 3_600_000;
const waiting = new WeakMap<Stores['project_news'], Map<string, Note>>();

/**
 * Notes for the project's event stream that records of this kind have changed. Does not wait for the write, and writes
 * the notes of 200 ms together. A note is lost if its process dies.
 */
export function noteChange({ project_news }: Stores, project_id: string, kind: string): void {
  if (project_id === '') return;
  const notes = waiting.get(project_news) ?? new Map<string, Note>();
  waiting.set(project_news, notes);
  if (notes.size === 0) setTimeout(() => write(project_news, notes), batchMs).unref();
  notes.set(`${project_id}/${kind}`, { project_id, kind });
}

function write(project_news: Stores['project_news'], notes: Map<string, Note>): void {
  const now = Date.now();
  const times = { changed_at: now, expires_at: new Date(now + keptMs) };
  const updates = [...notes].map(([_id, note]) => ({
    updateOne: { filter: { _id }, update: { $set: { ...note, ...times } }, upsert: true },
  }));
  notes.clear();
  project_news.bulkWrite(updates, { ordered: false }).catch(() => undefined);
}

/** The records of runs and schedules have their own `changed_at`, so they need no note. */
const operationName = /^(?!execution|schedule)([a-z-]+)\.|^(bind-repository)$/;

/** Records a change by an operation. The first part of the name of the operation is the kind of the records. */
export function noteOperation(stores: Stores, projectId: string, name: string): void {
  const [, resource, tool] = operationName.exec(name) ?? [];
  const kind = resource ?? tool;
  if (kind !== undefined) noteChange(stores, projectId, kind);
}

export const projectNewsCollection = defineCollection('project_news', {
  indexes: [{ keys: { project_id: 1, changed_at: 1 } }, expiring],
});

declare module '../stores/collections.js' {
  interface Documents {
    project_news: ProjectNewsDocument;
  }
}
