import { curl } from '../curl.js';
import { apiAddress, projectId } from '../session.js';

/** A request that creates something. */
export interface ExampleRequest {
  /** The path of the operation, with its parameters in braces. */
  path: string;
  params?: Readonly<Record<string, string>>;
  body: object;
  /** The variable with the credential: a key, or the token of a person for what keys may not do. */
  credential: 'SERVICE_API_KEY' | 'USER_TOKEN';
}

export const languages = { curl: 'curl', node: 'Node', python: 'Python' } as const;
export type Language = keyof typeof languages;

/** Writes the request for the command line or for one of the clients. */
export function linesOf(request: ExampleRequest, language: Language): string {
  if (language === 'node') return nodeLines(request);
  if (language === 'python') return pythonLines(request);
  const { path, params = {}, body, credential } = request;
  const filled = path.slice(1).replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
  return curl(filled, body, { key: credential });
}

const workspace = () => new URL(`ws_${projectId}`, apiAddress).href;

function nodeLines({ path, params, body, credential }: ExampleRequest): string {
  return [
    "import { createClient } from '@governed-context/service';",
    '',
    `const client = createClient({ workspace: '${workspace()}', apiKey: process.env.${credential} });`,
    `await client.call('post', '${path}', ${onOneLine({ ...(params && { params }), body })});`,
  ].join('\n');
}

function pythonLines({ path, params, body, credential }: ExampleRequest): string {
  const parameters = params ? `params=${onOneLine(params)}, ` : '';
  return [
    'import os',
    'from governed_context_service import Client',
    '',
    `client = Client("${workspace()}", os.environ["${credential}"])`,
    `client.call("post", "${path}", ${parameters}body=${onOneLine(body)})`,
  ].join('\n');
}

/** JSON with spaces. The bodies have no values that Python writes in another way. */
const onOneLine = (value: object): string => JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ');
