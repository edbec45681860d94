import { z } from 'zod';
import type { Principal } from '../../../auth/principal.js';
import { operations } from '../../../connectors/operations.js';
import type { Collections } from '../../../stores/collections.js';
import { readConnector } from './store.js';

/** What the account provider's API needs in `config`. */
const needed = [
  { name: 'account_api_url', type: 'url', required: true, secret: false, description: "Base URL of the account provider's API, its version included" },
  { name: 'account_api_token', type: 'string', required: false, secret: true, description: 'Sent as bearer token to that API alone' },
];

export const ProviderParams = z
  .object({
    category: z.literal('professional_network'),
    connector_id: z.string().nullable().meta({ description: 'The connector that `is_set` speaks of; null while there is none.' }),
    params: z.array(z.object({ name: z.string(), type: z.string(), required: z.boolean(), secret: z.boolean(), description: z.string(), is_set: z.boolean() })),
    operations: z.array(
      z.object({
        name: z.string().meta({ description: "What an action's `endpoint` names." }),
        method: z.string(),
        path: z.string(),
        fields: z.array(z.object({ field_id: z.string(), type: z.string(), required: z.boolean() })),
      }),
    ),
  })
  .meta({
    id: 'ProviderParams',
    example: {
      category: 'professional_network',
      connector_id: null,
      params: [{ name: 'account_api_url', type: 'url', required: true, secret: false, description: 'Base URL of the API', is_set: false }],
      operations: [{ name: 'get_profile', method: 'GET', path: '/users/{identifier}', fields: [{ field_id: 'identifier', type: 'string', required: true }] }],
    },
  });

/** The parameters of the provider, and which of them a connector has: the one that is named, or the newest. */
export async function providerParams(collections: Collections, principal: Principal, connectorId: string | undefined): Promise<z.infer<typeof ProviderParams>> {
  const connector =
    connectorId === undefined
      ? await collections.connectors.findOne({ projectID: principal.projectId, category: 'professional_network', is_deleted: false }, { sort: { _id: -1 } })
      : await readConnector(collections, principal, connectorId);
  return {
    category: 'professional_network',
    connector_id: connector?._id ?? null,
    params: needed.map((param) => ({ ...param, is_set: connector?.config_names.includes(param.name) ?? false })),
    operations: Object.entries(operations.professional_network).map(([name, operation]) => ({ name, ...operation })),
  };
}
