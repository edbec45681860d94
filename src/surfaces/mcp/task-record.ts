import { addToCounter, currentWindow } from '../../auth/window-counter.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { SecretBox } from '../../auth/secret-box.js';
import { epochSeconds } from '../../base/time.js';
import { ownerOf } from './caller.js';
import type { CallOutcome, Exchange } from './exchange.js';

/**
 * A tool call whose result a client fetches later (MCP tasks). This record is the complete task, so every process can
 * serve it. The approval or execution that it follows is a separate record. `_id` is the unguessable task id. Times are
 * epoch seconds.
 */
export interface McpTaskDocument {
  _id: string;
  /** The owner in the form of `ownerOf`. Other callers get the response for an unknown task. */
  owner: string;
  organization_id: string;
  project_id: string;
  tool: string;
  /** `held` waits for its approval; `running` waits for its execution. */
  state: 'held' | 'running' | 'ended' | 'cancelled';
  approval_id: string | null;
  execution_id: string | null;
  /** The call and its latest outcome, encrypted. */
  sealed: string;
  /** Until this time, one process has the right to make the approved call. */
  claimed_until: number;
  created_at: number;
  updated_at: number;
  expires_at: Date;
}

/** The encrypted part of a task. Arguments and results are data of the project. */
const Contents = z.strictObject({
  input: z.record(z.string(), z.unknown()),
  outcome: z.looseObject({ kind: z.enum(['answer', 'refusal', 'pending']), body: z.record(z.string(), z.unknown()) }),
});
interface TaskContents {
  input: Record<string, unknown>;
  outcome: CallOutcome;
}

/** The time for which a task can be read. */
export const taskSeconds = 7 * 24 * 3600;

/** A larger task would exceed MongoDB's document size after encryption. */
const maxContentsLength = 8 * 1024 * 1024;

export function newTask(
  { caller }: Exchange,
  tool: string,
): Omit<McpTaskDocument, 'state' | 'approval_id' | 'execution_id' | 'sealed'> {
  const { principal } = caller;
  const now = epochSeconds();
  return {
    _id: randomUUID(),
    owner: ownerOf(principal),
    organization_id: principal.organizationId,
    project_id: principal.projectId,
    tool,
    claimed_until: 0,
    created_at: now,
    updated_at: now,
    expires_at: new Date((now + taskSeconds) * 1000),
  };
}

/** The characters that the tasks of a project can keep in `taskSeconds`. A window ends at a fixed time. */
export const maxProjectLength = 1024 ** 3;
export const lengthCounter = (projectId: string, window: number) => `mcp-tasks:${projectId}:${window}`;

interface Sealing {
  box: SecretBox;
  counters: Collections['request_counters'];
}

/** Encrypts the contents. A final answer for which there is no space is replaced by a refusal. */
export async function sealContents(
  { box, counters }: Sealing,
  { _id, project_id, state }: Pick<McpTaskDocument, '_id' | 'project_id' | 'state'>,
  contents: TaskContents,
): Promise<string> {
  const text = JSON.stringify(contents);
  const problem =
    text.length > maxContentsLength
      ? 'is larger than the 8 MiB that a task keeps'
      : state === 'ended' && !(await fits(counters, project_id, text.length))
        ? 'cannot be kept: the tasks of the project keep at most 1 GiB in a week'
        : undefined;
  if (problem === undefined) return box.seal(text, purposeOf(_id));
  const { lifecycle_id } = contents.outcome.body;
  const error_description = `the answer ${problem}; call the tool without a task`;
  const body = { error: 'payload_too_large', error_description, lifecycle_id };
  return box.seal(JSON.stringify({ input: {}, outcome: { kind: 'refusal', body } }), purposeOf(_id));
}

async function fits(counters: Sealing['counters'], projectId: string, length: number): Promise<boolean> {
  const { window, endsAt } = currentWindow(taskSeconds);
  const id = lengthCounter(projectId, window);
  if ((await addToCounter(counters, id, length, endsAt)) <= maxProjectLength) return true;
  await addToCounter(counters, id, -length, endsAt);
  return false;
}

export function openContents(box: SecretBox, { _id, sealed }: McpTaskDocument): TaskContents {
  return Contents.parse(JSON.parse(box.open(sealed, purposeOf(_id)))) as TaskContents;
}

function purposeOf(taskId: string): string {
  return `mcp-task:${taskId}`;
}

export const mcpTasksCollection = defineCollection('mcp_tasks', {
  indexes: [{ keys: { project_id: 1 } }, expiring],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    mcp_tasks: McpTaskDocument;
  }
}
