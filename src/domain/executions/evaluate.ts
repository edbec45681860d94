import { z } from 'zod';
import {
  commonNames,
  evaluateExpression,
  ExpressionError,
  expressionProblem,
  type Work,
} from '../../../workflows/agentflow-execution/flow/expressions.js';
import type { FlowStepOf } from '../../../workflows/agentflow-execution/flow/flow-steps.js';
import { inPath } from '../../../workflows/agentflow-execution/paths.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../base/errors.js';
import { pick } from '../../base/pick.js';
import type { Deps } from '../deps.js';
import { followerOf, readEarlierRun } from './earlier-run.js';
import { readExecution } from './operations/read.js';
import type { ExecutionDocument } from './record.js';
import { runOfPath } from './slices.js';

export const EvaluationQuery = z.strictObject({
  expression: z.string().min(1).max(4000).describe('An expression in CEL, as in a step of a flow.'),
  at: z
    .string()
    .max(4000)
    .optional()
    .describe(
      'Where the expression stands: an agent or step (`price`), in a part of a step after its path (`each/17/price`). It decides which outputs and names the expression knows. By default the main part; an agent or step that runs in parts stands in the first one.',
    ),
});

export const Evaluation = z
  .object({
    value: z.unknown().describe('The value, as JSON.').meta({ example: 120 }),
    path: z.string().describe('The part of the flow; empty for the main part.').meta({ example: 'each/0' }),
  })
  .meta({ id: 'Evaluation' });

type Query = z.infer<typeof EvaluationQuery>;
type EvaluatedRun = Pick<ExecutionDocument, (typeof neededFields)[number]>;

const neededFields = [
  '_id',
  'agentflow_id',
  'agentflow',
  'plan',
  'flow',
  'goal',
  'input_variables',
  'runtime_inputs',
  'started_at',
  'start_from_agent_id',
  'agents_output',
  'steps',
  'execution_context',
] as const;

declare module '../../threads/threads.js' {
  interface ThreadJobs {
    evaluateInRun(request: { run: EvaluatedRun; query: Query }): z.infer<typeof Evaluation>;
  }
}

const timeoutMs = 5000;

/**
 * Evaluates an expression with what a run has recorded, and changes nothing.
 * @throws AppError `validation_failed` with the reason
 */
export async function evaluateExecution(deps: Deps, principal: Principal, id: string, query: Query) {
  const found = await readExecution(deps, principal, id);
  const { record, path: at } = await runOfPath(deps.mongo.collections.executions, found, query.at ?? '');
  const run = pick(record, ...neededFields);
  return deps.threads.run(
    'evaluateInRun',
    { run, query: { ...query, at } },
    { owner: principal.organizationId, timeoutMs },
  );
}

/** Runs in a thread, because who wrote the expression decides how long it takes. The limits are those of a step. */
export function evaluateInRun({ run, query }: { run: EvaluatedRun; query: Query }): z.infer<typeof Evaluation> {
  const { expression, at = '' } = query;
  const values = readValues(run);
  const path = values.pathOf(at);
  try {
    const known = values.on(path);
    const names = Object.keys(known).filter((name) => !(name in commonNames));
    const problem = expressionProblem(expression, { type: 'any', names });
    if (problem !== undefined) throw new ExpressionError(problem);
    return { value: evaluateExpression(expression, known, { work: values.work }), path };
  } catch (error) {
    if (error instanceof ExpressionError) throw new AppError('validation_failed', `expression: ${error.message}`);
    throw error;
  }
}

/** The values that expressions on a path knew, from the record of the run. */
function readValues(run: EvaluatedRun) {
  const earlier = readEarlierRun(run);
  const ids = [...run.plan, ...(run.flow.steps ?? [])].map(({ _id }) => _id);
  const work: Work = { steps: 0 };

  function pathOf(at: string): string {
    const names = at === '' ? [] : at.split('/');
    const unknown = names.filter((_name, place) => place % 2 === 0).find((id) => !earlier.nodeAt(id));
    if (unknown !== undefined)
      throw new AppError('validation_failed', `at: the execution has no agent or step ${unknown}`);
    if (names.length !== 1 || earlier.reached.has(at))
      return names.slice(0, names.length - (names.length % 2)).join('/');
    const place = [...earlier.reached].find((each) => each.endsWith(`/${at}`));
    return place === undefined ? '' : place.slice(0, -at.length - 1);
  }

  function outputsOn(path: string): Record<string, unknown> {
    const ended = ids.flatMap((id) => {
      const end = earlier.endAt(path, id);
      return end && 'output' in end ? [[id, end.output] as const] : [];
    });
    return { ...(path === '' && run.flow.given?.outputs), ...Object.fromEntries(ended) };
  }

  /** Inner parts take precedence over those around them. */
  function on(path: string): Record<string, unknown> {
    const pairs = path === '' ? [] : path.split('/');
    const around = pairs.length === 0 ? undefined : on(pairs.slice(0, -2).join('/'));
    const { input_variables, runtime_inputs, goal, _id, agentflow_id, started_at, flow } = run;
    const { started_by } = flow;
    return {
      ...(around ? { ...around, ...namesIn(path, around) } : run.flow.given?.names),
      inputs: { ...runtime_inputs, ...input_variables },
      outputs: { ...(around?.outputs as object | undefined), ...outputsOn(path) },
      goal,
      execution: { id: _id, agentflow_id, started_by, started_at, path },
    };
  }

  /** The names that a part adds: its item or its round. */
  function namesIn(path: string, around: Record<string, unknown>): Record<string, unknown> {
    const [part = '', id = '', ...outer] = path.split('/').reverse();
    const step = earlier.nodeAt(id)?.step;
    const index = Number(part);
    if (step?.type === 'map') {
      const item =
        itemsOf(step, path.slice(0, path.lastIndexOf('/')), around)[
          index - (run.flow.slice?.step_id === id ? run.flow.slice.from : 0)
        ] ?? null;
      return { item, index, [step.as]: item };
    }
    if (step?.type !== 'loop') return {};
    const before = index > 0 ? inPath(outer.reverse().join('/'), `${id}/${index - 1}`) : undefined;
    if (before === undefined) return { carry: null, index };
    const carry =
      step.carry === null ? lastOn(before, step.first) : evaluateExpression(step.carry, on(before), { work });
    return { carry, index };
  }

  /** The items of a slice and the rows of a table are in the record. */
  function itemsOf(
    { _id, items }: FlowStepOf<'map'>,
    place: string,
    around: Record<string, unknown>,
  ): readonly unknown[] {
    if (run.flow.slice?.step_id === _id) return run.flow.slice.items;
    if (typeof items === 'string') return evaluateExpression(items, around, { type: 'list', work }) as unknown[];
    const read = run.steps.findLast(({ kind, step_id }) => kind === 'divideItems' && step_id === `${place}/items`);
    return Array.isArray(read?.output) ? read.output : [];
  }

  /** The output of a part that has ended: that of its last node. */
  function lastOn(path: string, first: string): unknown {
    let output: unknown = null;
    for (let id: string | null = first; id !== null;) {
      const node = earlier.nodeAt(id);
      const end = earlier.endAt(path, id);
      if (!node || !end) break;
      output = end.output ?? null;
      id = followerOf(node, end);
    }
    return output;
  }

  return { work, pathOf, on };
}
