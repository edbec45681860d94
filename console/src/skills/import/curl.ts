import { parse } from 'shell-quote';
import { optionsOf, type CurlOption } from './curl-options.js';
import { groupBy } from '../../group-by.js';
import { fieldsOfExample, typeOfValue } from './field-types.js';
import { isFields } from '../../agentflows/document.js';
import { bodyTypes, NotReadable, variableOf, type Imported, type ImportedField } from './imported.js';
import { maxFields } from './limits.js';
import { isSecretName, keepSecretsInConnector, looksSecret } from './secrets.js';

/** What the options of a line say, one after the other. */
interface Request {
  method: string | undefined;
  url: string | undefined;
  headers: [name: string, value: string][];
  /** The parts of the body, as they were given. */
  body: string[];
  /** Names with their values, of a form or of `--data-urlencode`. */
  form: [name: string, value: string][];
  bodyType: (typeof bodyTypes)[number] | undefined;
  isQuery: boolean;
  hasSecrets: boolean;
  notes: string[];
}

/**
 * Returns the action that sends the request of a curl line. The values of its fields are left out, because they can be secrets:
 * only their names and types are taken.
 * @throws NotReadable if the line has no address, or has more than one command
 */
export function actionOfCurl(line: string): Imported {
  const request = requestOf(wordsOf(line));
  if (request.url === undefined)
    throw new NotReadable('The curl line has no address that begins with http:// or https://.');
  const { address, fields: ofAddress, part } = addressOf(request.url, request);
  const headers = headerFields(request);
  const body = bodyFields(request);
  const hasBody = request.body.length > 0 || request.form.length > 0;
  const method = request.method ?? (hasBody && !request.isQuery ? 'POST' : 'GET');
  if (!['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method))
    throw new NotReadable(`An action cannot call ${method}.`);
  const inBody = request.isQuery || method === 'GET' ? 'query' : 'body';
  const inputs = withoutRepeated([...ofAddress, ...headers, ...body.map((field) => ({ ...field, in: inBody }))]);
  if (request.hasSecrets) request.notes.push(`Credentials of the line were left out. ${keepSecretsInConnector}`);
  const type = typeOfBody(request);
  return {
    actions: [
      {
        ...{ name: `${method} ${part}`.slice(0, 200), description: '', method, address },
        ...(hasBody && inBody === 'body' && type !== 'application/json' && { content_type: type }),
        ...{ inputs: inputs.slice(0, maxFields), outputs: [], notes: request.notes },
      },
    ],
    notes: [],
  };
}

function wordsOf(line: string): string[] {
  // A line that continues is one line; a variable stays as it is written.
  const entries = parse(line.trim().replace(/\\\r?\n/g, ' '), (name) => `$${name}`);
  return entries.flatMap((entry) => {
    if (typeof entry === 'string') return entry === '' ? [] : [entry];
    if ('comment' in entry) return [];
    // An address without quotes can contain `?` and `*`.
    if ('pattern' in entry) return [entry.pattern];
    throw new NotReadable(
      `Only one curl command can be read: put what contains "${entry.op}" in quotes, or remove it.`,
    );
  });
}

function requestOf([, ...words]: readonly string[]): Request {
  const request: Request = {
    ...{ method: undefined, url: undefined, headers: [], body: [], form: [], bodyType: undefined },
    ...{ isQuery: false, hasSecrets: false, notes: [] },
  };
  for (const option of optionsOf(words)) take(request, option);
  return request;
}

function take(request: Request, { name, value }: CurlOption): void {
  switch (name) {
    case 'url':
      if (!/^https?:\/\//i.test(value)) request.notes.push(`"${shortened(value)}" was not understood.`);
      else if (request.url !== undefined) request.notes.push('Only the first address was taken.');
      else request.url = value;
      return;
    case 'request':
      request.method = value.toUpperCase();
      return;
    case 'head':
      request.method = 'HEAD';
      return;
    case 'get':
      request.isQuery = true;
      return;
    case 'header': {
      const [header = '', ...rest] = value.split(':');
      request.headers.push([header.trim(), rest.join(':').trim()]);
      return;
    }
    case 'json':
      request.bodyType = 'application/json';
      request.body.push(value);
      return;
    case 'data':
      request.body.push(value);
      return;
    case 'data-urlencode':
      request.form.push(pairOf(value));
      return;
    case 'form':
      request.bodyType = 'multipart/form-data';
      request.form.push(pairOf(value));
      return;
    case 'credentials':
      request.hasSecrets = true;
      return;
    case 'unknown':
      request.notes.push(`The option ${shortened(value)} was not understood.`);
  }
}

const shortened = (word: string): string => (word.length > 40 ? `${word.slice(0, 40)}…` : word);

function pairOf(word: string): [name: string, value: string] {
  const at = word.indexOf('=');
  return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
}

/** Returns the address without credentials and without its query, whose names become fields. */
function addressOf(written: string, request: Request) {
  if (!URL.canParse(written)) throw new NotReadable('The address of the curl line is not a valid URL.');
  const url = new URL(written);
  if (/[$`]/.test(url.host)) throw new NotReadable('The address of the curl line has a variable in place of its host.');
  if (url.username !== '' || url.password !== '') request.hasSecrets = true;
  const fields: ImportedField[] = [];
  const parts = url.pathname.split('/').map((part) => {
    const variable = /^(?:\$|%7B|:)([A-Za-z_]\w*)(?:%7D)?$/i.exec(part)?.[1];
    if (variable === undefined && !looksSecret(part)) return part;
    const field_id = variable === undefined ? `part_${fields.length + 1}` : variableOf(variable);
    if (variable === undefined)
      request.notes.push(
        `A part of the path looks like a key, and became the field ${field_id}. If it is one, put it into the base URL of a connector.`,
      );
    fields.push({ field_id, type: 'string', required: true, description: '', in: 'path' });
    return `{{ ${field_id} }}`;
  });
  const query = [...url.searchParams].filter(([name]) => isPlain(name, request));
  return {
    address: `${url.origin}${parts.join('/')}`,
    fields: [...fields, ...namedFields(query).map((field) => ({ ...field, in: 'query' }))],
    /** For the name of the action. */
    part: parts.join('/'),
  };
}

/** Whether a name has no credentials. */
function isPlain(name: string, request: Request): boolean {
  if (!isSecretName(name)) return name !== '' && name.length <= 200;
  request.hasSecrets = true;
  return false;
}

/** A name that is repeated has a list. */
function namedFields(pairs: readonly (readonly [name: string, value: string])[]): ImportedField[] {
  const values = groupBy(pairs.slice(0, maxFields), ([name]) => name);
  return [...values].map(([field_id, [first, ...more]]) => ({
    field_id,
    type: more.length > 0 ? 'array' : typeOfText(first?.[1] ?? ''),
    ...{ required: true, description: '' },
  }));
}

/** `5` is a number and `true` yes or no, as far as they are written as in JSON. */
function typeOfText(value: string): string {
  const isNumber = /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(value);
  return isNumber || value === 'true' || value === 'false' ? typeOfValue(JSON.parse(value)) : 'string';
}

/** What a browser or curl adds, or the product sends itself. */
const ownHeaders =
  /^(accept-encoding|cache-control|connection|content-length|content-type|dnt|host|idempotency-key|if-.*|origin|pragma|priority|referer|sec-.*|te|upgrade-insecure-requests|user-agent)$/;

function headerFields(request: Request): ImportedField[] {
  return request.headers.flatMap(([name, value]): ImportedField[] => {
    const lower = name.toLowerCase();
    if (ownHeaders.test(lower) || !/^[\w-]+$/.test(name) || !isPlain(name, request)) return [];
    const field = { field_id: name, type: 'string', required: true, description: '', in: 'header' };
    if (lower === 'accept' || lower === 'accept-language') return [{ ...field, value }];
    request.notes.push(`The value of the header ${name} was left out: it could be a secret. Enter it if it is none.`);
    return [field];
  });
}

function typeOfBody({ bodyType, headers, form }: Request): (typeof bodyTypes)[number] {
  const named = headers
    .find(([name]) => name.toLowerCase() === 'content-type')?.[1]
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  const known = bodyTypes.find((each) => each === named);
  return bodyType ?? known ?? (form.length > 0 ? 'application/x-www-form-urlencoded' : 'application/json');
}

function bodyFields(request: Request): ImportedField[] {
  const { body, form, notes } = request;
  const ofForm = namedFields(form.filter(([name]) => isPlain(name, request)));
  if (body.length === 0) return ofForm;
  const written = body.join('&');
  if (written.startsWith('@')) {
    notes.push('The body is in a file, which was not read. Add its fields.');
    return ofForm;
  }
  const example = jsonIn(written);
  if (example !== undefined) {
    if (!isFields(example)) notes.push('The body was not understood: it must be one object with named fields.');
    const fields = isFields(example) ? fieldsOfExample(example) : [];
    return [...ofForm, ...fields.filter(({ field_id }) => isPlain(field_id, request))];
  }
  if (/^[^\s=&<>{}]+=/.test(written)) {
    request.bodyType ??= 'application/x-www-form-urlencoded';
    const pairs = [...new URLSearchParams(written)].filter(([name]) => isPlain(name, request));
    return [...ofForm, ...namedFields(pairs)];
  }
  notes.push('The body was not understood: it must be JSON or a form.');
  return ofForm;
}

function jsonIn(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}

function withoutRepeated(fields: readonly ImportedField[]): ImportedField[] {
  return fields.filter((field, at) => fields.findIndex(({ field_id }) => field_id === field.field_id) === at);
}
