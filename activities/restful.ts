import { RestfulConfig, type Auth } from '../src/connectors/config.js';
import { AppError } from '../src/errors.js';
import type { HttpRequest, HttpResponse } from '../src/outbound/http-client.js';
import { basicOf } from './access-tokens.js';
import type { ActionCall, ActionDeps, ActionExecutor, ActionOutput, OpenConnector } from './action-call.js';
import { readRestfulAnswer } from './restful-answer.js';
import { restfulCall, type RestfulCall } from './restful-call.js';

/** Below the two minutes that the workflow gives the step, so that the failure tells its cause. */
const timeoutMs = 100_000;
const redirectsAtMost = 5;

/** A call of any HTTP API; with a connector, its headers and its authentication go to what lies below its base URL. */
export const restful: ActionExecutor = async (deps, call) => {
  const { request, connector } = call;
  if (!connector) return exchange(deps, call, restfulCall(request), { timeoutMs });
  const config = readConfig(connector);
  const made = restfulCall(request, config.base_url);
  const send = async (refused?: string) => {
    const headers = { ...config.headers, ...(await authorization(deps, connector, config.auth, call.signal, refused)) };
    const credentials = { below: config.base_url ?? '', headers };
    return { headers, answer: await answerTo(deps, call, made, { timeoutMs: config.timeout_ms, credentials }) };
  };
  let { headers, answer } = await send();
  if (answer.status === 401 && config.auth.type === 'client_credentials') ({ headers, answer } = await send(headers.authorization?.slice('Bearer '.length)));
  return { value: readRestfulAnswer(request.action.name, answer), secrets: secretsIn(headers) };
};

type Options = Pick<HttpRequest, 'timeoutMs' | 'credentials'>;

export async function exchange(deps: ActionDeps, call: ActionCall, made: RestfulCall, options: Options): Promise<ActionOutput> {
  const answer = await answerTo(deps, call, made, options);
  return { value: readRestfulAnswer(call.request.action.name, answer), secrets: secretsIn(options.credentials?.headers ?? {}) };
}

function answerTo({ http }: ActionDeps, { signal, maxBytes }: ActionCall, made: RestfulCall, options: Options): Promise<HttpResponse> {
  return http.request({ ...made, ...options, maxRedirects: redirectsAtMost, ...(maxBytes !== undefined && { maxBytes }), signal });
}

function readConfig({ config }: OpenConnector): RestfulConfig {
  const parsed = RestfulConfig.safeParse(config);
  if (!parsed.success) throw new AppError('unconfigured', 'the configuration of the connector cannot be used');
  return parsed.data;
}

async function authorization({ tokens }: ActionDeps, connector: OpenConnector, auth: Auth, signal: AbortSignal, refused?: string): Promise<Record<string, string>> {
  switch (auth.type) {
    case 'none':
      return {};
    case 'header':
      return { [auth.name.toLowerCase()]: auth.value };
    case 'bearer':
      return { authorization: `Bearer ${auth.token}` };
    case 'basic':
      return { authorization: basicOf(auth.username, auth.password) };
    case 'client_credentials':
      return { authorization: `Bearer ${await tokens.tokenFor(connector, auth, signal, refused)}` };
  }
}

/** Header values, and of `Bearer …` and `Basic …` what stands behind, plain as well. */
function secretsIn(headers: Record<string, string>): string[] {
  return Object.values(headers).flatMap((value) => {
    const [, scheme = '', credential] = /^(Bearer|Basic) (.+)$/.exec(value) ?? [];
    if (credential === undefined) return [value];
    const plain = scheme === 'Basic' ? Buffer.from(credential, 'base64').toString() : '';
    return [value, credential, plain, plain.slice(plain.indexOf(':') + 1)];
  });
}
