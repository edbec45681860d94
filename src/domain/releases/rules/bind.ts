import { sha256 } from '../../../base/hash.js';
import { ownValue, type ChannelPointer } from '../../agentflows/record/channels.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import type { ReleaseContent, ReleaseDocument } from '../record.js';
import { pinnedVersions } from './starts.js';

type Slots = Readonly<Record<string, string>>;

/** The connector of each slot: that of the channel, or else the one with which the release was published. */
export function connectorsOf({ slots }: Pick<ReleaseContent, 'slots'>, named: Slots): Map<string, string> {
  return new Map(slots.map(({ name, connector_id }) => [name, ownValue(named, name) ?? connector_id]));
}

/**
 * The agentflow of a release with the connectors and tables of a channel, and with the releases that its `flow` steps start.
 * @param tables the tables of connectors, by the id of the connector
 */
export function boundAgentflow(
  release: ReleaseDocument,
  named: Slots,
  tables: ReadonlyMap<string, string>,
): AgentflowDocument {
  const { agentflow, slots } = release;
  const versions = pinnedVersions(release);
  const bySlot = connectorsOf({ slots }, named);
  const byId = new Map(slots.map(({ name, connector_id }) => [connector_id, bySlot.get(name) ?? connector_id]));
  const bound = (id: string | null) => (id === null ? null : (byId.get(id) ?? id));
  const tableOf = (id: string) => {
    const slot = slots.find(({ table_id }) => table_id === id);
    return (slot && tables.get(bySlot.get(slot.name) ?? '')) ?? id;
  };
  const agents = agentflow.agents.map((agent) => ({
    ...agent,
    skills: agent.skills.map((skill) => ({ ...skill, connector_id: bound(skill.connector_id) })),
  }));
  const steps = agentflow.steps?.map((step) => {
    if (step.type === 'action') return { ...step, connector_id: bound(step.connector_id) };
    if (step.type === 'map' && typeof step.items !== 'string')
      return { ...step, items: { ...step.items, table_id: tableOf(step.items.table_id) } };
    if (step.type !== 'flow') return step;
    const pinned = versions.get(step._id);
    return pinned === undefined ? step : { ...step, version: pinned };
  });
  return { ...agentflow, agents, ...(steps && { steps }) };
}

/** Which release of a channel a run takes. The same run always takes the same one. */
export function chosenVersion({ version, split }: ChannelPointer, executionId: string): number {
  if (!split) return version;
  const share = sha256(executionId).readUInt32BE(0) / 2 ** 32;
  return share * 100 < split.percent ? split.version : version;
}
