import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { StackError } from './stack-error.js';

/** Since 1.21, `go` downloads the newer toolchain that a module requires. */
const minGoVersion = [1, 21] as const;
const minJavaVersion = 17;
export const ownServers = 'set MONGODB_URI and NEO4J_URI to servers of your own';

export function findOnPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env.PATH ?? '').split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.join(folder, name)).find(isExecutableFile);
}

/** @throws StackError in one sentence if Go is missing or too old */
export async function requireGo(env: NodeJS.ProcessEnv): Promise<string> {
  const ask = `install Go ${minGoVersion.join('.')} or later (https://go.dev/dl), put temporal on PATH, or set TEMPORAL_ADDRESS`;
  const go = findOnPath('go', env);
  if (!go) throw new StackError(`Building Temporal needs Go, and there is no go on PATH: ${ask}.`);
  const version = (await outputOf(go, ['version'], env)).match(/go(\d+)\.(\d+)/);
  const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
  if (!version || major < minGoVersion[0] || (major === minGoVersion[0] && minor < minGoVersion[1])) {
    throw new StackError(`Building Temporal needs a newer Go than ${version?.[0] ?? go}: ${ask}.`);
  }
  return go;
}

/** Finds `java` or `javac`. @throws StackError in one sentence if it is missing or too old */
export async function requireJdk(program: 'java' | 'javac', env: NodeJS.ProcessEnv): Promise<string> {
  const ask = `install a JDK ${minJavaVersion} or later, or ${ownServers}`;
  const home = env.JAVA_HOME ? path.join(env.JAVA_HOME, 'bin', program) : undefined;
  const found = home && isExecutableFile(home) ? home : findOnPath(program, env);
  if (!found)
    throw new StackError(`The local Neo4j and MongoDB need Java, and there is no ${program} on PATH: ${ask}.`);
  const version = (await outputOf(found, ['-version'], env)).match(/(?:version "|javac )(\d+)/)?.[1];
  if (!version || Number(version) < minJavaVersion) {
    throw new StackError(`The local Neo4j and MongoDB need a newer Java than ${version ?? found}: ${ask}.`);
  }
  return found;
}

/** @throws StackError in one sentence if Maven is missing */
export function requireMaven(env: NodeJS.ProcessEnv): string {
  const maven = findOnPath('mvn', env);
  if (maven) return maven;
  throw new StackError(
    `The local Neo4j and MongoDB are fetched with Maven, and there is no mvn on PATH: install Maven 3.6 or later, or ${ownServers}.`,
  );
}

/** Java prints its version on stderr. */
async function outputOf(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(file, args, { env, timeout: 20_000 }).catch(() => ({
    stdout: '',
    stderr: '',
  }));
  return stdout + stderr;
}

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
