import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { MongoClient, MongoServerError } from 'mongodb';
import { obtainBinary, type Preparation, type Recipe, type Workplace } from './binary-cache.js';
import { copyJars, stackFile } from './maven.js';
import { ownPassword, passwordFile } from './own-password.js';
import { findOnPath, requireJdk } from './prerequisites.js';
import { runToEnd } from './run-to-end.js';
import { externalService, launch, type ServerSpecification, type StartedService } from './service.js';
import { planFor, type LaunchPlan, type ServiceOptions } from './service-options.js';
import { messageOf, StackError } from './stack-error.js';

const mongodVersion = '7.0.28';
const pom = stackFile('mongodb', 'pom.xml');
const classes = ['MongoStandIn', 'ScramGate', 'IndexedCollection', 'ReadPlanner', 'Conditions', 'Ordering'];
const sources = classes.map((name) => stackFile('mongodb', `${name}.java`));
const sourceHash = createHash('sha256');
for (const file of [...sources, pom]) sourceHash.update(readFileSync(file));
const sourceDigest = sourceHash.digest('hex');

const recipe: Recipe = {
  title: 'MongoDB',
  download: {
    key: `mongod-${mongodVersion}`,
    probe: `https://fastdl.mongodb.org/linux/mongodb-linux-x86_64-ubuntu2204-${mongodVersion}.tgz`,
    into: download,
  },
  build: {
    key: `mongodb-stand-in-${sourceDigest.slice(0, 12)}`,
    from: 'Maven Central (a stand-in)',
    takes: '20 seconds',
    into: build,
  },
};

/** The real server, or the folder of the stand-in that speaks its wire protocol. */
type MongodbProgram = { mongod: string } | { standIn: string };

/** Uses `mongod` on PATH, from the cache or downloaded; otherwise builds the stand-in. */
export async function resolveMongodb(preparation: Preparation): Promise<MongodbProgram> {
  const onPath = findOnPath('mongod', preparation.env);
  if (onPath) return { mongod: onPath };
  const folder = await obtainBinary(recipe, preparation);
  const mongod = path.join(folder, 'mongod');
  return existsSync(mongod) ? { mongod } : { standIn: folder };
}

/** Uses the server of MONGODB_URI, or starts a local one. */
export async function startMongodb(options: ServiceOptions): Promise<StartedService> {
  const plan = await planFor('mongodb', options);
  if (plan.env.MONGODB_URI) {
    await ping(plan.env.MONGODB_URI, 5_000).catch((error: unknown) => {
      throw new StackError(`The MongoDB that MONGODB_URI names does not answer (${messageOf(error)}).`);
    });
    return { service: externalService('mongodb'), environment: { MONGODB_URI: plan.env.MONGODB_URI } };
  }
  const program = await resolveMongodb(plan);
  const password = ownPassword(plan.folder);
  const uri = uriOf(plan.ports.mongodb, password);
  const answers = () => ping(uri, 500).catch((error: unknown) => createUser(error, plan.ports.mongodb, password));
  const service = await launch({ ...plan, ...(await commandFor(program, plan)), answers });
  return { service, environment: { MONGODB_URI: uri } };
}

const user = 'service';

function uriOf(port: number, password: string): string {
  return `mongodb://${user}:${password}@127.0.0.1:${port}/service?authSource=admin&authMechanism=SCRAM-SHA-256`;
}

/**
 * Creates the user on the first start of a real server, which admits local connections until it has a user (MongoDB
 * manual, "Localhost Exception in Self-Managed Deployments").
 */
async function createUser(error: unknown, port: number, password: string): Promise<void> {
  if (!isAuthenticationFailure(error)) throw error;
  const client = new MongoClient(`mongodb://127.0.0.1:${port}`, { serverSelectionTimeoutMS: 500 });
  try {
    await client.db('admin').command({ createUser: user, pwd: password, roles: ['root'] });
  } finally {
    await client.close();
  }
}

function isAuthenticationFailure(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 18;
}

/** The two programs store data in different formats, so they use separate folders. */
async function commandFor(program: MongodbProgram, { env, folder, log, ports }: LaunchPlan): Promise<TitledCommand> {
  const port = String(ports.mongodb);
  const file = path.join(folder, 'stand-in.h2');
  if ('mongod' in program) {
    if (existsSync(file))
      log(`MongoDB: using ${program.mongod} from now on; the data of the stand-in remains in ${file}`);
    const data = path.join(folder, 'mongod');
    await mkdir(data, { recursive: true });
    return {
      title: 'MongoDB',
      command: program.mongod,
      args: ['--dbpath', data, '--port', port, '--bind_ip', '127.0.0.1', '--auth'],
    };
  }
  await mkdir(folder, { recursive: true });
  const classPath = [path.join(program.standIn, 'classes'), path.join(program.standIn, 'lib', '*')].join(
    path.delimiter,
  );
  return {
    title: 'MongoDB (stand-in)',
    command: await requireJdk('java', env),
    // As for Neo4j, these options halve the processor time of the first 20,000 operations.
    args: [
      ...['-Xmx1g', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', classPath],
      ...['MongoStandIn', file, port, user, passwordFile(folder)],
    ],
  };
}

type TitledCommand = Pick<ServerSpecification, 'title' | 'command' | 'args'>;

async function ping(uri: string, timeoutMs: number): Promise<void> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: timeoutMs });
  try {
    await client.db().command({ ping: 1 });
  } finally {
    await client.close();
  }
}

async function download({ env, folder, logFile, signal }: Workplace): Promise<void> {
  const args = [stackFile('mongodb', 'download-mongod.mjs'), mongodVersion, folder];
  await runToEnd({ command: process.execPath, args, env, logFile }, signal);
}

async function build(place: Workplace): Promise<void> {
  const { env, folder, logFile, signal } = place;
  const javac = await requireJdk('javac', env);
  await copyJars(pom, place);
  const args = ['-cp', path.join(folder, 'lib', '*'), '-d', path.join(folder, 'classes'), ...sources];
  await runToEnd({ command: javac, args, env, logFile }, signal);
}
