// Generates types and operation data for both clients from `dist/openapi.json`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { nodeMethods } from './node-methods.mjs';
import { nodeTypes } from './node-types.mjs';
import { pythonCalls, pythonTypes, synchronous } from './python-types.mjs';
import { keepAnswers, operationsIn } from './schemas.mjs';

const document = JSON.parse(readFileSync('dist/openapi.json', 'utf8'));
const origin = 'sdk/generate.mjs wrote this file from the OpenAPI document of the service.';
const facts = Object.fromEntries(operationsIn(document).map((each) => [each.name, factsOf(each)]));
keepAnswers(document);

const node = 'sdk/node/src';
writeFileSync(`${node}/openapi.ts`, `/** ${origin} */\n${await nodeTypes(document)}`);
writeFileSync(`${node}/methods.ts`, `/** ${origin} */\n${nodeMethods(document)}`);
writeFileSync(
  `${node}/operations.ts`,
  `/** ${origin} */\nexport const operations: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(facts, null, 2)};\n`,
);
const python = 'sdk/python/src/governed_context_service';
writeFileSync(`${python}/types.py`, `"""${origin}"""\n\n${pythonTypes(document)}`);
writeFileSync(`${python}/_async/calls.py`, `"""${origin}"""\n\n${pythonCalls(document)}`);
writeFileSync(
  `${python}/_operations.py`,
  `"""${origin}"""\n\nfrom __future__ import annotations\n\nOPERATIONS: dict[str, list[str]] = ${JSON.stringify(facts, null, 4)}\n`,
);

rmSync(`${python}/_sync`, { recursive: true, force: true });
mkdirSync(`${python}/_sync`);
for (const file of readdirSync(`${python}/_async`).filter((name) => name.endsWith('.py'))) {
  const text =
    file === '__init__.py'
      ? ''
      : synchronous(readFileSync(`${python}/_async/${file}`, 'utf8')).replace(/^"""[^]*?"""\s*/, '');
  writeFileSync(
    `${python}/_sync/${file}`,
    `"""sdk/generate.mjs wrote this file from \`\`_async/${file}\`\`."""\n\n${text}`,
  );
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
