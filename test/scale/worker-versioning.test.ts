import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config.js';
import { newId } from '../../src/base/ids.js';
import { packageRoot } from '../../src/base/packages.js';
import { queueWorkers, workerTuning } from '../../src/temporal/worker-options.js';
import { eventually } from '../support/eventually.js';
import { moveExecution, runOf, startExecution, untilExecution } from '../support/executions.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { metricsOf } from '../support/metrics.js';
import { ownProduct } from '../support/own-product.js';
import type { Api, ProductProcess } from '../support/processes.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const deploymentName = `service-${newId()}`;
const settings: Record<string, string> = {
  TEMPORAL_DEPLOYMENT_NAME: deploymentName,
  TEMPORAL_WORKER_BUILD_ID: '1',
  WORKER_MAX_WORKFLOW_TASKS: '9',
  WORKER_MAX_ACTIVITIES: '7',
  WORKER_MAX_POLLERS: '3',
  WORKER_MAX_CACHED_WORKFLOWS: '50',
  WORKER_METRICS_PORT: '0',
};
const product = ownProduct(settings);
const sink = await useHttpSink();
let api: Api;
let worker: ProductProcess;

beforeAll(async () => {
  [api, worker] = await Promise.all([product.api(), product.worker()]);
});

const service = () => deps.temporal.client.workflowService;
const { namespace } = deps.config.temporal;

/** Does what an operator does with `temporal worker deployment set-current-version`. The server learns of a version from its polls. */
async function makeCurrent(buildId: string): Promise<void> {
  await eventually(() =>
    service().setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, identity: 'test' }),
  );
}

/** The build ids of the workers that finished workflow tasks of a run, in order, without repeats. */
async function buildsOf(id: string): Promise<string[]> {
  const { events } = await runOf(deps, id).fetchHistory();
  const builds = (events ?? []).flatMap(
    (event) => event.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId ?? [],
  );
  return [...new Set(builds)];
}

describe('a versioned worker', () => {
  test('registers a version of its deployment, runs new workflows, and moves running workflows to the version that becomes current', async () => {
    verifies('scale.worker-versioning');
    await makeCurrent('1');
    const workspace = product.through(api, await createWorkspace(deps));
    const held = `/${workspace.projectID}`;
    const release = sink.hold(held);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}${held}`], []));
    await eventually(() => expect(sink.seen(held)).not.toEqual([]));
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    release();
    await untilExecution(workspace, id, 'paused');
    expect(await buildsOf(id)).toEqual(['1']);

    settings.TEMPORAL_WORKER_BUILD_ID = '2';
    await product.worker();
    await makeCurrent('2');
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'completed');
    expect(await buildsOf(id)).toEqual(['1', '2']);
    const { workerDeploymentInfo } = await service().describeWorkerDeployment({ namespace, deploymentName });
    const versions = workerDeploymentInfo?.versionSummaries?.map(({ deploymentVersion }) => deploymentVersion?.buildId);
    expect(versions?.sort()).toEqual(['1', '2']);
  });

  test('is reported as polling by its health check', () => {
    verifies('scale.worker-versioning');
    const check = path.join(packageRoot, 'dist/src/cli/worker-health.js');
    expect(
      execFileSync(process.execPath, [check], { env: { PATH: process.env.PATH, ...product.env }, encoding: 'utf8' }),
    ).toBe('');
  });
});

describe('the worker’s variables', () => {
  test('set its concurrent tasks and open polls', async () => {
    verifies('scale.worker-versioning');
    const samples = await metricsOf(`http://127.0.0.1:${Number(worker.up.metricsPort)}`);
    const slots = (type: string) =>
      samples
        .filter(
          ({ name, labels }) =>
            /^temporal_worker_task_slots_(available|used)$/.test(name) && labels.worker_type === type,
        )
        .reduce((sum, { value }) => sum + value, 0);
    // The queues of steps, control and bulk, each with its own slots. A worker holds ten times as many activities as it runs
    // (decision 0005).
    expect([slots('WorkflowWorker'), slots('ActivityWorker')]).toEqual([9, 3 * 7 * 10]);
    const pollers = samples.filter(({ name }) => name === 'temporal_num_pollers').map(({ value }) => value);
    expect(pollers.length).toBeGreaterThan(0);
    for (const open of pollers) expect(open).toBeLessThanOrEqual(3);
    expect(await (await fetch(`http://127.0.0.1:${Number(worker.up.metricsPort)}/healthz`)).json()).toEqual({
      status: 'ok',
    });
  });

  test('leave the worker unversioned and its polls at the defaults when unset', () => {
    verifies('scale.worker-versioning');
    const activities = { maxConcurrentActivityTaskExecutions: 3000, maxHeartbeatThrottleInterval: '1s' };
    const steps = { kind: 'steps', runsWorkflows: false, runsActivities: true } as const;
    const both = { ...steps, runsWorkflows: true };
    expect(workerTuning(loadConfig({}).worker, both)).toEqual({
      maxConcurrentWorkflowTaskExecutions: 20,
      // An overloaded machine must not end the process because of a slow workflow task.
      isolateExecutionTimeout: '60s',
      stickyQueueScheduleToStartTimeout: '5s',
      ...activities,
    });
    expect(workerTuning(loadConfig({}).worker, steps)).toEqual(activities);
    expect(workerTuning(loadConfig({ WORKER_STEPS_PER_SECOND: '20' }).worker, steps)).toEqual({
      ...activities,
      maxTaskQueueActivitiesPerSecond: 20,
    });
    expect(workerTuning(loadConfig(settings).worker, both)).toMatchObject({
      maxCachedWorkflows: 50,
      workflowTaskPollerBehavior: { type: 'autoscaling', initial: 3, maximum: 3 },
      workerDeploymentOptions: { useWorkerVersioning: true, version: { deploymentName } },
    });
  });

  test('select which workers a process has: workflows and steps share one', () => {
    verifies('scale.worker-versioning');
    const of = (WORKER_QUEUES?: string) =>
      queueWorkers(loadConfig({ ...(WORKER_QUEUES && { WORKER_QUEUES }) }).worker, 'q');
    const activities = { runsWorkflows: false, runsActivities: true };
    const [control, steps, bulk] = [
      { taskQueue: 'q-control', kind: 'control', ...activities },
      { taskQueue: 'q', kind: 'steps' as const, ...activities },
      { taskQueue: 'q-bulk', kind: 'bulk', ...activities },
    ];
    expect(of()).toEqual([{ ...steps, runsWorkflows: true }, control, bulk]);
    expect(of('steps')).toEqual([steps]);
    expect(of('control')).toEqual([{ ...steps, runsWorkflows: true, runsActivities: false }, control]);
    expect(of('bulk')).toEqual([bulk]);
    expect(workerTuning(loadConfig({}).worker, { ...steps, runsWorkflows: true, runsActivities: false })).toMatchObject(
      { enableNonLocalActivities: false },
    );
  });

  test.each([
    [{ TEMPORAL_WORKER_BUILD_ID: '1' }, /TEMPORAL_DEPLOYMENT_NAME: is needed with TEMPORAL_WORKER_BUILD_ID/],
    [{ TEMPORAL_DEPLOYMENT_NAME: 'service' }, /TEMPORAL_WORKER_BUILD_ID: is needed with TEMPORAL_DEPLOYMENT_NAME/],
    [{ WORKER_QUEUES: 'control,urgent', WORKER_BULK_PER_SECOND: '0' }, /WORKER_QUEUES[\s\S]*WORKER_BULK_PER_SECOND/],
    [
      { WORKER_MAX_ACTIVITIES: '0', WORKER_MAX_WORKFLOW_TASKS: '1', WORKER_MAX_POLLERS: 'many' },
      /WORKER_MAX_WORKFLOW_TASKS[\s\S]*WORKER_MAX_ACTIVITIES[\s\S]*WORKER_MAX_POLLERS/,
    ],
  ])('are refused if they are invalid: %j', (environment, reason) => {
    verifies('scale.worker-versioning', 'env.invalid-refused');
    expect(() => loadConfig(environment)).toThrow(reason);
  });
});
