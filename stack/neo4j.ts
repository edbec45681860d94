import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import neo4j from 'neo4j-driver';
import { obtain, type Preparation, type Recipe } from './binary-cache.js';
import { copyJars, stackFile } from './maven.js';
import { findOnPath, requireJdk } from './prerequisites.js';
import { externalService, launch, type ServerSpecification, type StartedService } from './service.js';
import { planFor, type LaunchPlan, type ServiceOptions } from './service-options.js';
import { messageOf, StackError } from './stack-error.js';
import { downloadArchive } from './vendor-download.js';

const version = /<neo4j\.version>(.+?)</.exec(readFileSync(stackFile('neo4j', 'pom.xml'), 'utf8'))?.[1] ?? '';
const archiveUrl = `https://dist.neo4j.org/neo4j-community-${version}-unix.tar.gz`;

const recipe: Recipe = {
  title: 'Neo4j',
  download: {
    key: `neo4j-${version}`,
    probe: archiveUrl,
    into: (place) =>
      downloadArchive({ url: archiveUrl, sha256Url: `${archiveUrl}.sha256`, tarArgs: ['--strip-components=1'], ...place }),
  },
  build: {
    key: `neo4j-${version}`,
    from: 'Maven Central',
    takes: '1 minute',
    into: async (place) => {
      await requireJdk('java', place.env);
      await copyJars('neo4j', place);
    },
  },
};

/** Neo4j's own start script, or the folder of its jars. The vendor's archive and our build hold the same `lib`. */
export type Neo4jProgram = { script: string } | { lib: string };

/** `neo4j` on PATH, else cached, else downloaded, else its jars from Maven Central. */
export async function resolveNeo4j(preparation: Preparation): Promise<Neo4jProgram> {
  const onPath = findOnPath('neo4j', preparation.env);
  if (onPath) return { script: onPath };
  return { lib: path.join(await obtain(recipe, preparation), 'lib') };
}

/** Uses NEO4J_URI when the environment names one, else starts a server of our own. */
export async function startNeo4j(options: ServiceOptions): Promise<StartedService> {
  const plan = await planFor('neo4j', options);
  const { NEO4J_URI: external, NEO4J_USER: user = 'neo4j', NEO4J_PASSWORD: password = '' } = plan.env;
  if (external) {
    const environment = { NEO4J_URI: external, NEO4J_USER: user, NEO4J_PASSWORD: password };
    await query(environment).catch((error: unknown) => {
      throw new StackError(`Neo4j at ${external} does not answer (${messageOf(error)}).`);
    });
    return { service: externalService('neo4j'), environment };
  }
  const program = await resolveNeo4j(plan);
  const environment = { NEO4J_URI: `bolt://127.0.0.1:${plan.ports.neo4j}`, NEO4J_USER: 'neo4j', NEO4J_PASSWORD: '' };
  await writeConfiguration(plan);
  const service = await launch({
    ...plan,
    ...(await commandFor(program, plan)),
    title: 'Neo4j',
    answers: () => query(environment),
  });
  return { service, environment };
}

async function commandFor(program: Neo4jProgram, { env, folder }: LaunchPlan): Promise<Command> {
  const configuration = path.join(folder, 'conf');
  if ('script' in program) return { command: program.script, args: ['console'], env: { ...env, NEO4J_CONF: configuration } };
  const opened = ['nio', 'io', 'util.concurrent'].map((name) => `--add-opens=java.base/java.${name}=ALL-UNNAMED`);
  const args = [
    // Quick to start and to warm up on two busy cores, which counts for more here than the highest throughput.
    ...['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
    ...[...opened, '--add-opens=java.base/sun.nio.ch=ALL-UNNAMED', '-cp', path.join(program.lib, '*')],
    ...['org.neo4j.server.CommunityEntryPoint', `--home-dir=${folder}`, `--config-dir=${configuration}`],
  ];
  return { command: await requireJdk('java', env), args, env };
}

type Command = Pick<ServerSpecification, 'command' | 'args' | 'env'>;

async function writeConfiguration({ folder, ports }: LaunchPlan): Promise<void> {
  const directories = ['data', 'logs', 'run', 'import'].map((name) => `server.directories.${name}=${path.join(folder, name)}`);
  const lines = [
    ...directories,
    'server.bolt.enabled=true',
    `server.bolt.listen_address=127.0.0.1:${ports.neo4j}`,
    'server.bolt.telemetry.enabled=false',
    // A stop would wait twice 5 s for Bolt's threads, after the data is safe.
    'internal.server.bolt.thread_pool_shutdown_wait_time=200ms',
    'server.http.enabled=false',
    'server.https.enabled=false',
    'server.memory.heap.max_size=512m',
    'server.memory.pagecache.size=128m',
    'db.tx_log.rotation.retention_policy=1 files',
    'dbms.security.auth_enabled=false',
    'dbms.usage_report.enabled=false',
  ];
  await mkdir(path.join(folder, 'conf'), { recursive: true });
  await writeFile(path.join(folder, 'conf', 'neo4j.conf'), `${lines.join('\n')}\n`);
}

async function query(target: { NEO4J_URI: string; NEO4J_USER: string; NEO4J_PASSWORD: string }): Promise<void> {
  const auth = neo4j.auth.basic(target.NEO4J_USER, target.NEO4J_PASSWORD);
  const driver = neo4j.driver(target.NEO4J_URI, auth, { connectionTimeout: 5_000, telemetryDisabled: true });
  try {
    await driver.verifyConnectivity();
    await driver.executeQuery('RETURN 1');
  } finally {
    await driver.close();
  }
}
