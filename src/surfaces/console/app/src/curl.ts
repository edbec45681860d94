import { apiAddress } from './session.js';

/** A request of the API with a key of the project, to be copied into a shell. */
export function curl(path: string, body: object, { method = 'POST', key = 'SERVICE_API_KEY' } = {}): string {
  const header = path.startsWith('v1/') ? `authorization: Bearer $${key}` : `x-api-key: $${key}`;
  return `curl -X ${method} '${new URL(path, apiAddress).href}' \\
  -H "${header}" -H 'content-type: application/json' \\
  -d '${JSON.stringify(body)}'`;
}

/** A governed call. */
export const aCall = curl('v1/docs', { topic: 'governance' });

const policies = [
  { policy_id: 'all', effect: 'permit' },
  { policy_id: 'ask', effect: 'require_approval', tools: ['act.http'] },
];
/** Rules that hold every HTTP call of an agent. */
export const holdCalls = curl('v1/policies', { policies }, { method: 'PUT' });
