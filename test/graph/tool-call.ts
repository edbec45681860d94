import type { Grant } from '../../src/auth/grants.js';
import type { Principal } from '../../src/auth/principal.js';
import { newId } from '../../src/base/ids.js';
import type { Tool, ToolContext } from '../../src/governance/tools/tool.js';

/** Returns the context of a call as the pipeline would create it, for a separate project of the test. */
export function contextOf(overrides: Partial<Principal> = {}): ToolContext {
  const principal: Principal = {
    kind: 'api_key',
    userId: newId(),
    organizationId: newId(),
    departmentId: newId(),
    projectId: newId(),
    role: 'OWNER',
    grants: ['svc:query.read', 'svc:docs.read', 'svc:ontology.write'] satisfies Grant[],
    ...overrides,
  };
  return contextFor(principal);
}

/** Returns the context of another call by the same caller. */
export function contextFor(principal: Principal): ToolContext {
  return {
    principal,
    projectId: principal.projectId,
    organizationId: principal.organizationId,
    lifecycleId: newId(),
    recordId: newId(),
    signal: new AbortController().signal,
  };
}

/** Runs a tool like S4 and S8. */
export async function call(tool: Tool, ctx: ToolContext, input: unknown): Promise<any> {
  const prepared = await tool.prepare(tool.input.parse(input), ctx);
  const { body, consumed } = await tool.execute(prepared, ctx);
  return { ...(tool.output.parse(body) as object), consumed };
}

export async function dryRun(tool: Tool, ctx: ToolContext, input: unknown): Promise<any> {
  return tool.dryRun(await tool.prepare(tool.input.parse(input), ctx), ctx);
}

/** Returns the refusal with which the pipeline would respond. */
export async function refusal(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error(`was not refused: ${JSON.stringify(outcome.value).slice(0, 300)}`);
  const { code, message } = outcome.error as { code: string; message: string };
  return { code, message };
}
