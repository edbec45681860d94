interface Fact {
  path: string;
  value: string;
}

const maxValueLength = 200;
const maxDepth = 6;

/** Returns the first `count` leaves of a JSON value as `path: value`, in document order. */
export function factsOf(value: unknown, count: number): Fact[] {
  const facts: Fact[] = [];
  const visit = (part: unknown, path: string, depth: number): void => {
    if (facts.length >= count) return;
    if (typeof part !== 'object' || part === null || depth === maxDepth) {
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
  const text = (typeof value === 'string' ? value.slice(0, 10 * maxValueLength) : (JSON.stringify(value) ?? ''))
    .replace(/\s+/g, ' ')
    .trim();
  return text.length <= maxValueLength ? text : `${text.slice(0, maxValueLength - 1)}…`;
}
