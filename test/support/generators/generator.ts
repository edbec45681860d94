import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A generator of clients from an OpenAPI document. */
export interface Generator {
  name: string;
  /** The programs that it needs on the PATH. */
  needs: readonly string[];
  /** Generates a client into the folder, which contains `openapi.json`, and compiles it. */
  make: (folder: string) => Promise<unknown>;
  /** Reads an agentflow with the client. @returns what the program prints */
  call: (folder: string, target: Target) => Promise<string>;
}

/** What a program with a generated client calls. It prints the name of the agentflow and when it was created, separated by a space. */
export interface Target {
  SERVICE_URL: string;
  SERVICE_KEY: string;
  AGENTFLOW_ID: string;
}

const run = promisify(execFile);

/** Runs a program in a folder. @throws Error with its output if it fails */
export async function runIn(
  folder: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NODE_OPTIONS: '', ...env } };
  try {
    return (await run(program, args, options)).stdout;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string };
    // A compiler names the first mistakes first; the output of a generator ends with its mistake.
    const shown = [stdout, stderr].map((text) =>
      text.length > 6000 ? `${text.slice(0, 3000)}\n…\n${text.slice(-3000)}` : text,
    );
    throw new Error(`${program} ${args.join(' ')} failed\n${shown.join('\n')}`, { cause });
  }
}
