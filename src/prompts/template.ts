import type { Liquid } from 'liquidjs';
import { AppError } from '../base/errors.js';
import { createEngine, renderWith, textOf } from './engine.js';
import { withinTime } from './within-time.js';

const maxOutputLength = 1_000_000;
/** The engine counts steps, and only one filter over a large list can take this long. */
const renderTimeoutMs = 15_000;
/** Blocks the process during each attempt. */
const maxAttempts = 3;

const plain = createEngine();
plain.registerFilter('raw', (value: unknown) => value);
const urlPart = createEngine((value) => encodeURIComponent(textOf(value)));

/**
 * Inserted objects and lists are JSON.
 * @throws AppError `validation_failed`, which names the missing variable, the exceeded limit or the syntax error, and
 *   `call_timed_out` if the machine is too busy
 */
export function renderText(what: string, template: string, variables: Record<string, unknown>): string {
  return render(plain, what, template, variables);
}

/** Like `renderText`, but encodes every inserted value as one component of a URL. */
export function renderUrl(what: string, template: string, variables: Record<string, unknown>): string {
  return render(urlPart, what, template, variables);
}

/**
 * Renders a template whose inserted values are shown by `show`. No filter turns that off.
 * @throws AppError as `renderText`
 */
export function renderSummary(
  template: string,
  variables: Record<string, unknown>,
  show: (value: unknown) => string,
): string {
  const engine = createEngine(show);
  engine.registerFilter('raw', (value: unknown) => value);
  return render(engine, 'the summary', template, variables);
}

/** Returns the top-level variables that a template uses. */
export function variablesIn(what: string, template: string): ReadonlySet<string> {
  const work = () => new Set(plain.globalVariablesSync(template));
  return withRefusals(what, work, runnerFor(template));
}

/** Returns the syntax error of a template, or undefined if it is valid. */
export function syntaxProblem(template: string): string | undefined {
  try {
    plain.parse(template);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/**
 * Runs `work`, which reads only `template`, with the engine that renders templates.
 * @throws AppError `validation_failed`
 */
export function withEngine<T>(what: string, template: string, work: (engine: Liquid) => T): T {
  return withRefusals(what, () => work(plain), runnerFor(template));
}

/**
 * Matches text and plain values without tags, filters, ranges or indexes. Rendering takes no longer than copying the
 * values.
 */
const onlyValues = /^[^{]*(?:\{\{\s*[a-z_][\w.]*\s*\}\}[^{]*)*$/i;

function render(engine: Liquid, what: string, template: string, variables: Record<string, unknown>): string {
  const work = () => renderWith(engine, template, variables);
  const text = withRefusals(what, work, runnerFor(template));
  if (typeof text === 'string' && text.length <= maxOutputLength) return text;
  throw new AppError('validation_failed', `${what} writes more than ${maxOutputLength} characters`);
}

type Runner = <T>(work: () => T) => T;
const atOnce: Runner = (work) => work();
/** Limits the time of the work. Each call starts a thread that watches the time. */
const inTime: Runner = (work) => withinTime(renderTimeoutMs, work);

function runnerFor(template: string): Runner {
  return onlyValues.test(template) ? atOnce : inTime;
}

function withRefusals<T>(what: string, work: () => T, run: Runner): T {
  try {
    return run(work);
  } catch (error) {
    throw refusal(what, error);
  }
}

function refusal(what: string, error: unknown): AppError {
  // A busy machine can exceed a limit of time with any template, so a step tries again.
  if (isTimeout(error))
    return new AppError('call_timed_out', `${what} was not rendered within ${renderTimeoutMs / 1000} s`, {
      maxAttempts,
    });
  const missing = missingVariableOf(error);
  if (missing !== undefined) return new AppError('validation_failed', `${what} needs the variable "${missing}"`);
  return new AppError('validation_failed', `${what} cannot be rendered: ${reasonOf(error)}`, { cause: error });
}

function missingVariableOf(error: unknown): string | undefined {
  const original = error instanceof Error && 'originalError' in error ? error.originalError : error;
  const name = original instanceof Error && 'variableName' in original ? original.variableName : undefined;
  return typeof name === 'string' ? name : undefined;
}

/**
 * Returns the first line of the engine's message, which contains the position and the rule. The other lines quote the
 * template, which may contain anything.
 */
function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '').slice(0, 200) : 'unknown';
}

function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
