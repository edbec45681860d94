import { expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { actionTo } from '../../../support/flows.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';
import { create, edit, pointed, publish } from './releases.js';

const deps = useDeps();

const reader = {
  _id: 'reader',
  title: 'Reader',
  is_preview_mode_enabled: true,
  next_agent: null,
  prompt: { template: ['Read the claim.', 'Look at the date.', 'Say what is missing.'].join('\n') },
  skills: [
    {
      _id: 'look',
      name: 'Look',
      initial_action_id: 'call',
      actions: [{ ...actionTo('https://a.example/claims'), method: 'GET' }],
    },
  ],
};

test('a difference shows what has changed, prompts line by line, and what a run may do in addition', async () => {
  verifies('release.difference');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const id = await create(workspace, {
    name: 'Claims',
    anomaly_detection: { is_enabled: true, instructions: 'Look for names.' },
    agents: [reader],
  });
  await publish(workspace, id);
  await pointed(workspace, id, 'production', { version: 1, expected: null });
  const diff = async (query = '') => (await api.get(`/agentflow/${id}/diff${query}`)).body;
  expect(await diff()).toMatchObject({ from: { version: 1 }, to: { version: null }, changes: [], risks: [] });
  const [skill] = reader.skills;
  await edit(workspace, id, {
    anomaly_detection: { is_enabled: false },
    agents: [
      {
        ...reader,
        ...{ is_preview_mode_enabled: false, has_knowledge_base: true, max_turns: 30, llm: { max_tokens: 200 } },
        prompt: { template: ['Read the claim.', 'Look at the sum.', 'Say what is missing.'].join('\n') },
        skills: [
          {
            ...skill,
            actions: [
              { ...actionTo('https://a.example/claims', 'call', 'send'), method: 'DELETE' },
              { ...actionTo('https://b.example/{{ goal }}', 'send') },
            ],
          },
        ],
      },
    ],
  });
  const found = await diff();
  const byPath = new Map<string, any>(found.changes.map((change: any) => [change.path, change]));
  expect([...byPath.keys()].sort()).toEqual([
    'agentflow',
    'agents/reader',
    'agents/reader/skills/look/actions/call',
    'agents/reader/skills/look/actions/send',
  ]);
  const prompt = byPath.get('agents/reader').fields.find(({ name }: any) => name === 'prompt.template');
  expect(prompt).toEqual({
    ...{ name: 'prompt.template', from: null, to: null },
    hunks: [
      {
        ...{ from_line: 1, to_line: 1 },
        lines: [
          { kind: 'same', text: 'Read the claim.' },
          { kind: 'removed', text: 'Look at the date.' },
          { kind: 'added', text: 'Look at the sum.' },
          { kind: 'same', text: 'Say what is missing.' },
        ],
      },
    ],
  });
  expect(byPath.get('agents/reader/skills/look/actions/call').fields).toContainEqual({
    ...{ name: 'method', from: 'GET', to: 'DELETE' },
  });
  expect(byPath.get('agents/reader/skills/look/actions/send')).toMatchObject({ change: 'added' });
  const risks = found.risks.map(({ kind, text }: any) => `${kind}: ${text}`).sort();
  expect(risks).toEqual([
    'dropped_check: outputs are no longer checked for anomalies',
    'dropped_preview: no person decides any more before it acts',
    'larger_budget: 30 turns instead of 12',
    'new_host: calls b.example',
    'new_method: calls a.example with DELETE',
    'new_scope: reads the context graph (svc:query.read)',
  ]);
  // The other way round, nothing is added but the preview, the check and the tokens of an answer.
  await publish(workspace, id);
  const back = await diff('?from=2&to=production');
  expect(back.risks.map(({ kind, text }: any) => `${kind}: ${text}`)).toEqual([
    'new_method: calls a.example with GET',
    'larger_budget: any number of tokens of one answer instead of 200',
  ]);
  expect(back.digest).not.toBe(found.digest);
  expect(await diff('?from=1&to=2')).toMatchObject({ digest: found.digest });
  expect(await api.get(`/agentflow/${id}/diff?from=9`)).toMatchObject(refusal(404, 'not_found'));
  expect(await api.get(`/agentflow/${id}/diff?from=staging`)).toMatchObject(refusal(404, 'not_found', 'staging'));
  expect(await api.get(`/agentflow/${id}/diff?from=$x`)).toMatchObject(refusal(400, 'invalid_request', 'from'));
});
