export interface ActionResult {
  action_id: string;
  skill_id: string;
  name: string;
  output: unknown;
  /** What an approver changed in the call. */
  edits?: Record<string, unknown>;
}
