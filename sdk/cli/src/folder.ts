import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { isMap, parseDocument, stringify } from 'yaml';
import { Problem } from './problem.js';
import { plainOf, type Folder, type Kind } from './kind.js';
import { kinds } from './kinds.js';
import { isObject, type Json } from './shape.js';

/** The largest file that is read, in bytes. The service accepts requests of up to 4 MiB. */
export const maxBytes = 8 * 1024 * 1024;

/** A resource in files: `<folder>/<file>.yaml`, and a Markdown file for each prompt of an agentflow. */
export interface Local {
  file: string;
  /** Without what has its default. */
  content: Json;
  /** The file of an agentflow in code. */
  source?: string;
}

/** The content with which a file was in step. Code has content of its own, which the service has completed. */
export interface InStep {
  id: string;
  digest: string;
  source?: { file: string; digest: string };
}

/** With what this folder was in step, by the names of files. */
export interface State {
  project: string;
  resources: Record<Folder, Map<string, InStep>>;
}

/** @throws Problem if a file is no resource of this kind */
export function readFiles(root: string, kind: Kind): Local[] {
  const at = inside(root, kind.folder);
  if (!existsSync(at)) return [];
  return readdirSync(at)
    .filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml'))
    .sort()
    .map((name) => readResource(root, kind, name.slice(0, -'.yaml'.length)));
}

/** @throws Problem in a folder that `init` has not prepared */
export function requireFolder(root: string): void {
  if (!existsSync(inside(root, 'agentflows')))
    throw new Problem('there is no folder agentflows here; run `gcs init` in an empty folder first');
}

function readResource(root: string, kind: Kind, file: string): Local {
  const name = `${kind.folder}/${file}.yaml`;
  const value = readYaml(root, name, `the fields of one ${kind.noun}`);
  requireFields(kind, name, value);
  if (!kind.hasPrompts) return { file, content: plainOf(kind, value) };
  const agents = Array.isArray(value.agents) ? value.agents.map((each) => withPrompt(root, name, each)) : [];
  return { file, content: plainOf(kind, { ...value, agents }) };
}

export function requireFields({ required }: Kind, name: string, value: Json): void {
  const missing = required.find((field) => typeof value[field] !== 'string' || value[field] === '');
  if (missing !== undefined) throw new Problem(`${name}: ${missing}: must be a text`);
}

/** @throws Problem if the file is not an object in YAML */
export function readYaml(root: string, name: string, expected: string): Json {
  const document = parseDocument(readText(root, name), { prettyErrors: true });
  const [problem] = document.errors;
  if (problem?.code === 'MULTIPLE_DOCS')
    throw new Problem(`${name}: must be one YAML document; a line with --- begins another one`);
  if (problem) throw new Problem(`${name}: is not YAML: ${problem.message.split('\n')[0] ?? ''}`);
  if (!isMap(document.contents)) throw new Problem(`${name}: must be an object with ${expected}`);
  return document.toJS({ maxAliasCount: 100 }) as Json;
}

/** Replaces `prompt.file` by the text of the file, without the line end that editors add. */
function withPrompt(root: string, name: string, agent: unknown): Json {
  if (!isObject(agent) || typeof agent._id !== 'string')
    throw new Problem(`${name}: agents: each agent must be an object with an _id, such as "reader"`);
  const { prompt } = agent;
  if (!isObject(prompt) || prompt.file === undefined) return agent;
  const { file, ...others } = prompt;
  if (!isPromptFile(file))
    throw new Problem(
      `${name}: prompt.file of ${agent._id}: must be a Markdown file in the folder agentflows, such as greeter/reader.md`,
    );
  const template = readText(root, `agentflows/${file}`).replaceAll('\r\n', '\n').replace(/\n$/, '');
  return { ...agent, prompt: { template, ...others } };
}

/** Writes a resource. The same content always makes the same bytes. */
export function writeFiles(root: string, kind: Kind, file: string, content: Json): void {
  removePrompts(root, kind, file);
  const value = kind.hasPrompts ? withPromptFiles(root, file, content) : content;
  const text = stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
  writeText(root, `${kind.folder}/${file}.yaml`, `# yaml-language-server: $schema=../${schemaFileOf(kind)}\n${text}`);
}

export function schemaFileOf({ noun }: Kind): string {
  return `.gcs/${noun}.schema.json`;
}

function withPromptFiles(root: string, file: string, content: Json): Json {
  if (content.agents === undefined) return content;
  const names = new Set<string>();
  const agents = (content.agents as Json[]).map((agent) => {
    const { template, ...others } = (agent.prompt ?? {}) as Json;
    // A file would not keep such a line end on every computer.
    if (typeof template !== 'string' || template.includes('\r')) return agent;
    const prompt = `${file}/${uniqueName(String(agent._id), names, 'flow')}.md`;
    writeText(root, `agentflows/${prompt}`, `${template}\n`);
    return { ...agent, prompt: { file: prompt, ...others } };
  });
  return { ...content, agents };
}

export function removeFiles(root: string, kind: Kind, file: string): void {
  removePrompts(root, kind, file);
  rmSync(inside(root, `${kind.folder}/${file}.yaml`), { force: true });
}

/** Other files, such as the README of a repository, are neither sent nor replaced. */
function isPromptFile(file: unknown): file is string {
  return typeof file === 'string' && /^[^\\]+\.md$/.test(file) && !file.split('/').includes('..');
}

/** Removes the prompts that {@link writeFiles} wrote. Other agentflows may use a file that somebody else wrote. */
function removePrompts(root: string, { folder, hasPrompts }: Kind, file: string): void {
  const name = inside(root, `${folder}/${file}.yaml`);
  if (!hasPrompts || !existsSync(name)) return;
  const value: unknown = parseDocument(readFileSync(name, 'utf8')).toJS();
  for (const { prompt } of isObject(value) && Array.isArray(value.agents) ? (value.agents as Json[]) : [])
    if (isObject(prompt) && isPromptFile(prompt.file) && prompt.file.startsWith(`${file}/`))
      rmSync(inside(root, `${folder}/${prompt.file}`), { force: true });
}

export function readState(root: string, project: string): State {
  const name = inside(root, '.gcs/state.json');
  const stored: unknown = existsSync(name) ? JSON.parse(readFileSync(name, 'utf8')) : {};
  const known = isObject(stored) && stored.project === project ? stored : {};
  const resources = kinds.map(({ folder }) => [folder, new Map(Object.entries(known[folder] ?? {}))]);
  return { project, resources: Object.fromEntries(resources) as State['resources'] };
}

/** Notes with what a file is in step. A resource has one file. */
export function noteInStep(known: State['resources'][Folder], file: string, inStep: InStep): void {
  for (const [other, present] of known) if (present.id === inStep.id) known.delete(other);
  known.set(file, inStep);
}

export function writeState(root: string, { project, resources }: State): void {
  const folders = Object.entries(resources).map(([folder, known]) => [
    folder,
    Object.fromEntries([...known].sort(([one], [other]) => (one < other ? -1 : 1))),
  ]);
  const state = { project, ...(Object.fromEntries(folders) as object) };
  writeText(root, '.gcs/state.json', `${JSON.stringify(state, null, 2)}\n`);
}

/** Names that Windows gives to devices. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/** Returns a name for a file that every file system accepts, and adds it to those that are taken. */
export function uniqueName(text: string, taken: Set<string>, unnamed: string): string {
  const letters = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
  const base = letters === '' || reserved.test(letters) ? `${unnamed}-${letters}`.replace(/-$/, '') : letters;
  let name = base;
  for (let count = 2; taken.has(name); count += 1) name = `${base}-${count}`;
  taken.add(name);
  return name;
}

export function readText(root: string, name: string): string {
  const at = inside(root, name);
  const stats = statSync(at, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw new Problem(`${name}: there is no such file`);
  if (stats.size > maxBytes) throw new Problem(`${name}: has ${stats.size} bytes; at most ${maxBytes} are read`);
  return readFileSync(at, 'utf8');
}

export function writeText(root: string, name: string, text: string): void {
  const at = inside(root, name);
  mkdirSync(path.dirname(at), { recursive: true });
  writeFileSync(at, text);
}

/**
 * Returns the path of a file below the folder, with links resolved. A file of others must not reach outside: its prompts
 * would send private files to the service.
 * @throws Problem for a place outside
 */
export function inside(root: string, name: string): string {
  const at = path.resolve(root, name);
  let existing = at;
  while (!existsSync(existing)) existing = path.dirname(existing);
  const real = path.join(realpathSync(existing), path.relative(existing, at));
  const fromRoot = path.relative(realpathSync(root), real);
  if (fromRoot.startsWith('..') || path.isAbsolute(fromRoot))
    throw new Problem(`${name}: is outside of this folder; files must be below it`);
  return real;
}
