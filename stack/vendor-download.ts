import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { runToEnd } from './run-to-end.js';
import { StackError } from './stack-error.js';

const connectTimeoutMs = 3_000;

/** Uses the proxy of the environment, if it names one. */
function agentFor(env: NodeJS.ProcessEnv): EnvHttpProxyAgent {
  return new EnvHttpProxyAgent({
    httpProxy: env.http_proxy ?? env.HTTP_PROXY ?? '',
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? '',
    noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
    connect: { timeout: connectTimeoutMs },
    bodyTimeout: 30_000,
  });
}

/** Checks within about 3 s whether this machine can reach a vendor. Some machines can reach only package registries. */
export async function answersQuickly(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const request = { method: 'HEAD', dispatcher: agentFor(env), signal: AbortSignal.timeout(connectTimeoutMs) };
  return fetch(url, request).then(
    () => true,
    () => false,
  );
}

/** Downloads and unpacks a .tar.gz into `folder`. `sha256` is the digest that the archive must have, in hex. */
export async function downloadArchive(options: {
  url: string;
  sha256: string;
  folder: string;
  tarArgs?: readonly string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  signal?: AbortSignal | undefined;
}): Promise<void> {
  const { url, sha256, folder, tarArgs = [], env, logFile, signal } = options;
  const archive = path.join(folder, 'archive.tar.gz');
  const answer = await request(url, env, signal);
  await pipeline(Readable.from(answer.body ?? []), createWriteStream(archive));
  await compareDigest(archive, sha256);
  await runToEnd({ command: 'tar', args: ['-xzf', archive, '-C', folder, ...tarArgs], env, logFile }, signal);
  await rm(archive);
}

async function request(url: string, env: NodeJS.ProcessEnv, signal: AbortSignal | undefined): Promise<Response> {
  const response = await fetch(url, { dispatcher: agentFor(env), signal: signal ?? null });
  if (!response.ok) throw new StackError(`${url} answered ${response.status}`);
  return response;
}

async function compareDigest(file: string, sha256: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found !== sha256) throw new StackError(`the download has the SHA-256 ${found} instead of ${sha256}`);
}
