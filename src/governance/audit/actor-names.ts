import { literalPattern } from '../../base/text.js';
import type { Collections } from '../../stores/collections.js';

type NamedCollections = Pick<Collections, 'users' | 'api_keys' | 'oauth_clients'>;

/**
 * Readable names for the actors of audit entries, such as `Ada (ada@example.com) with the API key "Nightly import"`.
 */
export function createActorNames({ users, api_keys, oauth_clients }: NamedCollections) {
  return async (organizationId: string, actors: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const parts = new Map(actors.map((actor) => [actor, partsOf(actor)]));
    const userIds = [...new Set([...parts.values()].map(({ userId }) => userId))];
    const byIds = [...new Set([...parts.values()].flatMap(({ by }) => by ?? []))];
    const [people, keys, clients] = await Promise.all([
      users
        .find({ _id: { $in: userIds }, organization_id: organizationId }, { projection: { name: 1, email: 1 } })
        .toArray(),
      api_keys
        .find({ id: { $in: byIds }, 'scope.org_id': organizationId }, { projection: { id: 1, name: 1 } })
        .toArray(),
      oauth_clients.find({ _id: { $in: byIds } }, { projection: { client_name: 1 } }).toArray(),
    ]);
    const names = new Map(people.map(({ _id, name, email }) => [_id, `${name} (${email})`]));
    const means = new Map<string, string>([
      ...keys.map(({ id, name }) => [id, `with the API key "${name}"`] as const),
      ...clients.map(({ _id, client_name }) => [_id, `through "${client_name ?? _id}"`] as const),
    ]);
    return new Map(
      [...parts].map(([actor, { kind, userId, by }]) => [
        actor,
        nameOf(kind, names.get(userId) ?? userId, by === undefined ? '' : (means.get(by) ?? '')),
      ]),
    );
  };
}

/** Parses `<kind>:<user id>[:<key, client or run>]`; a service is `service:<name>`. */
function partsOf(actor: string): { kind: string; userId: string; by: string | undefined } {
  const [kind = '', userId = '', ...rest] = actor.split(':');
  return { kind, userId, by: rest.length > 0 ? rest.join(':') : undefined };
}

const services: Record<string, string> = {
  'catalog-sync': 'Catalog synchronisation',
  'code-sync': 'Code synchronisation',
  'catalog-ingest': 'Catalog ingest by server key',
  'connector-load': 'Connector load',
  'knowledge-upload': 'Knowledge upload',
  'mcp-revocation': 'Revocation of tokens for MCP servers',
};

function nameOf(kind: string, person: string, by: string): string {
  if (kind === 'service') return services[person] ?? person;
  const means = kind === 'execution' ? 'through an execution' : by;
  return means === '' ? person : `${person} ${means}`;
}

const maxFound = 200;

/** The ids of the people, keys, apps and services whose name or mail address contains the text, in any case. */
export async function actorsNamed(
  { users, api_keys, oauth_clients }: NamedCollections,
  organizationId: string,
  text: string,
): Promise<string[]> {
  const pattern = new RegExp(literalPattern(text), 'i');
  const [people, keys, clients] = await Promise.all([
    users
      .find({ organization_id: organizationId, $or: [{ name: pattern }, { email: pattern }] })
      .project<{ _id: string }>({ _id: 1 })
      .limit(maxFound)
      .toArray(),
    api_keys
      .find({ 'scope.org_id': organizationId, name: pattern })
      .project<{ id: string }>({ id: 1 })
      .limit(maxFound)
      .toArray(),
    oauth_clients.find({ client_name: pattern }).project<{ _id: string }>({ _id: 1 }).limit(maxFound).toArray(),
  ]);
  const ofServices = Object.entries(services).flatMap(([id, name]) => (pattern.test(name) ? [id] : []));
  return [
    ...people.map(({ _id }) => _id),
    ...keys.map(({ id }) => id),
    ...clients.map(({ _id }) => _id),
    ...ofServices,
  ];
}
