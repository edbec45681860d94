import type { TurnPlan } from '../../../../workflows/agentflow-execution/turn-messages.js';
import { AppError } from '../../../base/errors.js';
import { renderText } from '../../../prompts/template.js';
import { givenVariables, type GivenInputs } from '../../../prompts/variables.js';
import type { AgentflowDocument } from '../../agentflows/record.js';

const maxKeyLength = 200;

/**
 * The turn that a run of the agentflow needs, with the value of its concurrency key. `concurrency` of the saved agentflow applies to runs of all
 * releases, so a change of it needs no promotion.
 * @throws AppError `validation_failed` if the key cannot be rendered, or is too long
 */
export function turnOf(saved: Pick<AgentflowDocument, 'concurrency'> | null, inputs: GivenInputs): { turn?: TurnPlan } {
  if (!saved?.concurrency) return {};
  const { key: template } = saved.concurrency;
  if (template === null) return { turn: { key: null } };
  const key = renderText('concurrency.key', template, givenVariables(inputs));
  if (key.length > maxKeyLength)
    throw new AppError(
      'validation_failed',
      `concurrency.key: the text of this run must have at most ${maxKeyLength} characters, and has ${key.length}`,
    );
  return { turn: { key } };
}
