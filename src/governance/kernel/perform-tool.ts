import { AppError, isAppError } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { isJsonObject } from '../../base/json.js';
import { validate } from '../../base/validation.js';
import { namesProject, projectRefused } from '../tools/project-fields.js';
import type { Tool } from '../tools/tool.js';
import { checksAt } from './entrances.js';
import { callOf, type ReadCall, type Received } from './operation-call.js';
import type { Performed } from './perform.js';
import { outcomeOf, type KernelUser, type Outcome, type Refusal } from './perform-operation.js';
import type { StageId } from './stage-ids.js';

interface ReceivedTool<Deps> extends Received<Deps> {
  tool: Tool<Deps>;
  /** Reads the arguments. Called once. */
  read(): Promise<unknown>;
  /** Parameters of the path, or what stands for them. */
  params: Readonly<Record<string, unknown>>;
}

/** Performs the operation that the arguments of a tool choose. @returns a refusal with the codes of the gateway */
export async function performTool<Deps extends KernelUser>(received: ReceivedTool<Deps>): Promise<Outcome | Refusal> {
  const { tool, entrance, params } = received;
  let reading: Promise<unknown> | undefined;
  const readArguments = () => (reading ??= received.read());
  const read = async (): Promise<ReadCall<Deps>> => {
    const { dryRun, args } = argumentsOf(await readArguments(), checksAt(entrance).dryRun);
    const { operation, callOf: partsOf, answerOf } = tool.caseOf(args);
    const { key, input } = partsOf(validate(tool.input, args, 'invalid_request'));
    const whole = validate(operation.key, { ...params, ...key }, 'invalid_request');
    return { operation, key: whole, input, dryRun, tool: { title: tool.title, answerOf } };
  };
  const findOperation = async () => {
    const [first, ...others] = tool.cases;
    // The key of the only operation of a tool is in the path.
    if (first && others.length === 0)
      return { ...first, key: async () => validate(first.operation.key, params, 'invalid_request') };
    const { operation } = tool.caseOf(await readArguments());
    return { operation, key: async () => (await read()).key };
  };
  const recordId = newId();
  const call = callOf(received, tool.name, { findOperation, read, recordId: () => recordId });
  return withCodesOfTools(await received.deps.kernel.perform(call));
}

/** Separates `dry_run`, and refuses an input that names the project (docs/specification.md, "Context gateway"). */
function argumentsOf(sent: unknown, acceptsDryRun: boolean): { dryRun: boolean; args: Record<string, unknown> } {
  if (!isJsonObject(sent)) throw new AppError('invalid_request', 'body: must be an object');
  const projectField = Object.keys(sent).find(namesProject);
  if (projectField !== undefined) throw projectRefused(projectField);
  const { dry_run: dryRun = false, ...args } = sent;
  if (typeof dryRun !== 'boolean') throw new AppError('invalid_request', 'dry_run: must be a boolean');
  if (dryRun && !acceptsDryRun) throw new AppError('invalid_request', 'dry_run: this caller cannot ask for a dry run');
  return { dryRun, args };
}

/** The stages that call the workflow service. */
const workflowServiceStages: ReadonlySet<StageId> = new Set(['S6:approval', 'S8:execute']);

/** Every answer and refusal of a tool names its record. */
function withCodesOfTools(performed: Performed): Outcome | Refusal {
  const outcome = outcomeOf(performed);
  const { lifecycleId } = outcome;
  if (lifecycleId === undefined) return outcome;
  if (!('error' in outcome)) {
    const value = { lifecycle_id: lifecycleId, ...(outcome.value as Record<string, unknown>) };
    return { ...outcome, value };
  }
  const { error } = outcome;
  if (!isAppError(error))
    return { lifecycleId, error: new AppError('internal_error', 'the call failed', { lifecycleId, cause: error }) };
  const isFromWorkflows = 'stage' in performed && workflowServiceStages.has(performed.stage);
  const code = error.code === 'unavailable' && isFromWorkflows ? 'harness_unreachable' : error.code;
  return { lifecycleId, error: new AppError(code, error.message, { ...error.facts, lifecycleId, cause: error }) };
}
