import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { Cipher } from '../../src/stores/encrypted-blobs.js';
import { decryptPayload, organizationOf } from '../../src/temporal/payload-codec.js';
import { packageRoot } from '../../src/base/packages.js';
import { answerQuestionUpdate } from '../../workflows/agentflow-execution/act-messages.js';
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

type Summary = { attributes: ReadonlySet<string>; updates: ReadonlySet<string>; local: ReadonlySet<string> };

/** Runs of flows that are saved besides the longest run of each type, each with what its history has. */
const flows: Readonly<Record<string, (has: Summary) => boolean>> = {
  'agentflow-execution-flow': ({ attributes }) =>
    ['childWorkflowExecutionStartedEventAttributes', 'timerFiredEventAttributes'].every((name) => attributes.has(name)),
  'agentflow-execution-ask': ({ updates }) => updates.has(answerQuestionUpdate.name),
  'agentflow-execution-light': ({ local, updates }) =>
    local.has('runCode') && local.has('takeModelTurn') && !updates.has(answerQuestionUpdate.name),
};

/** The histories that a run of the tests saves. */
export const savedNames = (types: readonly string[]): string[] => [...types.map(fileNameOf), ...Object.keys(flows)];

/**
 * Replaces saved histories: for each type, the longest completed run of the server with at most 150 events, and runs of flows.
 * The payloads are decrypted, so that they replay without the keys of the run.
 * @param names the histories to replace; the others stay
 */
export async function saveHistories(
  client: Client,
  cipher: Cipher,
  types: readonly string[],
  names: readonly string[] = savedNames(types),
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const name of names) {
    const type = types.find((each) => fileNameOf(each) === name) ?? agentflowExecutionType;
    const history = await longestOf(client, type, flows[name]);
    if (!history) throw new Error(`no run for ${name} has completed`);
    save(name, history, cipher);
  }
}

async function longestOf(
  client: Client,
  type: string,
  fits: (has: Summary) => boolean = () => true,
): Promise<History | undefined> {
  let longest: History | undefined;
  const query = `WorkflowType = '${type}' AND ExecutionStatus = 'Completed'`;
  for await (const { workflowId, runId, historyLength } of client.workflow.list({ query })) {
    if (historyLength > maxEvents || historyLength <= (longest?.events?.length ?? 0)) continue;
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    if (fits(summaryOf(history))) longest = history;
  }
  return longest;
}

function summaryOf({ events }: History): Summary {
  const all = events ?? [];
  return {
    attributes: new Set(all.flatMap((event) => Object.keys(event))),
    updates: new Set(
      all.map((event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name ?? ''),
    ),
    local: new Set(all.map(({ markerRecordedEventAttributes: marker }) => localActivityOf(marker?.details))),
  };
}

/** The name of the local activity whose end a marker records. */
function localActivityOf(
  details: Readonly<Record<string, { payloads?: Payload[] | null }>> | null | undefined,
): string {
  const [data] = details?.data?.payloads ?? [];
  return /"activity_type":"(\w+)"/.exec(Buffer.from(data?.data ?? []).toString())?.[1] ?? '';
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
