import type { SecretBox } from '../../auth/secret-box.js';
import { isAppError } from '../../base/errors.js';
import type { Approvals } from '../../governance/approvals/create-approvals.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import type { DomainTool } from '../../domain/operation.js';
import { ownerOf } from './caller.js';
import type { CallOutcome, Exchange } from './exchange.js';
import { hasEnded, progressText, type ReadExecution } from './follow-execution.js';
import { callIndependentRefusals } from './govern.js';
import type { Govern, McpTool } from './mcp-tool.js';
import { refusalBody, rpcCodes, rpcError } from './rpc-errors.js';
import { newTask, openContents, sealContents, type McpTaskDocument } from './task-record.js';

/** The current state of a task. */
export interface TaskView {
  task: McpTaskDocument;
  /** The final outcome or, until the task ends, the latest one. */
  outcome: CallOutcome;
  /** A status message for people. */
  message: string;
}

interface TasksDeps {
  tasks: Collections['mcp_tasks'];
  box: SecretBox;
  counters: Collections['request_counters'];
  approvals: Pick<Approvals, 'read'>;
  readExecution: ReadExecution;
  govern: Govern;
  /** The tool that cancels executions. */
  orchestrate: DomainTool;
  toolNamed(name: string, exchange: Exchange): Promise<McpTool>;
  /** Aborts approved calls when the process stops. They continue when their client disconnects. */
  stopping: AbortSignal;
}

/** Exceeds the duration of any call. If the process dies, another one can retry after this time. */
const claimSeconds = 120;

/** Tool calls whose results are fetched later. Processes keep no task state: each request reads the stores. */
export function createTasks(deps: TasksDeps) {
  const { tasks, box } = deps;
  return {
    /** Stores the call as a task. Returns undefined if the outcome is final, unless the client requested a task. */
    async keep(
      tool: McpTool,
      input: Record<string, unknown>,
      outcome: CallOutcome,
      exchange: Exchange,
      whenFinal?: 'always',
    ): Promise<TaskView | undefined> {
      const place = stateAfter(tool, outcome);
      if (place.state === 'ended' && !whenFinal) return undefined;
      const task = newTask(exchange, tool.definition.name);
      const kept = { ...task, ...place, sealed: await sealContents(deps, { ...task, ...place }, { input, outcome }) };
      await tasks.insertOne(kept);
      return viewOf(kept, outcome);
    },
    /**
     * Reads a task. Makes the held call once it is approved, with the credential of the caller who reads the task.
     * @throws a JSON-RPC error for an unknown task and for a task of another caller
     */
    async read(id: string, exchange: Exchange): Promise<TaskView> {
      const task = await find(deps, id, exchange);
      return followRun(deps, task.state === 'held' ? await makeHeldCall(deps, task, exchange) : task, exchange);
    },
    /** Cancels the task and, as a governed call, the run that it started. A task that has ended does not change. */
    async cancel(id: string, exchange: Exchange): Promise<TaskView> {
      const task = await find(deps, id, exchange);
      if (task.state === 'running') await cancelRun(deps, task, exchange);
      // A call in progress can no longer be stopped.
      await tasks.updateOne(
        { _id: id, state: { $in: ['held', 'running'] }, claimed_until: { $lte: epochSeconds() } },
        { $set: { state: 'cancelled', updated_at: epochSeconds() } },
      );
      const now = await find(deps, id, exchange);
      return viewOf(now, openContents(box, now).outcome);
    },
  };
}

async function find({ tasks, toolNamed }: TasksDeps, id: string, exchange: Exchange): Promise<McpTaskDocument> {
  const { caller } = exchange;
  const task = id.length <= 100 ? await tasks.findOne({ _id: id }) : null;
  if (task?.owner !== ownerOf(caller.principal))
    throw rpcError(rpcCodes.invalidParams, 'the task was not found or has expired');
  if (!(await toolNamed(task.tool, exchange)).visibleTo(caller.principal))
    throw rpcError(rpcCodes.server, `the credential may no longer use the tool ${task.tool}`);
  return task;
}

type TaskState = Pick<McpTaskDocument, 'state' | 'approval_id' | 'execution_id'>;

function stateAfter(tool: McpTool, outcome: CallOutcome): TaskState {
  if (outcome.kind === 'pending') return { state: 'held', approval_id: outcome.approvalId, execution_id: null };
  const run = outcome.kind === 'answer' ? tool.run?.idIn(outcome.body) : undefined;
  return run === undefined
    ? { state: 'ended', approval_id: null, execution_id: null }
    : { state: 'running', approval_id: null, execution_id: run };
}

/**
 * Makes the held call after its approval is settled. The process that gets the claim makes the call. To the others, the
 * call remains held.
 */
async function makeHeldCall(deps: TasksDeps, task: McpTaskDocument, exchange: Exchange): Promise<McpTaskDocument> {
  const { tasks, box, approvals, toolNamed, stopping } = deps;
  const approvalId = task.approval_id ?? '';
  const { status } = await approvals.read(exchange.caller.principal, approvalId);
  if (status === 'pending') return task;
  const now = epochSeconds();
  const claimed = await tasks.findOneAndUpdate(
    { _id: task._id, state: 'held', claimed_until: { $lte: now } },
    { $set: { claimed_until: now + claimSeconds } },
    { returnDocument: 'after' },
  );
  if (!claimed) return find(deps, task._id, exchange);
  const { input } = openContents(box, claimed);
  const tool = await toolNamed(task.tool, exchange);
  const outcome = await tool.call(input, {
    ...exchange,
    signal: stopping,
    progress: undefined,
    resume: { approvalId },
  });
  if (outcome.kind === 'refusal' && callIndependentRefusals.has(outcome.body.error))
    return updateTask(deps, claimed, { claimed_until: 0 });
  const place = stateAfter(tool, outcome);
  return updateTask(deps, claimed, {
    ...place,
    claimed_until: 0,
    sealed: await sealContents(deps, { ...claimed, ...place }, { input, outcome }),
  });
}

async function followRun(deps: TasksDeps, task: McpTaskDocument, exchange: Exchange): Promise<TaskView> {
  const { box, readExecution, toolNamed } = deps;
  const { input, outcome } = openContents(box, task);
  if (task.state !== 'running' || task.execution_id === null) return viewOf(task, outcome);
  try {
    const execution = await readExecution(exchange.caller.principal, task.execution_id);
    const body = (await toolNamed(task.tool, exchange)).run?.answer(outcome.body, execution) ?? outcome.body;
    if (!hasEnded(execution)) return viewOf(task, { kind: 'answer', body }, progressText(execution));
    return await endTask(deps, task, input, { kind: 'answer', body });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'not_found') throw error;
    return endTask(deps, task, input, {
      kind: 'refusal',
      body: { ...refusalBody(error), lifecycle_id: outcome.body.lifecycle_id },
    });
  }
}

async function endTask(
  deps: TasksDeps,
  task: McpTaskDocument,
  input: Record<string, unknown>,
  outcome: CallOutcome,
): Promise<TaskView> {
  const now = await updateTask(deps, task, {
    state: 'ended',
    sealed: await sealContents(deps, { ...task, state: 'ended' }, { input, outcome }),
  });
  return viewOf(now, openContents(deps.box, now).outcome);
}

/** Saves the new state unless the task was cancelled in the meantime. */
async function updateTask(
  { tasks }: TasksDeps,
  task: McpTaskDocument,
  to: Partial<McpTaskDocument>,
): Promise<McpTaskDocument> {
  const updated = await tasks.findOneAndUpdate(
    { _id: task._id, state: task.state },
    { $set: { ...to, updated_at: epochSeconds() } },
    { returnDocument: 'after' },
  );
  return updated ?? (await tasks.findOne({ _id: task._id })) ?? task;
}

async function cancelRun(
  { govern, orchestrate, toolNamed }: TasksDeps,
  { tool, execution_id }: McpTaskDocument,
  exchange: Exchange,
): Promise<void> {
  if (!(await toolNamed(tool, exchange)).run?.startedHere) return;
  const cancelling = { ...exchange, progress: undefined, resume: {} };
  const { kind, body } = await govern(
    orchestrate,
    { operation: 'cancel', execution_id, reason: 'its task was cancelled' },
    cancelling,
  );
  // A conflict means that the run has already ended.
  if (kind !== 'answer' && body.error !== 'conflict')
    throw rpcError(rpcCodes.server, String(body.error_description ?? body.how_to_finish), body);
}

function viewOf(task: McpTaskDocument, outcome: CallOutcome, progress = ''): TaskView {
  const held = () =>
    `held for approval ${task.approval_id ?? ''}; another person decides at ${outcome.kind === 'pending' ? outcome.approvalUrl : 'the console'}`;
  const messages = {
    held,
    running: () => progress || `execution ${task.execution_id ?? ''} continues`,
    ended: () => '',
    cancelled: () => 'cancelled by the client',
  };
  return { task, outcome, message: messages[task.state]() };
}
