import type { Collection, Document } from 'mongodb';
import { notFound } from '../../errors.js';
import type { Mongo } from '../../stores/mongo.js';
import { Execution } from '../executions/record.js';
import { readTable, rowsOf } from '../tables/record.js';
import { taskProjection } from '../tasks/record.js';
import type { Definition } from './schemas.js';

/** The input of a pipeline: a collection, and stages that restrict it to the project. */
interface Source {
  collection: Pick<Collection, 'aggregate'>;
  stages: Document[];
}

/** @throws AppError `not_found` if the project does not have the table */
export async function sourceOf(
  mongo: Pick<Mongo, 'db' | 'collections'>,
  projectId: string,
  { resource, table_id }: Pick<Definition, 'resource' | 'table_id'>,
): Promise<Source> {
  const { executions } = mongo.collections;
  const ofProject = { $match: { projectID: projectId } };
  if (resource === 'tasks') return { collection: executions, stages: [ofProject, taskProjection] };
  if (resource === 'executions')
    return { collection: executions, stages: [ofProject, projectionOf(Object.keys(Execution.shape))] };
  if (table_id === null) throw notFound('the table');
  const { columns } = await readTable(mongo, projectId, table_id);
  // Each table has its own collection, so its rows have no projectID. Add it, because pipelines may match on it.
  return {
    collection: rowsOf(mongo, table_id),
    stages: [
      projectionOf(columns.map(({ column_id }) => column_id)),
      { $addFields: { projectID: { $literal: projectId } } },
    ],
  };
}

/** Keeps only the fields of the API. */
function projectionOf(fields: readonly string[]): Document {
  return { $project: Object.fromEntries(fields.map((field) => [field, 1])) };
}
