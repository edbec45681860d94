// Generates the types of the Python client: a TypedDict for each object of the API reference, and a name for every other
// schema.
import { answerOf, nameOf, operationsIn } from './schemas.mjs';

/** The keywords of Python 3.10, which cannot be attribute names. */
const keywords = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);
const isAttribute = (text) => /^[A-Za-z_]\w*$/.test(text) && !text.startsWith('__') && !keywords.has(text);

/** @returns the text of a module with a type for each schema */
export function pythonTypes({ components: { schemas } }) {
  const entries = Object.entries(schemas);
  const classes = entries.filter(([, { properties }]) => properties !== undefined);
  const others = entries.filter(([, { properties }]) => properties === undefined);
  return `from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict, final

${classes.map(([name, schema]) => classText(name, schema)).join('\n')}
${others.map(([name, schema]) => `${comment(schema)}${name}: TypeAlias = ${JSON.stringify(typeOf(schema))}\n`).join('')}`;
}

/**
 * A field is optional through a base class, because Python 3.10 has no \`NotRequired\`. Fields whose names are no names of
 * Python need the functional form.
 */
function classText(name, { description, properties, required = [] }) {
  const fields = Object.entries(properties);
  const optional = fields.filter(([field]) => !required.includes(field));
  const needed = fields.filter(([field]) => required.includes(field));
  const hasOddNames = needed.some(([field]) => !isAttribute(field));
  const bases = [
    ...(optional.length > 0 ? [[`_${name}Optional`, optional, ', total=False']] : []),
    ...(hasOddNames ? [[`_${name}Required`, needed, '']] : []),
  ];
  const parents = bases.length > 0 ? bases.map(([base]) => base).join(', ') : 'TypedDict';
  const body = [
    ...(description === undefined ? [] : [`    """${docText(description)}"""`]),
    ...(hasOddNames ? [] : fieldLines(needed)),
  ];
  return `${bases.map((base) => baseText(...base)).join('')}
@final
class ${name}(${parents}):
${(body.length > 0 ? body : ['    pass']).join('\n')}
`;
}

function baseText(name, fields, total) {
  if (fields.every(([field]) => isAttribute(field)))
    return `\nclass ${name}(TypedDict${total}):\n${fieldLines(fields).join('\n')}\n`;
  const entries = fields.map(([field, schema]) => `${JSON.stringify(field)}: ${JSON.stringify(typeOf(schema))}`);
  return `\n${name} = TypedDict("${name}", {${entries.join(', ')}}${total})\n`;
}

const fieldLines = (fields) =>
  fields.flatMap(([field, schema]) => [
    ...comment(schema, '    ').split('\n').filter(Boolean),
    `    ${field}: ${typeOf(schema)}`,
  ]);

/** The type of a value, as the text of an annotation. */
export function typeOf(schema) {
  const { type, anyOf, oneOf, enum: values, items, additionalProperties, const: only } = schema;
  if (nameOf(schema) !== undefined) return nameOf(schema);
  if (anyOf ?? oneOf) return unionOf((anyOf ?? oneOf).map(typeOf));
  if (Array.isArray(type)) return unionOf(type.map((each) => typeOf({ ...schema, type: each })));
  if (typeof only === 'string' || typeof only === 'boolean') return literal([only]);
  if (values && type !== 'null') return literal(values);
  if (type === 'array') return `list[${typeOf(items ?? {})}]`;
  if (type === 'object')
    return `dict[str, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'Any'}]`;
  return { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[type] ?? 'Any';
}

const unionOf = (types) => (types.includes('Any') ? 'Any' : [...new Set(types)].join(' | '));
const constant = (value) =>
  value === null ? 'None' : typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
const literal = (values) => `Literal[${values.map(constant).join(', ')}]`;

const docText = (text) => text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '" ');
const comment = ({ description }, indent = '') =>
  description === undefined ? '' : `${indent}#: ${description.replaceAll('\n', `\n${indent}#: `)}\n`;

/** @returns the text of a module with the class \`Calls\`, whose method \`call\` has an overload for each operation */
export function pythonCalls(document) {
  return `from __future__ import annotations

from typing import Any, Literal, overload

from .. import types as t
from .group import AsyncGroup, Options, Params, Query


class AsyncCalls(AsyncGroup):
${operationsIn(document)
  .map((each) => overloadOf(each, document))
  .join('')}
    async def call(self, method: str, path: str, *, params: Params | None = None, query: Query | None = None, body: Any = None, options: Options = None) -> Any:
        """Any operation of the API, as the API reference names it: \`\`call("get", "/task/{id}", params={"id": id})\`\`."""
        return await self._call(method, path, body, options, params=params, query=query)
`;
}

function overloadOf({ method, path, operation }, document) {
  const { parameters = [], requestBody } = operation;
  const needsParams = [...path.matchAll(/\{(\w+)\}/g)].some(([, name]) => !/^project(ID|Id)$/.test(name));
  const schema = requestBody?.content['application/json']?.schema;
  const body = schema ? annotation(schema) : 'Any';
  const answer = answerOf(operation, document);
  const signature = [
    `self, method: Literal["${method}"], path: Literal["${path}"], *`,
    needsParams ? 'params: Params' : 'params: Params | None = None',
    ...(parameters.some((parameter) => parameter.in === 'query') ? ['query: Query | None = None'] : []),
    ...(requestBody ? [requestBody.required ? `body: ${body}` : `body: ${body} | None = None`] : []),
    'options: Options = None',
  ];
  return `    @overload
    async def call(${signature.join(', ')}) -> ${answer ? annotation(answer) : 'Any'}: ...
`;
}

/** The type in a module that imports the types as \`t\`. */
const annotation = (schema) => (nameOf(schema) ? `t.${nameOf(schema)}` : typeOf(schema));

/**
 * Turns a module of the asynchronous client into one of the synchronous client.
 *
 * @returns its text without `async` and `await`
 */
export function synchronous(text) {
  return text
    .replaceAll(/\bAsyncGenerator\[(.+), None\]/g, 'Generator[$1, None, None]')
    .replaceAll(/\bAwaitable\[(.+?\])\]/g, '$1')
    .replaceAll(/^(from collections\.abc import .*)\bAwaitable, /gm, '$1')
    .replaceAll(/\basync (def|with|for)\b/g, '$1')
    .replaceAll(/\bawait /g, '')
    .replaceAll(/\bAsync(?=[A-Z])/g, '')
    .replaceAll(/\b_?async_(?=\w)/g, (prefix) => (prefix.startsWith('_') ? '_' : ''))
    .replaceAll('__aenter__', '__enter__')
    .replaceAll('__aexit__', '__exit__')
    .replaceAll('aclose', 'close');
}
