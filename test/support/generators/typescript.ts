import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { cacheRoot } from '../../../stack/binary-cache.js';
import { packageRoot } from '../../../src/base/packages.js';
import { runIn, type Generator } from './generator.js';
import { openApiGenerator } from './openapi-generator.js';

// The last version for Node.js 20.
const heyVersion = '0.95.0';
const installed = (program: string) => path.join(packageRoot, 'node_modules', '.bin', program);

const typesProgram = `import type { paths } from './client.js';

type Read = paths['/agentflow/{id}']['get']['responses'][200]['content']['application/json'];

const { SERVICE_URL = '', SERVICE_KEY = '', AGENTFLOW_ID = '' } = process.env;
const answer = await fetch(\`\${SERVICE_URL}/agentflow/\${AGENTFLOW_ID}\`, { headers: { 'x-api-key': SERVICE_KEY } });
const { name, created_at } = (await answer.json()) as Read;
console.log(name, created_at);
`;

export const openApiTypescript: Generator = {
  name: 'openapi-typescript',
  needs: [],
  make: async (folder) => {
    await runIn(folder, installed('openapi-typescript'), ['openapi.json', '--output', 'client.ts']);
    await compile(folder, typesProgram);
  },
  call,
};

const heyProgram = `import { client } from './client/client.gen';
import { getAgentflowId } from './client';

const { SERVICE_URL = '', SERVICE_KEY = '', AGENTFLOW_ID = '' } = process.env;
client.setConfig({ baseUrl: SERVICE_URL, auth: ({ type }) => (type === 'apiKey' ? SERVICE_KEY : undefined) });
const { data } = await getAgentflowId({ path: { id: AGENTFLOW_ID }, throwOnError: true });
console.log(data.name, data.created_at);
`;

export const heyApi: Generator = {
  name: `hey-api ${heyVersion}`,
  needs: [],
  make: async (folder) => {
    await runIn(folder, await heyApiProgram(), ['--input', 'openapi.json', '--output', 'client']);
    await compile(folder, heyProgram);
  },
  call,
};

/** The path of hey-api; installed on first use. */
async function heyApiProgram(): Promise<string> {
  const folder = path.join(cacheRoot(process.env), `hey-api-${heyVersion}`);
  const program = path.join(folder, 'node_modules', '.bin', 'openapi-ts');
  if (existsSync(program)) return program;
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await writeFile(path.join(unfinished, 'package.json'), '{}');
  const packages = [`@hey-api/openapi-ts@${heyVersion}`, 'typescript@6.0.3'];
  await runIn(unfinished, 'npm', ['install', '--no-audit', '--no-fund', ...packages]);
  await rename(unfinished, folder);
  return program;
}

const fetchProgram = `import { AgentflowsApi, Configuration } from './client';

const { SERVICE_URL, SERVICE_KEY, AGENTFLOW_ID = '' } = process.env;
const agentflows = new AgentflowsApi(new Configuration({ basePath: SERVICE_URL, apiKey: SERVICE_KEY }));
const { name, createdAt } = await agentflows.getAgentflowId({ id: AGENTFLOW_ID });
console.log(name, createdAt);
`;

export const openApiGeneratorFetch: Generator = {
  name: 'openapi-generator typescript-fetch',
  needs: ['java', 'python3'],
  make: async (folder) => {
    await openApiGenerator(folder, 'typescript-fetch');
    await compile(folder, fetchProgram);
  },
  call,
};

/** Checks the types of the client and of the program that calls it, and makes one file of both. */
async function compile(folder: string, program: string): Promise<void> {
  const file = path.join(folder, 'call.ts');
  await writeFile(file, program);
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'] },
    ...{ module: 'esnext', moduleResolution: 'bundler', types: ['node'] },
    typeRoots: [path.join(packageRoot, 'node_modules', '@types')],
  };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['call.ts'] }));
  await runIn(folder, installed('tsc'), ['--project', 'tsconfig.json']);
  await build({
    entryPoints: [file],
    outfile: path.join(folder, 'call.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
}

function call(folder: string, target: object): Promise<string> {
  return runIn(folder, process.execPath, ['call.mjs'], { ...target });
}
