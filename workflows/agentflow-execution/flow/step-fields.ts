import { z } from 'zod';

/** What the steps of a flow have in common. */

export const ids = /^[A-Za-z0-9_-]{1,64}$/;
export const idProblem = 'must be 1 to 64 letters, digits, "_" or "-"';

export const StepId = z
  .string()
  .regex(ids, idProblem)
  .refine((id) => !(id in Object.prototype), 'must not be a reserved name such as "constructor"')
  .meta({ example: 'sort' });
export const PartName = z.string().regex(ids, idProblem).meta({ example: 'left' });
export const Pointer = z
  .string()
  .max(100)
  .nullable()
  .default(null)
  .describe('An agent or a step. Null ends this part of the flow.');
export const First = z.string().min(1).max(100).describe('The agent or step that runs first in this part of the flow.');
export const Expression = z
  .string()
  .min(1)
  .max(4000)
  .describe(
    'A CEL expression over `inputs`, `outputs`, `goal`, `execution`, and in a part `item`, `index` or `carry`.',
  );
const Title = z.string().max(200).default('').meta({ example: 'Sort by topic' });

/** The fields of all steps, except a `branch`, which has several pointers. */
export const commonStepFields = { _id: StepId, title: Title, next: Pointer };
