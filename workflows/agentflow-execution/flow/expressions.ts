import { Environment, Optional, type ASTNode } from '@marcbachmann/cel-js';
import { charactersPerStep, registerFunctions, registerMath } from './expression-functions.js';

/**
 * The expressions of flows, in the Common Expression Language (https://github.com/google/cel-spec). Their values come
 * from JSON, so most types are known only when an expression is evaluated.
 */

/** What an expression has to return. `any` is every JSON value. `time` is an RFC 3339 text or a timestamp. */
export type ExpressionType = 'any' | 'bool' | 'list' | 'time';

/** The names that every expression can use, with their types. */
export const commonNames = { inputs: 'map', outputs: 'map', execution: 'map', goal: 'string' } as const;

/** The maximum number of evaluation steps of one step of a flow. One takes less than a microsecond. */
const maxSteps = 300_000;
/** The quantifiers of CEL continue after an error, which takes longer than other steps. */
const stepsPerError = 20;
/** The maximum length of a result, in characters of JSON. */
const maxResultLength = 1024 * 1024;
const limits = { maxAstNodes: 500, maxDepth: 32, maxListElements: 200, maxMapEntries: 200, maxCallArguments: 16 };

export class ExpressionError extends Error {}

/** The evaluation steps that a step of a flow has taken in all its expressions. */
export interface Work {
  steps: number;
}

/** Evaluation is synchronous, so only one work is counted at a time. */
const counting: { work: Work } = { work: { steps: 0 } };

function count(steps: number): void {
  counting.work.steps += steps;
  if (counting.work.steps > maxSteps) throw new ExpressionError(`takes more than ${maxSteps} steps`);
}

type Run = (node: ASTNode, context: unknown) => unknown;
interface Evaluator {
  run: Run;
}

/** The library evaluates every part of an expression with `run`, and has no limit of its own. */
function limitWork(environment: Environment): void {
  const replaceRun = (evaluator: Evaluator) => {
    const run: Run = evaluator.run.bind(evaluator);
    evaluator.run = (node, context) => {
      count(1);
      try {
        const value = run(node, context);
        if (node.op === '+' || node.op === 'call' || node.op === 'rcall') count(stepsToBuild(value));
        return value;
      } catch (error) {
        counting.work.steps += stepsPerError;
        throw error;
      }
    };
    return true;
  };
  const macro = { typeCheck: (checker: { getType(name: string): unknown }) => checker.getType('bool') };
  environment.registerFunction('limitWork(ast): bool', () => ({ ...macro, evaluate: replaceRun }));
  environment.evaluate('limitWork(true)');
}

function stepsToBuild(value: unknown): number {
  if (typeof value === 'string') return Math.floor(value.length / charactersPerStep);
  return Array.isArray(value) ? value.length : 0;
}

/** Numbers in JSON are doubles, and those in an expression are integers. CEL itself does not compute with both. */
const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

function newEnvironment(unlistedVariablesAreDyn: boolean): Environment {
  const environment = new Environment({
    unlistedVariablesAreDyn,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits,
  });
  for (const [name, type] of Object.entries(commonNames)) environment.registerVariable(name, type);
  for (const [operator, compute] of Object.entries(arithmetic)) {
    environment.registerOperator(`double ${operator} int`, (a: number, b: bigint) => compute(a, Number(b)));
    environment.registerOperator(`int ${operator} double`, (a: bigint, b: number) => compute(Number(a), b));
  }
  environment.registerOperator('double % double', (a: number, b: number) => a % b);
  registerFunctions(environment, count);
  return environment;
}

/** Knows only the common names, so that an unknown name is found when a flow is stored. */
const checking = newEnvironment(false);
registerMath(checking, count);
/** Knows the names of all flows, because every expression has been checked before it is evaluated. */
const evaluating = newEnvironment(true);
registerMath(evaluating, count);
limitWork(evaluating);
/** For flows of 0.2.0 that call their items `math`, which has become a reserved name. */
const evaluatingWithoutMath = newEnvironment(true);
limitWork(evaluatingWithoutMath);

function checkingWith(names: readonly string[]): Environment {
  const environment = checking.clone();
  for (const name of names) environment.registerVariable(name, 'dyn');
  return environment;
}

const accepted: Readonly<Record<ExpressionType, readonly string[] | undefined>> = {
  any: undefined,
  bool: ['bool', 'dyn'],
  list: ['list', 'dyn'],
  time: ['string', 'google.protobuf.Timestamp', 'dyn'],
};

/** Where an expression stands: the type it needs, and the names that it can use besides those of all expressions. */
export interface ExpressionPlace {
  type: ExpressionType;
  names: readonly string[];
}

/** Why the expression cannot be used; undefined if it can. `outputs` receives the ids whose outputs it names. */
export function expressionProblem(
  text: string,
  { type, names }: ExpressionPlace,
  outputs: Set<string> = new Set(),
): string | undefined {
  try {
    const parsed = checkingWith(names).parse(text);
    for (const node of nodesOf(parsed.ast)) {
      const id = outputNamed(node);
      if (id !== undefined) outputs.add(id);
      if (node.op === 'rcall' && node.args[0] === 'matches')
        return 'the function "matches" is not available, because a regular expression can take unlimited time';
    }
    const checked = parsed.check();
    if (!checked.valid) return summaryOf(checked.error);
    const returned = checked.type ?? 'dyn';
    const isAccepted = accepted[type]?.some((one) => returned === one || returned.startsWith(`${one}<`)) ?? true;
    return isAccepted ? undefined : `must return ${nameOf(type)}, not ${returned}`;
  } catch (error) {
    return summaryOf(error);
  }
}

function nameOf(type: ExpressionType): string {
  return type === 'time' ? 'a time' : type === 'bool' ? 'true or false' : `a ${type}`;
}

/**
 * Evaluates an expression to a JSON value, and adds what it took to `work`.
 * @throws ExpressionError with the reason, for people
 */
export function evaluateExpression(
  text: string,
  values: Readonly<Record<string, unknown>>,
  { type = 'any', work = { steps: 0 } }: { type?: ExpressionType; work?: Work } = {},
): unknown {
  counting.work = work;
  try {
    const environment = 'math' in values ? evaluatingWithoutMath : evaluating;
    const value = toJson(environment.evaluate(text, { ...values }));
    if ((JSON.stringify(value)?.length ?? 0) > maxResultLength)
      throw new ExpressionError(`returns more than ${maxResultLength} characters`);
    if (!isOfType(value, type)) throw new ExpressionError(`must return ${nameOf(type)}, not ${JSON.stringify(value)}`);
    return value;
  } catch (error) {
    throw new ExpressionError(summaryOf(error));
  }
}

function isOfType(value: unknown, type: ExpressionType): boolean {
  if (type === 'bool') return typeof value === 'boolean';
  if (type === 'list') return Array.isArray(value);
  return type === 'any' || typeof value === 'string';
}

/** The library calls the type of a value that comes from JSON `dyn<string>`, which says nothing to people. */
function summaryOf(error: unknown): string {
  return messageOf(error).replaceAll(/dyn<([^<>]+(?:<[^<>]*>)?)>/g, '$1');
}

function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'summary' in error) return String(error.summary);
  return error instanceof Error ? error.message : String(error);
}

/** The id in `outputs.<id>` or `outputs["<id>"]`. */
function outputNamed({ op, args }: ASTNode): string | undefined {
  if (op === '.' && isOutputs(args[0])) return args[1];
  if (op !== '[]' || !isOutputs(args[0]) || args[1].op !== 'value') return undefined;
  return typeof args[1].args === 'string' ? args[1].args : undefined;
}

function isOutputs({ op, args }: ASTNode): boolean {
  return op === 'id' && args === 'outputs';
}

function* nodesOf(value: unknown): Generator<ASTNode> {
  if (Array.isArray(value)) for (const each of value) yield* nodesOf(each);
  if (typeof value !== 'object' || value === null || !('op' in value)) return;
  const node = value as ASTNode;
  yield node;
  yield* nodesOf(node.args);
}

/** The values of CEL that JSON does not have: integers are numbers, times RFC 3339 texts, durations seconds. */
function toJson(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new ExpressionError('returns a number that is not finite');
      return value;
    case 'bigint':
      if (!Number.isSafeInteger(Number(value))) throw new ExpressionError('returns an integer of more than 53 bits');
      return Number(value);
    case 'object':
      return objectToJson(value);
    default:
      throw new ExpressionError(`returns a ${typeof value}, which is not a JSON value`);
  }
}

function objectToJson(value: object): unknown {
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Date) return value.toISOString();
  // An unsigned integer.
  if (typeof value.valueOf() === 'bigint') return toJson(value.valueOf());
  if (value instanceof Optional) return value.hasValue() ? toJson(value.value()) : null;
  if ('seconds' in value && 'nanos' in value && value.constructor !== Object)
    return Number(value.seconds) + Number(value.nanos) / 1e9;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  if (value.constructor !== Object && !(value instanceof Map) && value.constructor !== undefined)
    throw new ExpressionError('returns a value that JSON does not have, such as bytes or a type');
  return Object.fromEntries(entries.map(([key, each]) => [String(key), toJson(each)]));
}
