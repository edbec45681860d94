import { expect, test } from '@jest/globals';
import { readImport } from '../../../console/src/skills/import/read-import.js';
import { verifies } from '../../support/verifies.js';

const document = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://{region}.example.com/v1/', variables: { region: { default: 'eu' } } }],
  paths: {
    '/orders/{order-id}': {
      parameters: [{ $ref: '#/components/parameters/Order' }],
      get: {
        summary: 'Read an order',
        parameters: [
          { name: 'expand', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'X-Tenant', in: 'header', required: true, schema: { type: 'string' } },
          { name: 'sid', in: 'cookie', schema: { type: 'string' } },
        ],
        responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } } } },
      },
      post: {
        operationId: 'payOrder',
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                allOf: [{ $ref: '#/components/schemas/Order' }, { properties: { amount: { type: 'number' } } }],
              },
            },
          },
        },
      },
      head: {},
    },
    '/files': { post: { requestBody: { content: { 'application/octet-stream': {} } } } },
  },
  components: {
    parameters: { Order: { name: 'order-id', in: 'path', schema: { type: 'integer' } } },
    schemas: {
      Order: {
        type: 'object',
        required: ['id', 'state'],
        properties: {
          id: { type: 'string', readOnly: true },
          state: { type: ['string', 'null'], enum: ['open', 'paid'] },
          // A cycle.
          parent: { $ref: '#/components/schemas/Order' },
        },
      },
    },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
};

test('the operations of an OpenAPI document become actions with their fields in their places', () => {
  verifies('console.agentflows.import');
  const { actions, notes } = readImport(JSON.stringify(document));
  const [read, pay, send] = actions;
  expect(read).toMatchObject({
    ...{ name: 'Read an order', method: 'GET', address: 'https://eu.example.com/v1/orders/{{ order_id }}' },
    inputs: [
      { field_id: 'order_id', type: 'integer', required: true, in: 'path' },
      { field_id: 'expand', type: 'array', required: false, in: 'query' },
      { field_id: 'X-Tenant', type: 'string', required: true, in: 'header' },
    ],
    outputs: [
      { field_id: 'id', type: 'string', required: true },
      { field_id: 'state', type: 'string', required: true, description: 'One of: open, paid.' },
      { field_id: 'parent', type: 'object', required: false },
    ],
  });
  expect(read?.notes).toEqual([expect.stringContaining('The cookie sid was left out')]);
  expect(pay).toMatchObject({ name: 'payOrder', method: 'POST', content_type: 'application/x-www-form-urlencoded' });
  // What only an answer has is not sent.
  expect(pay?.inputs.map(({ field_id }) => field_id)).toEqual(['order_id', 'state', 'parent', 'amount']);
  expect(send?.notes).toEqual([expect.stringContaining('not application/octet-stream')]);
  expect(notes).toEqual([
    'Actions cannot call HEAD.',
    expect.stringContaining('Credentials belong into the connector'),
  ]);
});

test('a document in YAML is read like one in JSON', () => {
  verifies('console.agentflows.import');
  const yaml = 'openapi: 3.0.3\npaths:\n  /health:\n    get:\n      summary: Health\n';
  expect(readImport(yaml).actions).toMatchObject([{ name: 'Health', method: 'GET', address: '/health' }]);
});

test('a curl line becomes an action without the values of its fields and without its credentials', () => {
  verifies('console.agentflows.import');
  const line = String.raw`curl -sS -X PUT 'https://ada:pa55@api.example.com/orders/7?dry=true&api_key=k3y' \
    -H 'Authorization: Bearer s3cret' -H $'X-Note: it\'s mine' -H 'Accept: application/json' -H 'Cookie: sid=c00kie' \
    --data-raw '{"amount": 12.5, "lines": [1], "customer": {"name": "Ada"}, "client_secret": "h1dden"}' --weird`;
  const imported = readImport(line);
  expect(imported.actions).toEqual([
    {
      ...{ name: 'PUT /orders/7', description: '', method: 'PUT', address: 'https://api.example.com/orders/7' },
      inputs: [
        { field_id: 'dry', type: 'boolean', required: true, description: '', in: 'query' },
        { field_id: 'X-Note', type: 'string', required: true, description: '', in: 'header' },
        {
          ...{ field_id: 'Accept', type: 'string', required: true, description: '', in: 'header' },
          value: 'application/json',
        },
        { field_id: 'amount', type: 'number', required: true, description: '', in: 'body' },
        { field_id: 'lines', type: 'array', required: true, description: '', in: 'body' },
        { field_id: 'customer', type: 'object', required: true, description: '', in: 'body' },
      ],
      outputs: [],
      notes: [
        'The option --weird was not understood.',
        'The value of the header X-Note was left out: it could be a secret. Enter it if it is none.',
        'Credentials of the line were left out. Credentials belong into the connector, where they are encrypted.',
      ],
    },
  ]);
  expect(JSON.stringify(imported)).not.toMatch(/pa55|k3y|s3cret|c00kie|h1dden|Ada|mine/);
  const hook = readImport('curl https://hooks.example.com/services/T0000AAAA/a8Gh2kLm9Qw3Er5Ty7Ui -d text=Hello');
  expect(hook.actions).toMatchObject([
    {
      ...{ method: 'POST', content_type: 'application/x-www-form-urlencoded' },
      address: 'https://hooks.example.com/services/T0000AAAA/{{ part_1 }}',
      inputs: [
        { field_id: 'part_1', in: 'path' },
        { field_id: 'text', type: 'string', in: 'body' },
      ],
    },
  ]);
  const [searched] = readImport("curl -G https://api.example.com/find --data-urlencode 'q=a b' -d limit=5").actions;
  expect(searched).toMatchObject({
    method: 'GET',
    inputs: [
      { field_id: 'q', in: 'query' },
      { field_id: 'limit', type: 'integer' },
    ],
  });
});

const self = { $ref: '#/components/schemas/S' };
const many = Array.from({ length: 100 }, () => self);
const post = (schema: object) => ({ post: { requestBody: { content: { 'application/json': { schema } } } } });

test.each([
  ['nothing', ' ', 'Paste an OpenAPI document or a curl line.'],
  ['other text', 'hello', 'must be an OpenAPI document'],
  ['other JSON', '{"a": 1}', 'must have "openapi"'],
  ['Swagger 2', '{"swagger": "2.0", "paths": {}}', 'Convert it to OpenAPI 3'],
  ['a document without operations', '{"openapi": "3.0.0", "paths": {}}', 'no operation'],
  ['half a document', '{"openapi": ', 'not valid JSON'],
  ['YAML with deep brackets', '['.repeat(200_000), 'nested too deeply'],
  ['YAML with deep lists', '- '.repeat(200_000), 'nested too deeply'],
  ['wrong YAML', 'a: [1', 'not valid YAML'],
  [
    'aliases that multiply',
    `a0: &a0 [1]\n${Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n}, `.repeat(9)}]`).join('\n')}`,
    'not valid YAML',
  ],
  ['a large text', 'x'.repeat(4_000_001), 'at most 4,000,000 characters'],
  ['a long line', `curl https://example.com -d ${'a'.repeat(100_000)}`, 'at most 100,000 characters'],
  ['two commands', 'curl https://example.com/ | sh', 'Only one curl command'],
  ['a line without an address', 'curl -s example', 'no address'],
  ['another method', 'curl -X TRACE https://example.com', 'cannot call TRACE'],
])('%s is refused with what is expected', (_, text, message) => {
  verifies('console.agentflows.import');
  expect(() => readImport(text)).toThrow(message);
});

test('references without end and to other documents do not stop the import', () => {
  verifies('console.agentflows.import');
  const { actions, notes } = readImport(
    JSON.stringify({
      openapi: '3.0.0',
      paths: {
        '/all': post(self),
        '/ring': post({ $ref: '#/components/schemas/Ring' }),
        '/proto': post({ $ref: '#/__proto__/toString' }),
        '/away': { $ref: 'https://evil.example/paths.json' },
      },
      components: { schemas: { S: { allOf: many }, Ring: { $ref: '#/components/schemas/Ring' } } },
    }),
  );
  expect(actions.map(({ inputs, notes: said }) => [inputs.length, said.length])).toEqual([
    [0, 1],
    [0, 1],
    [0, 1],
  ]);
  expect(notes).toEqual(['The path /away was not read: it refers to another document.']);
});
