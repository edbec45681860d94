import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startStack, StackError } from '../../stack/index.js';
import { resolveMongodb } from '../../stack/mongodb.js';
import { resolveNeo4j } from '../../stack/neo4j.js';
import { requireJdk, requireMaven } from '../../stack/prerequisites.js';
import { resolveTemporal } from '../../stack/temporal.js';
import { verifies } from '../support/verifies.js';

let folder: string;
let env: NodeJS.ProcessEnv;
const lines: string[] = [];
const log = (line: string): void => void lines.push(line);

beforeEach(() => {
  lines.length = 0;
  folder = mkdtempSync(path.join(tmpdir(), 'finding-'));
  // The proxy refuses immediately, so no vendor can be reached on any machine.
  env = {
    PATH: path.join(folder, 'bin'),
    XDG_CACHE_HOME: path.join(folder, 'cache'),
    HTTPS_PROXY: 'http://127.0.0.1:9',
  };
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, output = ''): string {
  const file = path.join(folder, 'bin', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho '${output}'\n`);
  chmodSync(file, 0o755);
  return file;
}

async function refusal(work: () => unknown): Promise<string> {
  const error: unknown = await Promise.resolve()
    .then(work)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StackError);
  return (error as StackError).message;
}

const oneSentence = /^[^\n]+\.$/;

describe('finding a server', () => {
  test('takes each from PATH first', async () => {
    verifies('stack.lookup-order');
    const [temporal, mongod, script] = [program('temporal'), program('mongod'), program('neo4j')];
    expect(await resolveTemporal({ env, log })).toBe(temporal);
    expect(await resolveMongodb({ env, log })).toEqual({ mongod });
    expect(await resolveNeo4j({ env, log })).toEqual({ script });
    expect(lines).toEqual([]);
  });

  test('builds once and then uses the cache', async () => {
    verifies('stack.build-cached', 'stack.vendor-unreachable-builds');
    program('go', 'go version go1.26.0 linux/amd64');
    const built = await resolveTemporal({ env, log });
    expect(built).toContain(path.join(folder, 'cache', 'governed-context-service'));
    expect(lines.join('\n')).toMatch(
      /github\.com cannot be reached\n.*building from the Go module proxy, about .*, once\n/,
    );
    lines.length = 0;
    rmSync(path.join(folder, 'bin'), { recursive: true });
    expect(await resolveTemporal({ env, log })).toBe(built);
    expect(lines).toEqual([]);
  });

  test('builds once for two concurrent requests', async () => {
    program('go', 'go version go1.26.0 linux/amd64');
    const [one, other] = await Promise.all([resolveTemporal({ env, log }), resolveTemporal({ env, log })]);
    expect(one).toBe(other);
    expect(lines.filter((line) => line.includes('done after'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes(`process ${process.pid} is at it`))).toHaveLength(1);
  });

  test('refuses a missing or old prerequisite in one sentence that says what to install', async () => {
    verifies('stack.missing-prerequisite');
    expect(await refusal(() => resolveTemporal({ env, log }))).toMatch(/no go on PATH: install Go 1\.21 or later/);
    program('go', 'go version go1.19.8 linux/amd64');
    expect(await refusal(() => resolveTemporal({ env, log }))).toMatch(/newer Go than go1\.19: install/);
    expect(await refusal(() => requireJdk('java', env))).toMatch(/no java on PATH: install a JDK 17 or later/);
    program('javac', 'javac 11.0.2');
    expect(await refusal(() => requireJdk('javac', env))).toMatch(/newer Java than 11: install a JDK 17/);
    expect(await refusal(() => requireMaven(env))).toMatch(/no mvn on PATH: install Maven/);
    expect(await refusal(() => resolveNeo4j({ env, log }))).toMatch(oneSentence);
  });

  test('reports in one sentence that a registry cannot be reached', async () => {
    program('go');
    writeFileSync(
      path.join(folder, 'bin', 'go'),
      `#!/bin/sh\n[ "$1" = version ] && echo go1.26 && exit 0\necho 'dial tcp: lookup proxy.golang.org: no such host'; exit 1\n`,
    );
    const message = await refusal(() => resolveTemporal({ env, log }));
    expect(message).toMatch(oneSentence);
    expect(message).toMatch(/Go module proxy cannot be reached/);
  });

  test('stops for the whole stack if one prerequisite is missing', async () => {
    const dataDir = path.join(folder, 'data');
    expect(await refusal(() => startStack({ dataDir, env, log }))).toMatch(oneSentence);
    expect(await refusal(() => startStack({ dataDir, env, log }))).not.toMatch(/in use/);
  });
});
