import { validationError, type InboxItem } from '../api.js';
import { TextField } from '../field.js';
import { useDrafts, type Edits } from '../use-draft.js';

/** The values of an item that an approval can change. */
type Editable = { text: string } | { fields: Record<string, string> };

/** Returns the call of a preview; undefined for any other item. */
export function previewOf({ body }: InboxItem) {
  return body.tool === 'execution.preview' ? (body.call as { goal: string; proposed: unknown }) : undefined;
}

/** Returns the goal of the waiting run; undefined if the item belongs to no run or the person may not see the call. */
export function goalOf({ body }: InboxItem): string | undefined {
  const { goal, about } = (body.call ?? {}) as { goal?: string; about?: { goal?: string } };
  return goal ?? about?.goal;
}

export function editableOf(item: InboxItem): Editable | undefined {
  const { kind, body } = item;
  const { output } = (previewOf(item)?.proposed ?? {}) as { output?: unknown };
  if (typeof output === 'string') return { text: output };
  const fields = (body.editable_fields ?? {}) as Record<string, string>;
  return kind === 'approval' && Object.keys(fields).length > 0 ? { fields } : undefined;
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
      <p className="soft">Fields that you leave empty keep their values. The edited call has a new SHA-256.</p>
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
