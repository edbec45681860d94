import { apiAddress } from './session.js';

/** Returns a `curl` command for an API request with a key of the project. */
export function curl(path: string, body: object, { method = 'POST', key = 'SERVICE_API_KEY' } = {}): string {
  const header = path.startsWith('v1/') ? `authorization: Bearer $${key}` : `x-api-key: $${key}`;
  return `curl -X ${method} '${new URL(path, apiAddress).href}' \\
  -H "${header}" -H 'content-type: application/json' \\
  -d '${JSON.stringify(body)}'`;
}

/** An example of a governed call. */
export const exampleCall = curl('v1/docs', { topic: 'governance' });

const policies = [
  { policy_id: 'all', effect: 'permit' },
  { policy_id: 'ask', effect: 'require_approval', tools: ['act.http'] },
];
/** Sets a policy that holds every HTTP call of an agent. */
export const holdCallsPolicy = curl('v1/policies', { policies }, { method: 'PUT' });
