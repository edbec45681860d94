import type { Principal } from '../auth/principal.js';
import type { PolicyEvaluation } from '../governance/policy/decision.js';
import type { CompiledSet, PolicyRequest } from '../governance/policy/evaluate.js';
import type { ApprovalOutcome, ApprovalRequest } from '../governance/approvals/stage.js';
import type { Quota } from '../governance/quota/quota.js';
import type { Recorder } from '../governance/recorder.js';
import type { Metrics } from '../observability/metrics.js';
import type { ObserveStage } from '../observability/stages.js';

/** What the pipeline is made of: each stage's own part of the governance. */
export interface GatewayDeps {
  authenticate(authorization: readonly string[] | undefined): Promise<Principal>;
  resolveScope(principal: Principal, workspace: string | undefined): Promise<Principal>;
  quota: Quota;
  projectMode(projectId: string): Promise<'simple' | 'governed'>;
  policies: { inForce(organizationId: string): Promise<CompiledSet>; decide(rules: CompiledSet, request: PolicyRequest): PolicyEvaluation };
  approvals: { stage(request: ApprovalRequest): Promise<ApprovalOutcome> };
  recorder: Recorder;
  observeStage: ObserveStage;
  metrics: Pick<Metrics, 'admission'>;
}
