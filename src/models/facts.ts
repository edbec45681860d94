export interface Fact {
  path: string;
  value: string;
}

const valueAtMost = 200;
const deepest = 6;

/** The leaves of a JSON value as `path: value`, in its own order, at most `count` of them. */
export function factsOf(value: unknown, count: number): Fact[] {
  const facts: Fact[] = [];
  const visit = (part: unknown, path: string, depth: number): void => {
    if (facts.length >= count) return;
    if (typeof part !== 'object' || part === null || depth === deepest) {
      facts.push({ path: path || 'value', value: oneLine(part) });
      return;
    }
    for (const [key, child] of Object.entries(part)) {
      if (facts.length >= count) return;
      visit(child, path === '' ? key : `${path}.${key}`, depth + 1);
    }
  };
  visit(value, '', 0);
  return facts;
}

function oneLine(value: unknown): string {
  const text = (typeof value === 'string' ? value.slice(0, 10 * valueAtMost) : (JSON.stringify(value) ?? '')).replace(/\s+/g, ' ').trim();
  return text.length <= valueAtMost ? text : `${text.slice(0, valueAtMost - 1)}…`;
}
