import { range } from '../measure.js';
import type { Steps } from './engine.js';

/** Workflows for `import:workflow`: a webhook, and then this many nodes that set a text. The progress is saved after each node. */
export function workflowsOfN8n() {
  return ([2, 40] as const).map((steps) => workflowOf(steps));
}

function workflowOf(steps: Steps) {
  const id = `run${steps}`;
  const names = ['Webhook', ...range(steps).map((at) => `s${at + 1}`)];
  const nodes = names.map((name, at) => ({
    id: `${id}-${at}`,
    name,
    position: [at * 200, 0],
    ...(at === 0 ? webhook(id) : setText(at)),
  }));
  const connections = Object.fromEntries(
    names.slice(0, -1).map((name, at) => [name, { main: [[{ node: names[at + 1], type: 'main', index: 0 }]] }]),
  );
  const settings = { executionOrder: 'v1', saveDataSuccessExecution: 'all', saveExecutionProgress: true };
  return { id, name: id, active: true, nodes, connections, settings };
}

function webhook(path: string) {
  const parameters = { httpMethod: 'POST', path, responseMode: 'lastNode', options: {} };
  return { type: 'n8n-nodes-base.webhook', typeVersion: 2, webhookId: path, parameters };
}

function setText(at: number) {
  const value = `=Step ${at} for {{ $('Webhook').first().json.body.goal }}`;
  const assignments = { assignments: [{ id: String(at), name: 'output', type: 'string', value }] };
  return { type: 'n8n-nodes-base.set', typeVersion: 3.4, parameters: { assignments, options: {} } };
}
