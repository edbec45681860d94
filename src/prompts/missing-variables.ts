import { toValueSync, type Liquid, type Template } from 'liquidjs';
import { withEngine } from './template.js';
import { givenVariables, runVariableNames, type GivenInputs } from './variables.js';

/**
 * Returns the variables that a prompt is certain to lack, without duplicates: those that every rendering reads and
 * those that its author declared. A variable that the template reads only if it has a value (`default`, `if`, the body
 * of a loop) is not missing.
 * @throws AppError `validation_failed` for a template that cannot be parsed
 */
export function missingVariables(
  what: string,
  prompt: { template: string; variables: readonly string[] },
  inputs: GivenInputs,
  /** Names that the part of the flow adds. */
  namesOfPart: ReadonlySet<string> = new Set(),
): string[] {
  // Evaluate the declared names too. A brace in a name must not end its expression.
  const expressions = prompt.variables.map((name) => `{{${name.replaceAll('}', '|')}}}`).join('');
  return withEngine(what, prompt.template + expressions, (engine) => {
    const templates = engine.parse(prompt.template);
    const { globals, locals } = engine.analyzeSync(templates, { partials: false });
    const read = pathsReadIn(engine, templates).filter(({ root }) => !Object.hasOwn(locals, root));
    const readAlways = new Set(read.map(({ root }) => root));
    const declared = prompt.variables
      .map((name) => name.trim())
      .map((name) => ({ root: /^[\w-]+/.exec(name)?.[0] ?? name, path: name }))
      .filter(
        ({ root, path }) =>
          path !== '' && !Object.hasOwn(locals, root) && (readAlways.has(root) || !Object.hasOwn(globals, root)),
      );
    const variables = givenVariables(inputs);
    const missing = [...read, ...declared].filter(
      ({ root, path }) => !runVariableNames.has(root) && !namesOfPart.has(root) && !isGiven(engine, path, variables),
    );
    return [...new Set(missing.map(({ path }) => path))];
  });
}

interface Path {
  root: string;
  /** The expression, up to the first segment that depends on another variable. */
  path: string;
}

/** Returns the paths that every rendering reads. */
function pathsReadIn(engine: Liquid, templates: readonly Template[]): Path[] {
  const reads = readsOf(templates).map(
    ({ token, values }) => ({ token, arguments: values, *render() {} }) satisfies Template,
  );
  const { globals } = engine.analyzeSync(reads, { partials: false });
  return Object.entries(globals).flatMap(([root, variables]) =>
    variables.map((variable) => ({
      root,
      path: variable.segments.every((part) => typeof part !== 'object') ? String(variable) : root,
    })),
  );
}

interface Read {
  token: Template['token'];
  values: NonNullable<Template['arguments']>;
}

/** Returns the arguments that every rendering evaluates. Omits conditions, and bodies that may be skipped. */
function readsOf(templates: readonly Template[]): Read[] {
  return templates.flatMap((template): Read[] => {
    const name = 'name' in template ? template.name : 'output';
    if (name === 'capture' || name === 'liquid')
      return readsOf(template.children ? toValueSync(template.children(false, true)) : []);
    const isRead =
      name === 'for' ||
      name === 'tablerow' ||
      ((name === 'output' || name === 'assign' || name === 'echo') && !hasDefault(template));
    return isRead && template.arguments ? [{ token: template.token, values: () => template.arguments?.() ?? [] }] : [];
  });
}

/** Returns whether `default` is the first filter. The engine then ignores a missing variable. */
function hasDefault(template: Template): boolean {
  const value: unknown = 'value' in template ? template.value : undefined;
  const filters: unknown =
    typeof value === 'object' && value !== null && 'filters' in value ? value.filters : undefined;
  const first: unknown = Array.isArray(filters) ? filters[0] : undefined;
  return typeof first === 'object' && first !== null && 'name' in first && first.name === 'default';
}

function isGiven(engine: Liquid, path: string, variables: Record<string, unknown>): boolean {
  if (Object.hasOwn(variables, path)) return true;
  try {
    engine.evalValueSync(path, variables);
    return true;
  } catch {
    return false;
  }
}
