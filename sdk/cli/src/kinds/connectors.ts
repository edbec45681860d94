import type { Schemas } from '../../../node/src/index.js';
import { paginate } from '../../../node/src/page.js';
import { oneByOne, plainOf, type Kind, type Remote, type Wanted } from '../kind.js';
import { changedFields, complete, isObject, none, sorted, type Json, type Shape } from '../shape.js';
import { stored, withSecrets } from '../secrets.js';

const trigger: Shape = {
  fields: { event: '*', kind: none, agentflow_id: none, goal: none, id_fields: none },
  // It is part of an address that nobody is to guess.
  ignored: ['trigger_id'],
};
const shape: Shape = {
  fields: {
    category: none,
    name: none,
    tags: [],
    config: {},
    callback_secret: null,
    triggers: [],
    data_loader_config: {},
    actions: [],
  },
  parts: { triggers: trigger },
  ignored: [
    '_id',
    'user_id',
    'projectID',
    'org_id',
    'has_callback_secret',
    'status',
    'status_reason',
    'account',
    'last_used_at',
    'failures',
    'last_failure',
    'created_at',
    'updated_at',
    'notify_path',
  ],
};

/** Connectors without their secrets, accounts and status, and without those of tables. */
export const connectors: Kind = {
  folder: 'connectors',
  noun: 'connector',
  schema: 'ConnectorInput',
  shape,
  required: ['category', 'name'],
  references: [{ path: ['triggers', '*', 'agentflow_id'], to: ['agentflows'] }],
  tidy: ({ config, ...content }) => ({ ...content, ...(config !== undefined && { config: sorted(config) }) }),
  forEditors({ properties }) {
    if (isObject(properties)) properties.callback_secret = { type: 'string' };
  },
  nameOf: ({ name }) => String(name),
  async list({ call }) {
    const found: Remote[] = [];
    const list = (query: object) => call('get', '/connectors/{projectID}', { query });
    for await (const each of paginate(list, { limit: 200 }))
      if (!isOfTable(each as unknown as Json)) found.unshift(remoteOf(each));
    return found;
  },
  problemOf(wanted) {
    const present = wanted.remote?.content.category;
    if (present !== undefined && present !== wanted.content.category)
      return `category: must stay ${JSON.stringify(present)}, because a connector keeps its category`;
    return withSecrets(wanted).problem;
  },
  change: oneByOne({
    async create({ call }, wanted) {
      const { category, ...body } = complete(shape, withSecrets(wanted).content);
      if (body.callback_secret === null) delete body.callback_secret;
      const path = '/actions/{category}/config';
      return remoteOf(await call('post', path, { params: { category: category as 'restful' }, body: body as never }));
    },
    async update({ call }, wanted, remote) {
      const body = patchOf(wanted, remote);
      const params = { connector_id: remote.id };
      return remoteOf(await call('patch', '/connectors/{projectID}/{connector_id}', { params, body }));
    },
    remove: ({ call }, { id }) =>
      call('delete', '/connectors/{projectID}/{connector_id}', { params: { connector_id: id } }),
  }),
};

function isOfTable({ data_loader_config: loader }: Json): boolean {
  return isObject(loader) && loader.table_id !== undefined;
}

function remoteOf(answered: unknown): Remote {
  const answer = answered as Json;
  const secret = answer.has_callback_secret === true ? stored : null;
  const content = plainOf(connectors, { ...answer, callback_secret: secret });
  return { id: String(answer._id), content, answer, expected: answer.updated_at };
}

function patchOf(wanted: Wanted, { content: present, answer, expected }: Remote): Schemas['ConnectorPatch'] {
  const changed = changedFields(shape, wanted.content, present);
  const given = withSecrets(wanted).content;
  const patch: Json = Object.fromEntries(Object.keys(changed).map((name) => [name, complete(shape, given)[name]]));
  if (isObject(patch.config) && isObject(present.config)) {
    const kept = patch.config;
    const removed = Object.keys(present.config).filter((name) => !Object.hasOwn(kept, name));
    patch.config = { ...kept, ...Object.fromEntries(removed.map((name) => [name, null])) };
  }
  if (patch.triggers) patch.triggers = withAddresses(patch.triggers as Json[], answer.triggers as Json[]);
  return { ...patch, expected } as Schemas['ConnectorPatch'];
}

/** A trigger that stays keeps its address. */
function withAddresses(triggers: readonly Json[], present: readonly Json[]): Json[] {
  const free = present.filter(({ trigger_id }) => trigger_id !== undefined);
  return triggers.map((each) => {
    const at = free.findIndex(({ kind, agentflow_id }) => kind === each.kind && agentflow_id === each.agentflow_id);
    const [found] = at < 0 ? [] : free.splice(at, 1);
    return found ? { ...each, trigger_id: found.trigger_id } : each;
  });
}
