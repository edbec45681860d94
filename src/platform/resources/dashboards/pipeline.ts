import { AppError } from '../../../errors.js';
import { allowedOperators, allowedStages, allowedVariables } from './operators.js';

export type Stage = Record<string, unknown>;

/**
 * `unwinds`: two of them multiply lists with each other; `iterations`: so does an iteration in another one; `list`: a list
 * of the pipeline's own multiplies the documents, unless `$match` only looks into it.
 */
export const pipelineBounds = { stages: 20, bytes: 16_384, depth: 16, unwinds: 1, iterations: 1, list: 50 };

/**
 * Refuses what is not a read over the documents that flow into the pipeline. Every key that begins with `$` is looked up
 * in an allow-list, at whatever depth, so that an operator that MongoDB learns later is refused as well.
 * @throws AppError `validation_failed` with the place
 */
export function checkPipeline(stages: readonly unknown[]): asserts stages is Stage[] {
  if (Buffer.byteLength(JSON.stringify(stages)) > pipelineBounds.bytes) {
    throw refusal('', `is longer than ${pipelineBounds.bytes} bytes`);
  }
  const names = checkStages(stages, '', true);
  if (names.length > pipelineBounds.stages) throw refusal('', `has more than ${pipelineBounds.stages} stages`);
  const unwinds = names.filter((name) => name === '$unwind').length;
  if (unwinds > pipelineBounds.unwinds) throw refusal('', `has more than ${pipelineBounds.unwinds} $unwind`);
}

/** Gives the names of the stages, those in facets included. */
function checkStages(stages: readonly unknown[], place: string, facets: boolean): string[] {
  return stages.flatMap((stage, at) => {
    const where = `${place}.${at}`;
    const [name, ...others] = isObject(stage) ? Object.keys(stage) : [];
    if (!isObject(stage) || name === undefined || others.length > 0) throw refusal(where, 'is not an object with one stage');
    if (!allowedStages.has(name)) throw refusal(where, `the stage ${name.slice(0, 100)} is not allowed`);
    const content = stage[name];
    if (name !== '$facet') {
      checkValue(content, `${where}.${name}`, 1, 0, name === '$match' ? Infinity : pipelineBounds.list);
      return [name];
    }
    if (!facets || !isObject(content)) throw refusal(`${where}.${name}`, 'takes an object of pipelines without facets');
    return [name, ...Object.entries(content).flatMap(([facet, inner]) => facetStages(inner, `${where}.${name}.${facet}`))];
  });
}

function facetStages(inner: unknown, place: string): string[] {
  if (!Array.isArray(inner)) throw refusal(place, 'is not a pipeline');
  return checkStages(inner, place, false);
}

function checkValue(value: unknown, place: string, depth: number, iterations: number, list: number): void {
  if (typeof value === 'string') return checkVariable(value, place);
  if (typeof value !== 'object' || value === null) return;
  if (depth > pipelineBounds.depth) throw refusal(place, `is nested deeper than ${pipelineBounds.depth} levels`);
  if (Array.isArray(value) && value.length > list) throw refusal(place, `lists more than ${list} values`);
  for (const [key, item] of Object.entries(value)) {
    const where = `${place}.${key}`;
    if (key.startsWith('$') && !allowedOperators.has(key)) throw refusal(place, `${key.slice(0, 100)} is not allowed`);
    if (key === '$literal' && typeof item === 'object' && item !== null) throw refusal(where, 'takes a single value here');
    const iterates = key === '$map' || key === '$filter' ? 1 : 0;
    if (iterations + iterates > pipelineBounds.iterations) throw refusal(where, 'stands in another iteration');
    checkValue(item, where, depth + 1, iterations + iterates, list);
  }
}

function checkVariable(text: string, place: string): void {
  const [, name] = /^\$\$([A-Z][^.]*)/.exec(text) ?? [];
  if (name !== undefined && !allowedVariables.has(name)) throw refusal(place, `the variable $$${name.slice(0, 100)} is not allowed`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refusal(place: string, problem: string): AppError {
  return new AppError('validation_failed', `query.aggregation_code${place.slice(0, 300)}: ${problem}`);
}
