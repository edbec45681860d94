import { SelectField, TextField } from '../field.js';
import { listIn } from '../flow/pointers.js';
import { isFields, text, type Fields } from './document.js';
import type { StepValueOptions } from './step-fields.js';

export const isDecidedByModel = ({ decide }: Fields): boolean => isFields(decide);

/** Chooses whether conditions or a model decide which case a branch takes. A model always chooses one of them. */
export function DecideField({ step, problemOf, onChange }: StepValueOptions) {
  const { decide, otherwise, ...rest } = step;
  const choose = (by: string) => {
    const cases = listIn(step.cases).map(({ when: _when, description: _description, ...each }) =>
      by === 'model' ? { ...each, description: '' } : { ...each, when: '' },
    );
    onChange(
      by === 'model'
        ? { ...rest, decide: { instructions: '' }, cases, otherwise: null }
        : { ...rest, cases, otherwise: otherwise ?? null },
    );
  };
  return (
    <>
      <SelectField
        label="Decided by"
        value={isFields(decide) ? 'model' : 'conditions'}
        options={[
          { value: 'conditions', name: 'Conditions' },
          { value: 'model', name: 'A model' },
        ]}
        onChange={choose}
      />
      {isFields(decide) && (
        <TextField
          label="Instructions"
          hint="A Liquid template. The model knows the names and descriptions of the cases, and chooses one."
          problem={problemOf('decide.instructions')}
          rows={3}
          text={text(decide.instructions)}
          onChange={(instructions) => onChange({ ...step, decide: { ...decide, instructions } })}
        />
      )}
    </>
  );
}
