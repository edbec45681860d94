/**
 * The admissions of an organization, one document so that one atomic update counts a call in both windows or in neither.
 * Times are epoch milliseconds, newest first, so that the `max`-th newest is at `max - 1` whatever the maximum was before.
 */
export interface QuotaDocument {
  /** The organization's id. */
  _id: string;
  organization: number[];
  projects: Record<string, number[]>;
}

export type QuotaScope = 'project' | 'organization';

/** One scope's limit and where the document keeps its times. */
export interface Window {
  scope: QuotaScope;
  path: string;
  max: number;
}

/**
 * Matches while every window has room: its `max`-th newest admission is missing or has left the window. Admissions
 * that are `max` apart in the list are thus a whole window apart, so no window of time ever holds more than `max`,
 * even where the clocks of two processes disagree.
 */
export function hasRoom(windows: readonly Window[], now: number, windowMs: number): Record<string, unknown> {
  return Object.fromEntries(windows.map(({ path, max }) => [`${path}.${max - 1}`, { $not: { $gt: now - windowMs } }]));
}

export function admission(windows: readonly Window[], now: number): Record<string, unknown> {
  return Object.fromEntries(windows.map(({ path, max }) => [path, { $each: [now], $position: 0, $slice: max }]));
}

export interface Wait {
  scope: QuotaScope;
  waitMs: number;
}

/** How long until every window has room, and the scope that takes longest; undefined when all have room now. */
export function longestWait(document: QuotaDocument, windows: readonly Window[], now: number, windowMs: number): Wait | undefined {
  const waits = windows
    .map(({ scope, path, max }) => ({ scope, waitMs: (timesAt(document, path)[max - 1] ?? -Infinity) + windowMs - now }))
    .filter(({ waitMs }) => waitMs > 0);
  return waits.reduce<Wait | undefined>((longest, wait) => (longest && longest.waitMs >= wait.waitMs ? longest : wait), undefined);
}

export function used(document: QuotaDocument | null, window: Window, now: number, windowMs: number): number {
  if (!document || window.max === 0) return 0;
  return timesAt(document, window.path).filter((time) => time > now - windowMs).length;
}

/** Projects whose newest admission has left the window: what they hold decides nothing any more. */
export function idleProjects(document: QuotaDocument, now: number, windowMs: number): { key: string; newest: number }[] {
  return Object.entries(document.projects)
    .map(([key, times]) => ({ key, newest: times[0] ?? 0 }))
    .filter(({ newest }) => newest <= now - windowMs);
}

export function windowsOf(projectId: string, maxima: { projectMax: number; organizationMax: number }): { project: Window; organization: Window } {
  return {
    project: { scope: 'project', path: `projects.${fieldName(projectId)}`, max: maxima.projectMax },
    organization: { scope: 'organization', path: 'organization', max: maxima.organizationMax },
  };
}

/** A dot or a dollar would be read as part of a path. */
function fieldName(id: string): string {
  return /^[\w-]+$/.test(id) ? id : `=${Buffer.from(id).toString('base64url')}`;
}

function timesAt(document: QuotaDocument, path: string): readonly number[] {
  const [first, key] = path.split('.');
  return (first === 'organization' ? document.organization : document.projects[key ?? '']) ?? [];
}
