import type { InboxItem } from '../api.js';
import { Field as FormField, SelectField, TextField } from '../field.js';
import type { Edits } from '../use-draft.js';
import { choicesOf, currentText, draftFor, exampleOf, kindOf, textOf, type Field, type Form } from './answer-values.js';

/** The form of a question; undefined for any other item. */
export function formOf(item: InboxItem): Form | undefined {
  return item.kind === 'elicitation' || item.kind === 'question' ? item.body.schema : undefined;
}

const formats: Readonly<Record<string, string>> = {
  date: 'Such as 2026-12-31.',
  'date-time': 'Such as 2026-12-31T08:00:00Z.',
  time: 'Such as 08:00:00Z.',
};
const longText = 200;

/** What the description of a field does not say: how its value is written. */
function hintOf(field: Field): string | undefined {
  switch (kindOf(field)) {
    case 'lines':
      return 'One in each line.';
    case 'choices':
      return 'Several can be chosen.';
    case 'json':
      return `Written as JSON, such as ${JSON.stringify(exampleOf(field))}.`;
    case 'any':
      return 'A text, or JSON.';
    default:
      return formats[field.format ?? ''];
  }
}

function rowsOf(field: Field): number {
  const isLong = kindOf(field) === 'text' && (field.maxLength ?? 0) > longText;
  return isLong || ['lines', 'json'].includes(kindOf(field)) ? 4 : 1;
}

export function AnswerFields({ form: { properties = {}, required = [] }, edits }: { form: Form; edits: Edits }) {
  return Object.entries(properties).map(([name, field]) => (
    <AnswerField key={name} {...{ name, field, edits }} isRequired={required.includes(name)} />
  ));
}

interface AnswerOptions {
  name: string;
  field: Field;
  isRequired: boolean;
  edits: Edits;
}

function AnswerField({ name, field, isRequired, edits }: AnswerOptions) {
  const text = currentText(field, edits.drafts[name]);
  const set = (next: string) => edits.set(name, draftFor(field, next));
  const hint = hintOf(field);
  const control = {
    name: `values.${name}`,
    label: (
      <>
        <bdi>{field.title ?? name}</bdi>
        {!isRequired && ' (optional)'}
      </>
    ),
    ...((field.description !== undefined || hint !== undefined) && {
      hint: (
        <>
          <bdi>{field.description}</bdi> {hint}
        </>
      ),
    }),
  };
  const options = choicesOf(field)?.map(({ value, name: title }) => ({ value: textOf(value), name: title }));
  if (!options) return <TextField {...control} rows={rowsOf(field)} text={text} onChange={set} />;
  if (kindOf(field) === 'choice')
    return <SelectField {...control} value={text} options={[{ value: '', name: '' }, ...options]} onChange={set} />;
  return (
    <FormField {...control}>
      {(attributes) => (
        <select
          {...attributes}
          multiple
          value={text === '' ? [] : text.split('\n')}
          onChange={({ target }) => set([...target.selectedOptions].map(({ value }) => value).join('\n'))}
        >
          {options.map(({ value, name: title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      )}
    </FormField>
  );
}
