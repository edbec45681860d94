import type { Principal } from '../../auth/principal.js';
import { newId } from '../../base/ids.js';
import { epochSeconds } from '../../base/time.js';
import type { CallContext } from '../operations/call-context.js';
import type { AnyOperation, PreparedCall } from '../operations/operation.js';
import { undecided } from '../operations/recheck.js';
import type { ToolCase } from '../tools/tool.js';
import type { Attempt, Call, Checked } from './call.js';

/** What the surface knows about a call, whichever operation it is. */
export interface Received<Deps> extends Pick<Call, 'entrance' | 'traceId' | 'resumeToken' | 'authenticate'> {
  deps: Deps;
  resolveScope?: Call['resolveScope'];
  /** The public address of this deployment. */
  baseUrl: string;
  signal: AbortSignal;
  idempotencyKey?: string | undefined;
}

/** A call whose request was read. */
export interface ReadCall<Deps> {
  operation: AnyOperation<Deps>;
  /** Validated. */
  key: unknown;
  input: unknown;
  dryRun?: boolean;
  /** For a tool: its title in the summary of a held call, and the answer for the operation's result. */
  tool?: { title: string; answerOf: ToolCase<Deps>['answerOf'] };
}

/** Replaces the operation's `run`, where the answer is a stream or the input the raw body. */
export type Run<Deps> = (call: PreparedCall<Deps, never, never, never>) => Promise<unknown>;

/** How the parts of a call are read from its request. */
interface RequestReader<Deps> {
  /** The operation, and what reads its key, before the input is read. */
  findOperation(): Promise<{ operation: AnyOperation<Deps>; key(): Promise<unknown> }>;
  /** S4: reads and validates the whole call. Called once. */
  read(principal: Principal): Promise<ReadCall<Deps>>;
  run?: Run<Deps> | undefined;
  /** The id for a record that the call creates. It changes if the call turns out to repeat an earlier one. */
  recordId(): string;
}

/** The call of an operation as the kernel takes it. */
export function callOf<Deps>(
  received: Received<Deps>,
  name: string,
  { findOperation, read, run, recordId }: RequestReader<Deps>,
): Call {
  const { entrance, traceId, resumeToken, authenticate, deps, baseUrl, signal, idempotencyKey } = received;
  const lifecycleId = newId();
  let reading: Promise<ReadCall<Deps>> | undefined;
  const readOnce = (principal: Principal) => (reading ??= read(principal));
  return {
    ...{ lifecycleId, startedAt: epochSeconds(), entrance, name, traceId, resumeToken, authenticate },
    async resolveScope(authenticated) {
      const principal = (await received.resolveScope?.(authenticated)) ?? authenticated;
      const { operation, key } = await findOperation();
      if (!operation.scopeOf) return principal;
      const input = async () => (await readOnce(principal)).input as never;
      return operation.scopeOf({ deps, principal, key: await key(), input });
    },
    operationOf: async () => (await findOperation()).operation,
    async judgedAs() {
      const { operation, key } = await findOperation();
      return operation.rulesFor ? operation.rulesFor(await key()) : operation;
    },
    async validate(principal) {
      const call = await readOnce(principal);
      const own = { principal, lifecycleId, recordId: recordId(), idempotencyKey, baseUrl, signal };
      const ctx: CallContext = { ...own, recheckPolicies: undecided, noteConsumed };
      return checkedOf(call, { deps, ctx, key: call.key as never, input: call.input as never }, { run, recordId });
    },
  };
}

/** Only a call in S8 has an answer whose entities can be noted. */
const noteConsumed = (): void => undefined;

type AnyCall<Deps> = Omit<PreparedCall<Deps, never, never, never>, 'prepared'>;

async function checkedOf<Deps>(
  { operation, key, input, dryRun = false, tool }: ReadCall<Deps>,
  call: AnyCall<Deps>,
  { run, recordId }: Pick<RequestReader<Deps>, 'run' | 'recordId'>,
): Promise<Checked> {
  const { lookUp, subject, boundState, approvalContext, dryRun: describe } = operation;
  const prepared = (await operation.prepare?.(call)) as never;
  const whole = { ...call, prepared };
  // The key wins over the body: it names the record that the call acts on.
  const fields = { ...ownFields(input), ...ownFields(key), ...operation.fixedFacts };
  const resource = operation.resource?.(call) ?? resourceOf(operation.name, key);
  return {
    input: fields,
    resource,
    dryRun,
    ...(subject && { subject: () => subject(call) }),
    ...(lookUp && { lookUp: () => lookUp(call) }),
    ...(boundState && { boundState: () => boundState(whole) }),
    ...(approvalContext && { approvalContext: () => approvalContext(call) }),
    ...(tool && { summary: () => ({ title: tool.title, fields }) }),
    ...(describe && { describe: () => describe(whole) }),
    async run(attempt) {
      const consumed: string[] = [];
      const ctx = contextOf(call.ctx, attempt, recordId(), (ids) => void consumed.push(...ids));
      const perform = run ?? operation.run;
      if (!perform) throw new Error(`${operation.name} is performed by its route`);
      const result = await perform({ ...whole, ctx });
      const madeId = resource.id === '*' ? idIn(result) : undefined;
      const body = tool ? tool.answerOf(result) : result;
      const outcome = await operation.outcome?.(result, call);
      return {
        body,
        ...(madeId !== undefined && { madeId }),
        ...(consumed.length > 0 && { consumed }),
        ...(outcome !== undefined && { outcome }),
      };
    },
  };
}

/** All attempts under one approval create the same record, also where an Idempotency-Key gives its id. */
function contextOf(
  ctx: CallContext,
  { recordId, approvalId, bound, recheck }: Attempt,
  ownRecordId: string,
  note: CallContext['noteConsumed'],
): CallContext {
  const approved = recordId !== undefined && { idempotencyKey: ctx.idempotencyKey ?? recordId };
  return {
    ...ctx,
    recordId: recordId ?? ownRecordId,
    ...approved,
    ...(approvalId !== undefined && { approvalId }),
    bound,
    noteConsumed: note,
    recheckPolicies: recheck,
  };
}

/** Removes the project, because it comes from the principal. How a request names it is not part of what is approved. */
function ownFields(fields: unknown): Record<string, unknown> {
  const { projectID: _upper, projectId: _lower, ...own } = (fields ?? {}) as Record<string, unknown>;
  return own;
}

/** The record that the last field of the key names, other than the project. */
function resourceOf(name: string, key: unknown): Checked['resource'] {
  const id = Object.values(ownFields(key)).findLast((value) => typeof value === 'string' && value !== '');
  return { type: name.split('.')[0] ?? name, id: typeof id === 'string' ? id : '*' };
}

function idIn(body: unknown): string | undefined {
  const { _id, id, execution_id, user_id } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  return [_id, id, execution_id, user_id].find((value) => typeof value === 'string');
}
