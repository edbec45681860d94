import { Liquid } from 'liquidjs';
import { AppError } from '../errors.js';
import { withinTime } from './within-time.js';

/** Bounds of one template: characters read, milliseconds, characters that filters may move, characters written. */
const limits = { parseLimit: 100_000, renderLimit: 500, memoryLimit: 20_000_000 };
const outputAtMost = 1_000_000;
const hardLimitMs = 1000;

/** No template reaches another, so one that asks for another is none. */
const tagsOfOthers = ['include', 'render', 'layout'];

/** Templates are users' text: they see plain data by its own properties, and no file, prototype or other template. */
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
  for (const tag of tagsOfOthers) delete engine.tags[tag];
  return engine;
}

const plain = createEngine();
const urlPart = createEngine((value) => encodeURIComponent(textOf(value)));

/** @throws AppError `validation_failed` that names the missing variable, or the limit or syntax that was broken */
export function renderText(what: string, template: string, variables: Record<string, unknown>): string {
  return render(plain, what, template, variables);
}

/** As `renderText`, with every inserted value encoded to be one part of a URL. */
export function renderUrl(what: string, template: string, variables: Record<string, unknown>): string {
  return render(urlPart, what, template, variables);
}

/** The top-level variables that a template names. */
export function variablesIn(what: string, template: string): ReadonlySet<string> {
  return askEngine(what, (engine) => new Set(engine.globalVariablesSync(template)));
}

/** What is wrong with the text as a template; undefined when nothing is. */
export function syntaxProblem(template: string): string | undefined {
  try {
    plain.parse(template);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** What `work` finds out about a template, asked of the engine that renders it. @throws AppError `validation_failed` */
export function askEngine<T>(what: string, work: (engine: Liquid) => T): T {
  return told(what, () => work(plain));
}

function render(engine: Liquid, what: string, template: string, variables: Record<string, unknown>): string {
  const text: unknown = told(what, () => engine.parseAndRenderSync(template, variables) as unknown);
  if (typeof text === 'string' && text.length <= outputAtMost) return text;
  throw new AppError('validation_failed', `${what} writes more than ${outputAtMost} characters`);
}

function told<T>(what: string, work: () => T): T {
  try {
    return withinTime(hardLimitMs, work);
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

/** The engine's first line tells place and rule; the lines below quote the template, which may hold anything. */
function reasonOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
    return `it takes longer than ${hardLimitMs} ms`;
  }
  return error instanceof Error ? (error.message.split('\n')[0] ?? '').slice(0, 200) : 'unknown';
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
