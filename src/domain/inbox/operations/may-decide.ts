import { whyNotDecide, type Deciders, type DecisionKind } from '../../../auth/decisions.js';
import type { Principal } from '../../../auth/principal.js';
import type { UnreadItem } from '../record.js';

/** Whether the caller may decide an item, and why not. */
export function mayDecide(
  principal: Principal,
  kind: DecisionKind,
  deciders: Deciders,
  status: UnreadItem['status'],
): Pick<UnreadItem, 'may_decide' | 'may_not_decide_reason'> {
  const isWaiting = status === 'waiting';
  const reason = whyNotDecide(principal, kind, deciders) ?? (isWaiting ? null : `the ${kind} is ${status}`);
  return { may_decide: reason === null, may_not_decide_reason: reason };
}
