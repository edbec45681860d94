import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { apiClient } from '../../../support/client.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { startFakeModel, type FakeModel } from '../../../support/fake-model.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { acceptTools, agentThatCalls, answersTo } from '../../../support/mcp-agents.js';
import { authorize, startOauthMcpServer, type OauthMcpServer } from '../../../support/oauth-mcp.js';
import { ownProduct } from '../../../support/own-product.js';

const usual = {
  ...{ documents: false, lifetime: 3600, issuer: 'right', methods: ['S256'], tokenEndpoint: '', hidden: {} },
  ...{ registers: true, needed: '', otherIssuer: '' },
};

/** An MCP server that accepts only tokens of its authorization server, and an API with a worker. */
export function useProtectedServer() {
  const deps = useDeps();
  const overrides: Record<string, string> = { STEP_PATIENCE: '120' };
  const product = ownProduct(overrides);
  let model: FakeModel;
  let server: OauthMcpServer;
  let url: string;

  beforeAll(async () => {
    [model, server] = await Promise.all([startFakeModel(), startOauthMcpServer()]);
    overrides.LLM_BASE_URL = model.url;
    const [api] = await Promise.all([product.api(), product.worker()]);
    url = api.url;
  });
  beforeEach(() => server.control({ ...usual, failures: 0, losses: 0, revocation: 'works', refreshable: true }));
  afterAll(async () => {
    await Promise.all([model.close(), server.close()]);
  });

  const workspace = async (): Promise<Workspace> => {
    const made = await createWorkspace(deps);
    return { ...made, api: apiClient(url, { 'x-api-key': made.apiKey }) };
  };

  async function connect({ api, projectID }: Workspace, auth: object = {}): Promise<string> {
    const given = { name: 'Protected', url: server.url, auth: { type: 'oauth', ...auth } };
    const answer = await api.post(`/connectors/${projectID}/mcp`, given);
    expect(answer).toMatchObject({ status: 200, body: { status: 'active' } });
    return answer.body._id;
  }

  /** The answers of the tools to an agent that works for this person. */
  async function callsAs(member: Workspace, id: string, calls: [string, object][]): Promise<any[] | undefined> {
    const name = newId();
    const tools = [...new Set(calls.map(([tool]) => tool))];
    const execution = await startExecution(member, agentThatCalls(model, name, id, tools, calls));
    await untilExecution(member, execution, 'completed');
    return answersTo(model, name);
  }

  return {
    deps,
    product,
    callsAs,
    /** An agentflow whose agent calls this tool once, and the name of its model. */
    flowThatCalls(id: string, tool: string) {
      const name = newId();
      return { name, flow: agentThatCalls(model, name, id, [tool], [[tool, {}]]) };
    },
    answersOf: (name: string) => answersTo(model, name),
    get server() {
      return server;
    },
    get url() {
      return url;
    },
    workspace,
    connect,
    /** Another person on the same project. */
    async personIn(member: Workspace): Promise<Workspace> {
      const userId = newId();
      const apiKey = await createKey(deps, { ...member, userId });
      return { ...member, userId, apiKey, api: apiClient(url, { 'x-api-key': apiKey }) };
    },
    /** A project whose person has authorized the server as `ann`, with all tools accepted. */
    async authorized(auth: object = {}): Promise<{ member: Workspace; id: string }> {
      const member = await workspace();
      const id = await connect(member, auth);
      expect(await authorize(member, id, 'ann')).toMatchObject({ status: 200, body: { state: 'authorized' } });
      await acceptTools(member, id);
      return { member, id };
    },
    /** The answer of one tool. */
    async callAs(member: Workspace, id: string, tool = 'whoami', input: object = {}): Promise<any> {
      return (await callsAs(member, id, [[tool, input]]))?.[0];
    },
  };
}
