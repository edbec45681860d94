import type { Client } from '../../node/src/index.js';
import { plain, type Json, type Shape } from './shape.js';

/** The folders of files. Resources are created in this order, and deleted in the opposite one. */
export type Folder = 'tables' | 'agentflows' | 'connectors' | 'schedules' | 'dashboard' | 'policies';

/** A resource of the project. */
export interface Remote {
  id: string;
  /** Of a table: the connector through which agentflows use it. */
  connectorId?: string;
  /** As in a file, but with the ids of other resources. */
  content: Json;
  /** As the service has answered it. */
  answer: Json;
  /** What a change of it is based on. */
  expected?: unknown;
}

/** What `push` saves. `remote` is absent for a new resource. The content has the ids of other resources. */
export interface Wanted {
  file: string;
  content: Json;
  remote?: Remote;
}

/** A field that names another resource: by its file in files, and by its id in the project. */
export interface Reference {
  /** The names of the fields. `*` stands for each entry of a list. */
  path: readonly string[];
  to: readonly Folder[];
  /** Whether the field is a reference, by the object that has it. */
  when?: (owner: Json) => boolean;
}

/** One kind of resources. */
export interface Kind {
  folder: Folder;
  /** One of them, as in the name of its JSON Schema. */
  noun: string;
  /** Its name in the OpenAPI document of the service. */
  schema: string;
  shape: Shape;
  references: readonly Reference[];
  /** Fields without which a file cannot be compared. */
  required: readonly string[];
  /** The name of files whose resources have none. */
  unnamed?: string;
  /** Whether prompts are in files of their own. */
  hasPrompts?: true;
  /** Whether all of them are changed in one request, with what is deleted. */
  isOneSet?: true;
  /** Brings other ways to write the same content into one. */
  tidy?(content: Json): Json;
  /** Changes its JSON Schema where files differ from requests. */
  forEditors?(schema: Json): void;
  /** The name of its file, and by which its file finds it. `refs` has the files of other resources, by their ids. */
  nameOf(content: Json, refs: ReadonlyMap<string, string>): string;
  /** Returns all resources, oldest first. */
  list(client: Client): Promise<Remote[]>;
  /** Returns what must exist before resources to which it refers. */
  stubOf?(content: Json): Json;
  /** Returns why the service cannot make this change. */
  problemOf?(wanted: Wanted, prune: boolean): string | undefined;
  /** Returns what was saved, in the same order. */
  change(client: Client, saved: readonly Wanted[], removed: readonly Remote[]): Promise<Remote[]>;
}

/** A change of which the service has made only a part. */
export class PartlySaved extends Error {
  constructor(
    override readonly cause: unknown,
    readonly stored: Remote,
  ) {
    super('only a part was saved');
  }
}

interface Changes {
  create(client: Client, wanted: Wanted): Promise<Remote>;
  update(client: Client, wanted: Wanted, remote: Remote): Promise<Remote>;
  remove(client: Client, remote: Remote): Promise<unknown>;
}

/** Makes one request or more for each resource. */
export function oneByOne({ create, update, remove }: Changes): Kind['change'] {
  return async (client, saved, removed) => {
    const stored: Remote[] = [];
    for (const wanted of saved)
      stored.push(await (wanted.remote ? update(client, wanted, wanted.remote) : create(client, wanted)));
    for (const remote of removed) await remove(client, remote);
    return stored;
  };
}

/** Returns content as files have it: without defaults, and with its fields in one order. */
export function plainOf({ shape, tidy = (content) => content }: Pick<Kind, 'shape' | 'tidy'>, content: Json): Json {
  return tidy(plain(shape, content));
}

/** Returns the content with other values in its references. */
export function mapReferences(
  { references }: Pick<Kind, 'references'>,
  content: Json,
  map: (value: string, reference: Reference) => string,
): Json {
  return references.reduce((value, reference) => mapped(value, reference.path, reference, map) as Json, content);
}

function mapped(
  value: unknown,
  [name, ...rest]: readonly string[],
  reference: Reference,
  map: (value: string, reference: Reference) => string,
): unknown {
  if (name === '*')
    return Array.isArray(value) ? value.map((each: unknown) => mapped(each, rest, reference, map)) : value;
  if (typeof value !== 'object' || value === null || name === undefined || !Object.hasOwn(value, name)) return value;
  const owner = value as Json;
  const given = owner[name];
  if (rest.length > 0) return { ...owner, [name]: mapped(given, rest, reference, map) };
  if (typeof given !== 'string' || reference.when?.(owner) === false) return owner;
  return { ...owner, [name]: map(given, reference) };
}
