import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createJiti } from 'jiti/static';
import { inside, maxBytes, readText, requireFields, type InStep, type Local } from './folder.js';
import { plainOf, type Kind } from './kind.js';
import { Problem } from './problem.js';
import { isObject, type Json } from './shape.js';

const run = promisify(execFile);

/**
 * Runs a file with an agentflow in code. It belongs to `agentflows/<name>`, with the name of the file.
 * @throws Problem if there is no such file, or it has no agentflow
 */
export async function readCodeFile(root: string, kind: Kind, name: string): Promise<Local> {
  const source = placeBelow(root, name);
  readText(root, source);
  const file = path.basename(source).replace(/\.\w+$/, '');
  if (existsSync(inside(root, `${kind.folder}/${file}.yaml`)))
    throw new Problem(`${source}: ${kind.folder}/${file}.yaml has this agentflow too; delete one of the two files`);
  const value = await readCode(inside(root, source), source);
  requireFields(kind, source, value);
  return { file, content: plainOf(kind, value), source };
}

/** Finds which resources of the folder files on the command line are. @throws Problem for other files */
export function chosenFiles(root: string, kinds: readonly Kind[], names: readonly string[]) {
  const chosen = names.map((name) => {
    const at = placeBelow(root, name);
    if (isCode(at)) return { folder: 'agentflows' as const, file: path.basename(at).replace(/\.\w+$/, ''), source: at };
    const [, folder, file] = /^(\w+)\/([^/]+)\.yaml$/.exec(at) ?? [];
    const kind = kinds.find((each) => each.folder === folder);
    if (!kind || file === undefined || file.endsWith('.test'))
      throw new Problem(
        `${name}: must be a file of a project, such as agentflows/greeter.yaml, or code, such as greeter.ts`,
      );
    readText(root, at);
    return { folder: kind.folder, file, source: undefined };
  });
  const places = chosen.map(({ folder, file }) => `${folder}/${file}`);
  const twice = places.find((place, at) => places.indexOf(place) !== at);
  if (twice !== undefined) throw new Problem(`${twice}: must be one file, and two of the files are named like this`);
  return chosen;
}

function placeBelow(root: string, name: string): string {
  return path.relative(root, path.resolve(root, name)).replaceAll(path.sep, '/');
}

/** Whether the folder still has the file in code of an agentflow. */
export function hasSource(root: string, { source }: InStep): boolean {
  return source !== undefined && existsSync(inside(root, source.file));
}

/** Whether a file has an agentflow in TypeScript, JavaScript or Python. */
function isCode(name: string): boolean {
  return /\.(?:[cm]?[jt]s|py)$/.test(name);
}

/**
 * Runs a file, and returns its agentflow: the default export or, in Python, the variable `flow`. The file runs as any other
 * program of this user, so only files that the command line names are run.
 * @throws Problem if it fails, or has no agentflow
 */
async function readCode(at: string, name: string): Promise<Json> {
  const isPython = name.endsWith('.py');
  const value: unknown = await (isPython ? runPython(at) : runScript(at)).catch((error: unknown) => {
    throw new Problem(`${name}: cannot be run: ${lastLine(error)}`);
  });
  if (!isObject(value))
    throw new Problem(
      isPython
        ? `${name}: the variable flow must be an agentflow, as agentflow(…) makes it`
        : `${name}: the default export must be an agentflow, as defineAgentflow({ … }) makes it`,
    );
  return value;
}

async function runScript(at: string): Promise<unknown> {
  const load = createJiti(pathToFileURL(at).href, { fsCache: false, moduleCache: false, interopDefault: false });
  const { default: value } = await load.import<{ default?: unknown }>(at);
  return JSON.parse(JSON.stringify(value) ?? 'null') as unknown;
}

/** What the file prints goes to standard error, because standard output has the agentflow. */
const pythonProgram = `
import contextlib, json, runpy, sys
with contextlib.redirect_stdout(sys.stderr):
    names = runpy.run_path(sys.argv[1])
print(json.dumps(names.get("flow")))`;

async function runPython(at: string): Promise<unknown> {
  const python = process.platform === 'win32' ? 'python' : 'python3';
  const options = { cwd: path.dirname(at), maxBuffer: maxBytes };
  const { stdout } = await run(python, ['-c', pythonProgram, at], options);
  return JSON.parse(stdout) as unknown;
}

/** Programs end their report of an error with what is wrong. */
function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (
    (stderr?.trim() ? stderr : message)
      .trim()
      .split('\n')
      .at(stderr?.trim() ? -1 : 0) ?? ''
  );
}
