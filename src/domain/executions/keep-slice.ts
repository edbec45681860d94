import { keptFrom } from './earlier-run.js';
import { keptBefore, placeMeant } from './kept.js';
import { isOver } from './record.js';
import type { SliceDocument } from './slices.js';

/**
 * What a rerun makes of a slice of the earlier run. One that was completed is kept as it is. In others, and in the one with the place
 * where the rerun begins, what has ended is kept, and the rest runs.
 * @param from where the rerun begins, after the place of the `map`: `17/price`
 */
export function keepSlice(begun: SliceDocument, old: SliceDocument, from: string | undefined): SliceDocument {
  const { slice } = old.flow;
  const index = Number(from?.split('/')[0]);
  const isMeant = index >= slice.from && index < slice.from + slice.items.length;
  if (old.status === 'completed' && !isMeant) {
    const { steps, agents_output } = kept(old, old);
    const { status, started_at, end_time, conclusion, execution_context } = old;
    return { ...begun, status, started_at, end_time, conclusion, execution_context, steps, agents_output };
  }
  if (!isOver(old.status) || old.started_at === null) return begun;
  const earlier = { ...begun, ...keptOf(old) };
  const place = isMeant ? placeMeant(earlier, `${slice.step_id}/${from}`) : null;
  const { steps, outputs } = keptBefore(earlier, place);
  return {
    ...begun,
    ...kept(old, { steps, agents_output: outputs }),
    start_from_agent_id: place,
    execution_context: { rerun_of: old._id },
  };
}

type Results = Pick<SliceDocument, 'steps' | 'agents_output'>;

function kept({ _id }: SliceDocument, { steps, agents_output }: Results): Results {
  return {
    steps: steps.map((step) => keptFrom(step, _id)),
    agents_output: agents_output.map((output) => keptFrom(output, _id)),
  };
}

function keptOf(old: SliceDocument) {
  const { steps, agents_output, execution_context, start_from_agent_id } = old;
  return { steps, agents_output, execution_context, start_from_agent_id };
}
