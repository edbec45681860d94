import type { Execution } from './api.js';

/** The states of a run that people see. The `state` filter of the API uses the same names. */
export const states = ['ready', 'running', 'waiting', 'paused', 'completed', 'failed', 'cancelled'] as const;
export type State = (typeof states)[number];

type Run = Pick<Execution, 'status' | 'execution_context'>;

interface Failure {
  code: string;
  message: string;
  /** The id of the person who caused it, for a cancel or a rejected preview. */
  by?: string | null;
  reason?: string;
  step_id?: string | null;
}

export function failureOf({ execution_context }: Run): Failure | undefined {
  return execution_context.failure as Failure | undefined;
}

interface Waiting {
  kind: 'turn' | 'preview' | 'approval' | 'elicitation' | 'question' | 'event' | 'step';
  agent_id?: string;
  approval_id?: string;
  error?: string;
  expires_at?: number;
  /** For an event. */
  name?: string;
  /** For a turn. */
  key?: string | null;
}

export function waitingOf({ execution_context }: Run): Waiting | undefined {
  return (execution_context.waiting_for as Waiting | null | undefined) ?? undefined;
}

/** Says that a run waits for other runs of its agentflow. */
export function waitsForTurn({ key }: Waiting): string {
  return typeof key === 'string' ? `Waiting for its turn, with the key ${JSON.stringify(key)}` : 'Waiting for its turn';
}

export function stateOf(run: Run): State {
  if (run.status === 'failed') return failureOf(run)?.reason === 'cancelled' ? 'cancelled' : 'failed';
  const kind = run.status === 'running' ? waitingOf(run)?.kind : undefined;
  return kind !== undefined && kind !== 'step' && kind !== 'event' ? 'waiting' : run.status;
}

export function isOver({ status }: Pick<Execution, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}

export const moves = ['pause', 'resume', 'cancel'] as const;
export type Move = (typeof moves)[number];
export type Action = Move | 'execute';

const actionsFrom: Record<Execution['status'], readonly Action[]> = {
  ready: ['execute', 'cancel'],
  running: ['pause', 'cancel'],
  paused: ['resume', 'cancel'],
  completed: [],
  failed: [],
};

/** Returns the actions that the state of a run allows and the person may perform. */
export function actionsOf(run: Run, may: (operation: string) => boolean): Action[] {
  const isStarted = run.status === 'ready' && waitingOf(run)?.kind === 'turn';
  return actionsFrom[run.status]
    .filter((action) => action !== 'execute' || !isStarted)
    .filter((action) => may(`post /execute_flow/{execution_id}/${action}`));
}
