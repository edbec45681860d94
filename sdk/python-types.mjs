// Generates the types of the Python client. quicktype reads the schemas and names the types; our renderer writes a
// TypedDict for each object.
import {
  ClassType,
  EnumType,
  InputData,
  JSONSchemaInput,
  PythonRenderer,
  PythonTargetLanguage,
  funPrefixNamer,
  quicktype,
} from 'quicktype-core';

/** The keywords of Python 3.10, which cannot be attribute names. */
const keywords = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);
const isAttribute = (text) => /^[A-Za-z_]\w*$/.test(text) && !text.startsWith('__') && !keywords.has(text);

/**
 * @returns the text of a module with a type for each schema and for each inline response, which is named after its
 * operation
 */
export async function pythonTypes({ paths, components }) {
  const answers = Object.values(paths).flatMap((item) => Object.values(item).flatMap(answersOf));
  const schemas = { ...components.schemas, ...Object.fromEntries(answers) };
  const definitions = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema, name)]));
  const schemaInput = new JSONSchemaInput(undefined);
  await schemaInput.addSource({ name: 'Api', uris: ['#/definitions/'], schema: JSON.stringify({ definitions }) });
  const inputData = new InputData();
  inputData.addInput(schemaInput);
  const { lines } = await quicktype({ inputData, lang: new TypedDicts(), combineClasses: false });
  return ['from __future__ import annotations', '', ...lines].join('\n');
}

function answersOf(operation) {
  const schema = answerOf(operation);
  return schema === undefined || schema.$ref !== undefined ? [] : [[answerName(operation), schema]];
}

/** Returns the schema of a response. A tool returns its result or a dry run, which has its own method. */
function answerOf({ responses }) {
  const schema = Object.values(responses)[0]?.content?.['application/json']?.schema;
  const [result, other] = schema?.anyOf ?? [];
  return nameOf(other ?? {}) === 'DryRun' ? result : schema;
}

const answerName = ({ operationId }) => `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Answer`;
const nameOf = ({ $ref }) => $ref?.replace('#/components/schemas/', '');

/** @returns the text of a module with the class `Calls`, whose method `call` has an overload for each operation */
export function pythonCalls({ paths }) {
  const overloads = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => overloadOf(method, path, operation)),
  );
  return `from __future__ import annotations

from typing import Any, Literal, overload

from . import types as t
from ._group import Group, Options, Params, Query


class Calls(Group):
${overloads.join('')}
    def call(self, method: str, path: str, *, params: Params | None = None, query: Query | None = None, body: Any = None, options: Options = None) -> Any:
        """Any operation of the API, as the API reference names it: \`\`call("get", "/task/{id}", params={"id": id})\`\`."""
        return self._call(method, path, body, options, params=params, query=query)
`;
}

function overloadOf(method, path, operation) {
  const { parameters = [], requestBody } = operation;
  const needsParams = [...path.matchAll(/\{(\w+)\}/g)].some(([, name]) => !/^project(ID|Id)$/.test(name));
  const schema = requestBody?.content['application/json']?.schema;
  const body = schema && nameOf(schema) ? `t.${nameOf(schema)}` : 'Any';
  const answer = answerOf(operation);
  const signature = [
    `self, method: Literal["${method}"], path: Literal["${path}"], *`,
    needsParams ? 'params: Params' : 'params: Params | None = None',
    ...(parameters.some((parameter) => parameter.in === 'query') ? ['query: Query | None = None'] : []),
    ...(requestBody ? [requestBody.required ? `body: ${body}` : `body: ${body} | None = None`] : []),
    'options: Options = None',
  ];
  return `    @overload
    def call(${signature.join(', ')}) -> ${answer ? `t.${nameOf(answer) ?? answerName(operation)}` : 'Any'}: ...
`;
}

const taken = ['type', 'enum', 'items', 'required', 'anyOf', 'oneOf', 'additionalProperties', 'description'];
const nested = new Set(['items', 'anyOf', 'oneOf', 'additionalProperties']);

/** Reduces a schema to what a type can express. The title names the type of a nested object after its path. */
function plain(schema, title) {
  if (Array.isArray(schema)) return schema.map((each) => plain(each, title));
  if (typeof schema !== 'object') return schema;
  if (schema.$ref !== undefined) return { $ref: schema.$ref.replace('#/components/schemas/', '#/definitions/') };
  const { properties, const: only } = schema;
  return {
    ...Object.fromEntries(
      taken.flatMap((key) => (key in schema ? [[key, nested.has(key) ? plain(schema[key], title) : schema[key]]] : [])),
    ),
    ...(typeof only === 'string' && { enum: [only] }),
    ...(properties && {
      title,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, plain(property, `${title} ${name}`)]),
      ),
    }),
  };
}

class TypedDicts extends PythonTargetLanguage {
  /** Keeps strings as they are, because nothing converts a response. */
  get stringTypeMapping() {
    return new Map();
  }
  get supportsOptionalClassProperties() {
    return true;
  }
  makeRenderer(context) {
    const features = { typeHints: true, dataClasses: false, builtinGenerics: true, unionOperators: true };
    return new TypedDictRenderer(this, context, { features, justTypes: true });
  }
}

class TypedDictRenderer extends PythonRenderer {
  makeNamedTypeNamer() {
    const word = (text) => text.charAt(0).toUpperCase() + text.slice(1);
    return funPrefixNamer('type', (name) =>
      name
        .split(/[^A-Za-z0-9]+/)
        .map(word)
        .join(''),
    );
  }

  /** Annotations are not evaluated, so a type can be used before its declaration. */
  namedType(type) {
    return this.nameForNamedType(type);
  }
  typeContainsForwardRef() {
    return false;
  }
  pythonType(type, ...rest) {
    return type instanceof EnumType ? this.literal(type) : super.pythonType(type, ...rest);
  }
  literal({ cases }) {
    const values = [...cases].sort().map((value) => JSON.stringify(value));
    return [this.withTyping('Literal'), '[', values.join(', '), ']'];
  }

  emitEnum() {}

  /**
   * Writes a class. Base types contain its optional fields, and fields whose names only the functional form supports.
   */
  emitClass(type) {
    const name = this.nameForNamedType(type);
    const properties = [...type.getProperties()];
    const optional = properties.filter(([, { isOptional }]) => isOptional);
    const required = properties.filter(([, { isOptional }]) => !isOptional);
    const hasOddNames = required.some(([key]) => !isAttribute(key));
    const bases = [
      ...(optional.length > 0 ? [this.emitBase(type, ['_', name, 'Optional'], optional, ', total=False')] : []),
      ...(hasOddNames ? [this.emitBase(type, ['_', name, 'Required'], required, '')] : []),
    ];
    const parents =
      bases.length > 0 ? bases.flatMap((base, at) => (at > 0 ? [', ', ...base] : base)) : this.withTyping('TypedDict');
    this.emitLine('@', this.withTyping('final'));
    this.emitBlock(['class ', name, '(', parents, '):'], () => {
      const description = this.descriptionForType(type);
      this.emitDescription(description);
      if (!hasOddNames) this.emitFields(type, required);
      if (description === undefined && (hasOddNames || required.length === 0)) this.emitLine('pass');
    });
  }

  emitBase(type, name, fields, total) {
    const base = this.withTyping('TypedDict');
    if (fields.every(([key]) => isAttribute(key))) {
      this.emitBlock(['class ', name, '(', base, total, '):'], () => this.emitFields(type, fields));
    } else {
      this.emitLine(name, ' = ', base, '(');
      this.indent(() => {
        this.emitLine('"', name, '",');
        this.emitBlock('{', () => {
          for (const [key, { type: of }] of fields)
            this.emitLine(JSON.stringify(key), ": '", this.pythonType(of), "',");
        });
        this.emitLine('}', total);
      });
      this.emitLine(')');
    }
    this.ensureBlankLine(2);
    return name;
  }

  emitFields(type, fields) {
    for (const [key, { type: of }] of fields) {
      for (const line of this.descriptionForClassProperty(type, key) ?? []) this.emitLine('#: ', line);
      this.emitLine(key, ': ', this.pythonType(of));
    }
  }

  /** Writes the schemas that are not objects: lists, maps and enumerations. */
  emitClosingCode() {
    this.forEachTopLevel(
      'leading',
      (type, name) => this.emitLine(name, ': ', this.withTyping('TypeAlias'), " = '", this.pythonType(type), "'"),
      (type) => !(type instanceof ClassType),
    );
  }
}
