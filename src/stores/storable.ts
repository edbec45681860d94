const maxDepth = 64;
const reserved = new Set(['__proto__', '_bsontype']);

/**
 * Copies JSON into a form that MongoDB can store. `src/base/json-gate.ts` rejects other content on input; what gets past it must
 * not fail a write, which the workflow would repeat for ever.
 */
export function toStorable<T>(value: T): T {
  return copyOf(value, 0) as T;
}

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) return `[removed: nested deeper than ${maxDepth} levels]`;
  if (Array.isArray(value)) return value.map((each) => copyOf(each, depth + 1));
  const copy = new Map<string, unknown>();
  for (const [name, each] of Object.entries(value)) {
    const clean = reserved.has(name) ? `[${name}]` : name.toWellFormed().replaceAll('\0', '\uFFFD');
    let free = clean;
    for (let count = 2; copy.has(free); count += 1) free = `${clean} ${count}`;
    copy.set(free, copyOf(each, depth + 1));
  }
  return Object.fromEntries(copy);
}
