import { beforeAll, describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import type { Route } from '../../../src/surfaces/rest/define-route.js';
import { newId } from '../../../src/base/ids.js';
import { gatewayRoutes } from '../../../src/surfaces/gateway/gateway-routes.js';
import { platformRoutes } from '../../../src/surfaces/platform/resources.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import {
  asksForNothing,
  bodies,
  ignored,
  kindByName,
  kindByPath,
  plainParams,
  seeders,
  userTokenOnly,
  type Owner,
} from '../../support/tenancy-ids.js';

const deps = useDeps();
const gateway = gatewayRoutes(deps, () => 'http://localhost');
const tools = gateway.filter(({ tool }) => tool);
const served = [...platformRoutes, ...gateway].filter(({ permission }) => permission !== 'public');
const named = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`;
const projectNames = ['projectID', 'projectId', 'project_id'];

let owner: Owner;
let attackers: { name: string; workspace: Workspace; ownOrganization: boolean }[];

beforeAll(async () => {
  owner = ownerOf(await createWorkspace(deps));
  for (const kind of Object.keys(seeders)) await owner.idOf(kind);
  const { organizationId } = owner.workspace;
  attackers = [
    { name: 'another organization', workspace: await createWorkspace(deps), ownOrganization: false },
    {
      name: 'another project of the organization',
      workspace: await createWorkspace(deps, { organizationId, role: 'PROJECT_ADMIN' }),
      ownOrganization: true,
    },
  ];
});

function ownerOf(workspace: Workspace): Owner {
  const ids = new Map<string, Promise<string>>();
  const made: Owner = {
    workspace,
    idOf(kind) {
      if (!(kind in seeders)) throw new Error(`test/support/tenancy-ids.ts knows no kind ${kind}`);
      const id = ids.get(kind) ?? seeders[kind]?.(made) ?? Promise.resolve(newId());
      ids.set(kind, id);
      return id;
    },
  };
  return made;
}

/** The kind of record that a parameter names. Fails for a route with an unknown parameter, so that no route is forgotten. */
function kindOf(path: string, name: string): string | undefined {
  if (name in plainParams) return undefined;
  const byPath = Object.entries(kindByPath).find(([prefix]) => path.startsWith(prefix))?.[1];
  const kind = kindByName[name] ?? byPath;
  if (kind === undefined) throw new Error(`${path}: add what {${name}} names to test/support/tenancy-ids.ts`);
  return kind;
}

const paramsOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
/** The input of a tool includes the parameters of its path, which are not in its body. */
const fieldsOf = (route: Route) =>
  shapeOf(route.body).filter((name) => !tools.includes(route) || !paramsOf(route.path).includes(name));
const shapeOf = (schema: unknown): string[] => Object.keys((schema as { shape?: object } | undefined)?.shape ?? {});

/** The path with B's ids; `own` keeps the attacker's own project in the path. */
async function pathFor(route: Route, attacker: Workspace, own: boolean): Promise<string> {
  let path = route.path;
  for (const name of paramsOf(route.path)) {
    const kind = kindOf(route.path, name);
    const id =
      kind === undefined
        ? (plainParams[name] ?? '')
        : own && kind === 'project'
          ? attacker.projectID
          : await owner.idOf(kind);
    path = path.replace(`{${name}}`, encodeURIComponent(id));
  }
  return path;
}

/** A body that the route accepts, with B's ids in every reference to a record. */
async function bodyFor(route: Route): Promise<unknown> {
  if (!route.body) return undefined;
  const example = (route.body.meta() as { example?: unknown } | undefined)?.example;
  const body = [bodies[named(route)], example, {}].find(
    (candidate) => candidate !== undefined && route.body?.safeParse(candidate).success,
  );
  if (body === undefined) throw new Error(`${named(route)}: add a body to test/support/tenancy-ids.ts`);
  const outside = shapeOf(route.body).filter((name) => !fieldsOf(route).includes(name));
  const filled = Object.fromEntries(
    Object.entries(body as Record<string, unknown>).filter(([name]) => !outside.includes(name)),
  );
  for (const name of Object.keys(filled)) {
    const kind = kindByName[name];
    if (kind !== undefined && typeof filled[name] === 'string') filled[name] = await owner.idOf(kind);
  }
  return filled;
}

interface Attempt {
  by: string;
  path: string;
  body: unknown;
  /** 400 is also accepted if the request names two different projects. */
  disagrees: boolean;
}

/** Every way to request B's records on a route. */
async function attemptsOn(route: Route, attacker: Workspace, ownOrganization: boolean): Promise<Attempt[]> {
  const params = paramsOf(route.path).map((name) => kindOf(route.path, name));
  const query = shapeOf(route.query);
  const fields = fieldsOf(route);
  const body = await bodyFor(route);
  const isOrganizations = route.scope === 'organization';
  const foreignOrganization = ownOrganization ? [] : ['organization_id', 'org_id'];
  const projectFields = [...(isOrganizations ? [] : projectNames), ...foreignOrganization];
  const ownPath = await pathFor(route, attacker, true);
  const inQuery = [...query].filter(
    (name) => kindByName[name] !== undefined && !['project', 'organization', 'user'].includes(kindByName[name] ?? ''),
  );
  const references = fields.filter(
    (name) => kindByName[name] !== undefined && !['project', 'organization', 'user'].includes(kindByName[name] ?? ''),
  );
  const nested = params.some((kind) => kind !== undefined && kind !== 'project' && kind !== 'user');
  const inOwnProject = (given: unknown) =>
    typeof given === 'object' && given !== null
      ? Object.fromEntries(
          Object.entries(given).map(([name, value]) => [
            name,
            projectNames.includes(name) ? attacker.projectID : value,
          ]),
        )
      : given;
  const needed = query.filter((name) => !(route.query as z.ZodObject).shape[name]?.safeParse(undefined).success);
  const queryOf = async (names: string[], own: boolean) => {
    const given = await Promise.all(
      names.map(
        async (name) =>
          [
            name,
            plainParams[name] ??
              (own && projectNames.includes(name) ? attacker.projectID : await owner.idOf(kindByName[name] ?? '')),
          ] as const,
      ),
    );
    return given.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(given)).toString()}`;
  };

  const attempts: Attempt[] = [];
  if (params.some((kind) => kind !== undefined))
    attempts.push({
      by: 'path',
      path: (await pathFor(route, attacker, false)) + (await queryOf(needed, false)),
      body,
      disagrees: false,
    });
  if (nested)
    attempts.push({
      by: 'nested id',
      path: ownPath + (await queryOf(needed, true)),
      body: inOwnProject(body),
      disagrees: false,
    });
  for (const name of query.filter((each) => projectFields.includes(each))) {
    attempts.push({
      by: `query ${name}`,
      path: `${ownPath}?${name}=${await owner.idOf(kindByName[name] ?? '')}`,
      body: inOwnProject(body),
      disagrees: params.includes('project'),
    });
  }
  if (needed.some((name) => kindByName[name] !== 'user') && !params.some((kind) => kind !== undefined))
    attempts.push({ by: 'needed query', path: ownPath + (await queryOf(needed, false)), body, disagrees: false });
  // A list filter applies within the caller's own project, in which nothing matches.
  if (inQuery.length > 0 && !query.includes('limit'))
    attempts.push({ by: 'query ids', path: ownPath + (await queryOf(inQuery, true)), body, disagrees: false });
  for (const name of fields.filter((each) => projectFields.includes(each))) {
    const foreign = { ...(inOwnProject(body) as object), [name]: await owner.idOf(kindByName[name] ?? '') };
    attempts.push({ by: `body ${name}`, path: ownPath, body: foreign, disagrees: params.includes('project') });
  }
  if (references.some((name) => Object.hasOwn(body as object, name)))
    attempts.push({ by: 'body ids', path: ownPath, body: inOwnProject(body), disagrees: false });
  return attempts;
}

/** All stored documents of B. */
async function snapshot(): Promise<Record<string, unknown>> {
  const { projectID, apiKey: _apiKey } = owner.workspace;
  const ids = await Promise.all(Object.keys(seeders).map((kind) => owner.idOf(kind)));
  const of = {
    $or: [
      { projectID },
      { project_id: projectID },
      { 'scope.project_id': projectID },
      { execution_id: await owner.idOf('execution') },
      { _id: { $in: ids } },
    ],
  };
  // Quotas count the calls of the whole organization, including those of A. Intents of ended calls are deleted once a second,
  // and the notes of B's own changes are stored shortly after the changes.
  const passing = ['quotas', 'intents', 'project_news'];
  const names = Object.keys(deps.mongo.collections).filter((name) => !passing.includes(name));
  const found = await Promise.all(
    names.map(async (name) => [name, await deps.mongo.db.collection<any>(name).find(of).sort({ _id: 1 }).toArray()]),
  );
  const rows = await deps.mongo.db
    .collection(`table_${await owner.idOf('table')}`)
    .find()
    .sort({ row_id: 1 })
    .toArray();
  return { ...Object.fromEntries(found), rows };
}

let before: Record<string, unknown>;
beforeAll(async () => {
  before = await snapshot();
  expect(before.projects).toHaveLength(1);
});

describe('a key of project A requests the records of project B', () => {
  test.each(served.map((route) => [named(route), route] as const))('%s: 403 or 404', async (name, route) => {
    verifies('platform.project.tenancy');
    const asked = await attemptsOn(route, owner.workspace, false);
    expect([name, asked.length === 0]).toEqual([name, name in asksForNothing]);
    for (const { name: who, workspace, ownOrganization } of attackers) {
      for (const { by, path, body, disagrees } of await attemptsOn(route, workspace, ownOrganization)) {
        const answer = await fetch(workspace.api.url + path, {
          method: route.method.toUpperCase(),
          headers: {
            'x-api-key': workspace.apiKey,
            authorization: `Bearer ${workspace.apiKey}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const seen = [name, who, by, path, answer.status, await answer.text()];
        const allowed = [
          403,
          404,
          ...(disagrees ? [400] : []),
          ...(userTokenOnly.includes(name) ? [401] : []),
          ...(`${name}: ${by}` in ignored ? [200, 201] : []),
        ];
        expect([...seen, allowed.includes(answer.status)]).toEqual([...seen, true]);
      }
    }
  });

  test('nothing of project B has changed', async () => {
    verifies('platform.project.tenancy');
    expect(await snapshot()).toEqual(before);
  });
});
