import { addHoldingRule } from '../curl.js';
import { Empty } from '../parts.js';
import { useHoldsGrant, useMay } from '../session.js';

/** For people without `svc:governance.read`. */
export const hiddenCalls =
  'You do not see the calls of other people that wait for approval: this requires the grant svc:governance.read.';

export function NothingWaits() {
  const mayAddRule = useMay()('post /v1/policies/rules');
  const seesAll = useHoldsGrant('svc:governance.read');
  return (
    <Empty {...(mayAddRule && { command: addHoldingRule })}>
      Nothing is waiting for a decision. Agents in preview mode and calls that require approval wait here.
      {!seesAll && ` ${hiddenCalls}`}
      {mayAddRule && ' This command adds a rule that requires approval for every HTTP call of an agent:'}
    </Empty>
  );
}
