import type { Schemas } from '../../../node/src/index.js';
import { paginate } from '../../../node/src/page.js';
import { oneByOne, PartlySaved, plainOf, type Kind, type Remote } from '../kind.js';
import { canonical, none, type Json, type Shape } from '../shape.js';

const column: Shape = {
  fields: {
    column_name: none,
    column_type: none,
    array_type: null,
    enum_options: null,
    object_fields: null,
    default_value: null,
  },
  parts: { object_fields: { fields: { name: none, type: none, required: false } } },
  ignored: ['column_id', 'triggers'],
};
const shape: Shape = {
  fields: { table_name: none, columns: [] },
  parts: { columns: column },
  ignored: ['_id', 'projectID', 'connector_id', 'triggers', 'last_row_id'],
};
/** Every table has these columns, and nobody sets them. */
const systemColumns = ['_id', 'row_id', 'coworker_user_id'];

/** The columns of tables, without their records. */
export const tables: Kind = {
  folder: 'tables',
  noun: 'table',
  schema: 'TableInput',
  shape,
  required: ['table_name'],
  references: [],
  nameOf: ({ table_name }) => String(table_name),
  async list({ platform }) {
    const found: Remote[] = [];
    for await (const each of paginate(platform.tables.list, { limit: 200 })) found.unshift(remoteOf(each));
    return found;
  },
  problemOf({ content, remote }, prune) {
    if (!remote) return undefined;
    if (content.table_name !== remote.content.table_name)
      return `table_name: must stay ${JSON.stringify(remote.content.table_name)}, because a table keeps its name`;
    const { removed, changed } = columnChanges(content, remote.content);
    const [name] = changed;
    if (name !== undefined)
      return `columns: ${JSON.stringify(name)} must stay as it is, because a column cannot be changed; add another one`;
    if (removed.length > 0 && !prune)
      return `columns: ${removed.map((each) => JSON.stringify(each)).join(', ')} must stay, or be deleted with their values by \`gcs push --prune\``;
    return undefined;
  },
  change: oneByOne({
    async create({ platform }, { content }) {
      return remoteOf(await platform.tables.create(content as unknown as Schemas['TableInput']));
    },
    async update(client, { content }, { id, content: present, answer }) {
      const { added, removed } = columnChanges(content, present);
      const { tables: calls } = client.platform;
      const stored = async () => {
        const found = (await tables.list(client)).find((each) => each.id === id);
        if (!found) throw new Error(`the table ${String(present.table_name)} was deleted in the meantime`);
        return found;
      };
      let done = 0;
      try {
        for (const each of added) {
          await calls.addColumn(id, each as unknown as Schemas['ColumnInput']);
          done += 1;
        }
        for (const { column_id, column_name } of answer.columns as Json[])
          if (removed.includes(String(column_name))) await calls.deleteColumn(id, String(column_id));
      } catch (error) {
        throw done > 0 ? new PartlySaved(error, await stored()) : error;
      }
      return stored();
    },
    remove: ({ call }, { id }) => call('delete', '/storage/{projectID}/table/{table_id}', { params: { table_id: id } }),
  }),
};

function remoteOf(stored: unknown): Remote {
  const answer = stored as Json;
  const columns = (answer.columns as Json[]).filter(({ column_id }) => !systemColumns.includes(String(column_id)));
  const content = plainOf(tables, { ...answer, columns });
  return { id: String(answer._id), connectorId: String(answer.connector_id), content, answer };
}

function columnChanges(wanted: Json, present: Json) {
  const columnsOf = ({ columns = [] }: Json) =>
    new Map((Array.isArray(columns) ? (columns as Json[]) : []).map((each) => [String(each.column_name), each]));
  const [after, before] = [columnsOf(wanted), columnsOf(present)];
  return {
    added: [...after].filter(([name]) => !before.has(name)).map(([, each]) => each),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...after].flatMap(([name, each]) =>
      before.has(name) && canonical(each) !== canonical(before.get(name)) ? [name] : [],
    ),
  };
}
