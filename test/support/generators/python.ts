import path from 'node:path';
import { pythonEnvironment } from '../python-environment.js';
import { runIn, type Generator } from './generator.js';
import { openApiGenerator, openApiGeneratorEnvironment } from './openapi-generator.js';

const version = '0.29.1';

/** A Python environment with the generator and what its clients import; installed on first use. */
const clientEnvironment = () =>
  pythonEnvironment(`openapi-python-client-${version}`, (pip) => pip('install', `openapi-python-client==${version}`));

const program = `import os

from client import AuthenticatedClient
from client.api.agentflows import get_agentflow_id
from client.models import Agentflow

client = AuthenticatedClient(
    base_url=os.environ["SERVICE_URL"], token=os.environ["SERVICE_KEY"], prefix="", auth_header_name="x-api-key"
)
answer = get_agentflow_id.sync(os.environ["AGENTFLOW_ID"], client=client)
assert isinstance(answer, Agentflow), answer
print(answer.name, answer.created_at)
`;

export const openApiPythonClient: Generator = {
  name: `openapi-python-client ${version}`,
  needs: ['python3'],
  make: async (folder) => {
    const environment = await clientEnvironment();
    const generator = path.join(environment, 'bin', 'openapi-python-client');
    const args = ['generate', '--path', 'openapi.json', '--output-path', 'client', '--meta', 'none'];
    // The generator leaves out what it cannot express, such as answers of any media type, but no schema.
    const told = await runIn(folder, generator, args);
    const lost = told
      .split('\n')
      .filter((line) => /^(WARNING|ERROR)/.test(line) && /component|schema|body/i.test(line));
    if (lost.length > 0) throw new Error(lost.join('\n'));
    await compile(environment, folder, 'client');
  },
  call: async (folder, target) => call(await clientEnvironment(), folder, program, target),
};

const generatorProgram = `import os

import openapi_client

settings = openapi_client.Configuration(host=os.environ["SERVICE_URL"], api_key={"apiKey": os.environ["SERVICE_KEY"]})
with openapi_client.ApiClient(settings) as client:
    answer = openapi_client.AgentflowsApi(client).get_agentflow_id(os.environ["AGENTFLOW_ID"])
print(answer.name, answer.created_at)
`;

export const openApiGeneratorPython: Generator = {
  name: 'openapi-generator python',
  needs: ['python3', 'java'],
  make: async (folder) => {
    await openApiGenerator(folder, 'python');
    await compile(await openApiGeneratorEnvironment(), folder, 'client/openapi_client');
  },
  call: async (folder, target) =>
    call(await openApiGeneratorEnvironment(), path.join(folder, 'client'), generatorProgram, target),
};

const compile = (environment: string, folder: string, client: string) =>
  runIn(folder, path.join(environment, 'bin', 'python'), ['-m', 'compileall', '-q', client]);

const call = (environment: string, folder: string, program: string, target: object) =>
  runIn(folder, path.join(environment, 'bin', 'python'), ['-c', program], { ...target, PYTHONPATH: folder });
