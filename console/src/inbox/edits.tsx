import { validationError } from '../api.js';
import { TextField } from '../field.js';
import { fieldsOf } from '../fields-of.js';
import { useDrafts, type Edits } from '../use-draft.js';
import textStyles from '../styles/text.module.css';
import { previewOf, type Subject } from './subject.js';

/** The values of an item that an approval can change. */
type Editable = { text: string } | { fields: Record<string, string> };

export function editableOf(subject: Subject): Editable | undefined {
  const { output } = fieldsOf(previewOf(subject)?.proposed);
  if (typeof output === 'string') return { text: output };
  const fields = (subject.item.kind === 'approval' && subject.item.body.editable_fields) || {};
  return Object.keys(fields).length > 0 ? { fields } : undefined;
}

/** Keeps the person's changes across a reload. */
export const useEdits = (itemId: string): Edits => useDrafts(`edits.${itemId}`);

/**
 * Returns the changes in the format of the API; undefined if nothing was changed.
 * @throws ServiceError for a value that does not have the type of its field
 */
export function valuesOf(editable: Editable | undefined, drafts: Edits['drafts']): Record<string, unknown> | undefined {
  if (editable === undefined || Object.keys(drafts).length === 0) return undefined;
  if ('text' in editable) return drafts.output === editable.text ? undefined : drafts;
  return Object.fromEntries(
    Object.entries(drafts).map(([name, text]) => [name, valueOf(name, text, editable.fields[name])]),
  );
}

function valueOf(name: string, text: string, type: string | undefined): unknown {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    if (type === 'any') return text;
    throw validationError(`edits.${name}`, `must be of type ${type}`);
  }
}

/** Renders the editable values. An empty field keeps its value. */
export function EditFields({ editable, edits: { drafts, set } }: { editable: Editable; edits: Edits }) {
  if ('text' in editable)
    return (
      <TextField
        label="Output"
        name="edits"
        rows={8}
        text={drafts.output ?? editable.text}
        onChange={(text) => set('output', text)}
      />
    );
  return (
    <details open={Object.keys(drafts).length > 0}>
      <summary>Edit call</summary>
      <p className={textStyles.soft}>
        Fields that you leave empty keep their values. The edited call has a new SHA-256.
      </p>
      {Object.entries(editable.fields).map(([name, type]) => (
        <TextField
          key={name}
          label={`${name} (${type})`}
          name={`edits.${name}`}
          rows={2}
          text={drafts[name] ?? ''}
          onChange={(text) => set(name, text)}
        />
      ))}
    </details>
  );
}
