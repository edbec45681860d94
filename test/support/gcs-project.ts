import { expect } from '@jest/globals';
import type { Deps } from '../../src/domain/deps.js';
import { createGatewayWorkspace } from './gateway.js';

export const secret = 'a-secret-that-no-file-has';
const rule = { policy_id: 'ask-for-mail', effect: 'require_approval', tools: ['act.mail'], approvers: 2 };

/** A project that has each kind of resource, with references between them. */
export async function createProject(deps: Deps) {
  const workspace = await createGatewayWorkspace(deps);
  const { api, gateway, projectID } = workspace;
  const created = async (path: string, body: object) => {
    const { status, body: answer } = await api.post(path, body);
    expect([path, status < 300 || answer]).toEqual([path, true]);
    return answer;
  };
  const columns = [
    { column_name: 'Company', column_type: 'string' },
    { column_name: 'Stage', column_type: 'enum', enum_options: ['new', 'won'], default_value: 'new' },
    { column_name: 'Address', column_type: 'object', object_fields: [{ name: 'city', type: 'string' }] },
  ];
  const table = await created(`/storage/${projectID}/table`, { table_name: 'Leads', columns });
  const helper = await created('/agentflow', { name: 'Helper', agents: [{ _id: 'a', title: 'A' }] });
  const connector = await created('/actions/restful/config', {
    name: 'Claims API',
    config: {
      base_url: 'https://claims.test',
      auth: { type: 'bearer', token: secret },
      headers: { 'x-tenant': secret },
    },
    callback_secret: secret,
    triggers: [{ event: 'claim', agentflow_id: helper._id, kind: 'voice' }],
  });
  const skill = { _id: 's', name: 'S', connector_id: connector._id };
  const flow = await created('/agentflow', {
    name: 'Claims',
    agents: [{ _id: 'a', title: 'A', skills: [skill, { _id: 't', name: 'T', connector_id: table.connector_id }] }],
    steps: [{ _id: 'again', type: 'flow', agentflow_id: helper._id }],
  });
  // Both refer to each other now.
  const triggers = [...connector.triggers, { event: 'claim', agentflow_id: flow._id }];
  const changed = await api.patch(`/connectors/${projectID}/${connector._id}`, { triggers });
  expect(changed).toMatchObject({ status: 200 });
  await created('/schedule/coworker', {
    coworker_id: flow._id,
    goal: 'Read {{ row.company }}',
    type: 'cron',
    frequency: { cron: '0 9 * * 1-5', time_zone: 'Europe/Oslo' },
    table: table._id,
    status: 'paused',
  });
  await created(`/dashboard/${projectID}/component`, {
    ...{ component_type: 'chart', title: 'Leads by stage', table_id: table._id, tab_name: 'Sales' },
    query: { aggregation_code: [{ $group: { _id: '$stage', count: { $sum: 1 } } }] },
  });
  expect(await gateway.post('/v1/policies/rules', rule)).toMatchObject({ status: 201 });
  return { workspace, table, helper, connector, flow };
}

/** What `gcs` needs to make its connector in another project. */
export const secrets = {
  GCS_SECRET_CLAIMS_API_CONFIG_AUTH_TOKEN: secret,
  GCS_SECRET_CLAIMS_API_CONFIG_HEADERS_X_TENANT: secret,
  GCS_SECRET_CLAIMS_API_CALLBACK_SECRET: secret,
};
