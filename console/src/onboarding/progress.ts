import { call } from '../api.js';
import { keptInBrowser } from '../kept.js';
import { personId, projectId, useMay } from '../session.js';
import { usePolled } from '../use-polled.js';

export const stepIds = ['template', 'key', 'connector', 'rule', 'schedule'] as const;
export type StepId = (typeof stepIds)[number];

/** With more runs, a project is in use, and its people know how it works. */
const maxRuns = 10;
const one = { limit: 1 };

/** What counts as done. A step that the person may not see stays open. */
const isDone: Record<StepId, { operation: string; read: () => Promise<boolean> }> = {
  template: {
    operation: 'get /agentflow',
    read: async () => (await call('get', '/agentflow', { query: one })).total_count > 0,
  },
  key: {
    operation: 'get /v1/apikeys',
    read: async () => {
      const { data } = await call('get', '/v1/apikeys', { query: { limit: 200, project_id: projectId } });
      return data.some(({ revoked_at }) => revoked_at === null);
    },
  },
  connector: {
    operation: 'get /connectors/{projectID}',
    read: async () => {
      const { data } = await call('get', '/connectors/{projectID}', { query: { limit: 200 } });
      // Each table has a connector of its own.
      return data.some(({ tags }) => !tags.includes('table'));
    },
  },
  rule: {
    operation: 'get /v1/policies',
    read: async () => {
      const { version, policies } = await call('get', '/v1/policies');
      // Version 0 has the rules of the product.
      return version > 0 && policies.some(({ projects }) => !projects?.length || projects.includes(projectId));
    },
  },
  schedule: {
    operation: 'get /schedule/coworker',
    read: async () => (await call('get', '/schedule/coworker', { query: one })).total_count > 0,
  },
};

export interface Progress {
  done: ReadonlySet<StepId>;
  isInUse: boolean;
}

/** Reads which steps are done. Undefined until it is known. */
export function useProgress(isShown: boolean): Progress | undefined {
  const may = useMay();
  const { data } = usePolled(['onboarding', isShown], async (): Promise<Progress | undefined> => {
    if (!isShown) return undefined;
    const runs = await call('get', '/{projectID}/execution_flows', { query: { ...one, fields: 'summary' } });
    if (runs.total_count > maxRuns) return { done: new Set(), isInUse: true };
    const found = await Promise.all(stepIds.map(async (id) => may(isDone[id].operation) && (await isDone[id].read())));
    return { done: new Set(stepIds.filter((_, at) => found[at])), isInUse: false };
  });
  return data;
}

/** Each person dismisses the steps for one project, in this browser. */
const dismissedKey = () => `onboarding-dismissed:${personId()}:${projectId}`;
export const isDismissed = (): boolean => keptInBrowser.read(dismissedKey()) !== undefined;
export const dismiss = (): void => keptInBrowser.keep(dismissedKey(), 'yes');
