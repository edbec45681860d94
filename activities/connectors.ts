import { ApplicationFailure } from '@temporalio/activity';
import type { SecretBox } from '../src/auth/secret-box.js';
import { memberOf, type Principal } from '../src/auth/principal.js';
import { accountProviderOf, findConnector, setConnectorStatus, type AccountProvider } from '../src/connectors/store.js';
import { isLoaded, type ConnectorDocument } from '../src/connectors/connector.js';
import type { LoadSchedules } from '../src/connectors/load-schedules.js';
import type { HttpClient } from '../src/outbound/http-client.js';
import { OutboundError } from '../src/outbound/outbound-error.js';
import { retryAfterOf } from '../src/outbound/retry-hints.js';
import type { NewExecution } from '../src/platform/resources/executions/create.js';
import type { BlobStore } from '../src/stores/blobs.js';
import type { Mongo } from '../src/stores/mongo.js';
import { epochSeconds } from '../src/time.js';
import type { ConnectorEventsActivities, StartCoworkerRequest } from '../workflows/connector-events/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

/** The platform's own operations: what the API does for `POST /execute_flow` and `…/execute`. */
export interface ExecutionPort {
  create(principal: Principal, input: NewExecution, id: string): Promise<unknown>;
  execute(principal: Principal, id: string, idempotencyKey: string): Promise<unknown>;
}

export interface ConnectorActivityDeps {
  mongo: Pick<Mongo, 'collections'>;
  blobs: BlobStore;
  http: HttpClient;
  secrets: SecretBox;
  executions: ExecutionPort;
  loads: LoadSchedules;
}

const timeoutMs = 20_000;

export function createConnectorActivities({ mongo, blobs, http, secrets, executions, loads }: ConnectorActivityDeps): ConnectorEventsActivities {
  const { collections } = mongo;
  return {
    verifyAccount: ({ connector_id, account_id }) =>
      withHeartbeat(null, async ({ signal }) => {
        const connector = await findConnector(collections, connector_id);
        if (!connector || connector.status === 'paused') return { status: 'gone' };
        const provider = accountProviderOf(secrets, connector);
        const verdict = await verdictOf(http, provider, account_id, signal);
        if (verdict.status === 'active' && isLoaded(connector)) await loads.start(connector);
        await setConnectorStatus(collections, connector_id, verdict.status, verdict.account);
        return { status: verdict.status };
      }),

    startCoworker: (request) =>
      withHeartbeat(null, async () => {
        const { start, callback } = request;
        const principal = principalOf(request);
        const { location } = callback.payload;
        const document = location === undefined ? null : (await blobs.get(location)).toString('utf8');
        await executions.create(principal, inputOf(request, document), start.execution_id);
        await executions.execute(principal, start.execution_id, callback.callback_id);
        return { execution_id: start.execution_id };
      }),
  };
}

type Verdict = { status: 'active' | 'failed' | 'awaiting_verification'; account: ConnectorDocument['account'] };

/** A reported account is believed only as far as its provider says so itself (specification, Authentication of callback receivers). */
async function verdictOf(http: HttpClient, provider: AccountProvider | undefined, accountId: string | null, signal: AbortSignal): Promise<Verdict> {
  if (accountId === null) throw ApplicationFailure.nonRetryable('the callback names no account', 'invalid_request');
  const reported = { id: accountId, name: null, verified_at: null };
  if (!provider) return { status: 'awaiting_verification', account: reported };
  const { url: base, token } = provider;
  const { status, headers, body } = await http.request({
    method: 'GET',
    url: `${base.replace(/\/+$/, '')}/accounts/${encodeURIComponent(accountId)}`,
    headers: { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    timeoutMs,
    signal,
  });
  if (status === 404) return { status: 'failed', account: reported };
  if (status !== 200) {
    throw new OutboundError('action_unavailable', `the account provider answered with status ${status}`, { status, retryAfterMs: retryAfterOf(headers) });
  }
  const account = accountIn(body);
  if (account.id !== accountId) return { status: 'failed', account: reported };
  return { status: 'active', account: { id: accountId, name: account.name, verified_at: epochSeconds() } };
}

function accountIn(body: Buffer): { id: string | null; name: string | null } {
  try {
    const { id, account_id, name } = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
    const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : null);
    return { id: text(id) ?? text(account_id), name: text(name) };
  } catch {
    throw new OutboundError('action_unavailable', 'the account provider answered with JSON that cannot be read');
  }
}

/** A payload that was too large for a signal is a document of the execution: an input is kept in its record. */
function inputOf({ start, connector_id, callback }: StartCoworkerRequest, document: string | null): NewExecution {
  const { callback_id, kind, event, event_id, received_at, payload } = callback;
  const trigger = { connector_id, callback_id, kind, event, event_id, received_at, encoding: payload.encoding };
  return {
    agentflow_id: start.agentflow_id,
    goal: start.goal,
    input_variables: { trigger, payload: payload.value },
    runtime_inputs: {},
    files: document === null ? [] : [{ name: 'payload.json', mime_type: 'application/json', content: document }],
    start_from_agent_id: null,
    parent_execution_id: null,
  };
}

/** The connector acts for the person who made it, in its own project only. */
function principalOf({ start }: StartCoworkerRequest): Principal {
  const { user_id: userId, organization_id: organizationId, project_id: projectId } = start;
  return memberOf({ userId, organizationId, projectId }, ['svc:agent.run']);
}
