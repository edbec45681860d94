import { MongoServerError, type Document } from 'mongodb';
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
export async function runPipeline(mongo: Pick<Mongo, 'db' | 'collections'>, projectId: string, definition: Definition, bounds = resultBounds): Promise<unknown[]> {
  const stages: readonly unknown[] = definition.query.aggregation_code;
  checkPipeline(stages);
  const source = await sourceOf(mongo, projectId, definition);
  // The server's own limit comes first; ours is for a server that does not keep it.
  const signal = AbortSignal.timeout(Math.ceil(bounds.milliseconds * 1.1));
  const cursor = source.collection.aggregate([...source.stages, ...stages.map(inOldWords), { $limit: bounds.documents + 1 }], {
    maxTimeMS: bounds.milliseconds,
    signal,
    batchSize: 100,
  });
  try {
    return await gathered(cursor, bounds);
  } catch (error) {
    throw refusalOf(error, signal, bounds);
  } finally {
    await cursor.close().catch(() => undefined);
  }
}

async function gathered(found: AsyncIterable<Document>, { bytes: bytesAtMost, documents }: typeof resultBounds): Promise<unknown[]> {
  const data: unknown[] = [];
  let bytes = 0;
  for await (const document of found) {
    const text = JSON.stringify(document);
    bytes += Buffer.byteLength(text);
    if (bytes > bytesAtMost) throw tooMuch(`more than ${bytesAtMost} bytes`);
    if (data.length === documents) throw tooMuch(`more than ${documents} documents`);
    data.push(JSON.parse(text));
  }
  return data;
}

/** `$set` has an older name, which every server knows. */
function inOldWords(stage: Document): Document {
  if ('$facet' in stage) {
    return { $facet: Object.fromEntries(Object.entries(stage.$facet as Record<string, Document[]>).map(([name, inner]) => [name, inner.map(inOldWords)])) };
  }
  return '$set' in stage ? { $addFields: stage.$set as Document } : stage;
}

function tooMuch(amount: string): AppError {
  return new AppError('validation_failed', `query.aggregation_code: gives ${amount}; group, project or limit it`);
}

function refusalOf(error: unknown, signal: AbortSignal, { milliseconds }: typeof resultBounds): unknown {
  if (signal.aborted || (error instanceof MongoServerError && error.code === maxTimeExpired)) {
    return new AppError('validation_failed', `query.aggregation_code: takes longer than ${milliseconds / 1000} s`, { cause: error });
  }
  if (!(error instanceof MongoServerError)) return error;
  return new AppError('validation_failed', `query.aggregation_code: the database refuses it: ${error.message.slice(0, 300)}`, { cause: error });
}
