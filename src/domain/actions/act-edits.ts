import { payloadDigest } from '../../governance/approvals/payload-digest.js';
import { editsId, readEdits, type CallEdits, type EditsDeps } from '../../governance/approvals/edits.js';
import type { ApprovalDocument } from '../../governance/approvals/record.js';
import type { ActRun } from '../../../workflows/agentflow-execution/act-messages.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import { inputOfAct } from './act-input.js';
import type { CallOptions, PrepareAction, PreparedAction } from './call-action.js';

/** An act that is ready to be sent, and what approvers have changed in it. */
export interface PreparedAct {
  request: CallActionRequest;
  run: ActRun;
  prepared: PreparedAction;
  edited?: CallEdits;
  note: CallOptions['note'];
}

/**
 * The act with the edits of its approvers, or unchanged if there are none. The digest of the edited call covers the digest
 * of the original call as it is now, so edits of another call are refused.
 * @throws the errors of preparing the edited call
 */
export async function asEdited(
  deps: EditsDeps & { prepare: PrepareAction },
  act: PreparedAct,
  {
    approval: { approval_id, is_edited },
    record,
    options,
  }: {
    approval: NonNullable<CallActionRequest['approval']>;
    record: ApprovalDocument | undefined;
    options: CallOptions;
  },
): Promise<PreparedAct> {
  const edited = record?.token && record.edited_payload_digest;
  const id = edited !== undefined ? editsId(approval_id, edited) : is_edited ? approval_id : undefined;
  const found = id === undefined ? undefined : await readEdits(deps, id);
  if (!found) return act;
  const { edits } = found;
  const asked_digest = payloadDigest(act.prepared.operation.name, inputOfAct(act.request, act.run, act.prepared));
  const request = { ...act.request, input: { ...act.request.input, edits: { ...act.request.input?.edits, ...edits } } };
  return { ...act, request, prepared: await deps.prepare(request, options), edited: { asked_digest, edits } };
}
