import { describe, expect, test } from '@jest/globals';
import { renderText, renderUrl, variablesIn } from '../../src/prompts/template.js';
import { writtenInputs } from '../../src/prompts/written-variables.js';
import { variablesOf } from '../../src/prompts/variables.js';
import { verifies } from '../support/verifies.js';
import type { StepContext } from '../../workflows/agentflow-execution/steps/context.js';

const context: StepContext = {
  goal: 'a goal',
  input_variables: { city: 'Zürich', goal: 'another goal', nothing: null, 'with space': 1 },
  runtime_inputs: { depth: 3 },
  documents: [{ name: 'notes.md', mime_type: 'text/markdown', text: 'the text' }],
  outputs: [
    { agent_id: 'a', title: 'A', output: 'first' },
    { agent_id: 'b', title: 'B', output: 'second' },
  ],
  actions: [{ action_id: 'x', skill_id: 's', name: 'X', output: { ok: true } }],
};
const render = (template: string) => renderText('the prompt', template, variablesOf(context));
/** Renders with an additional large document. */
const renderLarge = (template: string) => {
  const large = { name: 'large', mime_type: 'text/plain', text: `${'a'.repeat(900_000)}b` };
  return renderText('the prompt', template, variablesOf({ ...context, documents: [...context.documents, large] }));
};
const refused = (description: RegExp | string) =>
  expect.objectContaining({ code: 'validation_failed', message: expect.stringMatching(description) });

function failure(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('renderText', () => {
  test.each([
    ['{{ city }} {{ inputs.city }}', 'Zürich Zürich'],
    ['{{ goal }}, not {{ inputs.goal }}', 'a goal, not another goal'],
    ['{{ runtime.depth | plus: 1 }}, {{ depth }}', '4, 3'],
    ['{% for d in documents %}{{ d.name }}: {{ d.text }}{% endfor %}', 'notes.md: the text'],
    ['{{ previous }} {{ outputs[0].output }} {{ outputs.last.title }}', 'second first B'],
    ['{{ actions[0].output.ok }}', 'true'],
    ['[{{ nothing }}]', '[]'],
    ['{{ actions[0].output }} {{ documents.first.name }}', '{"ok":true} notes.md'],
    ['{{ actions }}', '[{"action_id":"x","skill_id":"s","name":"X","output":{"ok":true}}]'],
    ['{{ actions[0].output | append: "!" }} {{ "a" | append: actions[0].output }}', '{"ok":true}! a{"ok":true}'],
    ['{{ actions | map: "output" | join: "; " }}', '{"ok":true}'],
    ['{% capture x %}{{ actions[0].output }}{% endcapture %}{{ x | upcase }}', '{"OK":TRUE}'],
    ['{% assign x = actions[0].output %}{% echo x %}{{ x | raw }}', '{"ok":true}{"ok":true}'],
    ['{% cycle actions[0].output, "b" %}', '{"ok":true}'],
    ['{{ empty }}{{ blank }}', ''],
    ['{% if unknown %}a{% else %}b{% endif %}{{ unknown | default: "c" }}', 'bc'],
    ['no variable', 'no variable'],
  ])('renders %j', (template, expected) => {
    verifies('agent.template-json');
    expect(render(template)).toBe(expected);
  });

  test.each([
    ['{{ unknown }}', 'unknown'],
    ['{{ inputs.missing }}', 'inputs.missing'],
    ['{{ documents[7].text }}', 'documents'],
    ['{% for x in unknown %}{% endfor %}', 'unknown'],
  ])('names the variable that %j misses', (template, name) => {
    expect(failure(() => render(template))).toEqual(refused(new RegExp(`the prompt needs the variable ".*${name}`)));
  });

  test.each([
    '{{ goal.constructor }}',
    '{{ inputs.constructor.constructor }}',
    '{{ inputs.__proto__ }}',
    '{{ inputs["__proto__"].polluted }}',
    '{{ documents.map }}',
    '{{ toString }}',
    '{{ __proto__ }}',
    '{{ constructor }}',
    '{{ documents | where: "constructor" | json }}',
    '{{ documents | where_exp: "d", "d.constructor" | json }}',
    '{{ documents | find: "__proto__", "x" | json }}',
    '{{ documents | group_by: "toString" | json }}',
    '{{ globalThis }}',
    '{{ process.env }}',
  ])('keeps %j from prototypes and globals', (template) => {
    verifies('agent.template-safe');
    expect(failure(() => render(template))).toEqual(refused('needs the variable'));
  });

  test.each([
    ['{{ documents | map: "constructor" | json }}', '[null]'],
    ['{{ documents | map: "__proto__" | json }}', '[null]'],
    ['{{ documents | sum: "constructor" }}', '0'],
    ['{{ documents | sort: "constructor" | size }}', '1'],
  ])('does not access prototypes with %j', (template, expected) => expect(render(template)).toBe(expected));

  test.each([
    ['{% include "/etc/passwd" %}'],
    ['{% render "/etc/passwd" %}'],
    ['{% layout "../package.json" %}'],
    ['{{ goal | no_such_filter }}'],
    ['{% no_such_tag %}'],
    ['{{ goal | constructor }}'],
    ['{{ goal | __proto__ }}'],
    ['{{ goal | toString }}'],
    ['{% constructor %}'],
    ['{% __proto__ %}'],
    ['{% include goal %}'],
    ['{% liquid render "x" %}'],
    ['{{ goal '],
    ['{% for x in (1..3) %}'],
    [`{{ "a" | append: "${'b'.repeat(100_001)}" }}`],
  ])('refuses %.40j', (template) => {
    verifies('agent.template-safe');
    expect(failure(() => render(template))).toEqual(refused('cannot be rendered'));
  });

  test('has no limit of time that a busy machine exceeds', () => {
    verifies('agent.template-steps');
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}` }));
    const variables = variablesOf({ ...context, input_variables: { rows } });
    const template = '{% for r in rows %}{{ r.id }},{{ r.name }};{% endfor %}';
    const clock = performance.now.bind(performance);
    let hours = 0;
    // As on a machine on which each step takes an hour.
    performance.now = () => clock() + (hours += 3_600_000);
    try {
      expect(renderText('the prompt', template, variables)).toMatch(/19999,row 19999;$/);
    } finally {
      performance.now = clock;
    }
  });

  test.each([
    '{% for a in (1..1000000000) %}x{% endfor %}',
    '{% for a in (1..1000000) %}{% endfor %}',
    '{% for i in (1..100000) %}{{ documents }}{% endfor %}',
    '{% assign list = documents[1].text | split: "" %}{% for i in (1..10000) %}{% if list == list %}{% endif %}{% endfor %}',
    '{% assign list = documents[1].text | split: "" %}{% for i in (1..10000) %}{% if list contains 1 %}{% endif %}{% endfor %}',
    '{% for a in (1..100000) %}{% for b in (1..100000) %}x{% endfor %}{% endfor %}',
    `{% for a in (1..100000) %}${'long '.repeat(1000)}{% endfor %}`,
    '{% assign s = "aaaaaaaaaa" %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}{{ s }}',
    '{% capture s %}{% for i in (1..9000) %}{{ goal }}{% endfor %}{% endcapture %}{% for i in (1..9000) %}{{ s }}{% endfor %}',
    '{% assign list = documents[1].text | split: "" %}{{ list | where_exp: "x", "list contains x" | size }}',
    '{% assign list = documents[1].text | split: "" %}{% if true %}{{ list | reject_exp: "x", "list contains goal" | size }}{% endif %}',
    '{{ documents[1].text | replace: "a", documents[1].text | size }}',
    '{{ documents[1].text | split: "" | join: documents[1].text | size }}',
    '{{ documents[1].text | append: documents[1].text }}',
  ])('aborts %.60j', (template) => {
    verifies('agent.template-safe');
    const begun = process.cpuUsage();
    expect(failure(() => renderLarge(template))).toEqual(refused('cannot be rendered|writes more than'));
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(3000);
  });
});

describe('renderUrl', () => {
  test.each([
    ['https://x/{{ v }}', 'a/b?c#d e', 'https://x/a%2Fb%3Fc%23d%20e'],
    ['https://x/{% assign w = v %}{{ w }}', '/', 'https://x/%2F'],
    ['https://x/{% echo v %}', '/', 'https://x/%2F'],
    ['https://x/{{ v }}', { a: 1 }, 'https://x/%7B%22a%22%3A1%7D'],
    ['https://x/{{ v }}', null, 'https://x/'],
  ])('encodes what %j inserts of %j', (template, v, expected) =>
    expect(renderUrl('the endpoint', template, { v })).toBe(expected),
  );
});

describe('writtenInputs', () => {
  test.each([
    ['/a/{{ id }}', ['id']],
    ['/a/{{ inputs.id }}?b={{ runtime.b }}', ['b', 'id']],
    ['/a{% if id %}?id=1{% endif %}', []],
    ['/a{% if id %}/{{ id }}{% else %}/{{ other | default: "x" }}{% endif %}', ['id', 'other']],
    ['/a?{% for i in ids %}id={{ i }}&{% endfor %}', ['ids']],
    ['/a/{{ customer.id }}', []],
    ['{% assign x = id %}/{{ x }}', ['id']],
    ['{% case kind %}{% when "a" %}/a{% endcase %}', []],
    ['{% unless off %}{{ on | append: "x" }}{% endunless %}', ['on']],
  ])('of %j are %j', (template, expected) => {
    expect([...writtenInputs('the endpoint', template)].sort()).toEqual(expected);
  });
});

describe('variablesIn', () => {
  test('returns the top-level variables of a template', () => {
    expect(variablesIn('the prompt', '{% for d in documents %}{{ d.text }}{% endfor %}{{ previous }}')).toEqual(
      new Set(['documents', 'previous']),
    );
  });
});
