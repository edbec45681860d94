/** Acknowledged work. Each kind is looked up after the load. */
const kinds = [
  'prepared',
  'execution',
  'entity',
  'lifecycle',
  'push',
  'forwarded',
  'catalog event',
  'MCP session',
] as const;
type Acknowledged = (typeof kinds)[number];

export interface Ledger {
  note(kind: Acknowledged, id: string): void;
  of(kind: Acknowledged): ReadonlySet<string>;
  counts(): [Acknowledged, number][];
}

export function createLedger(): Ledger {
  const noted = new Map<Acknowledged, Set<string>>(kinds.map((kind) => [kind, new Set()]));
  const of = (kind: Acknowledged) => noted.get(kind) ?? new Set<string>();
  return { note: (kind, id) => void of(kind).add(id), of, counts: () => kinds.map((kind) => [kind, of(kind).size]) };
}
