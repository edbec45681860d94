import type { Fact, Facts, Operation } from './operation.js';

/** Only rules that name these operations apply to them, so that a broad rule cannot lock everybody out. */
export const operationsWithOwnRules = ['policies.replace', 'approval.decide'] as const;

/** Every operation that rules can name. */
export interface Catalog {
  operations: readonly Operation[];
  /** The names of operations that no gateway tool performs. They are permitted unless a rule says otherwise. */
  platform: readonly string[];
  /** Every name and alias. */
  names: readonly string[];
  /** By its name or its alias. */
  find(name: string): Operation | undefined;
  /** @throws Error for a name that is not in `names` */
  named(name: string): Operation;
}

/**
 * Collects the operations of the gateway tools and all others. Operations with the same name share their rules, and
 * must have the same facts.
 */
export function createCatalog(ofTools: readonly Operation[], others: readonly Operation[]): Catalog {
  const byName = new Map<string, Operation>();
  for (const operation of [...ofTools, ...others])
    for (const name of [operation.name, operation.alias ?? operation.name]) {
      const known = byName.get(name) ?? operation;
      if (Object.keys(known.facts).join() !== Object.keys(operation.facts).join())
        throw new Error(`the operation ${name} is defined twice, with different facts`);
      byName.set(name, known);
    }
  const operations = [...new Set(byName.values())];
  const served = new Set(ofTools.map(({ name }) => name));
  return {
    operations,
    platform: operations.map(({ name }) => name).filter((name) => !served.has(name)),
    names: [...byName.keys()],
    find: (name) => byName.get(name),
    named(name) {
      const operation = byName.get(name);
      if (!operation) throw new Error(`${name} is not an operation`);
      return operation;
    },
  };
}

/** The part of a catalog that rules need, as plain data that can be copied to a thread. */
export interface CatalogData {
  operations: { name: string; alias?: string; facts: Record<string, Fact['type']> }[];
  platform: string[];
}

export function catalogData({ operations, platform }: Catalog): CatalogData {
  const typesOf = (facts: Facts) => Object.fromEntries(Object.entries(facts).map(([name, { type }]) => [name, type]));
  return {
    operations: operations.map(({ name, alias, facts }) => ({
      name,
      facts: typesOf(facts),
      ...(alias !== undefined && { alias }),
    })),
    platform: [...platform],
  };
}

/** A catalog that can only evaluate rules: its operations cannot be called, and their facts cannot be read. */
export function catalogFrom({ operations, platform }: CatalogData): Catalog {
  const read = () => {
    throw new Error('the facts of a copied operation cannot be read');
  };
  const all = operations.map(({ facts, ...names }): Operation => {
    const types = Object.entries(facts).map(([name, type]) => [name, { type, read }] as const);
    return { ...names, effect: 'read', grant: 'any', facts: Object.fromEntries(types) };
  });
  const isOfPlatform = ({ name }: Operation) => platform.includes(name);
  return createCatalog(
    all.filter((operation) => !isOfPlatform(operation)),
    all.filter(isOfPlatform),
  );
}
