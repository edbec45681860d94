import { LRUCache } from 'lru-cache';
import type { Config } from '../../config.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import {
  admission,
  hasCapacity,
  idleProjects,
  longestWait,
  callsInWindow,
  windowsOf,
  type QuotaDocument,
  type QuotaScope,
  type QuotaWait,
  type Window,
} from './windows.js';

export interface QuotaOptions extends Readonly<Config['quota']> {
  collections: Pick<Collections, 'quotas'>;
  now?: () => number;
}

interface QuotaSubject {
  organizationId: string;
  projectId: string;
}

export type Admission = { admitted: true } | { admitted: false; scope: QuotaScope; retryAfterSeconds: number };

/** `quota` of `POST /v1/docs`. A maximum of 0 means unlimited; its window is not counted. */
export interface QuotaUsage {
  org_window_max: number;
  org_window_used: number;
  project_window_max: number;
  project_window_used: number;
}

export type Quota = ReturnType<typeof createQuota>;

const maxAttempts = 8;
const admissionsPerCleanup = 1000;
const maxRemembered = 10_000;

/**
 * Exact sliding windows across any number of processes (specification, Limits; design, S3). An admission takes one
 * round trip.
 */
export function createQuota(options: QuotaOptions) {
  const { quotas } = options.collections;
  const { now = Date.now } = options;
  const windowMs = options.windowSeconds * 1000;
  let admissions = 0;
  /** Until when a subject's window stays full. Only time frees capacity, so the database is not read before. */
  const full = new LRUCache<string, { scope: QuotaScope; until: number }>({ max: maxRemembered });

  function refusal(key: string, { scope, waitMs }: QuotaWait): Admission {
    full.set(key, { scope, until: now() + waitMs });
    return { admitted: false, scope, retryAfterSeconds: Math.ceil(waitMs / 1000) };
  }

  async function tryAdmit(organizationId: string, windows: readonly Window[]): Promise<boolean> {
    const at = now();
    const filter = { _id: organizationId, ...hasCapacity(windows, at, windowMs) };
    const { matchedCount } = await quotas.updateOne(filter, { $push: admission(windows, at) as never });
    return matchedCount === 1;
  }

  return {
    /** Counts the call in both windows or in neither. A refusal names the scope with the longest wait. */
    async admit({ organizationId, projectId }: QuotaSubject): Promise<Admission> {
      const { project, organization } = windowsOf(projectId, options);
      const windows = [project, organization].filter(({ max }) => max > 0);
      if (windows.length === 0) return { admitted: true };
      const key = `${organizationId} ${projectId}`;
      const known = full.get(key);
      const left = known === undefined ? 0 : known.until - now();
      if (known && left > 0) return { admitted: false, scope: known.scope, retryAfterSeconds: Math.ceil(left / 1000) };
      full.delete(key);
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        if (await tryAdmit(organizationId, windows)) {
          admissions += 1;
          // Cleanup only: the call is admitted even if it fails.
          if (admissions % admissionsPerCleanup === 0)
            void forgetIdleProjects(quotas, organizationId, now(), windowMs).catch(() => undefined);
          return { admitted: true };
        }
        const document = await quotas.findOne({ _id: organizationId });
        if (!document) {
          await insertOnce(quotas, { _id: organizationId, organization: [], projects: {} });
          continue;
        }
        const wait = longestWait(document, windows, now(), windowMs);
        if (wait) return refusal(key, wait);
      }
      // Other calls took the free capacity on each attempt, so the windows are full in effect.
      return { admitted: false, scope: windows[0]?.scope ?? 'project', retryAfterSeconds: 1 };
    },

    async usage({ organizationId, projectId }: QuotaSubject): Promise<QuotaUsage> {
      const { project, organization } = windowsOf(projectId, options);
      const document = project.max + organization.max === 0 ? null : await quotas.findOne({ _id: organizationId });
      const at = now();
      return {
        org_window_max: organization.max,
        org_window_used: callsInWindow(document, organization, at, windowMs),
        project_window_max: project.max,
        project_window_used: callsInWindow(document, project, at, windowMs),
      };
    },
  };
}

/** Keeps an organization's document small. Does not remove a project that was admitted again concurrently. */
async function forgetIdleProjects(
  quotas: Collections['quotas'],
  organizationId: string,
  now: number,
  windowMs: number,
): Promise<void> {
  const document: QuotaDocument | null = await quotas.findOne({ _id: organizationId });
  for (const { key, newest } of document ? idleProjects(document, now, windowMs) : []) {
    await quotas.updateOne(
      { _id: organizationId, [`projects.${key}.0`]: newest },
      { $unset: { [`projects.${key}`]: '' } },
    );
  }
}
