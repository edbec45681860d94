import type { Collection, Document } from 'mongodb';
import { notFound } from '../../../errors.js';
import type { Mongo } from '../../../stores/mongo.js';
import { Execution } from '../executions/record.js';
import { readTable, rowsOf } from '../tables/store.js';
import { taskView } from '../tasks.js';
import type { Definition } from './schemas.js';

/** What a pipeline runs over: a collection and the stages before the caller's own, which bind it to the project. */
export interface Source {
  collection: Pick<Collection, 'aggregate'>;
  stages: Document[];
}

/** @throws AppError `not_found` for a table that the project does not have */
export async function sourceOf(mongo: Pick<Mongo, 'db' | 'collections'>, projectId: string, { resource, table_id }: Pick<Definition, 'resource' | 'table_id'>): Promise<Source> {
  const { executions } = mongo.collections;
  const ofProject = { $match: { projectID: projectId } };
  if (resource === 'tasks') return { collection: executions, stages: [ofProject, taskView] };
  if (resource === 'executions') return { collection: executions, stages: [ofProject, shown(Object.keys(Execution.shape))] };
  if (table_id === null) throw notFound('the table');
  const { columns } = await readTable(mongo, projectId, table_id);
  // Rows lie in a collection of their table alone; they get the field that pipelines match on.
  return { collection: rowsOf(mongo, table_id), stages: [shown(columns.map(({ column_id }) => column_id)), { $addFields: { projectID: { $literal: projectId } } }] };
}

/** The fields that the API shows, and no others. */
function shown(fields: readonly string[]): Document {
  return { $project: Object.fromEntries(fields.map((field) => [field, 1])) };
}
