import type { CallContext } from '../../governance/operations/call-context.js';
import type { Cause } from '../../governance/operations/operation.js';
import { createConnectorRules, startRules, startsOf } from '../caused-rules.js';
import type { Deps } from '../deps.js';
import { connectorLoad } from '../service-operations.js';
import { isLoaded, type ConnectorDocument, type ConnectorTrigger, type DataLoaderConfig } from './record.js';

/** What the fields of a request can hold that creates or changes a connector, or sets its status. */
interface Given {
  config?: unknown;
  callback_secret?: unknown;
  actions?: unknown;
  triggers?: readonly ConnectorTrigger[];
  data_loader_config?: DataLoaderConfig;
  status?: unknown;
}

/** What a connector does once it is stored or activated. */
export const causesOfConnector: readonly Cause[] = [
  {
    operation: createConnectorRules,
    when: 'if it changes more than name, tags and status',
    calls(input, subject) {
      const present = subject as ConnectorDocument | undefined;
      const { config, callback_secret, actions, triggers, data_loader_config } = input as Given;
      const isChanged = [config, callback_secret, actions, triggers, data_loader_config].some(
        (value) => value !== undefined,
      );
      return present && isChanged ? [{ input: { category: present.category } }] : [];
    },
  },
  {
    operation: startRules,
    when: 'if it has `triggers` with an agentflow, or activates such a connector',
    calls(input, subject) {
      const present = subject as ConnectorDocument | undefined;
      const { triggers, status } = input as Given;
      const effective = triggers ?? (status === 'active' ? present?.triggers : undefined) ?? [];
      return startsOf(effective.map(({ agentflow_id }) => agentflow_id));
    },
  },
  {
    operation: connectorLoad,
    when: 'if it loads data into the context graph',
    calls(input, subject) {
      const present = subject as ConnectorDocument | undefined;
      const { config, data_loader_config = present?.data_loader_config, status } = input as Given;
      const isTouched = config !== undefined || status === 'active' || 'data_loader_config' in input;
      const loads = isTouched && data_loader_config !== undefined && isLoaded({ data_loader_config });
      return loads ? [{ input: { connector_id: present?._id ?? '' } }] : [];
    },
  },
];

/** The connector on which these causes depend, if it exists in the project. */
export async function connectorOf(
  { mongo }: Pick<Deps, 'mongo'>,
  { principal }: Pick<CallContext, 'principal'>,
  { connector_id }: { connector_id: string },
): Promise<ConnectorDocument | undefined> {
  const connector = await mongo.collections.connectors.findOne({ _id: connector_id });
  return connector?.projectID === principal.projectId && !connector.is_deleted ? connector : undefined;
}
