import { createHash } from 'node:crypto';
import { codeSyncWorkflowId } from '../../../workflows/code-sync/messages.js';
import { catalogSyncWorkflowId } from '../../../workflows/catalog-sync/messages.js';
import type { Deps } from '../../../src/domain/deps.js';
import type { Workspace } from '../../support/fixture.js';
import { stepsThatCall, type Ground } from './ground.js';
import { pushOf, shaOf } from './loads.js';

/** The number of acknowledged executions by state, according to the records that lists show. */
export async function executionStates(
  { mongo }: Deps,
  { flows }: Ground,
  ids: ReadonlySet<string>,
): Promise<Record<string, number>> {
  const found = await mongo.collections.executions
    .find({ projectID: flows.projectID }, { projection: { status: 1 } })
    .toArray();
  const states: Record<string, number> = {};
  for (const { status } of found.filter(({ _id }) => ids.has(_id))) states[status] = (states[status] ?? 0) + 1;
  return states;
}

/** Steps that never called an external server, and steps that called it more often than their record has attempts. */
export async function wrongSteps({ mongo }: Deps, { flows, sink }: Ground, ids: ReadonlySet<string>) {
  const records = await mongo.collections.executions.find({ projectID: flows.projectID }).toArray();
  const keys = sink.keys();
  const steps = records
    .filter(({ _id }) => ids.has(_id))
    .flatMap(({ _id, steps: taken }) =>
      stepsThatCall.map((step) => {
        const attempts = taken.find(({ step_id }) => step_id === step)?.attempts ?? 0;
        return { step: `${_id}/${step}`, attempts, calls: keys.get(`${_id}/${step}`) ?? 0 };
      }),
    );
  return {
    missing: steps.filter(({ calls }) => calls === 0),
    tooOften: steps.filter(({ calls, attempts }) => calls > attempts),
    repeated: steps.filter(({ calls }) => calls > 1).length,
  };
}

/** Executions that one create call made several times under one key. */
export async function madeTwice({ mongo }: Deps, { flows }: Ground): Promise<string[]> {
  const made = await mongo.collections.executions
    .find({ projectID: flows.projectID }, { projection: { goal: 1 } })
    .toArray();
  const goals = made.map(({ goal }) => goal);
  return goals.filter((goal, at) => goals.indexOf(goal) !== at);
}

export async function savedEntities({ graph }: Deps, workspaces: readonly Workspace[]): Promise<Set<string>> {
  const query = 'MATCH (n:Customer) WHERE n.project_id IN $projects RETURN n.id AS id';
  const { records } = await graph.driver.executeQuery(query, {
    projects: workspaces.map(({ projectID }) => projectID),
  });
  return new Set(records.map((record) => record.get('id') as string));
}

/** The lifecycles of these projects, with those that the audit chains name. */
export async function recordedCalls({ mongo }: Deps, workspaces: readonly Workspace[]) {
  const { lifecycles, audit_entries } = mongo.collections;
  const stored = new Set<string>();
  const audited = new Set<string>();
  for (const { projectID, organizationId } of workspaces) {
    for (const { _id } of await lifecycles.find({ project_id: projectID }).toArray()) stored.add(_id);
    const range = { _id: { $gte: `${organizationId}:`, $lt: `${organizationId};` } };
    for (const { lifecycle_id } of await audit_entries.find(range).toArray())
      if (lifecycle_id !== null) audited.add(lifecycle_id);
  }
  return { stored, audited };
}

/** The admitted calls of the project: those whose lifecycle passed S3. */
export async function admissions({ mongo }: Deps, { projectID }: Workspace): Promise<Admission[]> {
  const calls = await mongo.collections.lifecycles.find({ project_id: projectID }).toArray();
  const passed = calls.filter(({ stages }) =>
    stages.some(({ stage, status }) => stage === 'S3:rate-quota' && status === 'ok'),
  );
  return passed.map(({ created_at, ended_at, facts }) => ({ from: created_at, to: facts?.at ?? ended_at }));
}

/** The period in which a call was admitted: from its arrival to its decision, in epoch seconds. On a busy machine, it lasts seconds. */
interface Admission {
  from: number;
  to: number;
}

/** The maximum of calls that were certainly admitted within one span of this many seconds. */
export function mostWithin(admitted: readonly Admission[], seconds: number): number {
  const within = (begin: number) => admitted.filter(({ from, to }) => from >= begin && to <= begin + seconds).length;
  return Math.max(0, ...admitted.map(({ from }) => within(from)));
}

/** Deliveries whose workflow has not completed or whose commit is not in the graph. */
export async function unsyncedPushes(
  { temporal, graph }: Deps,
  ground: Ground,
  deliveries: ReadonlySet<string>,
): Promise<string[]> {
  const { synced } = ground;
  const { records } = await graph.driver.executeQuery('MATCH (c:Commit {project_id: $projectId}) RETURN c.sha AS sha', {
    projectId: synced.projectID,
  });
  const commits = new Set(records.map((record) => record.get('sha') as string));
  const left: string[] = [];
  for (const delivery of deliveries) {
    const { status } = await temporal.client.workflow
      .getHandle(
        codeSyncWorkflowId(synced.projectID, createHash('sha256').update(pushOf(ground, delivery)).digest('hex')),
      )
      .describe();
    if (status.name !== 'COMPLETED' || !commits.has(shaOf(delivery))) left.push(`${delivery}: ${status.name}`);
  }
  return left;
}

/** The number of changes that the finished catalog syncs covered, and whether the sync has ended. */
export async function catalogSynced({ temporal, mongo }: Deps, { synced }: Ground) {
  const { status } = await temporal.client.workflow.getHandle(catalogSyncWorkflowId(synced.projectID)).describe();
  const runs = await mongo.collections.lifecycles
    .find({ project_id: synced.projectID, tool: 'catalog-sync' })
    .toArray();
  const events = runs.map(({ stages }) => Number(/for (\d+) events$/.exec(stages[0]?.detail ?? '')?.[1] ?? 0));
  return {
    status: status.name,
    runs: runs.length,
    failed: runs.filter((run) => run.status !== 'completed').length,
    events: events.reduce((sum, each) => sum + each, 0),
  };
}
