import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import { Id } from '../../base/ids.js';
import { isOutboundError } from '../../outbound/outbound-error.js';
import type { Deps } from '../deps.js';
import { defineOperation } from '../operation.js';
import { recordUse } from '../connectors/operations/uses.js';
import { requireConnector } from '../connectors/operations/setup.js';
import { openConfig } from '../connectors/operations/store.js';
import type { ConnectorDocument } from '../connectors/record.js';
import { createTokenSource } from './access-tokens.js';
import { factsOfRedirect, hostFact, pathFact } from './act-input.js';
import type { OnRedirect } from './action-call.js';
import { actFacts } from './act-operations.js';
import { answerWith, preparedHttp, readConfig } from './restful.js';
import { excerptOf, readRestfulAnswer } from './restful-answer.js';
import { readingCall } from './restful-call.js';

/** A person waits for the answer. */
const timeoutMs = 15_000;

const TestResult = z
  .object({
    succeeded: z.boolean().describe('The call of an action would have succeeded.'),
    status: z.int().nullable().describe('Null without an answer.').meta({ example: 200 }),
    excerpt: z
      .string()
      .describe('The beginning of the answer, without credentials and personal data.')
      .meta({ example: '{"open":3}' }),
    duration_ms: z.number().meta({ example: 84 }),
    failure: z.string().nullable().describe('Why the call would have failed.').meta({ example: null }),
  })
  .meta({ id: 'ConnectorTest' });
type TestResult = z.infer<typeof TestResult>;

type Tested = Pick<Deps, 'http' | 'mongo' | 'auth'>;

/**
 * Calls the API of an HTTP connector as an action of an agent would, whatever the status of the connector. Rules treat it
 * as `act.http`, also before it follows a redirect, so that a test cannot do what they forbid to agents.
 */
export const testConnector = defineOperation({
  name: 'act.http',
  effect: 'act',
  grant: 'svc:agent.run',
  right: ['edit'],
  facts: actFacts,
  fixedFacts: { category: 'restful', started_by: 'person' },
  key: z.object({ connector_id: Id }),
  input: z.strictObject({
    path: z
      .string()
      .max(2000)
      .regex(/^(\/.*)?$/s, 'must begin with /')
      .default('')
      .describe('Below the base URL of the connector.')
      .meta({ example: '/claims?limit=1' }),
    projectID: z.string().optional(),
  }),
  output: TestResult,
  errors: ['not_found', 'unconfigured', 'validation_failed'],
  async lookUp({ deps, ctx, key, input: { path } }) {
    const { made } = callOf(
      deps,
      await requireConnector(deps.mongo.collections, ctx.principal, key.connector_id),
      path,
    );
    const {
      host,
      method,
      path: pathname,
      annotations,
    } = preparedHttp(made, () => Promise.reject(new Error('is not sent')));
    return { facts: { host: hostFact(host), method, path: pathFact(pathname), ...annotations } };
  },
  // An approved test calls the address that was approved, even if the connector has changed since.
  async boundState({ deps, ctx, key, input: { path } }) {
    return callOf(deps, await requireConnector(deps.mongo.collections, ctx.principal, key.connector_id), path).made.url;
  },
  async run({ deps, ctx, key, input: { path } }) {
    const connector = await requireConnector(deps.mongo.collections, ctx.principal, key.connector_id);
    const onRedirect: OnRedirect = (to, method) =>
      ctx.recheckPolicies(`a redirect to ${to.host}`, factsOfRedirect(to, method));
    return test(deps, connector, path, { signal: deps.stopping.signal, onRedirect });
  },
});

/** @throws AppError for a connector or a path that cannot be called */
function callOf({ auth: { box } }: Pick<Deps, 'auth'>, connector: ConnectorDocument, path: string) {
  if (connector.category !== 'restful')
    throw new AppError('validation_failed', `a ${connector.category} connector has no test call: it must be restful`);
  const opened = {
    id: connector._id,
    organization_id: connector.organization_id,
    sealed: connector.config_sealed,
    account_id: undefined,
    config: openConfig(box, connector),
  };
  const config = readConfig(opened);
  if (config.base_url === undefined) throw new AppError('unconfigured', 'the connector has no base URL to call');
  return { opened, config, made: readingCall(config.base_url, path) };
}

async function test(
  deps: Tested,
  connector: ConnectorDocument,
  path: string,
  call: { signal: AbortSignal; onRedirect: OnRedirect },
): Promise<TestResult> {
  const { opened, config, made } = callOf(deps, connector, path);
  const limited = { ...config, timeout_ms: Math.min(config.timeout_ms, timeoutMs) };
  const from = performance.now();
  const result = { status: null as number | null, excerpt: '' };
  const tokens = createTokenSource(deps.http);
  const failure = await recordUse(deps.mongo.collections, connector._id, call.signal, async () => {
    const { answer, secrets } = await answerWith({ http: deps.http, tokens }, call, made, opened, limited);
    Object.assign(result, { status: answer.status, excerpt: excerptOf(answer, secrets) });
    readRestfulAnswer('test call', answer, secrets);
    return null;
  }).catch((error: unknown) => {
    if (isOutboundError(error) || error instanceof AppError) return error.message;
    throw error;
  });
  return { ...result, succeeded: failure === null, duration_ms: Math.round(performance.now() - from), failure };
}
