import { Liquid } from 'liquidjs';
import { AppError } from '../errors.js';
import { withinTime } from './within-time.js';

/** Limits each template: characters parsed, milliseconds, and characters that filters may allocate. */
const limits = { parseLimit: 100_000, renderLimit: 500, memoryLimit: 20_000_000 };
const maxOutputLength = 1_000_000;
const renderTimeoutMs = 1000;

/** Templates cannot include other templates, so these tags are disabled. */
const disabledTags = ['include', 'render', 'layout'];

/**
 * Creates an engine for templates of users. They can read own properties of plain data, but no file, prototype or other
 * template.
 */
function createEngine(outputEscape?: (value: unknown) => string): Liquid {
  const engine = new Liquid({
    ...limits,
    strictVariables: true,
    lenientIf: true,
    strictFilters: true,
    ownPropertyOnly: true,
    templates: {},
    ...(outputEscape && { outputEscape }),
  });
  for (const tag of disabledTags) delete engine.tags[tag];
  return engine;
}

const plain = createEngine();
const urlPart = createEngine((value) => encodeURIComponent(textOf(value)));

/** @throws AppError `validation_failed`, which names the missing variable, the exceeded limit or the syntax error */
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
  const work = () => engine.parseAndRenderSync(template, variables) as unknown;
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
  if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
    return `it takes longer than ${renderTimeoutMs} ms`;
  }
  return error instanceof Error ? (error.message.split('\n')[0] ?? '').slice(0, 200) : 'unknown';
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
