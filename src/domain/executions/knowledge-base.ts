import type { Customers } from '../customers/record.js';
import type { ContextAnswer } from '../../graph/query/views.js';
import { type Collections, defineCollection } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import { epochSeconds } from '../../base/time.js';
import type { ModelTurnRequest } from '../../../workflows/agentflow-execution/steps/model.js';
import { knowledgeText } from './knowledge-text.js';
import { sha256Hex } from '../../base/hash.js';

type Knowledge = Pick<ExecutionKnowledgeDocument, 'query' | 'lifecycle_id' | 'entities' | 'text'>;

/** What the project's context graph contributes to a turn. */
export interface KnowledgeBase {
  /**
   * Queries once for each question of an agent; later turns and attempts get the same answer.
   * @throws AppError `plan_limit`, or the refusal of the governed pipeline
   */
  ask(turn: KnowledgeTurn, prompt: string, signal: AbortSignal): Promise<Knowledge>;
}

type KnowledgeTurn = Pick<
  ModelTurnRequest,
  'execution_id' | 'project_id' | 'organization_id' | 'executed_by' | 'agent' | 'context'
>;

interface KnowledgeBaseOptions {
  collections: Pick<Collections, 'execution_knowledge'>;
  customers: Pick<Customers, 'requireFeature'>;
  /** Queries the context graph on behalf of the person who started the execution (`createQueryAsExecution`). */
  query(
    execution: { executionId: string; userId: string; organizationId: string; projectId: string },
    input: { query: string; limit: number },
    signal: AbortSignal,
  ): Promise<Pick<ContextAnswer, 'entities' | 'relationships' | 'facts'> & { lifecycle_id: string }>;
}

const maxEntities = 25;
const maxQuestionLength = 2000;

export function createKnowledgeBase({
  collections: { execution_knowledge },
  customers,
  query,
}: KnowledgeBaseOptions): KnowledgeBase {
  return {
    async ask({ execution_id, project_id, organization_id, executed_by, agent, context }, prompt, signal) {
      const question = questionOf(context.goal, prompt);
      const _id = `${execution_id}/${agent._id}/${sha256Hex(question)}`;
      const known = await execution_knowledge.findOne({ _id });
      if (known) return known;
      await customers.requireFeature(organization_id, 'knowledge_base');
      const identity = {
        executionId: execution_id,
        userId: executed_by,
        organizationId: organization_id,
        projectId: project_id,
      };
      const { lifecycle_id, ...answer } = await query(identity, { query: question, limit: maxEntities }, signal);
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

/** Adds a prefix, which the search ignores, so that a prompt such as "Match the orders" is not read as Cypher. */
function questionOf(goal: string, prompt: string): string {
  const rest = prompt.replace(goal, '').trim();
  return `about: ${[goal.trim(), rest].filter((part) => part !== '').join(' ')}`.slice(0, maxQuestionLength);
}

/**
 * The result of a knowledge base query by an agent. It is stored once per execution, so that retries and later turns use
 * the same result. `_id` is `<execution id>/<agent id>/<SHA-256 of the question>`.
 */
interface ExecutionKnowledgeDocument {
  _id: string;
  execution_id: string;
  agent_id: string;
  query: string;
  /** The governed call that read it. */
  lifecycle_id: string;
  /** Ids of the entities in the result. */
  entities: string[];
  /** The redacted text for the prompt. Empty if nothing was found. */
  text: string;
  /** Epoch seconds. */
  at: number;
}

export const executionKnowledgeCollection = defineCollection('execution_knowledge', {});

declare module '../../stores/collections.js' {
  interface Documents {
    execution_knowledge: ExecutionKnowledgeDocument;
  }
}
