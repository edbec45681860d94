import type { Collections, Documents } from '../../../stores/collections.js';
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
  const unfit = slots.flatMap((slot) => {
    const id = connectors.get(slot.name) ?? '';
    return slotProblem({ ...slot, is_table: slot.table_id !== undefined }, id, found.get(id)) ?? [];
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

/** Why a connector does not fit into a slot. `connector` is undefined if the project has none with this id. */
export function slotProblem(
  { name, category, is_table }: { name: string; category: string; is_table: boolean },
  id: string,
  connector: Documents['connectors'] | undefined,
): string | undefined {
  if (!connector) return `slots.${name}: the connector ${JSON.stringify(id)} does not exist in the project`;
  if (is_table && connector.table_id === undefined)
    return `slots.${name}: requires the connector of a table, and ${JSON.stringify(connector.name)} is none`;
  return connector.category === category
    ? undefined
    : `slots.${name}: requires a connector of the category ${category}, and ${JSON.stringify(connector.name)} is of the category ${connector.category}`;
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

/** The named slots that a release or a publication does not have. */
export function unknownSlots({ slots }: { slots: readonly { name: string }[] }, named: Slots): string[] {
  const known = slots.map(({ name }) => name);
  const list = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
  return Object.keys(named)
    .filter((name) => !known.includes(name))
    .map((name) => `slots.${name}: there is no such slot; ${list}`);
}
