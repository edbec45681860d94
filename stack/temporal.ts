import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { searchAttributeTypes } from '../workflows/search-attributes.js';
import { cachedFolder, obtainBinary, type Preparation, type Recipe, type Workplace } from './binary-cache.js';
import { findOnPath, requireGo } from './prerequisites.js';
import { runToEnd } from './run-to-end.js';
import { externalService, launch, type StartedService } from './service.js';
import { planFor, type LaunchPlan, type ServiceOptions } from './service-options.js';
import { messageOf, StackError } from './stack-error.js';
import { checkTemporal } from './temporal-readiness.js';
import { downloadArchive } from './vendor-download.js';

/** The newest version that `go install` supports. Later ones have a `replace` directive. */
const version = '1.5.1';
const platform = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;
const archiveUrl = `https://github.com/temporalio/cli/releases/download/v${version}/temporal_cli_${version}_${platform}.tar.gz`;
/** The SHA-256 of this version's archives, by platform. Change them together with the version. */
const archiveDigests: Readonly<Record<string, string>> = {
  darwin_amd64: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  darwin_arm64: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
  linux_amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  linux_arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
};

const recipe: Recipe = {
  title: 'Temporal',
  download: {
    key: `temporal-${version}`,
    probe: archiveUrl,
    into: async (place) => {
      const sha256 = archiveDigests[platform];
      if (sha256 === undefined) throw new StackError(`there is no archive for ${platform}`);
      await downloadArchive({ url: archiveUrl, sha256, ...place });
    },
  },
  build: { key: `temporal-${version}`, from: 'the Go module proxy', takes: '3 to 7 minutes', into: build },
};

interface StartedTemporal extends StartedService {
  cli?: string | undefined;
}

/** Finds the `temporal` binary: on PATH, from the cache, downloaded, or built. */
export async function resolveTemporal(preparation: Preparation): Promise<string> {
  const onPath = findOnPath('temporal', preparation.env);
  return onPath ?? path.join(await obtainBinary(recipe, preparation), 'temporal');
}

/** Uses the server of TEMPORAL_ADDRESS, or starts a local development server. */
export async function startTemporal(options: ServiceOptions): Promise<StartedTemporal> {
  const plan = await planFor('temporal', options);
  const namespace = plan.env.TEMPORAL_NAMESPACE || 'default';
  if (plan.env.TEMPORAL_ADDRESS) return useExternal(plan.env.TEMPORAL_ADDRESS, namespace, plan);
  const cli = await resolveTemporal(plan);
  await mkdir(plan.folder, { recursive: true });
  const address = `127.0.0.1:${plan.ports.temporal}`;
  const service = await launch({
    ...plan,
    title: 'Temporal',
    command: cli,
    args: serverArguments(plan, namespace, { ...dynamicConfig, ...options.dynamicConfig }),
    answers: () => checkTemporal({ address, namespace, env: {} }),
  });
  const environment = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_UI_URL: `http://localhost:${plan.ports.temporalUi}`,
    PROTECTED_TARGETS: [plan.ports.temporalHttp, plan.ports.temporalMetrics]
      .map((port) => `127.0.0.1:${port}`)
      .join(','),
  };
  return { service, environment, cli };
}

async function useExternal(address: string, namespace: string, { env }: LaunchPlan): Promise<StartedTemporal> {
  await checkTemporal({ address, namespace, env });
  const cached = cachedFolder(recipe, env);
  const ui: Record<string, string> = env.TEMPORAL_UI_URL ? { TEMPORAL_UI_URL: env.TEMPORAL_UI_URL } : {};
  return {
    service: externalService('temporal'),
    environment: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ...ui },
    cli: findOnPath('temporal', env) ?? (cached && path.join(cached, 'temporal')),
  };
}

function serverArguments({ folder, ports, codecEndpoint }: LaunchPlan, namespace: string, settings: object): string[] {
  const attributes = Object.entries(searchAttributeTypes).map(([name, type]) => `${name}=${cliTypeNames[type]}`);
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--ui-ip', '127.0.0.1'],
    ...['--port', String(ports.temporal), '--ui-port', String(ports.temporalUi)],
    ...['--http-port', String(ports.temporalHttp), '--metrics-port', String(ports.temporalMetrics)],
    ...['--db-filename', path.join(folder, 'temporal.db'), '--namespace', namespace, '--log-level', 'warn'],
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    ...(codecEndpoint === undefined ? [] : ['--ui-codec-endpoint', codecEndpoint]),
    ...attributes.flatMap((attribute) => ['--search-attribute', attribute]),
    ...Object.entries(settings).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
  ];
}

/**
 * By default each shard loads transfer and timer tasks at most 20 times a second. This server has one shard, so each
 * step of a run would wait 40 to 50 ms (docs/guides/scale-out.md).
 */
const dynamicConfig = {
  // Closes the HTTP API, which accepts requests of any web page. Nothing of the product uses it.
  'frontend.httpAllowedHosts': '["closed.invalid"]',
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  'system.enableActivityEagerExecution': true,
  // Both polls of Temporal's own worker, which runs the schedules, can wait for one kind of task while tasks of the other kind
  // are due. By default they wait a minute (docs/guides/scale-out.md).
  'matching.longPollExpirationInterval': '"5s"',
  // More partitions of a queue help several servers.
  'matching.numTaskqueueWritePartitions': 1,
  'matching.numTaskqueueReadPartitions': 1,
  // Enables priorities. Fairness stays off: this version would lose tasks that were queued before it was enabled
  // (decision 0005).
  'matching.useNewMatcher': true,
};

const cliTypeNames = { KEYWORD: 'Keyword' } as const;

/** Builds the binary. Deletes the build caches afterwards because they take more than a gigabyte. */
async function build({ env, folder, logFile, signal }: Workplace): Promise<void> {
  const go = await requireGo(env);
  const caches = path.join(folder, 'caches');
  await mkdir(caches);
  const args = ['install', '-ldflags', '-s -w', `github.com/temporalio/cli/cmd/temporal@v${version}`];
  // Without cgo, the build needs no C compiler. The SQLite of the server is written in Go.
  const places = {
    GOBIN: folder,
    GOTMPDIR: caches,
    GOCACHE: path.join(caches, 'build'),
    GOMODCACHE: path.join(caches, 'modules'),
  };
  const goEnv = { ...env, ...places, CGO_ENABLED: '0', GOFLAGS: '-modcacherw' };
  try {
    await runToEnd({ command: go, args, env: goEnv, logFile }, signal);
  } catch (error) {
    throw explained(error);
  } finally {
    await rm(caches, { recursive: true, force: true });
  }
}

function explained(error: unknown): unknown {
  if (!(error instanceof StackError)) return error;
  const wanted = messageOf(error).match(/requires go >= ([\d.]+)/)?.[1];
  if (wanted) {
    const ask = 'install it from https://go.dev/dl, or set TEMPORAL_ADDRESS';
    return new StackError(`Building Temporal needs Go ${wanted} or later: ${ask}.`, { cause: error });
  }
  if (!/dial tcp|no such host|i\/o timeout|connection refused|unreachable/i.test(messageOf(error))) return error;
  return new StackError(
    'The Go module proxy cannot be reached from here: set GOPROXY to one that can, put temporal on PATH, or set TEMPORAL_ADDRESS.',
    { cause: error },
  );
}
