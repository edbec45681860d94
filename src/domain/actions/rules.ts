import { freeText, integer, textFacts, texts, type Facts } from '../../governance/operations/operation.js';

/** What rules can read about the run that makes a call. */
export const factsAboutRuns: Facts = {
  ...textFacts('agentflow_id', 'agent_id', 'execution_id', 'started_by'),
  flow_path: freeText('flow_path'),
  parent_agentflows: texts('parent_agentflows'),
  agentflow_version: integer('agentflow_version'),
  tokens_spent: integer('tokens_spent'),
  credits_spent: integer('credits_spent'),
};
