import { Context, defaultOperators, Drop, Liquid } from 'liquidjs';

/**
 * Limits each rendering: characters parsed, and values and characters that filters may allocate. The engine's own limit of
 * the time of a rendering is not used, because a busy machine would exceed it with any template.
 */
const limits = { parseLimit: 100_000, renderLimit: Infinity, memoryLimit: 20_000_000 };
/** Tags, outputs, pieces of text, rounds of loops and comparisons of one rendering. */
const maxSteps = 200_000;
/** Comparing long values counts as one step for this many entries of lists or characters. */
const comparedPerStep = { entries: 5, characters: 100_000 };

/** Templates cannot include other templates, so these tags are disabled. */
const disabledTags = ['include', 'render', 'layout'];

/** Filters that use their input and arguments as texts. The engine would write an object as `[object Object]`. */
const filtersOfTexts = [
  ...['append', 'prepend', 'capitalize', 'downcase', 'upcase', 'strip', 'lstrip', 'rstrip', 'strip_newlines', 'squish'],
  ...['remove', 'remove_first', 'remove_last', 'replace', 'replace_first', 'replace_last', 'split', 'truncate'],
  ...['truncatewords', 'normalize_whitespace', 'number_of_words', 'escape', 'escape_once', 'xml_escape', 'strip_html'],
  ...['newline_to_br', 'url_encode', 'url_decode', 'cgi_escape', 'uri_escape', 'slugify', 'base64_encode'],
];
/** Filters that join the entries of a list. */
const filtersOfLists = ['join', 'array_to_sentence_string'];

/**
 * Creates an engine for templates of users. They can read own properties of plain data, but no file, prototype or other
 * template. `show` writes each inserted value; by default, objects and lists become JSON.
 */
export function createEngine(show: (value: unknown) => string = textOf): Liquid {
  const engine = new Liquid({
    ...limits,
    strictVariables: true,
    lenientIf: true,
    strictFilters: true,
    ownPropertyOnly: true,
    templates: {},
    operators: countedOperators(),
    outputEscape(this: { context: Context }, value: unknown) {
      const text = show(value);
      if (typeof value === 'object') this.context.memoryLimit.use(text.length);
      return text;
    },
  });
  for (const tag of disabledTags) delete engine.tags[tag];
  for (const name of filtersOfTexts) convert(engine, name, plainOf);
  for (const name of filtersOfLists)
    convert(engine, name, (value) => (Array.isArray(value) ? value.map(plainOf) : plainOf(value)));
  return engine;
}

/** Renders a template within the limits. @throws an error of the engine */
export function renderWith(engine: Liquid, template: string, variables: Record<string, unknown>): unknown {
  return engine.renderSync(engine.parse(template), new CountedContext(variables, engine));
}

/** Objects and lists as JSON, and nothing for null. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Drop) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** An object as JSON. Other values stay as they are. */
function plainOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? textOf(value) : value;
}

function convert(engine: Liquid, name: string, change: (value: unknown) => unknown): void {
  const filter = engine.filters[name];
  if (typeof filter !== 'function') throw new Error(`the filter ${name} is not a function`);
  engine.registerFilter(name, function (value: unknown, ...rest: unknown[]): unknown {
    const given = [value, ...rest];
    const changed = [change(value), ...rest.map(plainOf)] as Parameters<typeof filter>;
    const written = changed.filter((each, at) => each !== given[at]);
    this.context.memoryLimit.use(written.reduce<number>((sum, each) => sum + String(each).length, 0));
    return filter.apply(this, changed) as unknown;
  });
}

/** Counts the steps of a rendering in place of the engine's limit of time. */
class CountedContext extends Context {
  private steps = 0;

  constructor(variables: Record<string, unknown>, engine: Liquid) {
    super(variables, engine.options, { sync: true }, { liquid: engine });
    // The engine calls this before each tag, output and piece of text.
    Object.assign(this.renderLimit, { check: () => this.count(1) });
  }

  /** The engine calls this for each round of a loop, and for each entry that an expression of a filter reads. */
  override push(scope: object): number {
    this.count(1);
    return super.push(scope);
  }

  count(steps: number): void {
    this.steps += steps;
    if (this.steps > maxSteps) throw new Error(`it takes more than ${maxSteps} steps`);
  }
}

function countedOperators(): typeof defaultOperators {
  return Object.fromEntries(
    Object.entries(defaultOperators).map(([name, compare]) => [
      name,
      (left: unknown, right: unknown, context: unknown) => {
        // An operator of one operand receives the context in second place.
        for (const each of [left, right, context]) if (each instanceof CountedContext) each.count(stepsOf(left, right));
        return (compare as (...values: unknown[]) => unknown)(left, right, context);
      },
    ]),
  ) as typeof defaultOperators;
}

function stepsOf(...values: unknown[]): number {
  const sizes = values.map((value) => {
    if (Array.isArray(value)) return value.length / comparedPerStep.entries;
    return typeof value === 'string' ? value.length / comparedPerStep.characters : 0;
  });
  return 1 + sizes.reduce((sum, size) => sum + size, 0);
}
