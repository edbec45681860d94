import { maxHops } from './hops.js';
import { contentLimits } from './inspect.js';
import { textLimits } from './text-bounds.js';
import { maxSteps } from './work.js';
import { maxWeight } from './work-expressions.js';

/** The limits of a query that the guard enforces. */
export const guardLimits = {
  characters: textLimits.length,
  characters_not_ascii: textLimits.nonAscii,
  tokens: textLimits.tokens,
  clauses: textLimits.clauses,
  labels_in_a_row: textLimits.labels,
  nested_brackets: textLimits.depth,
  operands_in_a_row: contentLimits.operands,
  nodes_and_relationships_in_patterns: contentLimits.patterns,
  relationships_of_variable_number: maxHops,
  elements_of_range: contentLimits.range,
  nested_iterations: contentLimits.iterationDepth,
  steps_in_one_row: maxSteps,
  characters_and_elements_of_a_value: maxWeight,
};

/** The limits that need more explanation than a number (decision 0024). */
export function guardRules(): string[] {
  const { steps_in_one_row: steps, characters_and_elements_of_a_value: weight } = guardLimits;
  const number = (value: number) => value.toLocaleString('en-US');
  return [
    `The work of one row is estimated before the query runs: at most ${number(steps)} steps for each clause, and ${number(weight)} characters and elements in each value. The refusal names the expression. MATCH, UNWIND and WITH can be stopped between rows, so use them instead of lists in lists.`,
    'A regular expression (=~) must be a string literal in the query. It has no back references, no look-around and no repetition of a repetition or of a choice. Use CONTAINS, STARTS WITH or ENDS WITH where they suffice.',
  ];
}
