import { rm } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../src/base/packages.js';
import type { Workplace } from './binary-cache.js';
import { ownServers, requireMaven } from './prerequisites.js';
import { runToEnd } from './run-to-end.js';
import { messageOf, StackError } from './stack-error.js';

const copyDependencies = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** The path of a non-TypeScript file of this module, which is not copied to `dist`. */
export function stackFile(...parts: string[]): string {
  return path.join(packageRoot, 'stack', ...parts);
}

/** Copies the runtime dependencies of a `pom.xml` to `<folder>/lib`. */
export async function copyJars(pom: string, { env, folder, logFile, signal }: Workplace): Promise<void> {
  const maven = requireMaven(env);
  const output = `-DoutputDirectory=${path.join(folder, 'lib')}`;
  // A separate repository, so that two builds can run at the same time. It is deleted afterwards because no later step
  // needs it.
  const repository = path.join(folder, 'repository');
  const args = [
    '-B',
    '-f',
    pom,
    `-Dmaven.repo.local=${repository}`,
    copyDependencies,
    '-DincludeScope=runtime',
    output,
  ];
  try {
    await runToEnd({ command: maven, args, env, logFile }, signal);
  } catch (error) {
    throw explained(error);
  } finally {
    await rm(repository, { recursive: true, force: true });
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
