import { isJsonObject } from '../../base/json.js';
import { AppError } from '../../base/errors.js';

import { allowedOperators, allowedStages, allowedVariables } from './operators.js';

export type Stage = Record<string, unknown>;

/**
 * `unwinds` and `iterations` (nesting depth of `$map` and `$filter`) prevent results that multiply lists by each other.
 * `list` limits literal lists outside of `$match`, because they multiply the documents.
 */
export const pipelineBounds = { stages: 20, bytes: 16_384, depth: 16, unwinds: 1, iterations: 1, list: 50 };

/**
 * Refuses pipelines that do more than read their input documents. Checks every key that starts with `$`, at any depth,
 * against an allow-list, so that operators of future MongoDB versions are refused too.
 * @throws AppError `validation_failed` with the path of the problem
 */
export function checkPipeline(stages: readonly unknown[]): asserts stages is Stage[] {
  if (Buffer.byteLength(JSON.stringify(stages)) > pipelineBounds.bytes) {
    throw refusal('', `must not exceed ${pipelineBounds.bytes} bytes`);
  }
  const names = checkStages(stages, '', true);
  if (names.length > pipelineBounds.stages)
    throw refusal('', `must not have more than ${pipelineBounds.stages} stages`);
  const unwinds = names.filter((name) => name === '$unwind').length;
  if (unwinds > pipelineBounds.unwinds)
    throw refusal('', `must not have more than ${pipelineBounds.unwinds} $unwind stage`);
}

const leastOf: Partial<Record<string, number>> = { $limit: 1, $skip: 0 };

/** @returns the names of the stages, including those in facets */
function checkStages(stages: readonly unknown[], place: string, facets: boolean): string[] {
  return stages.flatMap((stage, at) => {
    const where = `${place}.${at}`;
    const [name, ...others] = isJsonObject(stage) ? Object.keys(stage) : [];
    if (!isJsonObject(stage) || name === undefined || others.length > 0)
      throw refusal(where, 'must be an object with exactly one stage');
    if (!allowedStages.has(name)) throw refusal(where, `the stage ${name.slice(0, 100)} is not allowed`);
    const content = stage[name];
    const least = leastOf[name];
    // Servers differ in the values that they accept.
    if (least !== undefined && !(Number.isSafeInteger(content) && Number(content) >= least))
      throw refusal(`${where}.${name}`, `must be an integer of at least ${least}`);
    if (name !== '$facet') {
      checkValue(content, `${where}.${name}`, 1, 0, name === '$match' ? Infinity : pipelineBounds.list);
      return [name];
    }
    if (!facets || !isJsonObject(content))
      throw refusal(`${where}.${name}`, 'must be an object of pipelines without $facet');
    return [
      name,
      ...Object.entries(content).flatMap(([facet, inner]) => facetStages(inner, `${where}.${name}.${facet}`)),
    ];
  });
}

function facetStages(inner: unknown, place: string): string[] {
  if (!Array.isArray(inner)) throw refusal(place, 'must be a pipeline (an array of stages)');
  return checkStages(inner, place, false);
}

function checkValue(value: unknown, place: string, depth: number, iterations: number, list: number): void {
  if (typeof value === 'string') return checkVariable(value, place);
  if (typeof value !== 'object' || value === null) return;
  if (depth > pipelineBounds.depth)
    throw refusal(place, `must not be nested deeper than ${pipelineBounds.depth} levels`);
  if (Array.isArray(value) && value.length > list) throw refusal(place, `must not list more than ${list} values`);
  for (const [key, item] of Object.entries(value)) {
    const where = `${place}.${key}`;
    if (key.startsWith('$') && !allowedOperators.has(key)) throw refusal(place, `${key.slice(0, 100)} is not allowed`);
    if (key === '$literal' && typeof item === 'object' && item !== null) throw refusal(where, 'must be a single value');
    const iterates = key === '$map' || key === '$filter' ? 1 : 0;
    if (iterations + iterates > pipelineBounds.iterations)
      throw refusal(where, 'must not be nested in another $map or $filter');
    checkValue(item, where, depth + 1, iterations + iterates, list);
  }
}

function checkVariable(text: string, place: string): void {
  const [, name] = /^\$\$([A-Z][^.]*)/.exec(text) ?? [];
  if (name !== undefined && !allowedVariables.has(name))
    throw refusal(place, `the variable $$${name.slice(0, 100)} is not allowed`);
}

function refusal(place: string, problem: string): AppError {
  return new AppError('validation_failed', `query.aggregation_code${place.slice(0, 300)}: ${problem}`);
}
