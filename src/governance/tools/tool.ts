import type { z } from 'zod';
import type { Grant } from '../../auth/grants.js';
import { grantOf, type Operation } from '../operations/operation.js';
import type { Checked } from '../kernel/call.js';
import type { Principal } from '../../auth/principal.js';

export interface ToolContext {
  principal: Principal;
  /** The only project that the call may access; from the credential and the workspace header. */
  projectId: string;
  organizationId: string;
  lifecycleId: string;
  /** The run that makes the call; absent for a caller with a credential. */
  executionId?: string | undefined;
  /**
   * The id for a record that the call creates. All attempts under one approval have the same id, so that a repeat does
   * not create a second record.
   */
  recordId: string;
  /** The Idempotency-Key of the request, if it has one. */
  idempotencyKey?: string | undefined;
  /** The result of `boundState` for the approval under which the call runs; undefined if no approval was needed. */
  bound?: unknown;
  /** Aborted when the client disconnects or the process stops. */
  signal: AbortSignal;
}

/**
 * One governed operation. REST and MCP adapt it, and the pipeline runs it, so it does not check credentials, quota or
 * policies. It throws AppError: `prepare` with `invalid_input`; `dryRun` and `execute` with `not_found`, `conflict`
 * (answered as `dry_run_refused` for a dry run), `unavailable` (answered as `harness_unreachable`),
 * `data_service_unreachable`, `call_failed` or `call_timed_out`.
 */
interface ToolSpec<I extends z.ZodType, O extends z.ZodType, P> {
  /** The operation whose rules apply to the call, if it depends on the input. The input is not validated yet. */
  rulesFor?(rawInput: Readonly<Record<string, unknown>>): Operation | undefined;
  title: string;
  description: string;
  /** The route, if it is not `POST /v1/<name>`. `input` then also contains the parameters of the path. */
  rest?: { method: 'get' | 'post' | 'put'; path: string };
  input: I;
  output: O;
  /** The call only starts the work. REST answers 202, and an Idempotency-Key makes a repeat safe. */
  accepted?: true;
  /** MCP's tool annotations. */
  hints: { readOnly: boolean; destructive: boolean; idempotent: boolean };
  /** The resource that policies and the audit chain name. */
  resource(input: z.output<I>): { type: string; id: string };
  /** The resource and facts that must be read from records. */
  lookUp?(input: z.output<I>, ctx: ToolContext): ReturnType<NonNullable<Checked['lookUp']>>;
  /** Checks beyond the schema (S4). `dryRun` and `execute` receive its result, or else the input. */
  prepare?(input: z.output<I>, ctx: ToolContext): Promise<P>;
  /**
   * State that the call acts on and that its input does not contain, such as a version. An approval is valid only for
   * this state.
   */
  boundState?(prepared: P, ctx: ToolContext): Promise<unknown>;
  /** Describes the effect of the call (S7) without side effects. */
  dryRun(prepared: P, ctx: ToolContext): Promise<Record<string, unknown>>;
  /**
   * Executes the call (S8). The pipeline adds `lifecycle_id`. `consumed` contains the ids of the graph entities in the
   * answer.
   */
  execute(prepared: P, ctx: ToolContext): Promise<ToolResult<z.input<O>>>;
}

interface ToolResult<T> {
  body: T;
  consumed?: readonly string[];
}

/** A tool with erased type parameters, for the pipeline, REST and MCP. */
export interface Tool extends ToolSpec<z.ZodType, z.ZodType, unknown> {
  /** The route is `/v1/<name>`. The MCP tool has underscores in its name. */
  name: string;
  operation: Operation;
  prepare(input: unknown, ctx: ToolContext): Promise<unknown>;
}

/** A tool that has not received its dependencies. */
export interface ToolDefinition<Deps> {
  /** The operation that rules see. The tool has its alias, or else its name. */
  operation: Operation;
  create: (deps: Deps) => Tool;
}

export function routeOf({ name, rest }: Pick<Tool, 'name' | 'rest'>): { method: 'get' | 'post' | 'put'; path: string } {
  return rest ?? { method: 'post', path: `/v1/${name}` };
}

export function pathParameters(tool: Pick<Tool, 'name' | 'rest'>): string[] {
  return [...routeOf(tool).path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** The grant that a call of the tool needs, for an input that need not be valid. */
export function grantOfTool(tool: Pick<Tool, 'name' | 'operation'>, input: unknown): Grant {
  const grant = grantOf(tool.operation, input);
  if (grant === 'any') throw new Error(`the tool ${tool.name} needs no grant`);
  return grant;
}

export function mcpNameOf({ name }: Pick<Tool, 'name'>): string {
  return name.replaceAll('-', '_');
}

/** @throws Error for an unknown name */
export function toolNamed(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`${name} is not a tool`);
  return found;
}

/** The pipeline validates with `input` before it calls any function of the tool, so the tool can rely on its types. */
export function defineTool<Deps, I extends z.ZodType, O extends z.ZodType, P = z.output<I>>(
  operation: Operation,
  specOf: (deps: Deps) => ToolSpec<I, O, P>,
): ToolDefinition<Deps> {
  const name = operation.alias ?? operation.name;
  const create = (deps: Deps) => ({ prepare: async (input: unknown) => input, ...specOf(deps), name, operation });
  return { operation, create };
}
