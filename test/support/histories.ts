import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { temporal } from '@temporalio/proto';
import type { Payload } from '@temporalio/common';
import type { Cipher } from '../../src/stores/encrypted-blobs.js';
import { decryptPayload, organizationOf } from '../../src/temporal/payload-codec.js';
import { packageRoot } from '../../src/package-root.js';

/** Histories in Protobuf's JSON, as `temporal workflow show --output json` writes them. */
const folder = path.join(packageRoot, 'test/replay/histories');

export interface HistoryJson {
  events: {
    eventType: string;
    workflowExecutionStartedEventAttributes?: { workflowType: { name: string } };
    [attributes: string]: any;
  }[];
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

/**
 * Saves a history with its payloads decrypted, so that it replays without the keys of the run. Returns the file's
 * path.
 */
export function saveHistory(name: string, history: temporal.api.history.v1.IHistory, cipher: Cipher): string {
  const file = path.join(folder, `${name}.json`);
  decryptWithin(history, cipher);
  writeFileSync(file, `${historyToJSON(history)}\n`);
  return file;
}

/** Decrypts in place, because payloads can be anywhere in an event's attributes. */
function decryptWithin(value: unknown, cipher: Cipher): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if ('metadata' in value && organizationOf(value as Payload) !== undefined)
    Object.assign(value, decryptPayload(cipher, value as Payload));
  else for (const each of Object.values(value)) decryptWithin(each, cipher);
}
