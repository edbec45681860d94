import type { LifecycleDocument } from '../lifecycles/record.js';
import type { Call, PartialCall } from './call.js';
import { checksAt } from './entrances.js';
import type { KernelDeps } from './kernel-deps.js';
import { governedRecord, intentOf } from './record.js';
import type { StageId } from './stage-ids.js';

interface Begun {
  recorded: boolean;
  intended: boolean;
}

/** Records one call: its intent before S6, and its lifecycle and audit entry at the end. */
export function createRecording(deps: KernelDeps, received: Call) {
  const { recorder, approvals } = deps;
  const stages: LifecycleDocument['stages'] = [];
  const { records } = checksAt(received.entrance);
  let begun = Promise.resolve<Begun>({ recorded: records === 'all', intended: false });

  async function begin(call: PartialCall): Promise<Begun> {
    const { principal, checked, operation, caused = [] } = call;
    if (!principal || !checked || !operation) throw new Error('S1 to S4 did not complete the call');
    if (records === 'refusals' || records === 'none') return { recorded: false, intended: false };
    const effects = [operation.effect, ...caused.map((each) => each.operation.effect)];
    const changesRecords = effects.some((effect) => effect === 'write' || effect === 'act');
    const recorded =
      records === 'all' || changesRecords || (effects.includes('data') && (await deps.dataEvents(principal.projectId)));
    const changes = recorded && effects.some((effect) => effect !== 'read') && !checked.dryRun;
    const intended = changes || call.resumeToken !== undefined;
    if (intended) await recorder.begin(intentOf(received, { principal, resource: checked.resource }));
    return { recorded, intended };
  }

  return {
    async before(stage: StageId, call: PartialCall): Promise<void> {
      if (stage === 'S5:policy') {
        begun = begin(call);
        begun.catch(() => undefined);
      }
      // S6 can use an approval, which the sweep returns only to a call with an intent.
      if (stage === 'S6:approval') await begun;
    },
    note: (stage: StageId, status: 'ok' | 'failed', detail: string) => void stages.push({ stage, status, detail }),
    /** Stores lifecycle, decision and audit entry, and settles the resume token of the call. */
    async finish(
      call: PartialCall,
      status: LifecycleDocument['status'],
      reason?: string,
    ): Promise<{ lifecycleId?: string }> {
      const { principal, lifecycleId, decision, approvalId, recordId } = call;
      const { recorded, intended } = await begun;
      // Without a valid credential there is no project to which the record could belong.
      if (!principal) {
        if (intended) recorder.end(lifecycleId);
        return {};
      }
      const isRefused = records === 'refusals' && status === 'denied';
      const isRecorded = recorded || isRefused || decision?.decision === 'require_approval';
      await Promise.all([
        isRecorded && recorder.record(governedRecord(call, principal, { stages, status, reason })),
        // If the act may have taken effect, its approval stays used.
        approvalId !== undefined &&
          recordId !== undefined &&
          call.checked?.keepsApproval?.() !== true &&
          approvals.settle({ approvalId, lifecycleId, completed: status === 'completed' }),
      ]);
      if (intended) recorder.end(lifecycleId);
      return isRecorded ? { lifecycleId } : {};
    },
  };
}
