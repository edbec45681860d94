import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import type { Workspace } from './fixture.js';
import { testRun } from './run.js';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

type Project = Pick<Workspace, 'projectID' | 'apiKey'>;
export type GcsFolder = ReturnType<typeof folderOf>;

/** Fresh folders in which `gcs` runs as a process without a terminal; deleted after the tests of the file. */
export function useGcs() {
  const folders: string[] = [];
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));
  const create = (project: Project) => {
    const folder = folderOf(project);
    folders.push(folder.root);
    return folder;
  };
  return {
    create,
    /** With the files of the project. */
    async pulled(project: Project): Promise<GcsFolder> {
      const folder = create(project);
      for (const command of ['init', 'pull']) {
        const { code, stderr } = await folder.gcs([command]);
        if (code !== 0 || stderr !== '') throw new Error(`gcs ${command} ended with ${code}: ${stderr}`);
      }
      return folder;
    },
  };
}

function folderOf({ projectID, apiKey }: Project) {
  const root = mkdtempSync(path.join(tmpdir(), 'gcs-'));
  const settings = { GCS_URL: testRun().url, GCS_PROJECT: projectID, GCS_API_KEY: apiKey };
  const file = (name: string) => path.join(root, name);
  return {
    root,
    settings,
    file,
    read: (name: string) => readFileSync(file(name), 'utf8'),
    write(name: string, text: string) {
      mkdirSync(path.dirname(file(name)), { recursive: true });
      writeFileSync(file(name), text);
    },
    /** Replaces a part of a file. */
    edit(name: string, from: string | RegExp, to: string) {
      const text = readFileSync(file(name), 'utf8');
      const edited = text.replace(from, to);
      if (edited === text) throw new Error(`${name} does not have ${String(from)}:\n${text}`);
      writeFileSync(file(name), edited);
    },
    /** All files of a folder by their names, without hidden ones. */
    contents: (folder = '.'): Record<string, string> =>
      Object.fromEntries(
        readdirSync(file(folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => !name.startsWith('.') && !name.startsWith('config'))
          .filter((name) => statSync(path.join(file(folder), name)).isFile())
          .sort()
          .map((name) => [name, readFileSync(path.join(file(folder), name), 'utf8')]),
      ),
    gcs: (args: string[], env: Record<string, string> = settings): Promise<Ended> =>
      new Promise((resolve) => {
        const all = { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: file('config'), ...env };
        const program = path.join(packageRoot, 'sdk/cli/dist/gcs.mjs');
        execFile(process.execPath, [program, ...args], { cwd: root, env: all }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        );
      }),
  };
}
