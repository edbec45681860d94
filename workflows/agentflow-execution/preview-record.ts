/** An action as it would be called. Inputs that only an earlier answer will supply are still missing. */
export interface ProposedAction {
  action_id: string;
  skill_id: string;
  /** The model's tool call; null for an action that the skill prescribes. */
  call_id: string | null;
  name: string;
  category: string;
  method: string;
  endpoint: string;
  input: Record<string, unknown>;
}

/** For actions, the fields to change, by action id or call id; for an output, the text that replaces it. */
export type PreviewEdits = Record<string, unknown> | string;

/** What an agent is about to do, for a person to decide. Times are epoch seconds. */
export interface Preview {
  /** The place in the run: `<agent>/preview`, `<agent>/turn-<n>/preview` or `<agent>/output/preview`. */
  preview_id: string;
  agent_id: string;
  /** Where in the flow; absent for the main part. */
  path?: string;
  title: string;
  status: 'waiting' | 'approved' | 'edited' | 'rejected' | 'expired';
  kind: 'actions' | 'output';
  proposed: ProposedAction[] | { output: string };
  edits: PreviewEdits | null;
  requested_at: number;
  /** Postponed by the length of a pause when the run is resumed. */
  expires_at: number;
  decided_by: string | null;
  decided_at: number | null;
}
