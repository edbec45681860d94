/** Every route of the platform API: the specification's (Workflow platform API) and the contract's. Parameters are written `{}`. */
export const contractRoutes = [
  'GET /v1/project', 'GET /v1/project/all', 'GET /v1/project/{}', 'GET /v1/project/name/{}', 'POST /v1/project', 'PATCH /v1/project/{}', 'DELETE /v1/project/{}',
  'GET /dashboard/{}', 'POST /dashboard/refresh/{}', 'POST /dashboard/{}/component', 'DELETE /dashboard/{}/component/{}',
  'GET /storage/{}', 'POST /storage/{}/database', 'POST /storage/{}/table', 'GET /storage/{}/table_names', 'POST /storage/{}/table/{}/column',
  'POST /storage/{}/table/{}/row', 'GET /storage/{}/table/{}/records', 'GET /storage/{}/table/{}/records/{}', 'PUT /storage/{}/table/{}/records/{}',
  'DELETE /storage/{}/table/{}/records/{}', 'DELETE /delete/column/{}',
  'GET /{}/execution_flows', 'POST /execute_flow', 'GET /execute_flow/{}', 'POST /execute_flow/{}/execute', 'POST /execute_flow/{}/pause', 'POST /execute_flow/{}/resume',
  'POST /execute_flow/{}/cancel', 'GET /execute_flow/{}/monitoring', 'GET /execute_flow/{}/events', 'POST /execute_flow/{}/preview', 'POST /execute_flow/{}/rerun',
  'GET /schedule/coworker', 'POST /schedule/coworker', 'GET /schedule/coworker/{}', 'PATCH /schedule/coworker/{}', 'DELETE /schedule/coworker/{}',
  'POST /schedule/coworker/{}/trigger', 'POST /schedule/coworker/{}/backfill', 'GET /schedule/coworker/{}/runs',
  'GET /task', 'GET /task/{}', 'POST /task/{}/pause', 'POST /task/{}/resume', 'POST /task/{}/stop',
  'POST /file/{}', 'GET /file/{}/{}', 'GET /file/{}/{}/connector', 'GET /file/{}/connector/{}',
  'POST /actions/{}/config', 'GET /actions/{}/config', 'GET /actions/professional_network/params', 'GET /actions/triggers',
  'GET /connectors/{}', 'GET /connectors/{}/{}', 'DELETE /connectors/{}/{}', 'POST /connectors/{}/{}/status',
  'POST /agentflow', 'GET /agentflow', 'GET /agentflow/{}', 'PATCH /agentflow/{}', 'DELETE /agentflow/{}', 'GET /agentflow/{}/user/{}/project/{}',
  'POST /agentflow/{}/agent', 'POST /agentflow/{}/agent/{}', 'POST /agentflow/{}/promote',
  'POST /skill', 'GET /skill', 'GET /skill/{}', 'DELETE /skill/{}', 'POST /action', 'GET /action', 'GET /action/{}',
  'GET /inbox', 'POST /inbox/{}/read', 'POST /inbox/{}/reply', 'POST /tag', 'GET /tag', 'DELETE /tag/{}',
  'GET /project-member/{}/summary', 'GET /project-member/{}', 'POST /project-member/{}', 'PATCH /project-member/{}/{}', 'DELETE /project-member/{}/{}',
  'GET /customer', 'GET /credit/history', 'GET /settings/{}', 'PATCH /settings/{}', 'GET /analytics/{}',
  'GET /marketplace', 'GET /marketplace/{}', 'POST /marketplace', 'POST /marketplace/coworker/{}/hire', 'GET /marketplace/coworker/{}/check_update',
  'POST /knowledge_base/{}/upload', 'POST /api-key',
];

/** Served beside the contract's, each with its reason. */
export const furtherRoutes = [
  // A file can be taken away, with its bytes and what was read out of it (the last issue of the platform API).
  'DELETE /file/{}/{}',
  // How far the workflow of an upload has come.
  'GET /knowledge_base/{}/upload/{}',
  // Where the signed address of a file leads.
  'GET /files/content/{}',
];
