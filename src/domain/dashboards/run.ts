import { MongoServerError, type Document, type Collection } from 'mongodb';
import { AppError, notFound } from '../../base/errors.js';
import type { Mongo } from '../../stores/mongo.js';
import { checkPipeline } from './pipeline.js';
import type { Definition } from './schemas.js';
import { isNoSlice } from '../executions/operations/filter.js';
import { Execution } from '../executions/record.js';
import { readTable, rowsOf } from '../tables/record.js';
import { taskProjection } from '../tasks/record.js';

export const resultBounds = { documents: 1000, bytes: 400_000, milliseconds: 5000 };

/** MongoDB error code: the operation exceeded its time limit. */
const maxTimeExpired = 50;

/**
 * Runs the pipeline of a component over the documents of its project. Returns plain JSON.
 * @throws AppError `validation_failed` for a pipeline that is not allowed, fails, or exceeds the bounds; `not_found` (table)
 */
export async function runPipeline(
  mongo: Pick<Mongo, 'db' | 'collections'>,
  projectId: string,
  definition: Definition,
  bounds = resultBounds,
): Promise<unknown[]> {
  const stages: readonly unknown[] = definition.query.aggregation_code;
  checkPipeline(stages);
  const source = await sourceOf(mongo, projectId, definition);
  // The server's limit expires first. The signal is for servers that do not enforce it.
  const signal = AbortSignal.timeout(Math.ceil(bounds.milliseconds * 1.1));
  const cursor = source.collection.aggregate(
    [...source.stages, ...stages.map(withOlderStageNames), { $limit: bounds.documents + 1 }],
    { maxTimeMS: bounds.milliseconds, signal, batchSize: 100 },
  );
  try {
    return await collect(cursor, bounds);
  } catch (error) {
    throw refusalOf(error, signal, bounds);
  } finally {
    await cursor.close().catch(() => undefined);
  }
}

async function collect(found: AsyncIterable<Document>, { bytes: maxBytes, documents }: typeof resultBounds) {
  const data: unknown[] = [];
  let bytes = 0;
  for await (const document of found) {
    const text = JSON.stringify(document);
    bytes += Buffer.byteLength(text);
    if (bytes > maxBytes) throw resultTooLarge(`more than ${maxBytes} bytes`);
    if (data.length === documents) throw resultTooLarge(`more than ${documents} documents`);
    data.push(JSON.parse(text));
  }
  return data;
}

/** Replaces `$set` with its older name, which all servers support. */
function withOlderStageNames(stage: Document): Document {
  if ('$facet' in stage) {
    return {
      $facet: Object.fromEntries(
        Object.entries(stage.$facet as Record<string, Document[]>).map(([name, inner]) => [
          name,
          inner.map(withOlderStageNames),
        ]),
      ),
    };
  }
  return '$set' in stage ? { $addFields: stage.$set as Document } : stage;
}

function resultTooLarge(amount: string): AppError {
  return new AppError(
    'validation_failed',
    `query.aggregation_code: returns ${amount}; group, project or limit the result`,
  );
}

function refusalOf(error: unknown, signal: AbortSignal, { milliseconds }: typeof resultBounds): unknown {
  if (signal.aborted || (error instanceof MongoServerError && error.code === maxTimeExpired)) {
    return new AppError(
      'validation_failed',
      `query.aggregation_code: must not take longer than ${milliseconds / 1000} s`,
      { cause: error },
    );
  }
  if (!(error instanceof MongoServerError)) return error;
  return new AppError(
    'validation_failed',
    `query.aggregation_code: MongoDB refused the pipeline: ${error.message.slice(0, 300)}`,
    { cause: error },
  );
}

/** The input of a pipeline: a collection, and stages that restrict it to the project. */
interface Source {
  collection: Pick<Collection, 'aggregate'>;
  stages: Document[];
}

/** @throws AppError `not_found` if the project does not have the table */
async function sourceOf(
  mongo: Pick<Mongo, 'db' | 'collections'>,
  projectId: string,
  { resource, table_id }: Pick<Definition, 'resource' | 'table_id'>,
): Promise<Source> {
  const { executions } = mongo.collections;
  const ofProject = { $match: { projectID: projectId, ...isNoSlice } };
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
