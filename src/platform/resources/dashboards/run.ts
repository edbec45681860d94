import { MongoOperationTimeoutError, MongoServerError, type Document } from 'mongodb';
import { AppError } from '../../../errors.js';
import type { Mongo } from '../../../stores/mongo.js';
import { checkPipeline } from './pipeline.js';
import type { Definition } from './schemas.js';
import { sourceOf } from './sources.js';

export const resultBounds = { documents: 1000, bytes: 400_000, milliseconds: 5000 };

/** MongoDB error 50: the operation was ended at its time limit. */
const maxTimeExpired = 50;

/**
 * Runs the pipeline of a component over its own project's documents; gives plain JSON.
 * @throws AppError `validation_failed` for what is not allowed, the server refuses, or is larger or slower than the bounds;
 * `not_found` for its table
 */
export async function runPipeline(mongo: Pick<Mongo, 'db'>, projectId: string, definition: Definition): Promise<unknown[]> {
  const stages: readonly unknown[] = definition.query.aggregation_code;
  checkPipeline(stages);
  const source = await sourceOf(mongo, projectId, definition);
  const { documents, milliseconds } = resultBounds;
  const cursor = source.collection.aggregate([...source.stages, ...stages.map(inOldWords), { $limit: documents + 1 }], {
    maxTimeMS: milliseconds,
    timeoutMS: milliseconds + 500,
    batchSize: 100,
  });
  try {
    return await gathered(cursor);
  } catch (error) {
    throw refusalOf(error);
  } finally {
    await cursor.close().catch(() => undefined);
  }
}

async function gathered(found: AsyncIterable<Document>): Promise<unknown[]> {
  const data: unknown[] = [];
  let bytes = 0;
  for await (const document of found) {
    const text = JSON.stringify(document);
    bytes += Buffer.byteLength(text);
    if (bytes > resultBounds.bytes) throw tooMuch(`more than ${resultBounds.bytes} bytes`);
    if (data.length === resultBounds.documents) throw tooMuch(`more than ${resultBounds.documents} documents`);
    data.push(JSON.parse(text));
  }
  return data;
}

/** `$set` has an older name, which every server knows. */
function inOldWords(stage: Document): Document {
  if (Array.isArray(stage.$facet) || typeof stage.$facet === 'object') {
    return { $facet: Object.fromEntries(Object.entries(stage.$facet as Record<string, Document[]>).map(([name, inner]) => [name, inner.map(inOldWords)])) };
  }
  return '$set' in stage ? { $addFields: stage.$set as Document } : stage;
}

function tooMuch(amount: string): AppError {
  return new AppError('validation_failed', `query.aggregation_code: gives ${amount}; group, project or limit it`);
}

function refusalOf(error: unknown): unknown {
  if (error instanceof MongoOperationTimeoutError || (error instanceof MongoServerError && error.code === maxTimeExpired)) {
    return new AppError('validation_failed', `query.aggregation_code: takes longer than ${resultBounds.milliseconds / 1000} s`, { cause: error });
  }
  if (!(error instanceof MongoServerError)) return error;
  return new AppError('validation_failed', `query.aggregation_code: the database refuses it: ${error.message.slice(0, 300)}`, { cause: error });
}
