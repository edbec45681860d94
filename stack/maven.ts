import path from 'node:path';
import { packageRoot } from '../src/package-root.js';
import { cacheRoot, type Workplace } from './binary-cache.js';
import { lockWhenFree } from './lock-file.js';
import { ownServers, requireMaven } from './prerequisites.js';
import { runToEnd } from './run-to-end.js';
import { messageOf, StackError } from './stack-error.js';

const copyDependencies = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** A file of this module that is not TypeScript, and so is not copied to `dist`. */
export function stackFile(...parts: string[]): string {
  return path.join(packageRoot, 'stack', ...parts);
}

/** Copies the runtime dependencies of `stack/<name>/pom.xml` to `<folder>/lib`. */
export async function copyJars(name: 'neo4j' | 'mongodb', { env, folder, logFile, signal }: Workplace): Promise<void> {
  const maven = requireMaven(env);
  const output = `-DoutputDirectory=${path.join(folder, 'lib')}`;
  const args = ['-B', '-f', stackFile(name, 'pom.xml'), copyDependencies, '-DincludeScope=runtime', output];
  // Two Mavens that write to one local repository at the same time can spoil it.
  const release = await lockWhenFree(path.join(cacheRoot(env), 'maven.lock'), { waiting: () => undefined, signal });
  try {
    await runToEnd({ command: maven, args, env, logFile }, signal);
  } catch (error) {
    throw explained(error);
  } finally {
    release();
  }
}

function explained(error: unknown): unknown {
  const unreachable = /Unknown host|Could not transfer|Connection (refused|timed out)|Network is unreachable/i;
  if (!(error instanceof StackError) || !unreachable.test(messageOf(error))) return error;
  return new StackError(
    `Maven Central cannot be reached from here: allow Maven to reach it or a mirror (~/.m2/settings.xml), or ${ownServers}.`,
    { cause: error },
  );
}
