import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { packageRoot } from '../../src/base/packages.js';
import { startExecution, untilExecution } from '../support/executions.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { startScript } from '../support/processes.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { dockerStages, packagesImportedBy, text } from './files.js';

const deps = useDeps();

const stages = dockerStages();
const runtime = stages.at(-1) ?? [];
const all = stages.flat();
const valuesOf = (name: string, instructions = runtime) =>
  instructions.filter((each) => each.name === name).map(({ rest }) => rest);
/** The build output that the image copies, each at its own path. */
const built = valuesOf('COPY').flatMap((rest) => /^--from=build \/app\/(\S+) \.\/\1$/.exec(rest)?.[1] ?? []);
/** The source files that it copies unchanged. */
const own = valuesOf('COPY').flatMap((rest) => (rest.startsWith('--from=') ? [] : rest.split(' ').slice(0, -1)));
const { scripts, dependencies } = JSON.parse(text('package.json')) as {
  scripts: { build: string; start: string; stack: string };
  dependencies: Record<string, string>;
};

describe('the Dockerfile', () => {
  test('has several stages, and the last one runs as a non-root user', () => {
    verifies('stack.compose.image-unprivileged');
    expect(stages.length).toBeGreaterThan(1);
    expect(valuesOf('USER')).toEqual(['node']);
    const later = runtime.slice(runtime.findIndex(({ name }) => name === 'USER'));
    expect(later.map(({ name }) => name)).toEqual(expect.not.arrayContaining(['COPY', 'RUN', 'ADD']));
  });

  test('copies only existing files', () => {
    const fromHere = valuesOf('COPY', all).filter((rest) => !rest.startsWith('--from='));
    for (const file of fromHere.flatMap((rest) => rest.split(' ').slice(0, -1)))
      expect([file, existsSync(path.join(packageRoot, file))]).toEqual([file, true]);
    expect(valuesOf('COPY').filter((rest) => rest.startsWith('--from=build'))).toHaveLength(built.length);
  });

  test('copies all build output that API and worker need to run an execution', async () => {
    const root = mkdtempSync(path.join(tmpdir(), 'image-'));
    symlinkSync(path.join(packageRoot, 'node_modules'), path.join(root, 'node_modules'));
    for (const file of [...own, ...built])
      cpSync(path.join(packageRoot, file), path.join(root, file), { recursive: true });
    const env = { ...testRun().env, TEMPORAL_TASK_QUEUE: `image-${newId()}` };
    const start = (script: string, up: string) =>
      startScript(
        `src/${script}.js`,
        env,
        path.join(testRun().logs, `${env.TEMPORAL_TASK_QUEUE}-${script}.log`),
        up,
        root,
      );
    const started = await Promise.allSettled([start('main', 'listening'), start('worker', 'polling')]);
    const running = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    try {
      expect(started).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
      const workspace = await createWorkspace(deps, { url: `http://127.0.0.1:${Number(running[0]?.up.port)}` });
      await untilExecution(workspace, await startExecution(workspace, flowThatCalls([])), 'completed');
    } finally {
      await Promise.all(running.map((each) => each.end()));
      rmSync(root, { recursive: true });
    }
  });

  test('starts a program of the build, without a shell between it and the signals', () => {
    const [command = ''] = valuesOf('CMD');
    const program = (JSON.parse(command) as string[]).at(-1) ?? '';
    expect(existsSync(path.join(packageRoot, program))).toBe(true);
    expect(valuesOf('HEALTHCHECK').join()).toMatch(/CMD \["node", .*\/healthz/);
  });

  test('contains no secret', () => {
    for (const rest of [...valuesOf('ENV', all), ...valuesOf('ARG', all)])
      expect(rest).not.toMatch(/PASSWORD|SECRET|TOKEN|KEY/);
  });

  test('installs only the packages that the running product imports', () => {
    expect(valuesOf('RUN', all).filter((rest) => rest.startsWith('npm ci'))).toEqual([
      'npm ci --ignore-scripts --no-audit --no-fund',
      'npm ci --omit=dev --workspaces=false --ignore-scripts --no-audit --no-fund',
    ]);
    const missing = [...packagesImportedBy('src', 'workflows', 'activities')].filter((name) => !(name in dependencies));
    expect(missing).toEqual([]);
  });
});

test('.dockerignore allows exactly the files that the build uses', () => {
  const allowed = text('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const folders = scripts.build.slice(0, scripts.build.indexOf(' -d ')).split(' ').slice(1);
  // The console has a build of its own. The Node client is compiled with the compiler options of the whole project.
  const files = ['package.json', 'package-lock.json', '.swcrc', 'tsconfig.json'];
  expect(allowed.sort()).toEqual([...files, 'sdk', 'console', ...folders].sort());
  expect(text('.dockerignore').split('\n')).toContain('*');
});

test('npm start and npm run stack leave no shell between npm and the program, so that it receives the signals of npm', () => {
  expect(scripts.start).toMatch(/ && exec node dist\/stack\/start\.js$/);
  expect(scripts.stack).toMatch(/ && exec node dist\/stack\/cli\.js$/);
});

test('package-lock.json names the optional packages of every platform, which npm ci requires', () => {
  const { packages } = JSON.parse(text('package-lock.json')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const locked = new Set(
    Object.keys(packages).map((key) => key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length)),
  );
  const missing = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies).filter((name) => !locked.has(name)),
  );
  expect(missing).toEqual([]);
});
