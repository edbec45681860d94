import type { Grant } from '../../src/auth/grants.js';
import type { Principal } from '../../src/auth/principal.js';
import { newId } from '../../src/base/ids.js';
import { validate } from '../../src/base/validation.js';
import type { Deps } from '../../src/domain/deps.js';
import type { DomainOperation, DomainTool } from '../../src/domain/operation.js';
import type { CallContext } from '../../src/governance/operations/call-context.js';
import { undecided } from '../../src/governance/operations/recheck.js';
import { toolOf } from '../../src/governance/tools/tool.js';

/** A tool with the dependencies of its calls. */
export type ToolWithDeps = DomainTool & { deps: Deps };

export function toolWith(deps: Deps, tool: DomainTool | DomainOperation): ToolWithDeps {
  return { ...('cases' in tool ? tool : toolOf(tool)), deps };
}

export type TestContext = Pick<Principal, 'projectId' | 'organizationId'> & CallContext;

/** Returns the context of a call as the kernel would create it, for a separate project of the test. */
export function contextOf(overrides: Partial<Principal> = {}): TestContext {
  return contextFor({
    kind: 'api_key',
    userId: newId(),
    organizationId: newId(),
    departmentId: newId(),
    projectId: newId(),
    role: 'OWNER',
    grants: ['svc:query.read', 'svc:docs.read', 'svc:ontology.write'] satisfies Grant[],
    ...overrides,
  });
}

/** Returns the context of another call by the same caller. */
export function contextFor(principal: Principal): TestContext {
  const { projectId, organizationId } = principal;
  return {
    ...{ principal, projectId, organizationId, lifecycleId: newId(), recordId: newId(), idempotencyKey: undefined },
    baseUrl: 'http://service.test',
    signal: new AbortController().signal,
    recheckPolicies: undecided,
    noteConsumed: () => undefined,
  };
}

/** Runs a tool like S4 and S8. */
export async function call(tool: ToolWithDeps, context: TestContext, args: unknown): Promise<any> {
  let consumed: readonly string[] | undefined;
  const ctx = { ...context, noteConsumed: (ids: readonly string[]) => (consumed = ids) };
  const { operation, answerOf, whole } = await prepared(tool, ctx, args);
  const result = await operation.run?.(whole);
  return { ...(tool.output.parse(answerOf(result)) as object), consumed };
}

export async function dryRun(tool: ToolWithDeps, ctx: TestContext, args: unknown): Promise<any> {
  const { operation, whole } = await prepared(tool, ctx, args);
  return operation.dryRun?.(whole);
}

async function prepared(tool: ToolWithDeps, ctx: TestContext, args: unknown) {
  const { operation, callOf, answerOf } = tool.caseOf(args);
  const { key, input } = callOf(tool.input.parse(args));
  const keyed = validate(operation.key, { projectId: ctx.projectId, ...key }, 'invalid_request');
  const received = { deps: tool.deps, ctx, key: keyed, input } as never;
  const whole = { ...(received as object), prepared: await operation.prepare?.(received) } as never;
  return { operation, answerOf, whole };
}

/** Returns the refusal with which the kernel would respond. */
export async function refusal(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error(`was not refused: ${JSON.stringify(outcome.value).slice(0, 300)}`);
  const { code, message } = outcome.error as { code: string; message: string };
  return { code, message };
}
