import type { Client } from '../../../node/src/index.js';
import { oneByOne, plainOf, type Kind, type Remote } from '../kind.js';
import { complete, isObject, none, type Json, type Shape } from '../shape.js';

const shape: Shape = {
  fields: {
    component_type: none,
    title: '',
    subTitle: '',
    user_query: '',
    resource: none,
    table_id: null,
    coworker_id: null,
    tab_name: none,
    position: none,
    icon: '',
    button_title: '',
    process_buttons: [],
    column_keys: [],
    columns: [],
    query: none,
  },
  derived: { resource: ({ table_id }) => ((table_id ?? null) === null ? 'tasks' : 'table') },
  parts: { position: { fields: { x: 0, y: none, w: 6, h: 4, minW: 2, minH: 2 } } },
  ignored: ['component_id', 'tab_id', 'data', 'error', 'refreshed_at'],
};
/** Stands for the id of the project in queries. */
const thisProject = '{project}';

/** The components of the dashboard. A changed component replaces the former one. */
export const dashboard: Kind = {
  folder: 'dashboard',
  noun: 'component',
  schema: 'DashboardComponentInput',
  shape,
  required: ['component_type'],
  references: [
    { path: ['table_id'], to: ['tables'] },
    { path: ['coworker_id'], to: ['agentflows'] },
  ],
  nameOf: ({ title, component_type }) => (typeof title === 'string' && title !== '' ? title : String(component_type)),
  async list(client) {
    const answer = await client.call('get', '/dashboard/{projectID}');
    return answer.components.map((component): Remote => {
      const { tab_id, x, y, w, h, minW, minH } = answer.position.find(({ i }) => i === component.component_id) ?? {
        ...{ tab_id: component.tab_id, x: 0, y: 0, w: 6, h: 4, minW: 2, minH: 2 },
      };
      const placed = {
        ...withProject(component, client.projectId, thisProject),
        tab_name: answer.tabs.find(({ id }) => id === tab_id)?.name,
        position: { x, y, w, h, minW, minH },
      };
      const answered = component as unknown as Json;
      return { id: component.component_id, content: plainOf(dashboard, placed), answer: answered };
    });
  },
  change: oneByOne({
    create: (client, { content }) => add(client, content),
    async update(client, { content }, { id }) {
      // The service refuses a component that cannot work, so the former one is deleted last.
      const added = await add(client, content);
      await remove(client, id);
      return added;
    },
    remove: (client, { id }) => remove(client, id),
  }),
};

async function add(client: Client, content: Json): Promise<Remote> {
  const body = withProject(complete(shape, content), thisProject, client.projectId);
  const { component_id } = await client.call('post', '/dashboard/{projectID}/component', { body: body as never });
  const added = (await dashboard.list(client)).find(({ id }) => id === component_id);
  if (!added) throw new Error(`the component ${String(content.title)} was deleted in the meantime`);
  return added;
}

function remove(client: Client, component_id: string): Promise<unknown> {
  return client.call('delete', '/dashboard/{projectID}/component/{component_id}', { params: { component_id } });
}

/** Returns the component with another id of the project in its query. */
function withProject(component: unknown, from: string, to: string): Json {
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each)]));
    return value === from ? to : value;
  };
  const { query, ...others } = component as Json;
  return { ...others, ...(query !== undefined && { query: replaced(query) }) };
}
