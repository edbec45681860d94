import { describe, expect, test } from '@jest/globals';
import { missingVariables } from '../../src/prompts/missing-variables.js';

const inputs = {
  goal: 'g',
  input_variables: { city: 'Oslo', address: { street: 'Quay' }, empty: null, 'with space': 1 },
  runtime_inputs: { depth: 3 },
};
const missing = (template: string, variables: string[] = []) =>
  missingVariables('the prompt', { template, variables }, inputs);

describe('missingVariables', () => {
  test.each([
    ['{{ age }}', ['age']],
    ['{{ age }} {{ age | upcase }} {{ width }}', ['age', 'width']],
    ['{{ inputs.age }} {{ runtime.width }}', ['inputs.age', 'runtime.width']],
    ['{{ address.zip }}', ['address.zip']],
    ['{{ city | append: age }}', ['age']],
    ['{% assign x = age %}{{ x }}', ['age']],
    ['{% capture x %}{{ age }}{% endcapture %}', ['age']],
    ['{% for x in ages %}{{ x }}{% endfor %}', ['ages']],
    ['{% for x in (1..age) %}{% endfor %}', ['age']],
    ['{% echo age %}{% liquid echo width %}', ['age', 'width']],
    ['{% if city %}{% endif %}{{ age }}', ['age']],
    ['{{ constructor }}', ['constructor']],
  ])('finds in %j the variables that every rendering needs', (template, expected) =>
    expect(missing(template).sort()).toEqual(expected),
  );

  test.each([
    '{{ city }} {{ inputs.city }} {{ runtime.depth }} {{ depth }} {{ address.street }} {{ empty }} {{ inputs["with space"] }}',
    '{{ goal }} {{ documents[0].text }} {{ previous }} {{ outputs[3].output }} {{ actions[0].output.x }}',
    '{{ city.size }} {{ inputs.size }}',
    '{{ age | default: "none" }} {% assign x = age | default: size %} {% echo age | default: 1 %}',
    '{% if age %}{{ age }}{% elsif size %}{{ size }}{% else %}{{ name }}{% endif %}',
    '{% unless age %}{{ size }}{% endunless %}{% case city %}{% when "x" %}{{ age }}{% endcase %}',
    '{% for x in documents %}{{ x.text }} {{ age }} {{ forloop.index }}{% else %}{{ size }}{% endfor %}',
    '{% assign x = city %}{{ x }}{% capture y %}z{% endcapture %}{{ y }}{% increment n %}{{ n }}',
    '{% comment %}{{ age }}{% endcomment %}{% raw %}{{ age }}{% endraw %}',
    'no variable',
  ])('finds nothing missing in %j', (template) => expect(missing(template)).toEqual([]));

  test('finds a name that is looked up by a missing name', () =>
    expect(missing('{{ address[age] }}')).toEqual(['age']));

  test.each([
    ['{{ goal }}', ['age'], ['age']],
    [
      '',
      ['age', ' city ', 'inputs.city', 'inputs.age', '', 'with space', 'goal', 'previous', 'documents'],
      ['age', 'inputs.age'],
    ],
    ['{{ age }}', ['age'], ['age']],
    ['{{ age | default: 1 }}{% if size %}{% endif %}', ['age', 'size'], []],
    ['{% assign age = 1 %}{{ age }}', ['age'], []],
  ])('compares %j with the declaration of its author: %j', (template, declared, expected) =>
    expect(missing(template, declared)).toEqual(expected),
  );

  test('refuses a template that cannot be parsed', () => {
    expect(() => missing('{{ goal ')).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });
});
