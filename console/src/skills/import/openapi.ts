import { isFields, text, type Fields } from '../../agentflows/document.js';
import { listIn } from '../../flow/pointers.js';
import { ofSchema } from './field-types.js';
import {
  bodyTypes,
  NotReadable,
  variableOf,
  type Imported,
  type ImportedAction,
  type ImportedField,
} from './imported.js';
import { descriptionOf, maxFields, maxListedOperations, nameOf } from './limits.js';
import { References } from './references.js';
import { keepSecretsInConnector } from './secrets.js';

const methods = ['get', 'post', 'put', 'patch', 'delete'];
const notCalled = ['head', 'options', 'trace'];

/** What the operations of a document share. */
interface Shared {
  document: Fields;
  references: References;
}

/**
 * Returns an action for each operation of an OpenAPI document, version 3.
 * @throws NotReadable if it is none
 */
export function actionsOfOpenApi(document: Fields): Imported {
  const version = text(document.openapi);
  if (text(document.swagger) !== '')
    throw new NotReadable(
      'This is a document of Swagger 2. Convert it to OpenAPI 3, for example with editor.swagger.io.',
    );
  if (!version.startsWith('3.') || !isFields(document.paths))
    throw new NotReadable('An OpenAPI document must have "openapi": "3.…" and "paths".');
  const shared = { document, references: new References(document) };
  const notes = new Set<string>();
  const actions: ImportedAction[] = [];
  let left = 0;
  for (const [path, stored] of Object.entries(document.paths)) {
    const item = shared.references.follow(stored);
    if (!item) {
      notes.add(`The path ${path} was not read: it refers to another document.`);
      continue;
    }
    for (const method of methods) {
      const operation = item[method];
      if (!isFields(operation)) continue;
      if (actions.length < maxListedOperations) actions.push(actionOf(shared, { path, item, method, operation }));
      else left += 1;
    }
    const others = notCalled.filter((method) => isFields(item[method]));
    if (others.length > 0) notes.add(`Actions cannot call ${others.map((name) => name.toUpperCase()).join(', ')}.`);
  }
  if (left > 0) notes.add(`Only the first ${maxListedOperations} operations are listed; ${left} more were left out.`);
  if (hasSecurity(document)) notes.add(`The document describes how the API is authorized. ${keepSecretsInConnector}`);
  if (actions.length === 0) throw new NotReadable('The document has no operation that an action can call.');
  return { actions, notes: [...notes] };
}

function hasSecurity({ components, security }: Fields): boolean {
  const schemes = isFields(components) ? components.securitySchemes : undefined;
  return (isFields(schemes) && Object.keys(schemes).length > 0) || listIn(security).length > 0;
}

interface Place {
  path: string;
  item: Fields;
  method: string;
  operation: Fields;
}

function actionOf(shared: Shared, { path, item, method, operation }: Place): ImportedAction {
  const notes: string[] = [];
  const address =
    serverOf(shared.document, item, operation) +
    path.replace(/\{([^{}]+)\}/g, (_, name: string) => `{{ ${variableOf(name)} }}`);
  const parameters = parametersOf(shared, [...anyIn(item.parameters), ...anyIn(operation.parameters)], notes);
  const body = method === 'get' ? undefined : bodyOf(shared, operation.requestBody, notes);
  const names = new Set(parameters.map(({ field_id }) => field_id));
  const ofBody = (body?.fields ?? []).filter(({ field_id }) => {
    if (names.has(field_id))
      notes.push(`The field ${field_id} of the body was left out: a parameter has the same name.`);
    return !names.has(field_id);
  });
  const inputs = [...parameters, ...ofBody];
  if (inputs.length > maxFields) notes.push(`Only the first ${maxFields} of ${inputs.length} fields were taken.`);
  return {
    name: nameOf(text(operation.summary) || text(operation.operationId) || `${method.toUpperCase()} ${path}`),
    description: descriptionOf(text(operation.description) || text(operation.summary)),
    method: method.toUpperCase(),
    address,
    ...(body?.type !== undefined && { content_type: body.type }),
    inputs: inputs.slice(0, maxFields),
    outputs: outputsOf(shared, operation.responses),
    notes,
  };
}

const anyIn = (list: unknown): unknown[] => (Array.isArray(list) ? (list as unknown[]) : []);

/** Returns the first server, with the default values of its variables and without a slash at the end. */
function serverOf(document: Fields, item: Fields, operation: Fields): string {
  const [server] =
    [operation.servers, item.servers, document.servers].map(listIn).find((list) => list.length > 0) ?? [];
  const variables = isFields(server?.variables) ? server.variables : {};
  return text(server?.url)
    .replace(/\{([^{}]+)\}/g, (whole, name: string) => {
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
      return isFields(variable) ? text(variable.default) : whole;
    })
    .replace(/\/+$/, '');
}

function parametersOf({ references }: Shared, list: readonly unknown[], notes: string[]): ImportedField[] {
  // A parameter of the operation replaces that of the path.
  const byName = new Map<string, ImportedField>();
  for (const stored of list) {
    const parameter = references.follow(stored);
    const name = text(parameter?.name);
    if (!parameter || name === '' || name.length > 200) {
      notes.push('A parameter was left out: its definition was not found.');
      continue;
    }
    const place = text(parameter.in);
    if (place === 'cookie') notes.push(`The cookie ${name} was left out. ${keepSecretsInConnector}`);
    // OpenAPI says that these three have no effect as parameters.
    if (place === 'header' && ['accept', 'content-type', 'authorization'].includes(name.toLowerCase())) continue;
    if (place !== 'path' && place !== 'query' && place !== 'header') continue;
    const schema = references.follow(parameter.schema) ?? {};
    const { type, description } = ofSchema({
      ...schema,
      description: text(parameter.description) || schema.description,
    });
    const field_id = place === 'path' ? variableOf(name) : name;
    byName.set(`${place} ${field_id}`, {
      field_id,
      type,
      required: place === 'path' || parameter.required === true,
      description,
      in: place,
    });
  }
  const fields = [...byName.values()];
  return fields.filter((field, at) => {
    const isFirst = fields.findIndex(({ field_id }) => field_id === field.field_id) === at;
    if (!isFirst)
      notes.push(`The ${text(field.in)} field ${field.field_id} was left out: another one has the same name.`);
    return isFirst;
  });
}

function bodyOf(
  shared: Shared,
  stored: unknown,
  notes: string[],
): { type?: string; fields: ImportedField[] } | undefined {
  if (stored === undefined) return undefined;
  const body = shared.references.follow(stored);
  const content = isFields(body?.content) ? body.content : {};
  const offered = Object.keys(content);
  const type = bodyTypes.find((each) => offered.some((name) => plainType(name) === each));
  const found = offered.find((name) => plainType(name) === type);
  if (type === undefined || found === undefined) {
    notes.push(`The body was left out: an action sends JSON or a form, and not ${offered.join(', ') || 'this body'}.`);
    return undefined;
  }
  const media = content[found];
  const schema = isFields(media) ? objectSchema(shared, media.schema) : undefined;
  if (!schema) notes.push('The fields of the body were not understood: the body must be one object with named fields.');
  return {
    ...(type !== 'application/json' && { type }),
    fields: schema ? fieldsOf(shared, schema, 'readOnly').map((field) => ({ ...field, in: 'body' })) : [],
  };
}

const plainType = (name: string): string => name.split(';')[0]?.trim().toLowerCase() ?? '';

function outputsOf(shared: Shared, responses: unknown): ImportedField[] {
  if (!isFields(responses)) return [];
  const code = ['200', '201', '202', '2XX', 'default'].find((each) => Object.hasOwn(responses, each));
  const response = code === undefined ? undefined : shared.references.follow(responses[code]);
  const content = isFields(response?.content) ? response.content : {};
  const found = Object.keys(content).find((name) => /[/+]json$/.test(plainType(name)));
  const media = found === undefined ? undefined : content[found];
  const schema = isFields(media) ? objectSchema(shared, media.schema) : undefined;
  return schema ? fieldsOf(shared, schema, 'writeOnly').slice(0, maxFields) : [];
}

interface ObjectSchema {
  properties: Map<string, unknown>;
  required: Set<string>;
}

/** Joins the properties of an object and of all parts of `allOf`; undefined for anything else. */
function objectSchema({ references }: Shared, stored: unknown): ObjectSchema | undefined {
  const joined: ObjectSchema = { properties: new Map(), required: new Set() };
  const open = [stored];
  // A schema that contains itself would go on for ever.
  for (let parts = 0; open.length > 0; parts += 1) {
    const schema = references.follow(open.shift());
    if (!schema || parts > maxFields || schema.oneOf !== undefined || schema.anyOf !== undefined) return undefined;
    open.push(...anyIn(schema.allOf).slice(0, maxFields));
    for (const [name, each] of Object.entries(isFields(schema.properties) ? schema.properties : {}))
      joined.properties.set(name, each);
    for (const name of anyIn(schema.required)) if (typeof name === 'string') joined.required.add(name);
  }
  return joined.properties.size > 0 ? joined : undefined;
}

/** @param not the keyword of properties that only the other direction has */
function fieldsOf({ references }: Shared, { properties, required }: ObjectSchema, not: 'readOnly' | 'writeOnly') {
  return [...properties]
    .map(([name, stored]) => ({ name, schema: references.follow(stored) ?? {} }))
    .filter(({ name, schema }) => name !== '' && name.length <= 200 && schema[not] !== true)
    .map(({ name, schema }): ImportedField => ({ field_id: name, ...ofSchema(schema), required: required.has(name) }));
}
