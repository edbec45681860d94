import type { Collections } from '../../../stores/collections.js';
import { mcpToolId } from '../../mcp-servers/record.js';
import type { ReleaseDocument } from '../record.js';
import { tableProblems } from '../../agentflows/operations/table-problems.js';
import { boundAgentflow, connectorsOf } from '../rules/bind.js';
import { connectorsBy } from './snapshot.js';

type Stores = Pick<Collections, 'connectors' | 'mcp_tools' | 'tables'>;
type Slots = Readonly<Record<string, string>>;

/** Why a release cannot run with these connectors in its slots: missing ones, other categories, tools that are not the released ones. */
export async function slotProblems(collections: Stores, release: ReleaseDocument, named: Slots): Promise<string[]> {
  const { slots, tools, projectID } = release;
  const connectors = connectorsOf(release, named);
  const found = await connectorsBy(collections.connectors, projectID, [...connectors.values()]);
  const unfit = slots.flatMap(({ name, category, table_id }) => {
    const id = connectors.get(name) ?? '';
    const connector = found.get(id);
    if (!connector) return [`slots.${name}: the connector ${JSON.stringify(id)} does not exist in the project`];
    if (table_id !== undefined && connector.table_id === undefined)
      return [`slots.${name}: requires the connector of a table, and ${JSON.stringify(connector.name)} is none`];
    return connector.category === category
      ? []
      : [
          `slots.${name}: requires a connector of the category ${category}, and ${JSON.stringify(connector.name)} is of the category ${connector.category}`,
        ];
  });
  const otherTables = await tableProblems(collections, boundAgentflow(release, named, tablesIn(found)));
  const ids = tools.map(({ slot, name }) => mcpToolId(connectors.get(slot) ?? '', name));
  const accepted = ids.length === 0 ? [] : await collections.mcp_tools.find({ _id: { $in: ids } }).toArray();
  const hashes = new Map(accepted.map(({ _id, hash }) => [_id, hash]));
  const changed = tools.flatMap(({ slot, name, hash }, index) =>
    hashes.get(ids[index] ?? '') === hash
      ? []
      : [
          `slots.${slot}: the accepted tool ${JSON.stringify(name)} is not the one that was released; publish a new release`,
        ],
  );
  return [...unfit, ...(unfit.length === 0 ? otherTables : []), ...changed];
}

/** The tables of the connectors in the slots of a release, by the id of the connector. */
export async function tablesOfSlots(
  { connectors }: Pick<Collections, 'connectors'>,
  release: ReleaseDocument,
  named: Slots,
): Promise<Map<string, string>> {
  if (!release.slots.some(({ table_id }) => table_id !== undefined)) return new Map();
  return tablesIn(await connectorsBy(connectors, release.projectID, [...connectorsOf(release, named).values()]));
}

function tablesIn(connectors: Awaited<ReturnType<typeof connectorsBy>>): Map<string, string> {
  return new Map(
    [...connectors].flatMap(([id, { table_id }]) => (typeof table_id === 'string' ? [[id, table_id] as const] : [])),
  );
}

/** The slots of a channel that the release does not have. */
export function unknownSlots({ slots }: Pick<ReleaseDocument, 'slots'>, named: Slots): string[] {
  const known = slots.map(({ name }) => name);
  const list = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
  return Object.keys(named)
    .filter((name) => !known.includes(name))
    .map((name) => `slots.${name}: the release has no such slot; ${list}`);
}
