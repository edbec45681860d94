import type { Collection, Document } from 'mongodb';
import { notFound } from '../../../errors.js';
import type { Mongo } from '../../../stores/mongo.js';
import { Execution } from '../executions/record.js';
import { taskView } from '../tasks.js';
import type { Definition } from './schemas.js';

/** What a pipeline runs over: a collection and the stages before the caller's own, which bind it to the project. */
export interface Source {
  collection: Collection;
  stages: Document[];
}

interface TableReference {
  _id: string;
  projectID: string;
  columns: { column_id: string }[];
}

/** @throws AppError `not_found` for a table that the project does not have */
export async function sourceOf({ db }: Pick<Mongo, 'db'>, projectId: string, { resource, table_id }: Pick<Definition, 'resource' | 'table_id'>): Promise<Source> {
  const ofProject = { $match: { projectID: projectId } };
  if (resource === 'tasks') return { collection: db.collection('executions'), stages: [ofProject, taskView] };
  if (resource === 'executions') return { collection: db.collection('executions'), stages: [ofProject, shown(Object.keys(Execution.shape))] };
  const table = table_id === null ? null : await db.collection<TableReference>('tables').findOne({ _id: table_id, projectID: projectId });
  if (!table) throw notFound('the table');
  const columns = table.columns.map(({ column_id }) => column_id);
  // Rows lie in a collection of their table alone; they get the field that pipelines match on.
  return { collection: db.collection(`table_${table._id}`), stages: [shown(['_id', 'row_id', 'coworker_user_id', ...columns]), { $addFields: { projectID: { $literal: projectId } } }] };
}

/** The fields that the API shows, and no others. */
function shown(fields: readonly string[]): Document {
  return { $project: Object.fromEntries(fields.map((field) => [field, 1])) };
}
