import type { ErrorCode } from '../../base/error-catalog.js';

/** The stages of a governed call in their order, and what each does (docs/specification.md, "Governed calls"). */
export const stageDocs = [
  { stage: 'S1:authenticate', does: 'verifies the credential' },
  { stage: 'S2:resolve-scope', does: 'resolves organization, project and role, and checks the grant' },
  { stage: 'S3:rate-quota', does: 'checks the request windows' },
  { stage: 'S4:validate-input', does: 'validates payload and query' },
  { stage: 'S5:policy', does: 'evaluates the policies' },
  { stage: 'S6:approval', does: 'asks for an approval, or takes its resume token' },
  { stage: 'S7:dry-run', does: 'describes what would be done' },
  { stage: 'S8:execute', does: 'does it' },
] as const;

export type StageId = (typeof stageDocs)[number]['stage'];

export const executeStage = 'S8:execute' satisfies StageId;

/** The refusals that belong to a stage: callers receive the stage's id as the code (specification, Errors). */
const stageOfCode: Partial<Record<ErrorCode, StageId>> = {
  scope_denied: 'S2:resolve-scope',
  quota_exceeded: 'S3:rate-quota',
  invalid_input: 'S4:validate-input',
  policy_denied: 'S5:policy',
  approval_refused: 'S6:approval',
  dry_run_refused: 'S7:dry-run',
  call_failed: executeStage,
  call_timed_out: executeStage,
};

/** The code that callers receive for this error: the id of its stage if it belongs to one. */
export function publicCode(code: ErrorCode): ErrorCode | StageId {
  return stageOfCode[code] ?? code;
}
