import { createHash } from 'node:crypto';
import type { Customers } from '../src/customers/customers.js';
import type { QueryAsExecution } from '../src/gateway/query-as-execution.js';
import type { ExecutionKnowledgeDocument } from '../src/platform/resources/executions/knowledge.js';
import type { Collections } from '../src/stores/collections.js';
import { insertOnce } from '../src/stores/mongo.js';
import { epochSeconds } from '../src/time.js';
import type { ModelTurnRequest } from '../workflows/agentflow-execution/activities.js';
import { knowledgeText } from './knowledge-text.js';

export type Knowledge = Pick<ExecutionKnowledgeDocument, 'query' | 'lifecycle_id' | 'entities' | 'text'>;

/** What the project's context graph knows for a turn. */
export interface KnowledgeBase {
  /**
   * Asks once for each question of an agent; later turns and attempts get the same.
   * @throws AppError `plan_limit`, or that of the stage of the governed pipeline that refused
   */
  ask(turn: KnowledgeTurn, prompt: string, signal: AbortSignal): Promise<Knowledge>;
}

export type KnowledgeTurn = Pick<ModelTurnRequest, 'execution_id' | 'project_id' | 'organization_id' | 'executed_by' | 'agent' | 'context'>;

export interface KnowledgeBaseOptions {
  collections: Pick<Collections, 'execution_knowledge'>;
  customers: Pick<Customers, 'requireFeature'>;
  query: QueryAsExecution;
}

const entitiesAtMost = 25;
const questionAtMost = 2000;

export function createKnowledgeBase({ collections: { execution_knowledge }, customers, query }: KnowledgeBaseOptions): KnowledgeBase {
  return {
    async ask({ execution_id, project_id, organization_id, executed_by, agent, context }, prompt, signal) {
      const question = questionOf(context.goal, prompt);
      const _id = `${execution_id}/${agent._id}/${createHash('sha256').update(question).digest('hex')}`;
      const known = await execution_knowledge.findOne({ _id });
      if (known) return known;
      await customers.requireFeature(organization_id, 'knowledge_base');
      const identity = { executionId: execution_id, userId: executed_by, organizationId: organization_id, projectId: project_id };
      const { lifecycle_id, ...answer } = await query(identity, { query: question, limit: entitiesAtMost }, signal);
      return insertOnce(execution_knowledge, {
        _id,
        execution_id,
        agent_id: agent._id,
        query: question,
        lifecycle_id,
        entities: answer.entities.map(({ id }) => id),
        text: knowledgeText(answer),
        at: epochSeconds(),
      });
    },
  };
}

/** The first word keeps a prompt such as "Match the orders" from being read as Cypher; it is none that is searched for. */
function questionOf(goal: string, prompt: string): string {
  const rest = prompt.replace(goal, '').trim();
  return `about: ${[goal.trim(), rest].filter((part) => part !== '').join(' ')}`.slice(0, questionAtMost);
}
