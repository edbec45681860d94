import { RestfulConfig, type Auth } from '../connectors/rules/config.js';
import { AppError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
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
import { keepResultFiles } from './result-files.js';
import { bodyText, describedFile, headersNamed, shownHeaders, valueOfAnswer } from './restful-answer.js';
import { annotationsOf, restfulCall, type RestfulCall } from './restful-call.js';

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
  return readAnswer(deps, call, answer, secrets);
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

/** Notes the body of an answer that is an error. Any other answer becomes the output, with the headers that the action names. */
async function readAnswer(
  deps: ActionDeps,
  call: ActionCall,
  answer: HttpResponse,
  secrets: readonly string[],
): Promise<ActionOutput> {
  const { name, response_headers: wanted = [] } = call.request.action;
  const { status } = answer;
  const headers = shownHeaders(answer, secrets);
  call.note?.({ response: { status, headers } });
  try {
    const value = valueOfAnswer(name, answer, secrets);
    const body = value === undefined ? await keptFile(deps, call, answer) : value;
    return { value: wanted.length > 0 ? { body, headers: headersNamed(answer, wanted) } : body, secrets };
  } catch (error) {
    call.note?.({ response: { status, headers, body: bodyText(answer, secrets) } });
    throw error;
  }
}

/** Bytes that are not text become a file of the run. */
async function keptFile(
  deps: ActionDeps,
  { request, connector }: ActionCall,
  answer: HttpResponse,
): Promise<JsonObject> {
  if (!request.run)
    throw new AppError(
      'validation_failed',
      `the action "${request.action.name}" answered with bytes that are not text`,
    );
  const { name, ...shown } = describedFile(request.action.name, answer);
  const shownAs: JsonObject = { type: 'file', name, ...shown };
  await keepResultFiles(deps, request, connector?.id ?? '', [{ shownAs, name, content: answer.body }]);
  return shownAs;
}

/** Methods whose repeat has the same effect as one call (RFC 9110, 9.2.2). */
const repeatable: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

/** People approve each place to which a field goes: address, headers and body. */
export function preparedHttp(made: RestfulCall, send: PreparedCall['send']): PreparedCall {
  const { method, url, ownHeaders: headers, content: body, contentType: content_type, input } = made;
  const { host, pathname } = new URL(url);
  return {
    ...{ host, method, path: pathname, input, send },
    exact: { method, url, ...(headers && { headers }), ...(content_type && { content_type }), ...(body && { body }) },
    isRepeatable: repeatable.has(method),
    annotations: annotationsOf(method),
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
  return readAnswer(deps, call, answer, secretsIn(options.credentials?.headers ?? {}));
}

function answerTo(
  { http }: Pick<ActionDeps, 'http'>,
  { signal, onRedirect, maxBytes, note }: Pick<ActionCall, 'signal' | 'onRedirect' | 'maxBytes' | 'note'>,
  made: RestfulCall,
  options: Options,
): Promise<HttpResponse> {
  const { input: _input, content, contentType: _type, ...request } = made;
  const { below, headers = {} } = options.credentials ?? {};
  const sent = below !== undefined && isBelow(below, new URL(made.url)) ? Object.keys(headers) : [];
  const hidden: Record<string, string> = Object.fromEntries(sent.map((name) => [name, '[secret]']));
  const shown = {
    ...{ method: made.method, url: made.url, headers: { ...made.headers, ...made.ownHeaders, ...hidden } },
    ...(content && { body: content }),
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
