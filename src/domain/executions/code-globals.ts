/** The most lines that code can write, and the most characters of all of them. */
const maxLines = 100;
const maxCharacters = 10_000;

/** A result must not depend on when it is computed: the clock of the code stands still at `now`, in epoch seconds. */
export function clockAt(now: number): string {
  return `{
  const Real = Date;
  const at = ${Math.floor(now * 1000)};
  const Fixed = function Date(...parts) {
    if (new.target === undefined) return new Real(at).toString();
    return Reflect.construct(Real, parts.length === 0 ? [at] : parts, new.target);
  };
  Fixed.prototype = Real.prototype;
  Fixed.prototype.constructor = Fixed;
  Fixed.now = () => at;
  for (const name of ['parse', 'UTC']) Fixed[name] = Real[name];
  globalThis.Date = Fixed;
}`;
}

/** Defines `console`. Its value is a function that returns the lines that the code wrote. */
export const consoleSource = `(() => {
  const { stringify } = JSON;
  const lines = [];
  let left = ${maxCharacters};
  const textOf = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return String(value);
    try {
      return stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };
  const write = (...values) => {
    if (lines.length >= ${maxLines} || left <= 0) return;
    const line = values.map(textOf).join(' ').slice(0, left);
    left -= line.length;
    lines.push(line);
  };
  globalThis.console = Object.fromEntries(['debug', 'log', 'info', 'warn', 'error'].map((name) => [name, write]));
  return () => stringify(lines);
})()`;

/**
 * Its value is a function that returns the JSON of what the code returned. JSON leaves out functions, and writes `null` for NaN
 * and `{}` for a map: instead of losing something, it throws a text that names the value.
 */
export const toJsonSource = `(() => {
  const { stringify } = JSON;
  const tagOf = Object.prototype.toString;
  const plain = ['Object', 'Array', 'Number', 'String', 'Boolean'];
  const kindOf = (value) => {
    if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value);
    if (typeof value === 'bigint') return 'a BigInt';
    if (typeof value === 'function' || typeof value === 'symbol') return 'a ' + typeof value;
    if (typeof value !== 'object' || value === null) return undefined;
    const tag = tagOf.call(value).slice(8, -1);
    return plain.includes(tag) ? undefined : 'an object of the class ' + tag;
  };
  return (result) =>
    stringify(result, (key, value) => {
      const kind = kindOf(value);
      if (kind === undefined) return value;
      throw 'it must return a JSON value, but ' + (key === '' ? 'returns ' : stringify(key) + ' is ') + kind;
    });
})()`;

/** Its value is a function that returns the JSON of the text and the stack of what the code threw. */
export const describeSource = `(() => {
  const { stringify } = JSON;
  const textOf = (thrown) => {
    if (typeof thrown === 'string') return thrown;
    try {
      return stringify(thrown) ?? String(thrown);
    } catch {
      return String(thrown);
    }
  };
  return (thrown) =>
    stringify(
      thrown instanceof Error
        ? { text: String(thrown), stack: String(thrown.stack) }
        : { text: textOf(thrown), stack: '' },
    );
})()`;
