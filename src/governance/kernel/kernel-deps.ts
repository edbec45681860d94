import type { ObserveStage } from '../../observability/stages.js';
import type { Approvals } from '../approvals/create-approvals.js';
import type { Policies } from '../policy/create-policies.js';
import type { Quota } from '../quota/quota.js';
import type { Recorder } from '../recorder.js';
import type { RequestLimit } from '../request-limit.js';

/** The dependencies of the kernel. Functions of the domain are passed in, because `governance` must not import it. */
export interface KernelDeps {
  projectMode(projectId: string): Promise<'simple' | 'governed'>;
  /** Whether the project records data changes. */
  dataEvents(projectId: string): Promise<boolean>;
  quota: Pick<Quota, 'admit'>;
  requestLimit: RequestLimit;
  /** Counts a decision of the quota in the metrics. */
  countAdmission(outcome: 'admitted' | 'refused', scope: 'none' | 'project' | 'organization'): void;
  policies: Pick<Policies, 'current' | 'decide'>;
  approvals: Pick<Approvals, 'stage' | 'settle'>;
  recorder: Recorder;
  /** Called after an operation has changed something in a project. */
  changed(projectId: string, name: string): void;
  observeStage: ObserveStage;
}
