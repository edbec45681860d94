import { guardDefaults } from './guard.js';
import { maxOperands } from './inspect.js';
import { maxSteps } from './work.js';
import { maxWeight } from './work-expressions.js';

/** The limits of a query that the guard enforces. */
export const guardLimits = {
  characters: guardDefaults.maxLength,
  characters_not_ascii: guardDefaults.maxNonAscii,
  tokens: guardDefaults.maxTokens,
  clauses: guardDefaults.maxClauses,
  labels_in_a_row: guardDefaults.maxLabels,
  nested_brackets: guardDefaults.maxDepth,
  operands_in_a_row: maxOperands,
  nodes_and_relationships_in_patterns: guardDefaults.maxPatterns,
  relationships_of_variable_number: guardDefaults.maxHops,
  elements_of_range: guardDefaults.maxRange,
  nested_iterations: guardDefaults.maxIterationDepth,
  steps_in_one_row: maxSteps,
  characters_and_elements_of_a_value: maxWeight,
};

/** The limits that need more explanation than a number (decision 0055). */
export function guardRules(): string[] {
  const { steps_in_one_row: steps, characters_and_elements_of_a_value: weight } = guardLimits;
  const number = (value: number) => value.toLocaleString('en-US');
  return [
    `The work of one row is estimated before the query runs: at most ${number(steps)} steps for each clause, and ${number(weight)} characters and elements in each value. The refusal names the expression. MATCH, UNWIND and WITH can be stopped between rows, so use them instead of lists in lists.`,
    'A regular expression (=~) must be a string literal in the query. It has no back references, no look-around and no repetition of a repetition or of a choice. Use CONTAINS, STARTS WITH or ENDS WITH where they suffice.',
  ];
}
