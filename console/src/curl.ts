import { apiAddress, projectId } from './session.js';

/**
 * Returns a `curl` command that creates something with a key of the project. An example never replaces or deletes, because people paste it
 * into a project that is in use.
 */
export function curl(path: string, body: object, { key = 'SERVICE_API_KEY' } = {}): string {
  const header = path.startsWith('v1/') ? `authorization: Bearer $${key}` : `x-api-key: $${key}`;
  return `curl -X POST '${new URL(path, apiAddress).href}' \\
  -H "${header}" -H 'content-type: application/json' \\
  -d '${JSON.stringify(body)}'`;
}

/** An example of a governed call. */
export const exampleCall = curl('v1/docs', { topic: 'governance' });

/** Adds a rule that holds every HTTP call of an agent in this project. It keeps all other rules. */
export const addHoldingRule = curl('v1/policies/rules', {
  policy_id: 'ask-before-http-calls',
  effect: 'require_approval',
  tools: ['act.http'],
  projects: [projectId],
});
