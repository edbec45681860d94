import { expect } from '@jest/globals';
import type { Workspace } from './fixture.js';
import { beginStream, chunk, endStream, send, streamText, usageChunk, type FakeModel } from './fake-model.js';

/** An agentflow whose agent uses the model `name`, which makes these calls in one turn and then answers `done`. */
export function agentThatCalls(
  model: FakeModel,
  name: string,
  connector_id: string,
  tools: string[],
  calls: [string, object][],
) {
  // Does not use the number of the attempt, because a turn whose answer is lost is requested again.
  model.on(name, (res, { body }) => {
    if (body.messages.some(({ role }: any) => role === 'tool')) return streamText(res, ['done']);
    beginStream(res);
    const tool_calls = calls.map(([tool, args], index) => ({
      ...{ index, id: `call_${index}`, type: 'function' },
      function: { name: tool, arguments: JSON.stringify(args) },
    }));
    send(res, chunk({ role: 'assistant', content: '', tool_calls }), chunk({}, 'tool_calls'), usageChunk);
    endStream(res);
  });
  const actions = tools.map((tool) => ({ _id: tool, name: tool, category: 'mcp', endpoint: tool }));
  const skills = [{ _id: 'skill', name: 'Skill', connector_id, initial_action_id: null, actions }];
  return {
    name: 'Flow',
    agents: [{ _id: 'agent', title: 'Agent', prompt: { template: 'Do it' }, llm: { model: name }, skills }],
  };
}

/** The answers to its calls that the model received. */
export function answersTo(model: FakeModel, name: string): any[] | undefined {
  return model
    .asked(name)
    .at(-1)
    ?.body.messages.filter(({ role }: any) => role === 'tool')
    .map(({ content }: any) => JSON.parse(content));
}

/** A connector to an MCP server. */
export async function connectServer({ api, projectID }: Workspace, given: object): Promise<string> {
  const answer = await api.post(`/connectors/${projectID}/mcp`, { name: 'Server', ...given });
  expect(answer).toMatchObject({ status: 200, body: { category: 'mcp', status: 'active' } });
  return answer.body._id;
}

export const toolsPath = ({ projectID }: Workspace, id: string) => `/connectors/${projectID}/${id}/tools`;
export const toolsOf = async (member: Workspace, id: string) => (await member.api.get(toolsPath(member, id))).body;

/** Accepts the tools that the server offers now. */
export async function acceptTools(member: Workspace, id: string, tools: 'all' | string[] = 'all'): Promise<any> {
  const { hash } = await toolsOf(member, id);
  const answer = await member.api.post(`${toolsPath(member, id)}/accept`, { tools, hash });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}
