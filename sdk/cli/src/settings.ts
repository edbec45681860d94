import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { createClient, type Client } from '../../node/src/index.js';
import { resumingFetch } from './held.js';
import { isObject } from './shape.js';
import { Problem } from './problem.js';

export interface Settings {
  url: string;
  project: string;
  apiKey: string;
}

const variables = ['GCS_URL', 'GCS_PROJECT', 'GCS_API_KEY'] as const;

/**
 * Reads the settings from the environment or, if it has none of them, from those that `login` stored. They are not mixed,
 * because a stored key must not go to another service.
 * @throws Problem if some are missing
 */
export function readSettings(): Settings {
  const given = setVariables();
  if (given.length === 0) return readStored();
  const missing = variables.filter((name) => !process.env[name]);
  if (missing.length > 0) throw new Problem(`${missing.join(' and ')}: must be set as well as ${given.join(' and ')}`);
  const [url = '', project = '', apiKey = ''] = variables.map((name) => process.env[name]);
  return { url, project, apiKey };
}

/**
 * Returns what `login` starts from: its options, then the environment. Without a key, the address and the project of the
 * last login count too.
 * @throws Problem if the address is missing, or the project of a given key
 */
export function settingsForLogin(options: {
  url?: string;
  project?: string;
}): Settings | { url: string; project: string | undefined; apiKey: undefined } {
  const [givenUrl, givenProject, apiKey] = variables.map((name) => process.env[name] || undefined);
  const last = apiKey === undefined ? storedSettings() : undefined;
  const url = options.url ?? givenUrl ?? last?.url;
  const project = options.project ?? givenProject ?? (url === last?.url ? last?.project : undefined);
  if (url === undefined) throw new Problem('name the service: `gcs login --url https://service.example.com`');
  checkAddress(url);
  if (apiKey === undefined) return { url, project, apiKey };
  if (project !== undefined) return { url, project, apiKey };
  throw new Problem('GCS_PROJECT: must be set as well as GCS_API_KEY; without a key, you choose it in a browser');
}

/** Says how to replace a key that the service does not accept. */
export function howToReplaceKey(): string {
  return setVariables().length > 0
    ? 'GCS_API_KEY must be a key of the project'
    : `replace it with \`gcs login\`; the present one is in ${storedAt()}`;
}

/** The variables of the environment that are set. */
export function setVariables(): string[] {
  return variables.filter((name) => process.env[name]);
}

function readStored(): Settings {
  const stored = storedSettings();
  if (stored) return stored;
  throw new Problem(`store the settings with \`gcs login\`, or set ${variables.join(', ')}`);
}

/** Returns what the last login stored. */
export function storedSettings(): Settings | undefined {
  try {
    const stored: unknown = JSON.parse(readFileSync(storedAt(), 'utf8'));
    if (isObject(stored)) return stored as unknown as Settings;
  } catch {
    // Nobody has signed in.
  }
  return undefined;
}

export function removeSettings(): void {
  rmSync(storedAt(), { force: true });
}

/** Stores the settings for the commands that follow, readable only by this user. Returns the path of the file. */
export function storeSettings(settings: Settings): string {
  const file = storedAt();
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // The mode applies only to a new file.
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  return file;
}

export function clientOf({ url, project, apiKey }: Settings): Client {
  checkAddress(url);
  const client: Client = createClient({
    workspace: `${url.replace(/\/+$/, '')}/ws_${encodeURIComponent(project)}`,
    apiKey,
    fetch: resumingFetch(path.join(configFolder(), 'held.json'), () => client),
  });
  return client;
}

function checkAddress(url: string): void {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Problem(`GCS_URL: ${JSON.stringify(url)} must be an address, such as https://service.example.com`);
}

function storedAt(): string {
  return path.join(configFolder(), 'credentials.json');
}

function configFolder(): string {
  return path.join(process.env.XDG_CONFIG_HOME ?? path.join(homedir(), '.config'), 'gcs');
}
