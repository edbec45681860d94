import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { Cipher } from '../../src/stores/encrypted-blobs.js';
import { decryptPayload, organizationOf } from '../../src/temporal/payload-codec.js';
import { packageRoot } from '../../src/base/packages.js';
import { agentflowExecutionType } from '../../workflows/agentflow-execution/messages.js';

/** Histories in Protobuf's JSON, as `temporal workflow show --output json` writes them. */
const folder = path.join(packageRoot, 'test/replay/histories');

export interface HistoryJson {
  events: {
    eventType: string;
    workflowExecutionStartedEventAttributes?: { workflowType: { name: string }; workflowId: string };
    [attributes: string]: any;
  }[];
}

export interface SavedHistory {
  name: string;
  workflowType: string;
  /** The messages of a run are sealed for it. */
  workflowId: string;
  history: HistoryJson;
}

export function savedHistories(): SavedHistory[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.map((file) => {
    const history = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as HistoryJson;
    const started = history.events[0]?.workflowExecutionStartedEventAttributes;
    if (!started) throw new Error(`${file} has no beginning`);
    const { workflowType, workflowId } = started;
    return { name: path.basename(file, '.json'), workflowType: workflowType.name, workflowId, history };
  });
}

/** Longer histories hold more behaviour, and still replay quickly. */
const maxEvents = 150;

/**
 * Replaces the saved histories: for each type, the longest completed run of the server with at most 150 events, and a run
 * of a flow with several paths. The payloads are decrypted, so that they replay without the keys of the run.
 */
export async function saveHistories(client: Client, cipher: Cipher, types: readonly string[]): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await saveFlow(client, cipher);
  for (const type of types) {
    let longest: { workflowId: string; runId: string; events: number } | undefined;
    const query = `WorkflowType = '${type}' AND ExecutionStatus = 'Completed'`;
    for await (const { workflowId, runId, historyLength: events } of client.workflow.list({ query }))
      if (events <= maxEvents && events > (longest?.events ?? 0)) longest = { workflowId, runId, events };
    if (!longest) throw new Error(`no run of ${type} has completed`);
    const { workflowId, runId } = longest;
    save(fileNameOf(type), await client.workflow.getHandle(workflowId, runId).fetchHistory(), cipher);
  }
}

/** Saves a run of a flow with several paths: the longest completed one that has started another run and set a timer. */
async function saveFlow(client: Client, cipher: Cipher): Promise<void> {
  let longest: History | undefined;
  const query = `WorkflowType = '${agentflowExecutionType}' AND ExecutionStatus = 'Completed'`;
  for await (const { workflowId, runId, historyLength } of client.workflow.list({ query })) {
    if (historyLength > maxEvents || historyLength <= (longest?.events?.length ?? 0)) continue;
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const attributes = new Set(history.events?.flatMap((event) => Object.keys(event)));
    const isFlow = ['childWorkflowExecutionStartedEventAttributes', 'timerFiredEventAttributes'].every((name) =>
      attributes.has(name),
    );
    if (isFlow) longest = history;
  }
  if (!longest) throw new Error('no run of a flow has completed');
  save(`${fileNameOf(agentflowExecutionType)}-flow`, longest, cipher);
}

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

function save(name: string, history: History, cipher: Cipher): void {
  decryptWithin(history, cipher);
  writeFileSync(path.join(folder, `${name}.json`), `${historyToJSON(history)}\n`);
}

function fileNameOf(type: string): string {
  return type.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Decrypts in place, because payloads can be anywhere in the attributes of an event. */
function decryptWithin(value: unknown, cipher: Cipher): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if ('metadata' in value && organizationOf(value as Payload) !== undefined)
    Object.assign(value, decryptPayload(cipher, value as Payload));
  else for (const each of Object.values(value)) decryptWithin(each, cipher);
}
