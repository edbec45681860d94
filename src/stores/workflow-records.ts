import type { Collections } from './collections.js';

/**
 * Returns a function that finds the organization of an execution or an approval by its workflow id, `<kind>/<record
 * id>`. It returns undefined if there is no record.
 */
export function createOrganizationReader({
  executions,
  approvals,
}: Pick<Collections, 'executions' | 'approvals'>): (workflowId: string) => Promise<string | undefined> {
  const projection = { organization_id: 1 };
  return async (workflowId) => {
    const [kind, _id = ''] = workflowId.split('/', 2);
    if (kind === 'execution') return (await executions.findOne({ _id }, { projection }))?.organization_id;
    if (kind === 'approval') return (await approvals.findOne({ _id }, { projection }))?.organization_id;
    return undefined;
  };
}
