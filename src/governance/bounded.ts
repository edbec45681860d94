interface Limit {
  /** The maximum length of a text, in characters. */
  text: number;
  /** The maximum number of items of a list, and of fields of an object. */
  items: number;
}

const maxLength = 64 * 1024;
const maxDepth = 20;
const limits: readonly Limit[] = [
  { text: 2000, items: 50 },
  { text: 200, items: 20 },
  { text: 40, items: 5 },
];

/**
 * Shortens texts, lists and objects step by step until the value fits into 64 KiB of JSON, to limit the work of
 * redaction.
 * @param longest the maximum length of a text if everything else fits, in characters
 */
export function bounded(value: unknown, longest = 2000): unknown {
  for (const limit of longest > 2000 ? [{ text: longest, items: 500 }, ...limits] : limits) {
    const short = shortened(value, limit);
    if ((JSON.stringify(short) ?? '').length <= maxLength) return short;
  }
  return { truncated: true };
}

function shortened(value: unknown, limit: Limit, depth = 0): unknown {
  if (typeof value === 'string')
    return value.length <= limit.text ? value : `${value.slice(0, limit.text)} … (${value.length} characters)`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maxDepth) return '…';
  if (Array.isArray(value)) {
    const shown = value.slice(0, limit.items).map((item) => shortened(item, limit, depth + 1));
    return value.length <= limit.items ? shown : [...shown, `… (${value.length} items)`];
  }
  const entries = Object.entries(value);
  const shown = entries.slice(0, limit.items).map(([name, item]) => [name, shortened(item, limit, depth + 1)] as const);
  if (entries.length > limit.items) shown.push(['…', `(${entries.length} fields)`]);
  return Object.fromEntries(shown);
}
