import type { ConnectorEventsActivities } from '../../../workflows/connector-events/activities.js';
import { AppError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import type { HttpClient } from '../../outbound/http-client.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { retryAfterOf } from '../../outbound/retry-hints.js';
import { epochSeconds } from '../../base/time.js';
import type { Deps } from '../deps.js';
import type { LoadSchedules } from './load-schedules.js';
import { isLoaded, type ConnectorDocument } from './record.js';
import { accountProviderOf, findConnector, recordConnectorStatus, type AccountProvider } from './operations/store.js';
import { withoutTrailing } from '../../base/text.js';

const timeoutMs = 20_000;

/** Fetches the reported account from its provider and sets the connector's status accordingly. */
export async function verifyAccount(
  { mongo: { collections }, http, auth }: Pick<Deps, 'mongo' | 'http' | 'auth'>,
  loads: LoadSchedules,
  { connector_id, account_id }: Parameters<ConnectorEventsActivities['verifyAccount']>[0],
  signal: AbortSignal,
): Promise<{ status: string }> {
  const connector = await findConnector(collections, connector_id);
  if (!connector || connector.status === 'paused') return { status: 'gone' };
  const provider = accountProviderOf(auth.box, connector);
  const verdict = await verdictOf(http, provider, account_id, signal);
  if (verdict.status === 'active' && isLoaded(connector)) await loads.start(connector);
  await recordConnectorStatus(collections, connector_id, verdict.status, verdict.account);
  return { status: verdict.status };
}

type Verdict = { status: 'active' | 'failed' | 'awaiting_verification'; account: ConnectorDocument['account'] };

/** Checks a reported account with its provider, because the callback itself is not trusted. */
async function verdictOf(
  http: HttpClient,
  provider: AccountProvider | undefined,
  accountId: string | null,
  signal: AbortSignal,
): Promise<Verdict> {
  if (accountId === null) throw new AppError('invalid_request', 'the callback does not name an account');
  const reported = { id: accountId, name: null, verified_at: null };
  if (!provider) return { status: 'awaiting_verification', account: reported };
  const { url: base, token } = provider;
  const { status, headers, body } = await http.request({
    method: 'GET',
    url: `${withoutTrailing(base, '/')}/accounts/${encodeURIComponent(accountId)}`,
    headers: { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    timeoutMs,
    signal,
  });
  if (status === 404) return { status: 'failed', account: reported };
  if (status !== 200) {
    throw new OutboundError('action_unavailable', `the account provider answered with status ${status}`, {
      status,
      retryAfterMs: retryAfterOf(headers),
    });
  }
  const account = accountIn(body);
  if (account.id !== accountId) return { status: 'failed', account: reported };
  return { status: 'active', account: { id: accountId, name: account.name, verified_at: epochSeconds() } };
}

function accountIn(body: Buffer): { id: string | null; name: string | null } {
  try {
    const { id, account_id, name } = parseJson(body.toString('utf8')) as Record<string, unknown>;
    const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : null);
    return { id: text(id) ?? text(account_id), name: text(name) };
  } catch {
    throw new OutboundError('action_unavailable', 'the account provider answered with invalid JSON');
  }
}
