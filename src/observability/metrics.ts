import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

type CountExecutions = () => Promise<Readonly<Record<string, number>>>;
export type Metrics = ReturnType<typeof createMetrics>;

const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const stageBuckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60];
const delayBuckets = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900];

/** The metrics of one process, served at `GET /metrics`. Labels hold names from the code, never ids or user input. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Requests by route template, from their first byte to the end of the answer',
    labelNames: ['method', 'route', 'status'],
    buckets: requestBuckets,
    registers,
  });
  const stages = new Histogram({
    name: 'gateway_stage_duration_seconds',
    help: 'Stages of the governed pipeline',
    labelNames: ['tool', 'stage'],
    buckets: stageBuckets,
    registers,
  });
  const refusals = new Counter({
    name: 'gateway_refusals_total',
    help: 'Calls that a stage refused or in which it failed',
    labelNames: ['tool', 'stage', 'code'],
    registers,
  });
  const admissions = new Counter({
    name: 'quota_decisions_total',
    help: 'Admissions and refusals by the quota, with the window that was full',
    labelNames: ['result', 'scope'],
    registers,
  });
  const callbacks = new Counter({
    name: 'callbacks_total',
    help: 'Callbacks by receiver and answer',
    labelNames: ['receiver', 'status'],
    registers,
  });
  const moves = new Counter({
    name: 'execution_transitions_total',
    help: 'Executions that entered a state',
    labelNames: ['to'],
    registers,
  });
  const schedule = new Histogram({
    name: 'schedule_delay_seconds',
    help: 'From the planned start of a scheduled run to its real one',
    buckets: delayBuckets,
    registers,
  });
  const sync = new Histogram({
    name: 'catalog_sync_lag_seconds',
    help: 'From the first event of a catalog sync to the end of its run',
    labelNames: ['outcome'],
    buckets: delayBuckets,
    registers,
  });
  for (const scope of ['project', 'organization']) admissions.inc({ result: 'refused', scope }, 0);
  for (const to of ['running', 'paused', 'completed', 'failed']) moves.inc({ to }, 0);
  for (const outcome of ['completed', 'failed']) sync.zero({ outcome });

  return {
    registry,
    /** Collects memory, CPU, event loop and garbage collection metrics of this process. */
    collectProcess: () => collectDefaultMetrics({ register: registry }),
    request: (labels: Record<'method' | 'route' | 'status', string>, seconds: number) =>
      requests.observe(labels, seconds),
    stage: (tool: string, stage: string, seconds: number) => stages.observe({ tool, stage }, seconds),
    refusal: (labels: Record<'tool' | 'stage' | 'code', string>) => refusals.inc(labels),
    /**
     * Counts a decision of admission control.
     * @param scope the window that was full
     */
    admission: (result: 'admitted' | 'refused', scope: 'none' | 'project' | 'organization') =>
      admissions.inc({ result, scope }),
    callback: (receiver: string, status: number) => callbacks.inc({ receiver, status }),
    executionMoved: (to: string) => moves.inc({ to }),
    /** Records the time from the planned start of a scheduled run to its actual start. */
    scheduleDelay: (seconds: number) => schedule.observe(Math.max(0, seconds)),
    /** Records the time from the first event of a catalog sync to the end of its run. */
    syncLag: (seconds: number, outcome: 'completed' | 'failed') => sync.observe({ outcome }, Math.max(0, seconds)),
    /** Registers the gauge of executions that have not ended. `count` runs whenever the metrics are read. */
    openExecutions: (count: CountExecutions) => createOpenExecutionsGauge(registers, count),
  };
}

function createOpenExecutionsGauge(registers: Registry[], count: CountExecutions): void {
  const gauge: Gauge<'status'> = new Gauge({
    name: 'executions_open',
    help: 'Executions that have not ended, in the whole installation: the same number from each API process',
    labelNames: ['status'],
    registers,
    async collect() {
      const counts = await count().catch(() => ({}));
      // While the store is unavailable, report no value instead of an old one.
      gauge.reset();
      for (const [status, value] of Object.entries(counts)) gauge.set({ status }, value);
    },
  });
}
