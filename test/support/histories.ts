import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporal } from '@temporalio/proto';
import { packageRoot } from '../../src/package-root.js';

/** Saved histories of workflows; a file's name begins with the workflow's type. */
const folder = path.join(packageRoot, 'test/replay/histories');
const { History } = temporal.api.history.v1;

export interface SavedHistory {
  name: string;
  workflowType: string;
  history: temporal.api.history.v1.History;
}

export function savedHistories(): SavedHistory[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      const name = path.basename(file, '.json');
      const history = History.fromObject(JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as object);
      return { name, workflowType: name.split('.')[0] ?? '', history };
    });
}

/** As `<workflow type>.<name>.json`, bytes in base64. */
export function saveHistory(name: string, history: temporal.api.history.v1.IHistory): string {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  const file = path.join(folder, `${started?.workflowType?.name ?? 'unknown'}.${name}.json`);
  const plain = History.toObject(History.fromObject(history), { bytes: String, longs: String, enums: String });
  writeFileSync(file, `${JSON.stringify(plain, undefined, 1)}\n`);
  return file;
}
