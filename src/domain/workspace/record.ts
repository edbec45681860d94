import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../base/errors.js';
import { parseJsonOrUndefined } from '../../base/json.js';

/** `$DATA_DIR/workspace.json` (contract, Environment and first start). */
export const Workspace = z.object({
  base_url: z.string(),
  api_url: z.string(),
  downstream_url: z.string(),
  temporal_address: z.string(),
  temporal_ui_url: z.string(),
  organization_id: z.string(),
  department_id: z.string(),
  project_id: z.string(),
  workspace: z.string(),
  admin: z.object({ email: z.string(), password: z.string() }),
  api_key: z.string(),
});
export type Workspace = z.infer<typeof Workspace>;

/**
 * @returns undefined if the file does not exist
 * @throws Error if the file is invalid. It is never overwritten, because it contains the only copy of its secrets.
 */
export async function readWorkspace(dataDir: string): Promise<Workspace | undefined> {
  const file = fileOf(dataDir);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const parsed = Workspace.safeParse(parseJsonOrUndefined(text));
  if (!parsed.success) throw new Error(`${file} is not a workspace file; move it away to seed a new one`);
  return parsed.data;
}

/** Links the complete file into place. Only the first of several processes succeeds; all return the resulting file. */
export async function claimWorkspace(dataDir: string, workspace: Workspace): Promise<Workspace> {
  await mkdir(dataDir, { recursive: true });
  const temporary = await writeTemporary(dataDir, workspace);
  try {
    await link(temporary, fileOf(dataDir));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  return (await readWorkspace(dataDir)) ?? workspace;
}

export async function replaceWorkspace(dataDir: string, workspace: Workspace): Promise<void> {
  await rename(await writeTemporary(dataDir, workspace), fileOf(dataDir));
}

async function writeTemporary(dataDir: string, workspace: Workspace): Promise<string> {
  const temporary = `${fileOf(dataDir)}.${randomUUID()}`;
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(workspace, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return temporary;
}

export function fileOf(dataDir: string): string {
  return path.join(dataDir, 'workspace.json');
}
