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
  const given = variables.filter((name) => process.env[name]);
  if (given.length === 0) return readStored();
  const missing = variables.filter((name) => !process.env[name]);
  if (missing.length > 0) throw new Problem(`${missing.join(' and ')}: must be set as well as ${given.join(' and ')}`);
  const [url = '', project = '', apiKey = ''] = variables.map((name) => process.env[name]);
  return { url, project, apiKey };
}

/** Says how to replace a key that the service does not accept. */
export function howToReplaceKey(): string {
  const isGiven = variables.some((name) => process.env[name]);
  return isGiven
    ? 'GCS_API_KEY must be a key of the project'
    : `create another key, and store it with \`gcs login\`; the present one is in ${storedAt()}`;
}

function readStored(): Settings {
  try {
    const stored: unknown = JSON.parse(readFileSync(storedAt(), 'utf8'));
    if (isObject(stored)) return stored as unknown as Settings;
  } catch {
    // Nobody has signed in.
  }
  throw new Problem(`set ${variables.join(', ')}, or store them with \`gcs login\``);
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
  if (!URL.canParse(url))
    throw new Problem(`GCS_URL: ${JSON.stringify(url)} must be an address, such as https://service.example.com`);
  const client: Client = createClient({
    workspace: `${url.replace(/\/+$/, '')}/ws_${encodeURIComponent(project)}`,
    apiKey,
    fetch: resumingFetch(path.join(configFolder(), 'held.json'), () => client),
  });
  return client;
}

function storedAt(): string {
  return path.join(configFolder(), 'credentials.json');
}

function configFolder(): string {
  return path.join(process.env.XDG_CONFIG_HOME ?? path.join(homedir(), '.config'), 'gcs');
}
