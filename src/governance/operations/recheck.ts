/**
 * Decides the call again, with the facts of `what`, such as the target of a redirect, and with what it then causes.
 * @throws AppError `scope_denied` without a grant that is then needed, `policy_denied` if the rules forbid it, or require
 *   an approval other than the one that the call has, and `approval_refused` if the call cannot wait for one
 */
export type Recheck = (what: string, changed: Readonly<Record<string, unknown>>) => void;

/** For a call that the policies have not decided, or do not decide. */
export const undecided: Recheck = () => {
  throw new Error('only a governed call can be decided again');
};
