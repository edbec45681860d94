import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../src/base/packages.js';
import { caller, type Call, type SampleOptions } from './sample-api.js';

/** An agentflow that every project can add from the marketplace, as in `POST /agentflow`. */
export interface Template {
  name: string;
  description: string;
}

const folder = path.join(packageRoot, 'samples', 'templates');

/** Reads the templates, one file each, in the order of their files. */
export function readTemplates(): Template[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Template);
}

/** Publishes each template that the organization has not published yet. A start that was interrupted is completed. */
export async function publishTemplates({ apiUrl, workspace, signal }: Omit<SampleOptions, 'log'>): Promise<void> {
  const { organization_id, project_id } = workspace;
  const call = caller(apiUrl, { 'x-api-key': workspace.api_key }, signal);
  const published = (await readAll<{ name: string; organization_id: string }>(call, '/marketplace?')).filter(
    (each) => each.organization_id === organization_id,
  );
  const missing = readTemplates().filter(({ name }) => !published.some((each) => each.name === name));
  if (missing.length === 0) return;
  const agentflows = `/agentflow?projectID=${project_id}`;
  const present = await readAll<{ _id: string; name: string }>(call, `${agentflows}&`);
  // The marketplace lists the newest first.
  for (const template of missing.reverse()) {
    const found = present.find(({ name }) => name === template.name);
    const { _id: agentflow_id } = found ?? (await call<{ _id: string }>('POST', agentflows, template));
    await call('POST', '/marketplace', { agentflow_id, notes: '', projectID: project_id });
  }
}

interface Listed<T> {
  data: T[];
  next_cursor: string | null;
}

async function readAll<T>(call: Call, route: string): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Listed<T> = await call('GET', `${route}limit=200${from}`);
    all.push(...page.data);
    cursor = page.next_cursor;
  }
  return all;
}
