import type { Json } from './compose-example.js';

const id = '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10';
const otherId = '0199a6f0-71be-7d02-9a4e-5b1f0c2d3e4f';
const projectId = '0199a6ef-11d0-7b54-8c3a-9e7d6f5a4b3c';
const organizationId = '0199a6ee-8f02-7a11-b6c5-2d3e4f5a6b7c';
const departmentId = '0199a6ee-9a3b-7e60-9d8c-7f6e5d4c3b2a';
const userId = '0199a6ed-4c5d-7f21-8a9b-0c1d2e3f4a5b';
const began = 1764000000.5;
const ended = 1764000042.25;
const later = 1764086400.5;
const digest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/** Values of fields that schemas leave without an example of their own, by the name that they have everywhere. */
export const exampleValues: Readonly<Record<string, Json>> = {
  // Identifiers
  _id: id, id, ids: id, projectID: projectId, projectId, project_id: projectId, organization: organizationId, organization_id: organizationId, org_id: organizationId,
  dept_id: departmentId, customer_id: organizationId, user_id: userId, user_ids: userId, userId, executed_by: userId, created_by: userId, updated_by: userId,
  saved_by: userId, committed_by: userId, decided_by: userId, requested_by: userId, actor: userId, client_id: 'https://app.acme.dev/client.json',
  execution_id: id, parent_execution_id: otherId, agentflow_id: otherId, agent_id: 'reader', start_from_agent_id: 'writer', next_agent: 'writer', initialAgent: 'reader',
  action_id: 'look_up', initial_action_id: 'look_up', skill_id: otherId, connector_id: otherId, connectorID: otherId, task_id: id, table_id: otherId, record_id: otherId, file_id: otherId,
  component_id: otherId, preview_id: id, item_id: id, entry_id: id, run_id: '0199a6f0-6b1c-7f5e-8a77-1c2d3e4f5a6b', workflow_id: `execution-${id}`, step_id: 'reader:1',
  lifecycle_id: id, approval_id: otherId, decision_id: otherId, key_id: 'svc-2026-01', kid: 'svc-2026-01', triggerID: 'trigger_1', pin: '4821', trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  subscription_id: 'sub_1042', support_subscription_id: 'sub_1043', premium_connectors_subscription_id: 'sub_1044',
  // Times in epoch seconds
  at: began, created_at: began, updated_at: ended, started_at: began, ended_at: ended, end_time: ended, decided_at: ended, committed_at: began, bound_at: began, published_at: began,
  requested_at: began, recorded_at: began, revoked_at: null, last_used_at: ended, expires_at: later, resume_token_expires_at: later, scheduled_for: later, next: later,
  valid_from: began, valid_to: null, from: 1763942400, to: 1764028800, expires: '1790000000', trial_end_date: '2026-12-31T00:00:00.000', support_plan_expiry: null,
  // Words
  name: 'Claims desk', project_name: 'Claims desk', title: 'Reader', description: 'Reads claims and drafts the answers', role: 'OWNER', role_description: 'Reads a claim and finds what is missing',
  agent_type: 'llm', goal: 'Answer claim C-1042', output: 'The claim is complete.', text: 'The claim is complete.', note: 'Waits for the register', notes: 'First version', reason: 'As agreed',
  comment: 'As agreed', detail: 'bearer credential accepted', statement: 'Claims are answered within three days', finding: 'No entity of this type is stored yet', location: 'entities.0', failure: null,
  error: null, conclusion: 'Answered', organization_name: 'Acme Insurance', email: 'grace@acme.dev', image: 'https://cdn.acme.dev/claims.png', logo: 'https://cdn.acme.dev/register.svg',
  connector_name: 'Claims mailbox', table_name: 'Claims', mime_type: 'text/markdown', action: 'query-context', tool: 'query-context', resource: `project/${projectId}`, outcome: 'completed',
  source: 'catalog', kind: 'output', type: 'Person', subject: 'table-1', predicate: 'owned_by', object: 'Grace', stage: 'S8:execute', status: 'ok', policy_ids: 'no-personal-data', consumed: 'table-1',
  run: 'svc verify-audit audit.jsonl', repository: 'acme/claims', branch: 'main', links: 'https://docs.acme.dev/claims', plan: 'team', kept_from: 'claims.md',
  // Credentials and digests
  access_token: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c2VyIn0.c2lnbmF0dXJl', refresh_token: 'svc_srt_Jq3v0Yx8uR2m', resume_token: 'svc_rt_Jq3v0Yx8uR2m', secret: 'svc_sk_Jq3v0Yx8uR2mT7wK',
  signature: 'm3Vh0uKx2f', hash: digest, head_hash: digest, prev_hash: digest, previous: digest, payload_digest: digest, kty: 'OKP', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0', n: 'sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri23bOdgWp4Dy1Wl', e: 'AQAB', grants: 'svc:query.read',
  // Numbers
  total_count: 1, limit: 50, total: 3, done: 3, count: 1, seq: 17, after_seq: 16, attempt: 1, attempts: 1, version: 3, base_version: 2, latest_version: 3, policy_version: 3, expected_version: 2,
  last_row_id: 12, number: 1, number_of_workspaces: 2, number_of_tables: 4, number_of_members: 6, number_of_coworkers: 3, number_of_connectors: 2, number_of_premium_connectors: 1,
  storage_space_in_mb: 120, project_window_used: 14, project_window_max: 120, org_window_used: 40, org_window_max: 600, entries: 128, checkpoints: 2, first_broken_seq: null,
  entities: 2, relationships: 1, facts: 1, executions: 3, approvers: 1, required_approvers: 1, approval_ttl_seconds: 86400, expires_in: 3600, input_tokens: 812, output_tokens: 164, max_tokens: 4096,
  temperature: 0.2, score: 0.87, confidence: 0.9, missed_catchup: 0, skipped_overlap: 1, rules: 4,
  // Addresses and packages
  apiBaseUrl: 'https://svc.acme.dev/v1', mcpServerUrl: 'https://svc.acme.dev/mcp', mcpSseUrl: 'https://svc.acme.dev/sse', temporal_ui_url: 'https://temporal.acme.dev/namespaces/default/workflows',
  workspaceHeader: 'X-Service-Workspace', package: 'governed-context-service', install: 'pip install governed-context-service', model: 'gpt-5-mini',
  next_cursor: null, cursor: 'YWZ0ZXI6MDE5OWE2ZjA',
};
