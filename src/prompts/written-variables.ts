import { toValueSync, type Template } from 'liquidjs';
import { withEngine } from './template.js';

/** Tags that only compare their arguments. */
const conditions: ReadonlySet<string> = new Set(['if', 'unless', 'case']);
/** Variables that hold the inputs of a run. */
const inputsOfRun: ReadonlySet<unknown> = new Set(['inputs', 'runtime']);

/**
 * Returns the names of the inputs that a template writes as a whole, as `{{ id }}`, as `{{ inputs.id }}` or in a loop. An
 * input that it only compares, or of which it writes a part, is not among them.
 * @throws AppError `validation_failed` for a template that cannot be parsed
 */
export function writtenInputs(what: string, template: string): ReadonlySet<string> {
  return withEngine(what, template, (engine) => {
    const templates = engine.parse(template);
    const known = engine.analyzeSync(templates, { partials: false }).globals;
    const { globals } = engine.analyzeSync(writesOf(templates), { partials: false });
    const paths = Object.entries(globals).flatMap(([root, variables]) =>
      // A variable of a loop is global only in the list of arguments.
      Object.hasOwn(known, root) ? variables.map(({ segments }) => segments) : [],
    );
    const names = paths.map(([root, ...rest]) =>
      inputsOfRun.has(root) && rest.length === 1 ? rest[0] : rest.length === 0 ? root : undefined,
    );
    return new Set(names.filter((name) => typeof name === 'string'));
  });
}

/** The arguments of all outputs, loops and other tags that are not conditions, as templates without a scope. */
function writesOf(templates: readonly Template[]): Template[] {
  return templates.flatMap((template) => {
    const name = 'name' in template ? String(template.name) : '';
    const { token, arguments: values } = template;
    const own = values && !conditions.has(name) ? [{ token, arguments: values.bind(template), *render() {} }] : [];
    return [...own, ...writesOf(template.children ? toValueSync(template.children(false, true)) : [])];
  });
}
