// Writes the methods of the Node client with their documentation, from sdk/methods.mjs and the OpenAPI document.
import { groups } from './methods.mjs';
import { answerOf, nameOf, operationsIn } from './schemas.mjs';

/** @returns the text of a module with an interface for each group of methods and a function that makes it */
export function nodeMethods(document) {
  const operations = new Map(operationsIn(document).map((operation) => [operation.name, operation]));
  const queries = new Map();
  const inputs = new Map();
  const texts = Object.entries(groups).map(([group, methods]) => {
    const described = Object.entries(methods).map(([name, method]) => {
      const operation = operations.get(method.call);
      if (operation === undefined) throw new Error(`sdk/methods.mjs: the API has no operation ${method.call}`);
      return { name, ...describe(method, operation, document, { queries, inputs }) };
    });
    return groupText(group, described);
  });
  return `import type { CallOptions, Query } from './transport.js';
import type { Page } from './page.js';
import type * as api from './openapi.js';

/** The parts of a call besides its method and path. */
export interface CallInput {
  params?: Record<string, string>;
  query?: Query;
  body?: unknown;
}

/** Calls an operation, whose types come from the API reference. */
export type Send = <T>(method: string, path: string, input?: CallInput, options?: CallOptions) => Promise<T>;

${[...queries.values(), ...inputs.values(), ...texts].join('\n')}`;
}

function groupText(group, methods) {
  const signature = ({ parameters, answer }) =>
    `(${parameters.map(({ text }) => text).join(', ')}): Promise<${answer}>`;
  return `/** Methods that call one operation each. */
export interface ${group}Methods {
${methods.map((method) => `${method.comment}  ${method.name}${signature({ ...method, parameters: method.parameters.map(({ declared }) => ({ text: declared })) })};`).join('\n')}
}

export function create${group}Methods(send: Send): ${group}Methods {
  return {
${methods.map(({ name, parameters, call, input }) => `    ${name}: (${parameters.map(({ name: each, preset }) => `${each}${preset ?? ''}`).join(', ')}) => send('${call.method}', '${call.path}', ${input}, options),`).join('\n')}
  };
}
`;
}

function describe({ body, field, preset }, { method, path, operation }, document, { queries, inputs }) {
  const { schemas } = document.components;
  const { parameters: taken = [], requestBody } = operation;
  const parameters = [];
  const input = [];

  const inPath = taken.filter((each) => each.in === 'path' && !/^project(ID|Id)$/.test(each.name));
  const pathNames = inPath.map(({ name }, at) => (at === 0 ? 'id' : camelCase(name)));
  inPath.forEach(({ description }, at) =>
    parameters.push({ name: pathNames[at], declared: `${pathNames[at]}: string`, description }),
  );
  if (inPath.length > 0)
    input.push(`params: { ${inPath.map(({ name }, at) => `${name}: ${pathNames[at]}`).join(', ')} }`);

  const schemaName = nameOf(requestBody?.content['application/json']?.schema);
  const bodySchema = schemas[schemaName];
  if (body) {
    const isOptional = !requestBody.required;
    const type = inputType(schemaName, bodySchema, inputs);
    parameters.push({
      ...{ name: body, declared: `${body}${isOptional ? '?' : ''}: ${type}`, preset: isOptional ? ' = {}' : undefined },
      description: bodySchema.description ?? `The fields of the ${words(body)}.`,
    });
    input.push(body === 'body' ? 'body' : `body: ${body}`);
  } else if (field) {
    const name = camelCase(field);
    const isOptional = preset !== undefined || !(bodySchema.required ?? []).includes(field);
    parameters.push({
      ...{ name, declared: `${name}${isOptional ? '?' : ''}: api.${schemaName}['${field}']` },
      ...{
        preset: preset && ` = ${preset}`,
        description: bodySchema.properties[field].description ?? `The ${words(field)}.`,
      },
    });
    input.push(`body: { ${name === field ? field : `${field}: ${name}`} }`);
  } else if (preset) input.push(`body: ${preset}`);

  const inQuery = taken.filter((each) => each.in === 'query' && each.name !== 'projectID');
  if (inQuery.length > 0) {
    const type = queryType(method, path, operation, inQuery, queries);
    const isOptional = !inQuery.some(({ required }) => required);
    parameters.push({
      ...{
        name: 'query',
        declared: `query${isOptional ? '?' : ''}: ${type}`,
        preset: isOptional ? ' = {}' : undefined,
      },
      description: inQuery.some(({ name }) => name === 'cursor')
        ? 'Which records, and which page of them.'
        : 'What to return.',
    });
    input.push('query: { ...query }');
  }
  parameters.push({ name: 'options', declared: 'options?: CallOptions', description: 'The options of this call.' });
  const answer = answerType(answerOf(operation, document), schemas);
  return {
    parameters,
    input: `{ ${input.join(', ')} }`,
    call: { method, path },
    answer,
    comment: comment(operation, parameters),
  };
}

/** A tool's input without `dry_run`, for which there is a method. */
function inputType(name, schema, inputs) {
  if (schema.properties?.dry_run === undefined) return `api.${name}`;
  const type = `${name.replace(/(Input|Request)?Call$/, '')}Input`;
  inputs.set(
    type,
    `${commentOf([schema.description ?? `The input of the tool.`])}export interface ${type} extends Omit<api.${name}, 'dry_run'> {}\n`,
  );
  return type;
}

function queryType(method, path, { operationId, summary }, parameters, queries) {
  const type = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;
  const fields = parameters.map(
    ({ name, required, description }) =>
      `${commentOf([description], '  ')}  ${name}${required ? '' : '?'}: NonNullable<api.paths['${path}']['${method}']['parameters']['query']>['${name}'];`,
  );
  queries.set(type, `/** The query of "${summary}". */\nexport interface ${type} {\n${fields.join('\n')}\n}\n`);
  return type;
}

function answerType(schema, schemas) {
  const { properties = {} } = schemas[nameOf(schema)] ?? {};
  const ofPage = ['data', 'total_count', 'total_is_lower_bound', 'next_cursor'];
  const names = Object.keys(properties);
  const isPage = names.length === ofPage.length && ofPage.every((name) => names.includes(name));
  return isPage ? `Page<api.${nameOf(properties.data.items)}>` : `api.${nameOf(schema)}`;
}

function comment({ summary, description }, parameters) {
  return commentOf(
    [`${summary}.`, description, ...parameters.map((each) => `@param ${each.name} - ${each.description}`)],
    '  ',
  );
}

function commentOf(texts, indent = '') {
  const lines = texts.filter((text) => text !== undefined).flatMap((text) => text.replaceAll('*/', '*\\/').split('\n'));
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

const words = (name) => name.replaceAll('_', ' ');
const camelCase = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
