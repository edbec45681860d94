import { exampleId } from '../../base/ids.js';
/** Examples for the OpenAPI document. */
export const newConnectorExample = {
  name: 'Claims register',
  data_loader_config: { frequency: 'interval', syncInterval: 3600, path: '/claims', entity_type: 'Claim' },
  config: { base_url: 'https://claims.example.com/api', auth: { type: 'bearer', token: 'a token' } },
};

export const exampleConnector = {
  _id: '0199a6f0-9d2c-7e14-8a6b-1d3c5e7f9a10',
  category: 'restful' as const,
  name: 'Claims register',
  tags: [],
  user_id: 'user_1',
  projectID: exampleId,
  org_id: 'org_1',
  triggers: [],
  data_loader_config: newConnectorExample.data_loader_config,
  actions: [],
  config: { base_url: 'https://claims.example.com/api', auth: { type: 'bearer', token: '[stored]' } },
  has_callback_secret: false,
  status: 'active' as const,
  status_reason: null,
  account: null,
  last_used_at: 1763683260.25,
  failures: 0,
  last_failure: null,
  created_at: 1763683200.125,
  updated_at: 1763683200.125,
};
