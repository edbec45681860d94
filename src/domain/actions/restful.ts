import { RestfulConfig, type Auth } from '../connectors/rules/config.js';
import { AppError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { isBelow, type HttpRequest, type HttpResponse } from '../../outbound/http-client.js';
import { withUnsent } from '../../outbound/outbound-error.js';
import { basicOf } from './access-tokens.js';
import type {
  ActionCall,
  ActionDeps,
  ActionExecutor,
  ActionOutput,
  OpenConnector,
  PreparedCall,
} from './action-call.js';
import { hideSecrets } from '../../outbound/hide-secrets.js';
import { bodyText, readRestfulAnswer, shownHeaders } from './restful-answer.js';
import { restfulCall, type RestfulCall } from './restful-call.js';

/** Less than the two minutes that the workflow allows for the step, so that the failure states its cause. */
const timeoutMs = 100_000;
const maxRedirects = 5;

/** Calls any HTTP API. Sends the headers and credentials of the connector only to URLs below its base URL. */
export const restful: ActionExecutor = (deps, call) => {
  const { request, connector } = call;
  if (!connector) {
    const made = restfulCall(request);
    return preparedHttp(made, (onRedirect) => exchange(deps, { ...call, onRedirect }, made, { timeoutMs }));
  }
  const config = readConfig(connector);
  const made = restfulCall(request, config.base_url);
  return preparedHttp(made, (onRedirect) => sendWith(deps, { ...call, onRedirect }, made, connector, config));
};

async function sendWith(
  deps: ActionDeps,
  call: ActionCall,
  made: RestfulCall,
  connector: OpenConnector,
  config: RestfulConfig,
): Promise<ActionOutput> {
  const { answer, secrets } = await answerWith(deps, call, made, connector, config);
  return readAnswer(call, answer, secrets);
}

/** The answer to a call with the headers and credentials of the connector, with any status. */
export async function answerWith(
  deps: Pick<ActionDeps, 'http' | 'tokens'>,
  call: Pick<ActionCall, 'signal' | 'onRedirect' | 'maxBytes' | 'note'>,
  made: RestfulCall,
  connector: OpenConnector,
  config: RestfulConfig,
): Promise<{ answer: HttpResponse; secrets: readonly string[] }> {
  const send = async (refused?: string) => {
    const headers = { ...config.headers, ...(await authorization(deps, connector, config.auth, call.signal, refused)) };
    const credentials = { below: config.base_url ?? '', headers };
    return { headers, answer: await answerTo(deps, call, made, { timeoutMs: config.timeout_ms, credentials }) };
  };
  let { headers, answer } = await send();
  if (answer.status === 401 && config.auth.type === 'client_credentials')
    ({ headers, answer } = await send(headers.authorization?.slice('Bearer '.length)));
  return { answer, secrets: secretsIn(headers) };
}

/** Notes the body of an answer that is an error. Any other answer becomes the output. */
function readAnswer({ request, note }: ActionCall, answer: HttpResponse, secrets: readonly string[]): ActionOutput {
  const { status } = answer;
  const headers = shownHeaders(answer, secrets);
  note?.({ response: { status, headers } });
  try {
    return { value: readRestfulAnswer(request.action.name, answer, secrets), secrets };
  } catch (error) {
    note?.({ response: { status, headers, body: bodyText(answer.body, secrets) } });
    throw error;
  }
}

/** Methods whose repeat has the same effect as one call (RFC 9110, 9.2.2). */
const repeatable: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

export function preparedHttp({ method, url, body, input }: RestfulCall, send: PreparedCall['send']): PreparedCall {
  const { host, pathname } = new URL(url);
  return {
    ...{ host, method, path: pathname, input, send },
    exact: { method, url, ...(body !== undefined && { body: input }) },
    isRepeatable: repeatable.has(method),
    annotations: { read_only: method === 'GET', destructive: method === 'DELETE', open_world: true },
  };
}

type Options = Pick<HttpRequest, 'timeoutMs' | 'credentials'>;

export async function exchange(
  deps: ActionDeps,
  call: ActionCall,
  made: RestfulCall,
  options: Options,
): Promise<ActionOutput> {
  const answer = await answerTo(deps, call, made, options);
  return readAnswer(call, answer, secretsIn(options.credentials?.headers ?? {}));
}

function answerTo(
  { http }: Pick<ActionDeps, 'http'>,
  { signal, onRedirect, maxBytes, note }: Pick<ActionCall, 'signal' | 'onRedirect' | 'maxBytes' | 'note'>,
  made: RestfulCall,
  options: Options,
): Promise<HttpResponse> {
  const { input, ...request } = made;
  const { below, headers = {} } = options.credentials ?? {};
  const sent = below !== undefined && isBelow(below, new URL(made.url)) ? Object.keys(headers) : [];
  const hidden: Record<string, string> = Object.fromEntries(sent.map((name) => [name, '[secret]']));
  const shown = {
    ...{ method: made.method, url: made.url, headers: { ...made.headers, ...hidden } },
    ...(made.body !== undefined && { body: input }),
  };
  note?.({ request: hideSecrets(shown, secretsIn(headers)) as JsonObject });
  const limits = { maxRedirects, ...(maxBytes !== undefined && { maxBytes }) };
  return http.request({ ...request, ...options, ...limits, onRedirect, signal });
}

export function readConfig({ config }: Pick<OpenConnector, 'config'>): RestfulConfig {
  const parsed = RestfulConfig.safeParse(config);
  if (!parsed.success) throw new AppError('unconfigured', 'the configuration of the connector cannot be used');
  return parsed.data;
}

async function authorization(
  { tokens }: Pick<ActionDeps, 'tokens'>,
  connector: OpenConnector,
  auth: Auth,
  signal: AbortSignal,
  refused?: string,
): Promise<Record<string, string>> {
  switch (auth.type) {
    case 'none':
      return {};
    case 'header':
      return { [auth.name.toLowerCase()]: auth.value };
    case 'bearer':
      return { authorization: `Bearer ${auth.token}` };
    case 'basic':
      return { authorization: basicOf(auth.username, auth.password) };
    case 'client_credentials': {
      const token = await tokens.tokenFor(connector, auth, signal, refused).catch((error: unknown) => {
        throw withUnsent(error, true);
      });
      return { authorization: `Bearer ${token}` };
    }
  }
}

/** The header values, and the credentials after `Bearer` and `Basic`, both encoded and decoded. */
function secretsIn(headers: Record<string, string>): string[] {
  return Object.values(headers).flatMap((value) => {
    const [, scheme = '', credential] = /^(Bearer|Basic) (.+)$/.exec(value) ?? [];
    if (credential === undefined) return [value];
    const plain = scheme === 'Basic' ? Buffer.from(credential, 'base64').toString() : '';
    return [value, credential, plain, plain.slice(plain.indexOf(':') + 1)];
  });
}
