import type { DomainOperation } from '../../domain/operation.js';
import type { Deps } from '../../domain/deps.js';
import type { CallContext } from '../../governance/operations/call-context.js';
import type { OperationCall } from '../../governance/operations/operation.js';
import { callAs } from '../../governance/kernel/call-as.js';
import type { Call, Checked } from '../../governance/kernel/call.js';

/** A call of an operation, which its surface has authenticated, scoped and validated. */
interface Performance extends Pick<Call, 'channel' | 'traceId' | 'resumeToken' | 'cannotWait'> {
  operation: DomainOperation;
  call: OperationCall<Deps, never, never>;
  /** The id of the record that the call names; empty if it names none. */
  subjectId: string;
  /** Replaces the operation's `run`. */
  run?(ctx: CallContext): Promise<unknown>;
}

export type Outcome = { lifecycleId?: string } & ({ held: boolean; value: unknown } | { error: unknown });

/** Performs an operation as a governed call. */
export async function performOperation(performance: Performance): Promise<Outcome> {
  const { lifecycleId, ...performed } = await performance.call.deps.kernel.perform(callOf(performance));
  const id = lifecycleId === undefined ? {} : { lifecycleId };
  if ('error' in performed) return { ...id, error: performed.error };
  const { status, body } = performed.ending;
  const held = status === 'pending_approval';
  return { ...id, held, value: held ? { lifecycle_id: lifecycleId, ...(body as object) } : body };
}

function callOf(performance: Performance): Call {
  const { operation, call, subjectId: _subject, run: _run, ...rest } = performance;
  const { scopeOf, subject } = operation;
  const rules = operation.rulesFor?.(call) ?? operation;
  return callAs(async () => call.ctx.principal, {
    ...rest,
    operation: rules,
    rawInput: inputOf(performance),
    ...(subject && { subject: (principal) => subject({ ...call, ctx: { ...call.ctx, principal } }) }),
    ...(scopeOf && { resolveScope: () => scopeOf(call) }),
    resumesItself: performance.channel === 'console',
    validate: async () => checkedOf(performance, rules.name),
  });
}

/** The key wins over the body: it names the record that the call acts on. */
function inputOf({ operation: { fixedFacts }, call }: Performance): Record<string, unknown> {
  return { ...ownFields(call.input), ...ownFields(call.key), ...fixedFacts };
}

function checkedOf(performance: Performance, name: string): Checked {
  const { operation, call, subjectId, run } = performance;
  const { lookUp, boundState, approvalContext } = operation;
  return {
    input: inputOf(performance),
    resource: { type: name.split('.')[0] ?? name, id: subjectId || '*' },
    dryRun: false,
    ...(lookUp && { lookUp: () => lookUp(call) }),
    ...(boundState && { boundState: () => boundState(call) }),
    ...(approvalContext && { approvalContext: () => approvalContext(call) }),
    async run({ recordId, recheck: recheckPolicies }) {
      const ctx = { ...call.ctx, recheckPolicies };
      const repeatable =
        recordId === undefined ? ctx : { ...ctx, recordId, idempotencyKey: ctx.idempotencyKey ?? recordId };
      const body = await (run ? run(repeatable) : operation.run({ ...call, ctx: repeatable }));
      const madeId = subjectId === '' ? idIn(body) : undefined;
      return { body, ...(madeId !== undefined && { madeId }) };
    },
  };
}

/** Removes the project, because it comes from the principal. How a request names it is not part of what is approved. */
function ownFields(fields: unknown): Record<string, unknown> {
  const { projectID: _upper, projectId: _lower, ...own } = (fields ?? {}) as Record<string, unknown>;
  return own;
}

function idIn(body: unknown): string | undefined {
  const { _id, id, execution_id, user_id } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  return [_id, id, execution_id, user_id].find((value) => typeof value === 'string');
}
