import { z } from 'zod';
import { validate } from '../../base/validation.js';
import type { AnyOperation, ToolTexts } from '../operations/operation.js';

/** The parts of an operation's call that the arguments of a tool contain. */
interface CallParts {
  key?: Readonly<Record<string, unknown>>;
  input?: unknown;
}

/** One operation of a tool. */
export interface ToolCase<Deps> {
  operation: AnyOperation<Deps>;
  /** The call of the operation. `args` has the type of the tool's input. @throws AppError `invalid_request` */
  callOf(args: unknown): CallParts;
  /** The answer of the tool, for the result of the operation. */
  answerOf(result: unknown): unknown;
}

/** What REST and MCP present as one tool: one operation, or several among which the arguments choose. */
export interface Tool<Deps> extends ToolTexts {
  /** The route is `/v1/<name>`, unless its surface says otherwise. The MCP tool has underscores in its name. */
  name: string;
  /** The arguments, without the parameters of the path. */
  input: z.ZodType;
  output: z.ZodType;
  accepted?: true | undefined;
  cases: readonly ToolCase<Deps>[];
  /** The case of a call. The arguments need not be valid: for unknown ones, it is the first case. */
  caseOf(args: unknown): ToolCase<Deps>;
}

/** Presents an operation as a tool. The tool has its alias, or else its name. */
export function toolOf<Deps>(operation: AnyOperation<Deps>): Tool<Deps> {
  const { name, alias = name, tool, input = z.strictObject({}), output, accepted } = operation;
  if (!tool) throw new Error(`${name} is not a tool`);
  const only: ToolCase<Deps> = { operation, callOf: (args) => ({ input: args }), answerOf: (result) => result };
  return { ...tool, name: alias, input, output, accepted, cases: [only], caseOf: () => only };
}

interface MultiplexedToolSpec<Deps> extends ToolTexts {
  name: string;
  input: z.ZodType;
  output: z.ZodType;
  /** The name of the case that the arguments choose. They are not validated yet. */
  choose(args: Readonly<Record<string, unknown>>): unknown;
  /** The first case is the one of arguments that choose none, so it should need the least. */
  cases: Readonly<Record<string, ToolCase<Deps>>>;
}

/** Presents several operations as one tool. */
export function multiplexedTool<Deps>({ choose, cases, ...spec }: MultiplexedToolSpec<Deps>): Tool<Deps> {
  const all = Object.values(cases);
  return {
    ...spec,
    cases: all,
    caseOf(args) {
      const chosen = typeof args === 'object' && args !== null ? choose(args as Record<string, unknown>) : undefined;
      const named = typeof chosen === 'string' && Object.hasOwn(cases, chosen) ? cases[chosen] : all[0];
      if (!named) throw new Error(`the tool ${spec.name} has no operation`);
      return named;
    },
  };
}

/** One case of a tool, whose input has the type `Args`. The operation's schemas validate what `callOf` takes from it. */
export function toolCase<Deps, Args>(
  operation: AnyOperation<Deps>,
  callOf: (args: Args) => CallParts,
  answerOf: (result: never) => unknown,
): ToolCase<Deps> {
  return {
    operation,
    callOf(args) {
      const { key, input } = callOf(args as Args);
      return { ...(key && { key }), input: validate(operation.input, input, 'invalid_request') };
    },
    answerOf: answerOf,
  };
}

export function mcpNameOf({ name }: Pick<Tool<never>, 'name'>): string {
  return name.replaceAll('-', '_');
}

/** @throws Error for an unknown name */
export function toolNamed<Deps>(tools: readonly Tool<Deps>[], name: string): Tool<Deps> {
  const found = tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`${name} is not a tool`);
  return found;
}
