import { createAct } from '../src/domain/actions/act.js';
import { createCallAction, createPrepareAction } from '../src/domain/actions/call-action.js';
import type { Deps } from '../src/domain/deps.js';
import { rememberAsMaker } from '../src/domain/memories/operations/remember-as-maker.js';
import { createExtraction } from '../src/domain/knowledge/extraction.js';
import type { Exchanges } from '../src/domain/executions/exchanges.js';
import { createKnowledgeBase } from '../src/domain/executions/knowledge-base.js';
import { createKeepForRun } from '../src/domain/files/operations/keep-for-run.js';
import { createQuestions, type BeginQuestions } from '../src/domain/mcp-servers/operations/elicitations.js';
import { createMcpTokens } from '../src/domain/mcp-servers/operations/tokens.js';
import { isOfflineModel } from '../src/models/offline.js';
import { createMcpClient } from '../src/outbound/mcp-client.js';
import { createMcpOauth } from '../src/outbound/mcp-oauth.js';
import { createSmtpClient } from '../src/outbound/smtp-client.js';
import { createRunTurns } from '../src/domain/run-turns/create-run-turns.js';
import { createQueryAsExecution } from '../src/domain/tools/query-as-execution.js';
import type { Activities } from '../workflows/activities.js';
import {
  createActionActivities,
  createAnomalyActivities,
  createCodeActivities,
  createContinueActivities,
  createDocumentActivities,
  createFlowActivities,
  createSliceActivities,
  createModelActivities,
  createOutputActivities,
  createPreviewActivities,
  createQuestionActivities,
} from './agentflow-execution.js';
import { createApprovalActivities } from './approvals.js';
import { createBackgroundActivities } from './background.js';
import { createRunTurnActivities } from './run-turns.js';
import { createExecutionRecordActivities } from './execution-records.js';
import { createKnowledgeUploadActivities } from './knowledge-upload.js';
import { createLightStepActivities } from './light-steps.js';
import { createScheduleActivities } from './schedules.js';
import { outsideSlot } from './shares.js';
import { withAuthority } from './with-authority.js';

export function createActivities(deps: Deps, exchanges: Exchanges): Activities {
  const { config, customers, kernel, metrics, mongo, blobs, http, models, temporal, log } = deps;
  const { collections } = mongo;
  const { audit } = deps.governance;
  const secrets = deps.auth.box;
  const knowledge = createKnowledgeBase({ collections, customers, query: createQueryAsExecution(deps) });
  const mcpTokens = createMcpTokens({ collections, box: secrets, oauth: createMcpOauth(http) });
  const mcpServers = {
    ...{ mcp: createMcpClient(http, deps.mcpChecks.problemOfOutput), mcpTokens, stdio: config.mcpStdio },
  };
  const keepFiles = createKeepForRun(deps.files);
  const ask = createQuestions({ collections, box: secrets, temporal, waitSeconds: config.mcpElicitationWait });
  const questions: BeginQuestions = (call) => outsideSlot(ask(call));
  const smtp = createSmtpClient({ ...config, ownServers: deps.ownServers });
  const prepare = createPrepareAction({ ...{ http, smtp, mongo, secrets, keepFiles, questions, log }, ...mcpServers });
  const extract = createExtraction();
  const isLightModel = (name: string) => isOfflineModel(config.llm, name);
  const steps = {
    ...createDocumentActivities({ blobs, files: deps.files.store, extract }, exchanges),
    ...createActionActivities(createAct({ kernel, collections, secrets, prepare }), collections, exchanges),
    ...createContinueActivities({ kernel, collections }, exchanges),
    ...createModelActivities(
      { models, isLightModel, knowledge, collections, threads: deps.untrustedThreads },
      exchanges,
    ),
    ...createOutputActivities(deps.schemas, exchanges),
    ...createQuestionActivities(collections, exchanges),
    ...createAnomalyActivities({ models, isLightModel }, exchanges),
    ...createPreviewActivities(exchanges),
    ...createCodeActivities(deps.untrustedThreads, exchanges),
    ...createFlowActivities(deps, exchanges),
    ...createSliceActivities(deps, exchanges),
  };
  // The role of the person is read once for a batch, before its first step begins.
  const withLightSteps = { ...steps, ...createLightStepActivities(steps, deps.tracing) };
  return {
    ...withAuthority({ collections, temporal, audit }, withLightSteps),
    ...createExecutionRecordActivities({ mongo, customers, metrics, temporal, audit, exchanges }),
    ...createRunTurnActivities(createRunTurns({ collections, temporal, log })),
    ...createScheduleActivities(deps),
    ...createApprovalActivities({ mongo, secrets, temporal, audit }),
    ...createKnowledgeUploadActivities({
      ...deps,
      extract,
      remember: (maker, id, memory) => rememberAsMaker(deps, maker, id, memory),
    }),
    ...createBackgroundActivities(deps, { ...mcpServers, callAction: createCallAction(prepare) }),
  };
}
