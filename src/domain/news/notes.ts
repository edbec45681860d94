import { defineCollection } from '../../stores/collections.js';
import type { Mongo } from '../../stores/mongo.js';

/** When records of one kind last changed in a project. `_id` is `<project id>/<kind>`. */
export interface ProjectNewsDocument {
  _id: string;
  project_id: string;
  kind: string;
  /** Epoch milliseconds, by the clock of the process that wrote it. */
  changed_at: number;
}

const togetherMs = 200;
/** Runs and schedules have notes of their own. */
const kindOf = /^(?!execution|schedule)([a-z-]+)\.|^(bind-repository)$/;

/**
 * Notes which kinds of records an operation has changed, for those who follow the project. Nothing waits for the note, and
 * the changes of a moment are one write. A note can be lost with its process.
 */
export function createChangeNotes({
  collections,
}: Pick<Mongo, 'collections'>): (project: string, name: string) => void {
  const changed = new Map<string, { project_id: string; kind: string }>();
  const write = () => {
    const changed_at = Date.now();
    const updates = [...changed].map(([_id, note]) => ({
      updateOne: { filter: { _id }, update: { $set: { ...note, changed_at } }, upsert: true },
    }));
    changed.clear();
    collections.project_news.bulkWrite(updates, { ordered: false }).catch(() => undefined);
  };
  return (project_id, name) => {
    const [, resource, tool] = kindOf.exec(name) ?? [];
    const kind = resource ?? tool;
    if (kind === undefined || project_id === '') return;
    if (changed.size === 0) setTimeout(write, togetherMs).unref();
    changed.set(`${project_id}/${kind}`, { project_id, kind });
  };
}

export const projectNewsCollection = defineCollection('project_news', {
  indexes: [{ keys: { project_id: 1, changed_at: 1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    project_news: ProjectNewsDocument;
  }
}
