import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { pythonEnvironment } from './python-environment.js';

const version = '4.32.5';
const run = promisify(execFile);

/** The path of schemathesis; installed on first use. */
export async function schemathesis(): Promise<string> {
  const install = `schemathesis==${version}`;
  const folder = await pythonEnvironment(`schemathesis-${version}`, (pip) => pip('install', install));
  return path.join(folder, 'bin', 'st');
}

interface FuzzRun {
  /** Contains the document, the configuration and the report. */
  folder: string;
  url: string;
  document: object;
  headers: Readonly<Record<string, string>>;
  /** Values of parameters by name, so that calls reach a record that exists. */
  parameters: Readonly<Record<string, string>>;
  /** Of each operation, in each way of making them. */
  examples: number;
  /** In seconds; the run ends earlier when all is done. */
  atMost: number;
  phases: string;
}

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];

/** The fuzzer's findings that the document does not describe; empty if there are none. The seed is fixed. */
export async function fuzz(options: FuzzRun): Promise<{ failures: string; calls: number }> {
  const { folder, url, document, headers, parameters, examples, atMost, phases } = options;
  const program = await schemathesis();
  const schema = path.join(folder, 'openapi.json');
  const config = path.join(folder, 'schemathesis.toml');
  await writeFile(schema, JSON.stringify(document));
  const table = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`);
  await writeFile(
    config,
    [
      `base-url = ${JSON.stringify(url)}`,
      '[headers]',
      ...table(headers),
      '[parameters]',
      ...table(parameters),
      '',
    ].join('\n'),
  );
  const settings = {
    checks: checks.join(','),
    phases,
    'max-examples': examples,
    'max-time': atMost,
    seed: 1,
    // CPython 3.11 fails in threads that compile concurrently (python/cpython#106905).
    workers: 1,
    'request-timeout': 30,
    'generation-database': 'none',
    warnings: 'off',
  };
  const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const quiet = ['--no-color', '--no-shrink', '--continue-on-failure'];
  const { stdout, code } = await run(program, ['--config-file', config, 'run', schema, ...flags, ...quiet], {
    cwd: folder,
    maxBuffer: 256 * 1024 * 1024,
  })
    .then(({ stdout: text }) => ({ stdout: text, code: 0 }))
    .catch((failed: { stdout?: string; code?: number }) => {
      if (failed.stdout === undefined || typeof failed.code !== 'number') throw failed;
      return { stdout: failed.stdout, code: failed.code };
    });
  const begin = /=+ (FAILURES|ERRORS) =+/.exec(stdout)?.index;
  const failures = code === 0 ? '' : stdout.slice(begin ?? 0, (begin ?? 0) + 20_000);
  return { failures, calls: Number(/(\d+) generated/.exec(stdout)?.[1] ?? 0) };
}
