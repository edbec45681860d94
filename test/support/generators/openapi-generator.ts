import path from 'node:path';
import { pythonEnvironment } from '../python-environment.js';
import { runIn } from './generator.js';

const version = '7.26.0';
// What its Python clients import.
const ofPythonClients = [
  'urllib3==2.7.0',
  'python-dateutil==2.9.0.post0',
  'pydantic==2.13.5',
  'typing-extensions==4.16.0',
];

/** A Python environment with openapi-generator, whose package on PyPI contains its program for Java; installed on first use. */
export function openApiGeneratorEnvironment(): Promise<string> {
  return pythonEnvironment(`openapi-generator-${version}`, (pip) =>
    pip('install', `openapi-generator-cli==${version}`, ...ofPythonClients),
  );
}

/** Generates a client of this kind with openapi-generator into the subfolder `client`. */
export async function openApiGenerator(folder: string, kind: string, ...flags: string[]): Promise<void> {
  const program = path.join(await openApiGeneratorEnvironment(), 'bin', 'openapi-generator-cli');
  const args = ['generate', '--input-spec', 'openapi.json', '--generator-name', kind, '--output', 'client', ...flags];
  await runIn(folder, program, args, { JAVA_OPTS: '-Xmx1g' });
}
