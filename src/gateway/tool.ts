import type { z } from 'zod';
import type { Grant } from '../auth/grants.js';
import type { Principal } from '../auth/principal.js';

/** What a tool knows of the call that it serves. */
export interface ToolContext {
  principal: Principal;
  /** The one project that the call may touch, from the credential and the workspace header alone. */
  projectId: string;
  organizationId: string;
  lifecycleId: string;
  /** The run that calls; absent for a caller with a credential. */
  executionId?: string | undefined;
  traceId: string;
  /** Aborted when the caller is gone or the process stops. */
  signal: AbortSignal;
}

/**
 * One governed operation. REST and MCP adapt it and the pipeline runs it; it never checks credentials, quota or
 * policy itself. Errors: AppError with `S4:validate-input` from `prepare`; from `dryRun` and `execute` `not_found`,
 * `conflict` (which a dry run answers as `S7:dry-run`), `unavailable` (answered as `harness_unreachable`),
 * `data_service_unreachable` or `S8:execute`.
 */
export interface ToolSpec<I extends z.ZodType, O extends z.ZodType, P> {
  /** The route `/v1/<name>`, and with underscores the MCP tool. */
  name: string;
  title: string;
  description: string;
  /** Where the route is not `POST /v1/<name>`. `input` then also takes the path's parameters. */
  rest?: { method: 'get' | 'post' | 'put'; path: string };
  /** The grant, which may depend on the unvalidated input. */
  grant: Grant | ((raw: unknown) => Grant);
  /** Beside the grant, a role of OWNER, ORG_ADMIN or PROJECT_ADMIN. */
  adminOnly?: boolean;
  input: I;
  output: O;
  /** MCP's tool annotations. */
  hints: { readOnly: boolean; destructive: boolean; idempotent: boolean };
  /** What policies and the audit chain name. */
  resource(input: z.output<I>): { type: string; id: string };
  /** Checks beyond the schema (S4); what it gives is what `dryRun` and `execute` work on. */
  prepare(input: z.output<I>, ctx: ToolContext): Promise<P>;
  /** What would be done (S7); has no effect. */
  dryRun(prepared: P, ctx: ToolContext): Promise<Record<string, unknown>>;
  /** Does it (S8). The pipeline adds `lifecycle_id`; `consumed` names the graph entities that the answer holds. */
  execute(prepared: P, ctx: ToolContext): Promise<ToolResult<z.input<O>>>;
}

export interface ToolResult<T> {
  body: T;
  consumed?: readonly string[];
}

/** A tool whose type parameters are closed over: what the pipeline, REST and MCP see. */
export type Tool = ToolSpec<z.ZodType, z.ZodType, unknown>;

/** Where the tool is served over HTTP. */
export function routeOf({ name, rest }: Pick<Tool, 'name' | 'rest'>): { method: 'get' | 'post' | 'put'; path: string } {
  return rest ?? { method: 'post', path: `/v1/${name}` };
}

/** The names of the parameters in the tool's path. */
export function pathParameters(tool: Pick<Tool, 'name' | 'rest'>): string[] {
  return [...routeOf(tool).path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

export function mcpNameOf({ name }: Pick<Tool, 'name'>): string {
  return name.replaceAll('-', '_');
}

/** @throws Error where there is no tool of that name */
export function toolNamed(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`there is no tool ${name}`);
  return found;
}

/** The pipeline validates with `input` before it calls anything else, so the tool's own types hold. */
export function defineTool<I extends z.ZodType, O extends z.ZodType, P>(tool: ToolSpec<I, O, P>): Tool {
  return tool;
}
