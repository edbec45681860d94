import { Liquid } from 'liquidjs';
import { AppError } from '../src/errors.js';
import type { StepContext } from '../workflows/agentflow-execution/activities.js';

/** Bounds of one template: characters read, milliseconds, characters that filters may move, characters written. */
const limits = { parseLimit: 100_000, renderLimit: 500, memoryLimit: 20_000_000 };
const outputAtMost = 1_000_000;

/** Templates are users' text: they see plain data by its own properties, and no file, prototype or other template. */
function createEngine(outputEscape?: (value: unknown) => string): Liquid {
  return new Liquid({
    ...limits,
    strictVariables: true,
    lenientIf: true,
    strictFilters: true,
    ownPropertyOnly: true,
    templates: {},
    ...(outputEscape && { outputEscape }),
  });
}

const plain = createEngine();
const urlPart = createEngine((value) => encodeURIComponent(textOf(value)));

/** What a template may name; the names of the product win over input variables of the same name. */
export function variablesOf(context: StepContext): Record<string, unknown> {
  const { goal, input_variables, runtime_inputs, documents, outputs, actions } = context;
  return {
    ...input_variables,
    goal,
    inputs: input_variables,
    runtime: runtime_inputs,
    documents,
    outputs,
    previous: outputs.at(-1)?.output ?? '',
    actions,
  };
}

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
  try {
    return new Set(plain.globalVariablesSync(template));
  } catch (error) {
    throw refusal(what, error);
  }
}

function render(engine: Liquid, what: string, template: string, variables: Record<string, unknown>): string {
  try {
    const text: unknown = engine.parseAndRenderSync(template, variables);
    if (typeof text === 'string' && text.length <= outputAtMost) return text;
  } catch (error) {
    throw refusal(what, error);
  }
  throw new AppError('validation_failed', `${what} writes more than ${outputAtMost} characters`);
}

function refusal(what: string, error: unknown): AppError {
  const missing = missingVariableOf(error);
  if (missing !== undefined) return new AppError('validation_failed', `${what} needs the variable "${missing}"`);
  return new AppError('validation_failed', `${what} cannot be rendered: ${reasonOf(error)}`, { cause: error });
}

function missingVariableOf(error: unknown): string | undefined {
  const original = error instanceof Error && 'originalError' in error ? error.originalError : undefined;
  const name = original instanceof Error && 'variableName' in original ? original.variableName : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** The engine's first line tells place and rule; the lines below quote the template, which may hold anything. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'unknown';
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
