// Generates types and operation data for both clients from `dist/openapi.json`.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { pythonCalls, pythonTypes } from './python-types.mjs';

const document = JSON.parse(readFileSync('dist/openapi.json', 'utf8'));
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, path, method, operation })),
);
const origin = 'sdk/generate.mjs wrote this file from the OpenAPI document of the service.';

const facts = Object.fromEntries(operations.map((each) => [each.name, factsOf(each)]));
for (const { operation } of operations) keepAnswers(operation);
delete document.components.examples;

const types = await openapiTypescript(structuredClone(document), {
  defaultNonNullable: false,
  emptyObjectsUnknown: true,
});
const node = 'sdk/node/src';
writeFileSync(`${node}/openapi.ts`, `/** ${origin} */\n${astToString(types)}`);
writeFileSync(
  `${node}/operations.ts`,
  `/** ${origin} */\nexport const operations: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(facts, null, 2)};\n`,
);
const python = 'sdk/python/src/governed_context_service';
writeFileSync(`${python}/types.py`, `"""${origin}"""\n\n${await pythonTypes(document)}`);
writeFileSync(`${python}/_calls.py`, `"""${origin}"""\n\n${pythonCalls(document)}`);
writeFileSync(
  `${python}/_operations.py`,
  `"""${origin}"""\n\nfrom __future__ import annotations\n\nOPERATIONS: dict[str, list[str]] = ${JSON.stringify(facts, null, 4)}\n`,
);

/**
 * Removes the responses that the clients throw as errors: refusals and pending approvals. Also removes examples, which
 * only the API reference needs.
 */
function keepAnswers({ responses, requestBody }) {
  for (const [status, { content = {} }] of Object.entries(responses)) {
    const isHeld = content['application/json']?.schema.$ref?.endsWith('/PendingApproval');
    if (!/^2/.test(status) || isHeld) delete responses[status];
    for (const media of Object.values(content)) delete media.example;
  }
  for (const media of Object.values(requestBody?.content ?? {})) delete media.example;
}

/**
 * Returns what a client must know to call an operation:
 * - `gateway`: it takes the credential in the way of the gateway.
 * - `project`: its project is a query parameter, and no record implies it.
 * - `key`: it takes an idempotency key.
 * - `once`: it is not idempotent and takes no key.
 */
function factsOf({ path, method, operation }) {
  const { parameters = [], security } = operation;
  const taken = (where, name) => parameters.find((parameter) => parameter.in === where && parameter.name === name);
  const isOfGateway = security.length > 0 && !security.some((scheme) => 'apiKey' in scheme);
  const project = taken('query', 'projectID');
  const takesKey = taken('header', 'Idempotency-Key') !== undefined;
  const facts = {
    gateway: isOfGateway,
    project: project !== undefined && (project.required || !path.includes('{')),
    key: takesKey,
    once: isOfGateway && method === 'post' && !takesKey && operation['x-idempotent'] !== true,
  };
  return Object.keys(facts).filter((name) => facts[name]);
}
