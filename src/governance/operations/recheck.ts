/**
 * Decides the call again, with the facts of `what`, such as the target of a redirect.
 * @throws AppError `policy_denied` if the rules forbid it, or require an approval other than the one that the call has
 */
export type Recheck = (what: string, changed: Readonly<Record<string, unknown>>) => void;
