import { describe, expect, test } from '@jest/globals';
import { createAnomalyActivities } from '../../activities/agentflow-execution.js';
import type { ChatRequest } from '../../src/models/port.js';
import type { AgentflowExecutionActivities } from '../../workflows/agentflow-execution/activities.js';
import type { AnomalyCheck, DetectAnomalyRequest } from '../../workflows/agentflow-execution/steps/anomaly.js';
import type { StepResult } from '../../workflows/agentflow-execution/steps/definition.js';
import { noExchanges } from '../support/exchanges.js';
import { activityEnvironment } from '../support/activity-environment.js';
import { verifies } from '../support/verifies.js';

const request: DetectAnomalyRequest = {
  idempotency_key: 'e/a/anomaly-1',
  execution_id: 'e',
  project_id: 'p',
  organization_id: 'o',
  instructions: 'No prices above 100, no "free".',
  goal: 'Quote a price',
  agent: { _id: 'a', title: 'Quoter', llm: { model: 'big', temperature: 1, max_tokens: 5 } },
  output: 'It costs 500, and is Free of tax.',
};

/** Asks a model that always gives this answer. */
async function detect(content: string, model = 'big') {
  const asked: ChatRequest[] = [];
  const complete = async (chat: ChatRequest) => {
    asked.push(chat);
    return { model, content, tool_calls: [], usage: { input_tokens: 1, output_tokens: 1 } };
  };
  const { detectAnomaly } = createAnomalyActivities({ models: { complete }, isLightModel: () => false }, noExchanges);
  const environment = activityEnvironment();
  const found = await environment.run<
    [DetectAnomalyRequest],
    StepResult<AnomalyCheck>,
    AgentflowExecutionActivities['detectAnomaly']
  >(detectAnomaly, request);
  expect(found.value).toMatchObject({ model, usage: { input_tokens: 1, output_tokens: 1 } });
  return { finding: found.value.finding, asked };
}

describe('detectAnomaly', () => {
  test("asks the agent's model with the instructions and the output, at temperature 0", async () => {
    verifies('agent.anomaly');
    const { finding, asked } = await detect(
      'Here you are:\n```json\n{"anomaly": true, "finding": "500 is above 100"}\n```',
    );
    expect(finding).toBe('500 is above 100');
    expect(asked).toMatchObject([{ model: 'big', temperature: 0, idempotencyKey: 'e/a/anomaly-1' }]);
    expect(asked[0]?.messages.map(({ content }) => content).join('\n')).toMatch(/No prices above 100[^]*It costs 500/);
  });

  test('reports nothing if the model finds nothing', async () => {
    expect((await detect('{"anomaly": false, "finding": ""}')).finding).toBeNull();
  });

  test.each(['', 'all is well', '{"anomaly": "yes"}', '[]', '{'])(
    'is retried after an answer without a verdict: %j',
    async (content) => {
      await expect(detect(content)).rejects.toMatchObject({ type: 'model_answer_unusable', nonRetryable: false });
    },
  );

  test('matches the quoted terms if the offline model answers', async () => {
    verifies('agent.anomaly');
    expect((await detect('# anything', 'offline')).finding).toBe('the output contains "free"');
  });
});
