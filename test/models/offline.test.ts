import { describe, expect, test } from '@jest/globals';
import { createModels } from '../../src/models/create-models.js';
import { factsOf } from '../../src/models/facts.js';
import type { ChatMaterial } from '../../src/models/port.js';
import { verifies } from '../support/verifies.js';

const models = createModels({ baseUrl: undefined, apiKey: undefined, model: undefined });

async function ask(change: Partial<ChatMaterial>): Promise<string> {
  const material = {
    title: 'Reader',
    goal: 'Tell',
    prompt: 'Tell',
    documents: [],
    outputs: [],
    actions: [],
    ...change,
  };
  const signal = new AbortController().signal;
  const answer = await models.complete({
    model: 'any',
    temperature: 0,
    maxTokens: 0,
    messages: [],
    material,
    signal,
    idempotencyKey: 'k',
  });
  expect(answer.model).toBe('offline');
  return answer.content;
}

const text = (content: string, mime_type = 'text/plain') => ({ name: 'notes', mime_type, text: content });
const filler = Array.from({ length: 30 }, (_, index) => `It was so on day ${index}.`).join(' ');

describe('the offline model', () => {
  test('says that it wrote the output and restates the goal', async () => {
    verifies('execution.model.offline');
    const output = await ask({
      goal: 'Describe the harbour',
      prompt: 'Read the notes',
      actions: [{ name: 'Info', output: { depth: 12 } }],
    });
    expect(output).toMatch(/Written by the offline model/);
    expect(output).toContain('**Goal:** Describe the harbour');
    expect(output).toContain('**Task:** Read the notes');
    expect(output).toContain('depth: 12');
  });

  test('does not call tools, and uses the results of earlier tool calls', async () => {
    const material = { title: 'Reader', goal: 'Tell', prompt: 'Tell', documents: [], outputs: [], actions: [] };
    const tools = [{ name: 'look_up', description: '', fields: [] }];
    const conversation = [
      { role: 'assistant' as const, content: '', tool_calls: [{ id: 'a', name: 'look_up', arguments: '{}' }] },
      { role: 'tool' as const, tool_call_id: 'a', content: '{"depth":12}' },
    ];
    const signal = new AbortController().signal;
    const answer = await models.complete({
      model: '',
      temperature: 0,
      maxTokens: 0,
      messages: [],
      tools,
      conversation,
      material,
      signal,
      idempotencyKey: 'k',
    });
    expect(answer.tool_calls).toEqual([]);
    expect(answer.content).toMatch(/\*\*look_up\*\*\n {2}- depth: 12/);
  });

  test('selects the relevant sentences in their order', async () => {
    const first = 'The harbour basin is 14 metres deep and was dredged in 2021.';
    const second = 'Ferries leave the harbour every morning for the northern islands.';
    const output = await ask({ goal: 'How deep is the harbour?', documents: [text(`${first} ${filler} ${second}`)] });
    expect(output.indexOf(first)).toBeGreaterThan(0);
    expect(output.indexOf(second)).toBeGreaterThan(output.indexOf(first));
    expect(output.split('\n').filter((line) => line.startsWith('- '))).toHaveLength(8);
  });

  test('returns the same answer for the same material', async () => {
    const material = { documents: [text(filler)], outputs: [{ title: 'A', output: filler }] };
    expect(await ask(material)).toBe(await ask(material));
  });

  test('uses the outputs of earlier agents without their headings, their notes and text from the documents', async () => {
    const documents = [text('The harbour is deep.')];
    const before = await ask({ documents, actions: [{ name: 'Tide', output: { level: 'rising' } }] });
    const output = await ask({ title: 'Writer', documents, outputs: [{ title: 'Reader', output: before }] });
    expect(output).toContain('- level: rising *(Reader)*');
    expect(output.match(/offline model/g)).toHaveLength(1);
    expect(output.match(/The harbour is deep/g)).toHaveLength(1);
  });

  test('reads Markdown, HTML and JSON documents as text', async () => {
    const markdown =
      '# Title\n\n- **First** point\n\n| a | b |\n|---|---|\n| wide | narrow |\n\n```\nconst x = 1;\n```\n';
    const output = await ask({
      documents: [
        text(markdown, 'text/markdown'),
        text('<p>A <b>bold</b> claim.</p>', 'text/html'),
        text('{"depth":{"max":14}}', 'application/json'),
      ],
    });
    for (const line of [
      '- First point *(notes)*',
      '- wide, narrow *(notes)*',
      '- A bold claim. *(notes)*',
      '- depth.max: 14 *(notes)*',
    ]) {
      expect(output).toContain(line);
    }
    expect(output).not.toMatch(/Title|const x/);
  });

  test.each([
    ['nothing at all', { goal: '', prompt: '', title: '' }],
    ['Chinese', { goal: '总结', documents: [text('工作流的状态保存在服务器上。任何进程都可能随时被终止。')] }],
    ['Arabic', { documents: [text('هذا نص قصير. وهذه جملة أخرى.')] }],
    ['marks only', { documents: [text('!!! ??? ---')] }],
    ['broken JSON', { documents: [text('{"a":', 'application/json')] }],
    [
      'an empty answer',
      {
        actions: [
          { name: 'None', output: null },
          { name: 'Empty', output: {} },
        ],
      },
    ],
  ] satisfies [string, Partial<ChatMaterial>][])('writes readable text for %s', async (_, material) => {
    const output = await ask(material);
    expect(output).toMatch(/^# .+\n\n> Written by the offline model/);
    expect(output.split('\n').length).toBeGreaterThan(5);
  });

  test.each([
    ['one word', 'word '.repeat(1e6)],
    ['no space', 'a'.repeat(4e6)],
    ['spaces', `a${' '.repeat(4e6)}b`],
    ['open tags', '<'.repeat(4e6)],
    ['bars', '|'.repeat(4e6)],
    ['sentences', Array.from({ length: 1e5 }, (_, index) => `Thing ${index} is at place ${index % 977}.`).join(' ')],
  ])('stays fast and short on a huge document of %s', async (_, content) => {
    const begun = process.cpuUsage();
    const output = await ask({
      documents: [text(content, 'text/html')],
      outputs: [{ title: 'A', output: content }],
      actions: [{ name: 'B', output: content }],
    });
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(3000);
    expect(output.length).toBeLessThan(10_000);
  });
});

describe('factsOf', () => {
  test('flattens a value in order and stops at the limit', () => {
    expect(factsOf({ a: { b: [1, null] }, c: 'x\ny' }, 10)).toEqual([
      { path: 'a.b.0', value: '1' },
      { path: 'a.b.1', value: 'null' },
      { path: 'c', value: 'x y' },
    ]);
    expect(
      factsOf(
        Array.from({ length: 1e5 }, (_, index) => index),
        3,
      ),
    ).toHaveLength(3);
    expect(factsOf('plain', 3)).toEqual([{ path: 'value', value: 'plain' }]);
  });
});
