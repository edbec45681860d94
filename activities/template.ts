import { givenVariables } from '../src/prompts/variables.js';
import type { StepContext } from '../workflows/agentflow-execution/activities.js';

export { renderText, renderUrl, variablesIn } from '../src/prompts/template.js';

/** What a template may name: what was given for the execution, and what the run has brought so far. */
export function variablesOf(context: StepContext): Record<string, unknown> {
  const { documents, outputs, actions } = context;
  return { ...givenVariables(context), documents, outputs, previous: outputs.at(-1)?.output ?? '', actions };
}
