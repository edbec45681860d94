import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import neo4j, { Neo4jError, type Driver } from 'neo4j-driver';
import { obtainBinary, obtainBuiltBinary, type Preparation, type Recipe, type Workplace } from './binary-cache.js';
import { copyJars, stackFile } from './maven.js';
import { ownPassword } from './own-password.js';
import { findOnPath, requireJdk } from './prerequisites.js';
import { externalService, launch, type ServerSpecification, type StartedService } from './service.js';
import { choosePorts } from './ports.js';
import { planFor, type LaunchPlan, type ServiceOptions } from './service-options.js';
import { messageOf, StackError } from './stack-error.js';
import { downloadArchive } from './vendor-download.js';

const pom = stackFile('neo4j', 'pom.xml');
const version = /<neo4j\.version>(.+?)</.exec(readFileSync(pom, 'utf8'))?.[1] ?? '';
const archiveUrl = `https://dist.neo4j.org/neo4j-community-${version}-unix.tar.gz`;
/** The SHA-256 of this version's archive, as in the official image of Neo4j. Change it together with the version. */
const archiveDigest = 'f22934e3f7c1ddae743d91243f38aa492f007471c6a2bdbdc882fe2b3e1e4bdd';

const recipe: Recipe = {
  title: 'Neo4j',
  download: {
    key: `neo4j-${version}`,
    probe: archiveUrl,
    into: (place) =>
      downloadArchive({ url: archiveUrl, sha256: archiveDigest, tarArgs: ['--strip-components=1'], ...place }),
  },
  build: {
    key: `neo4j-${version}`,
    from: 'Maven Central',
    takes: '1 minute',
    into: async (place) => {
      await requireJdk('java', place.env);
      await copyJars(pom, place);
    },
  },
};

/**
 * Neo4j's start script, or the folder of its jars. The vendor's archive and our build have the same `lib`. With the
 * class archive, Java starts Neo4j in half of the processor time.
 */
type Neo4jProgram = { script: string } | { lib: string; classes?: string | undefined };

/** Uses `neo4j` on PATH, from the cache or downloaded; otherwise fetches its jars from Maven Central. */
export async function resolveNeo4j(preparation: Preparation): Promise<Neo4jProgram> {
  const onPath = findOnPath('neo4j', preparation.env);
  if (onPath) return { script: onPath };
  const folder = await obtainBinary(recipe, preparation);
  const lib = path.join(folder, 'lib');
  return { lib, classes: await archivedClasses(lib, folder, preparation) };
}

/**
 * Returns Java's archive of the classes that a start loads. One start writes it when it ends. It is valid only for one
 * version of Java and of the jars.
 */
async function archivedClasses(lib: string, folder: string, preparation: Preparation): Promise<string | undefined> {
  const java = realpathSync(await requireJdk('java', preparation.env));
  const digest = createHash('sha256')
    .update(`${java} ${statSync(java).mtimeMs}`)
    .digest('hex')
    .slice(0, 12);
  const into = (place: Workplace) => archiveClasses(lib, place);
  const build = {
    key: path.join(path.basename(folder), `classes-${digest}`),
    from: 'one start',
    takes: '20 seconds',
    into,
  };
  const built = await obtainBuiltBinary({ title: 'Neo4j, for faster starts', build }, preparation).catch(
    (error: unknown) => {
      preparation.signal?.throwIfAborted();
      preparation.log(`Neo4j: its classes could not be archived, so it starts more slowly (${messageOf(error)})`);
      return undefined;
    },
  );
  const classes = built && path.join(built, archiveName);
  return classes && existsSync(classes) ? classes : undefined;
}

const archiveName = 'classes.jsa';

async function archiveClasses(lib: string, { env, folder, logFile, signal }: Workplace): Promise<void> {
  const home = path.join(folder, 'home');
  const ports = await choosePorts(['neo4j'] as const, {});
  const place = { folder: home, ports };
  const { command, args } = await commandFor({ lib }, { env, folder: home });
  await writeConfiguration(place);
  const archiving = `-XX:ArchiveClassesAtExit=${path.join(folder, archiveName)}`;
  const answers = () => answersWithOwnPassword(environmentOf(place));
  const shared = { name: 'neo4j', title: 'Neo4j', env, logFile, signal } as const;
  const service = await launch({ ...shared, command, args: [archiving, ...args], answers, log: () => undefined });
  // Unlike `stop`, this waits until Java has written the archive.
  await service.kill('SIGTERM');
  await rm(home, { recursive: true });
}

/** Uses the server of NEO4J_URI, or starts a local one. */
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
  const environment = environmentOf(plan);
  await writeConfiguration(plan);
  const service = await launch({
    ...plan,
    ...(await commandFor(program, plan)),
    title: 'Neo4j',
    answers: () => answersWithOwnPassword(environment),
  });
  return { service, environment };
}

interface Place {
  folder: string;
  ports: { neo4j: number };
}

type Neo4jEnvironment = Record<'NEO4J_URI' | 'NEO4J_USER' | 'NEO4J_PASSWORD', string>;

function environmentOf({ folder, ports }: Place): Neo4jEnvironment {
  return { NEO4J_URI: `bolt://127.0.0.1:${ports.neo4j}`, NEO4J_USER: 'neo4j', NEO4J_PASSWORD: ownPassword(folder) };
}

/** The password of a new database, which accepts nothing before it is changed (Neo4j Operations Manual, "Native auth"). */
const initialPassword = 'neo4j';

/** Replaces the initial password on the first start. */
async function answersWithOwnPassword(environment: Neo4jEnvironment): Promise<void> {
  try {
    await query(environment);
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
    await withDriver({ ...environment, NEO4J_PASSWORD: initialPassword }, (driver) =>
      driver.executeQuery(
        'ALTER CURRENT USER SET PASSWORD FROM $from TO $to',
        { from: initialPassword, to: environment.NEO4J_PASSWORD },
        { database: 'system' },
      ),
    );
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof Neo4jError && error.code === 'Neo.ClientError.Security.Unauthorized';
}

async function commandFor(
  program: Neo4jProgram,
  { env, folder }: Pick<LaunchPlan, 'env' | 'folder'>,
): Promise<Command> {
  const configuration = path.join(folder, 'conf');
  if ('script' in program)
    return { command: program.script, args: ['console'], env: { ...env, NEO4J_CONF: configuration } };
  const opened = ['nio', 'io', 'util.concurrent'].map((name) => `--add-opens=java.base/java.${name}=ALL-UNNAMED`);
  const args = [
    // Optimized for a fast start on two busy cores instead of throughput.
    ...['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
    // With the 48 MB of this compilation level, a long test run evicts methods and compiles them again.
    '-XX:ReservedCodeCacheSize=128m',
    ...(program.classes === undefined ? [] : [`-XX:SharedArchiveFile=${program.classes}`]),
    ...[...opened, '--add-opens=java.base/sun.nio.ch=ALL-UNNAMED', '-cp', path.join(program.lib, '*')],
    ...['org.neo4j.server.CommunityEntryPoint', `--home-dir=${folder}`, `--config-dir=${configuration}`],
  ];
  return { command: await requireJdk('java', env), args, env };
}

type Command = Pick<ServerSpecification, 'command' | 'args' | 'env'>;

async function writeConfiguration({ folder, ports }: Place): Promise<void> {
  const directories = ['data', 'logs', 'run', 'import'].map(
    (name) => `server.directories.${name}=${path.join(folder, name)}`,
  );
  const lines = [
    ...directories,
    'server.bolt.enabled=true',
    `server.bolt.listen_address=127.0.0.1:${ports.neo4j}`,
    'server.bolt.telemetry.enabled=false',
    // Otherwise, a stop waits twice 5 s for Bolt threads although the data is safe.
    'internal.server.bolt.thread_pool_shutdown_wait_time=200ms',
    'server.http.enabled=false',
    'server.https.enabled=false',
    'server.memory.heap.max_size=512m',
    'server.memory.pagecache.size=128m',
    'db.tx_log.rotation.retention_policy=1 files',
    // A query that exceeds its timeout stops at the next check. No query may use all memory.
    'db.transaction.monitor.check.interval=200ms',
    'db.transaction.timeout=120s',
    'db.memory.transaction.max=128m',
    'dbms.memory.transaction.total.max=256m',
    'dbms.security.auth_enabled=true',
    'dbms.usage_report.enabled=false',
  ];
  await mkdir(path.join(folder, 'conf'), { recursive: true });
  await writeFile(path.join(folder, 'conf', 'neo4j.conf'), `${lines.join('\n')}\n`);
}

async function query(target: Neo4jEnvironment): Promise<void> {
  await withDriver(target, (driver) => driver.executeQuery('RETURN 1'));
}

async function withDriver(target: Neo4jEnvironment, use: (driver: Driver) => Promise<unknown>): Promise<void> {
  const auth = neo4j.auth.basic(target.NEO4J_USER, target.NEO4J_PASSWORD);
  const driver = neo4j.driver(target.NEO4J_URI, auth, { connectionTimeout: 5_000, telemetryDisabled: true });
  try {
    await use(driver);
  } finally {
    await driver.close();
  }
}
