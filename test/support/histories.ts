import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { temporal } from '@temporalio/proto';
import { packageRoot } from '../../src/package-root.js';

/** Histories in Protobuf's JSON, as `temporal workflow show --output json` writes them. */
const folder = path.join(packageRoot, 'test/replay/histories');

export interface HistoryJson {
  events: { eventType: string; workflowExecutionStartedEventAttributes?: { workflowType: { name: string } }; [attributes: string]: any }[];
}

export interface SavedHistory {
  name: string;
  workflowType: string;
  history: HistoryJson;
}

export function savedHistories(): SavedHistory[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.map((file) => {
    const history = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as HistoryJson;
    const workflowType = history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name ?? '';
    return { name: path.basename(file, '.json'), workflowType, history };
  });
}

/** Gives the file's path. */
export function saveHistory(name: string, history: temporal.api.history.v1.IHistory): string {
  const file = path.join(folder, `${name}.json`);
  writeFileSync(file, `${historyToJSON(history)}\n`);
  return file;
}
