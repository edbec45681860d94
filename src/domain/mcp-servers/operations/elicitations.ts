import { setTimeout as delay } from 'node:timers/promises';
import {
  elicitationAskedSignal,
  elicitationSettledSignal,
} from '../../../../workflows/agentflow-execution/elicitations.js';
import type { Elicitation } from '../../../../workflows/agentflow-execution/act-messages.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { SecretBox } from '../../../auth/secret-box.js';
import { AppError, notFound } from '../../../base/errors.js';
import { canonicalText } from '../../../base/json.js';
import type { ElicitationAnswer, ElicitationQuestion } from '../../../outbound/mcp-link.js';
import { sha256Hex } from '../../../base/hash.js';
import type { Collections } from '../../../stores/collections.js';
import { insertOnce } from '../../../stores/insert-once.js';
import type { Temporal } from '../../../temporal/client.js';
import { epochSeconds } from '../../../base/time.js';
import { isOpen, isStopped, keptMs, openQuestions, type McpElicitationDocument } from '../record/elicitations.js';
import { checkValues, readForm } from '../rules/elicitation-form.js';

const pollMs = 1000;
/** The maximum for one call. The server gets `cancel` for further questions. */
const maxQuestions = 10;

type Asked = Pick<Collections, 'mcp_elicitations'>;
type Box = Pick<SecretBox, 'seal' | 'open'>;

/** The call during which the server asks. */
type AskingCall = Pick<
  McpElicitationDocument,
  | 'project_id'
  | 'organization_id'
  | 'execution_id'
  | 'agent_id'
  | 'step_id'
  | 'connector_id'
  | 'owner_id'
  | 'server'
  | 'tool'
  | 'agentflow'
> & {
  /** When the step ends at the latest, in epoch seconds. */
  step_ends_at: number;
};

type AskPerson = (question: ElicitationQuestion, signal: AbortSignal) => Promise<ElicitationAnswer>;
/** Begins the questions of one call, which are asked in sequence. */
export type BeginQuestions = (call: AskingCall) => AskPerson;

interface QuestionDeps {
  collections: Asked & Pick<Collections, 'executions'>;
  box: Box;
  temporal: Pick<Temporal, 'call'>;
  /** See `MCP_ELICITATION_WAIT`. */
  waitSeconds: number;
}

/** A call stops waiting this long before the end of its step, so that the tool can still finish. */
const marginSeconds = 5;

export function createQuestions(deps: QuestionDeps): BeginQuestions {
  return (call) => {
    const asked = new Map<string, number>();
    let before: Promise<unknown> = Promise.resolve();
    let count = 0;
    return (question, signal) => {
      count += 1;
      if (count > maxQuestions) return Promise.resolve({ action: 'cancel' });
      const digest = sha256Hex(canonicalText(question));
      const times = (asked.get(digest) ?? 0) + 1;
      asked.set(digest, times);
      const { execution_id, step_id } = call;
      const _id = sha256Hex(JSON.stringify([execution_id, step_id, digest, times]));
      const answer = before.then(() => askOne(deps, call, { _id, question }, signal));
      before = answer.catch(() => undefined);
      return answer;
    };
  };
}

async function askOne(
  deps: QuestionDeps,
  { step_ends_at, ...call }: AskingCall,
  { _id, question: { message, schema } }: { _id: string; question: ElicitationQuestion },
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  signal.throwIfAborted();
  const read = readForm(message, schema);
  if ('problem' in read) throw new Error(`a person cannot be asked: ${read.problem}`);
  const asked_at = epochSeconds();
  const latest = step_ends_at - marginSeconds;
  const until = Math.min(asked_at + deps.waitSeconds, latest);
  const { mcp_elicitations } = deps.collections;
  const kept = await insertOnce(mcp_elicitations, {
    ...{ _id, ...call, message, form: read.form, status: 'waiting', asked_at, until },
    ...{ sealed: null, decided_by: null, decided_at: null, decision_id: null },
    expires_at: new Date(until * 1000 + keptMs),
  });
  // The worker of an earlier attempt stopped waiting.
  await mcp_elicitations.updateOne(
    { _id, ...openQuestions(asked_at), status: 'expired' },
    { $set: { status: 'waiting' } },
  );
  const shown: Elicitation = {
    ...{ elicitation_id: _id, step_id: call.step_id, agent_id: call.agent_id },
    ...{ requested_at: kept.asked_at, expires_at: kept.until },
  };
  if (kept.status === 'waiting' || kept.status === 'expired')
    await signalRun(deps, call.execution_id, (run) => run.signal(elicitationAskedSignal, shown));
  try {
    return await answerOf(deps, await untilDecided(deps, kept, { latest, signal }));
  } finally {
    await mcp_elicitations
      .updateOne({ _id, status: 'waiting' }, { $set: { status: 'expired' } })
      .catch(() => undefined);
    await signalRun(deps, call.execution_id, (run) => run.signal(elicitationSettledSignal, _id));
  }
}

/** Signals the run, which only shows that it waits. A signal that is lost does no harm. */
async function signalRun(
  { temporal }: QuestionDeps,
  executionId: string,
  signal: (run: ReturnType<TemporalClient['workflow']['getHandle']>) => Promise<void>,
): Promise<void> {
  await temporal
    .call((client) => signal(client.workflow.getHandle(executionWorkflowId(executionId))))
    .catch(() => undefined);
}
type TemporalClient = Parameters<Parameters<Temporal['call']>[0]>[0];

interface Wait {
  /** The latest time until which the step can wait, even if its run is paused. */
  latest: number;
  signal: AbortSignal;
}

async function untilDecided(
  { collections }: QuestionDeps,
  asked: McpElicitationDocument,
  { latest, signal }: Wait,
): Promise<McpElicitationDocument | null> {
  const { mcp_elicitations } = collections;
  let found: McpElicitationDocument | null = asked;
  for (;;) {
    const known: McpElicitationDocument | null = found;
    // While the store does not answer, the question keeps its last known clock.
    found = await withClock(collections, asked, latest).catch(() => known);
    if (found && found.status !== 'waiting') return found;
    const now = epochSeconds();
    if (!found || !isOpen(found, now) || latest <= now) {
      // A person may decide at the same moment.
      const expired = { $set: { status: 'expired' as const } };
      return mcp_elicitations
        .findOneAndUpdate({ _id: asked._id, status: 'waiting' }, expired)
        .then((before) => (before ? null : mcp_elicitations.findOne({ _id: asked._id })));
    }
    await delay(pollMs, undefined, { signal });
  }
}

/** The current question. Its clock stops while the run is paused. After a pause, its time limit moves by the length of the pause. */
async function withClock(
  { mcp_elicitations, executions }: QuestionDeps['collections'],
  { _id, execution_id }: McpElicitationDocument,
  latest: number,
): Promise<McpElicitationDocument | null> {
  const [found, run] = await Promise.all([
    mcp_elicitations.findOne({ _id }),
    executions.findOne({ _id: execution_id }, { projection: { status: 1 } }),
  ]);
  if (found?.status !== 'waiting') return found;
  const { clock_stopped_at, until } = found;
  const isPaused = run?.status === 'paused';
  if (isPaused === isStopped(clock_stopped_at)) return found;
  const now = epochSeconds();
  const end = isStopped(clock_stopped_at) ? Math.min(until + now - clock_stopped_at, latest) : latest;
  const clock = isStopped(clock_stopped_at) ? { clock_stopped_at: null, until: end } : { clock_stopped_at: now };
  return mcp_elicitations.findOneAndUpdate(
    { _id, status: 'waiting' },
    { $set: { ...clock, expires_at: new Date(end * 1000 + keptMs) } },
    { returnDocument: 'after' },
  );
}

async function answerOf(
  { box }: Pick<QuestionDeps, 'box'>,
  found: McpElicitationDocument | null,
): Promise<ElicitationAnswer> {
  if (found?.status === 'declined') return { action: 'decline' };
  if (found?.status !== 'accepted') return { action: 'cancel' };
  const values: unknown = found.sealed === null ? {} : JSON.parse(box.open(found.sealed, purposeOf(found._id)));
  return { action: 'accept', content: values as Record<string, string | number | boolean | string[]> };
}

const purposeOf = (id: string) => `mcp-elicitation/${id}`;

/** @throws AppError `not_found` for a question of another project */
export async function findElicitation(
  { mcp_elicitations }: Asked,
  { projectId }: Pick<Principal, 'projectId'>,
  id: string,
): Promise<McpElicitationDocument> {
  const found = await mcp_elicitations.findOne({ _id: id });
  if (found?.project_id !== projectId) throw notFound('the item');
  return found;
}

/** Ends the questions that the server asks during a step, or any step, of a run. Nobody waits for their answers. */
export async function withdrawElicitations(
  { mcp_elicitations }: Asked,
  { project_id, ...of }: Pick<McpElicitationDocument, 'project_id' | 'execution_id'> & { step_id?: string },
): Promise<void> {
  await mcp_elicitations.updateMany({ project_id, status: 'waiting', ...of }, { $set: { status: 'expired' } });
}

interface ElicitationDecision {
  status: 'accepted' | 'declined' | 'cancelled';
  values: Record<string, unknown> | undefined;
  /** The same when the request is repeated. */
  decisionId: string;
}

/**
 * Stores the answer of a person, which the waiting call then reads.
 * @throws AppError `validation_failed` for values that do not fit the form, `conflict` if the question no longer waits
 */
export async function decideElicitation(
  { collections: { mcp_elicitations }, box }: { collections: Asked; box: Box },
  { _id, form }: McpElicitationDocument,
  { userId }: Pick<Principal, 'userId'>,
  { status, values = {}, decisionId }: ElicitationDecision,
): Promise<void> {
  if (status !== 'accepted' && Object.keys(values).length > 0)
    throw new AppError('validation_failed', 'values: are given only with the decision accept');
  const checked = checkValues(form, values);
  if (status === 'accepted' && 'problem' in checked) throw new AppError('validation_failed', checked.problem);
  const sealed =
    'values' in checked && status === 'accepted' ? box.seal(JSON.stringify(checked.values), purposeOf(_id)) : null;
  const at = epochSeconds();
  const { modifiedCount } = await mcp_elicitations.updateOne(
    { _id, ...openQuestions(at) },
    { $set: { status, sealed, decided_by: userId, decided_at: at, decision_id: decisionId } },
  );
  if (modifiedCount === 1) return;
  const now = await mcp_elicitations.findOne({ _id });
  if (now?.decision_id === decisionId) return;
  throw new AppError(
    'conflict',
    `the elicitation is ${now?.status === 'waiting' ? 'expired' : (now?.status ?? 'expired')}`,
  );
}
