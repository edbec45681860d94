import type { LifecycleDocument } from '../lifecycles/record.js';
import { effectOf } from '../operations/operation.js';
import type { Call, PartialCall } from './call.js';
import type { KernelDeps } from './kernel-deps.js';
import { governedRecord, intentOf } from './record.js';
import type { StageId } from './stage-ids.js';

/** Records one call: its intent before S6, and its lifecycle and audit entry at the end. */
export function createRecording(deps: KernelDeps, received: Call) {
  const { recorder, approvals } = deps;
  const stages: LifecycleDocument['stages'] = [];
  let begun = Promise.resolve({ recorded: received.alwaysRecorded === true, intended: false });

  async function begin(call: PartialCall): Promise<{ recorded: boolean; intended: boolean }> {
    const effect = effectOf(call.operation, call.checked?.input);
    if (call.recordsOnlyRefusals) return { recorded: false, intended: false };
    const recorded =
      call.alwaysRecorded === true ||
      (effect === 'data' ? await deps.dataEvents(call.principal?.projectId ?? '') : effect !== 'read');
    const changes = recorded && effect !== 'read' && call.checked?.dryRun !== true;
    const intended = changes || call.resumeToken !== undefined;
    if (intended) await recorder.begin(intentOf(call));
    return { recorded, intended };
  }

  return {
    async before(stage: StageId, call: PartialCall): Promise<void> {
      if (stage === 'S5:policy') {
        // Stored while S5 reads the policies. S6 can use an approval, which the sweep returns only to a call with an intent.
        begun = begin(call);
        begun.catch(() => undefined);
      }
      if (stage === 'S6:approval') await begun;
    },
    note: (stage: StageId, status: 'ok' | 'failed', detail: string) => void stages.push({ stage, status, detail }),
    /** Stores lifecycle, decision and audit entry, and settles the resume token of the call. */
    async finish(
      call: PartialCall,
      status: LifecycleDocument['status'],
      reason?: string,
    ): Promise<{ lifecycleId?: string }> {
      const { principal, lifecycleId, decision, tokenId } = call;
      // Without a valid credential there is no project to which the record could belong.
      if (!principal) return {};
      const { recorded, intended } = await begun;
      const isRefused = call.recordsOnlyRefusals && status === 'denied';
      const isRecorded = recorded || isRefused || decision?.decision === 'require_approval';
      await Promise.all([
        isRecorded && recorder.record(governedRecord(call, principal, { stages, status, reason })),
        // If the act may have taken effect, its approval stays used.
        tokenId !== undefined &&
          call.checked?.keepsApproval?.() !== true &&
          approvals.settle({ tokenId, lifecycleId, completed: status === 'completed' }),
      ]);
      if (intended) recorder.end(lifecycleId);
      return isRecorded ? { lifecycleId } : {};
    },
  };
}
