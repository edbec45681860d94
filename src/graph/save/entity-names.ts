import type { StoredEntity } from '../store/entities.js';
import { foldedKey, foldedName } from '../store/folded-name.js';
import { problem, type InputPath } from './problems.js';

interface Named {
  id: string;
  type: string;
  name: string;
}

/** The names by which the entities of a save are found: those of stored entities, and those in the input. */
export interface EntityNames {
  add(entity: Named): void;
  /**
   * Returns the id of the entity of this type and name. An exact name comes before one that differs in case or spacing.
   * @throws AppError `invalid_input` if several entities have the name
   */
  idOf(named: { type: string; name: string }, place: InputPath): string | undefined;
  /** As `idOf`, for a name of any type in the input. */
  idInInput(name: string, place: InputPath): string | undefined;
  /** Returns the only entity of the input with exactly this name, or undefined: the text may be no reference. */
  onlyIdInInput(name: string): string | undefined;
}

export function createEntityNames(stored: readonly StoredEntity[]): EntityNames {
  const byTypeAndName = new Map<string, Named[]>();
  const inInput = new Map<string, Named[]>();
  const keep = (into: Map<string, Named[]>, key: string, { id, type, name }: Named) => {
    const namesakes = into.get(key) ?? [];
    if (!namesakes.some((each) => each.id === id && each.name === name)) namesakes.push({ id, type, name });
    into.set(key, namesakes);
  };
  for (const entity of stored) keep(byTypeAndName, foldedKey(entity), entity);
  return {
    add(entity) {
      keep(byTypeAndName, foldedKey(entity), entity);
      keep(inInput, foldedName(entity.name), entity);
    },
    idOf: (named, place) => onlyOne(named.name, byTypeAndName.get(foldedKey(named)), place),
    idInInput: (name, place) => onlyOne(name, inInput.get(foldedName(name)), place),
    onlyIdInInput(name) {
      const [first, ...others] = idsOf(exactly(name, inInput.get(foldedName(name))));
      return others.length === 0 ? first : undefined;
    },
  };
}

function onlyOne(name: string, namesakes: readonly Named[] = [], place: InputPath): string | undefined {
  const [id, ...others] = bestIds(name, namesakes);
  if (others.length > 0) throw problem(place, ambiguous([id, ...others]));
  return id;
}

/** Returns the ids of the entities with exactly this name, or of all if there is none. */
export function bestIds(name: string, namesakes: readonly Pick<Named, 'id' | 'name'>[]): string[] {
  const exact = idsOf(exactly(name, namesakes));
  return exact.length > 0 ? exact : idsOf(namesakes);
}

function exactly<T extends { name: string }>(name: string, namesakes: readonly T[] = []): T[] {
  return namesakes.filter((each) => each.name.normalize('NFC') === name.normalize('NFC'));
}

function idsOf(entities: readonly { id: string }[]): string[] {
  return [...new Set(entities.map(({ id }) => id))];
}

function ambiguous(ids: readonly (string | undefined)[]): string {
  return `${ids.length === 2 ? 'two' : ids.length} entities have this name: use an id (${ids.join(', ')})`;
}
