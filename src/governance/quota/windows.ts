import { defineCollection } from '../../stores/collections.js';
/**
 * The admissions of an organization, in one document so that one atomic update counts a call in both windows or in
 * neither. Times are epoch milliseconds, newest first, so the `max`-th newest is at index `max - 1`, even after the
 * maximum changed.
 */
export interface QuotaDocument {
  /** The organization's id. */
  _id: string;
  organization: number[];
  projects: Record<string, number[]>;
}

export type QuotaScope = 'project' | 'organization';

/** The limit of one scope, and the path of its times in the document. */
export interface Window {
  scope: QuotaScope;
  path: string;
  max: number;
}

/**
 * Matches while every window has capacity: its `max`-th newest admission is missing or has left the window. Entries that
 * are `max` positions apart are therefore at least one window apart, so no period of this length contains more than `max`
 * admissions, even if the clocks of two processes differ.
 */
export function hasCapacity(windows: readonly Window[], now: number, windowMs: number): Record<string, unknown> {
  return Object.fromEntries(windows.map(({ path, max }) => [`${path}.${max - 1}`, { $not: { $gt: now - windowMs } }]));
}

export function admission(windows: readonly Window[], now: number): Record<string, unknown> {
  return Object.fromEntries(windows.map(({ path, max }) => [path, { $each: [now], $position: 0, $slice: max }]));
}

export interface QuotaWait {
  scope: QuotaScope;
  waitMs: number;
}

/** How long until every window has capacity, and the scope with the longest wait; undefined if all have capacity now. */
export function longestWait(
  document: QuotaDocument,
  windows: readonly Window[],
  now: number,
  windowMs: number,
): QuotaWait | undefined {
  const waits = windows
    .map(({ scope, path, max }) => ({
      scope,
      waitMs: (timesAt(document, path)[max - 1] ?? -Infinity) + windowMs - now,
    }))
    .filter(({ waitMs }) => waitMs > 0);
  return waits.reduce<QuotaWait | undefined>(
    (longest, wait) => (longest && longest.waitMs >= wait.waitMs ? longest : wait),
    undefined,
  );
}

export function callsInWindow(document: QuotaDocument | null, window: Window, now: number, windowMs: number): number {
  if (!document || window.max === 0) return 0;
  return timesAt(document, window.path).filter((time) => time > now - windowMs).length;
}

/** Projects whose newest admission has left the window, so that their times no longer have an effect. */
export function idleProjects(
  document: QuotaDocument,
  now: number,
  windowMs: number,
): { key: string; newest: number }[] {
  return Object.entries(document.projects)
    .map(([key, times]) => ({ key, newest: times[0] ?? 0 }))
    .filter(({ newest }) => newest <= now - windowMs);
}

export function windowsOf(
  projectId: string,
  maxima: { projectMax: number; organizationMax: number },
): { project: Window; organization: Window } {
  return {
    project: { scope: 'project', path: `projects.${fieldName(projectId)}`, max: maxima.projectMax },
    organization: { scope: 'organization', path: 'organization', max: maxima.organizationMax },
  };
}

/** Encodes an id that MongoDB would parse as a path, for example with a dot or a dollar sign. */
function fieldName(id: string): string {
  return /^[\w-]+$/.test(id) ? id : `=${Buffer.from(id).toString('base64url')}`;
}

function timesAt(document: QuotaDocument, path: string): readonly number[] {
  const [first, key] = path.split('.');
  return (first === 'organization' ? document.organization : document.projects[key ?? '']) ?? [];
}

export const quotasCollection = defineCollection('quotas', {});

declare module '../../stores/collections.js' {
  interface Documents {
    quotas: QuotaDocument;
  }
}
