import { invalid, type InboxItem } from '../api.js';
import { TextField } from '../field.js';
import { useDrafts, type Edits } from '../parts.js';

/** The changes that an approval of this item can contain; undefined if it cannot be edited. */
export type Editable = { text: string } | { fields: Record<string, string> };

/** What a preview shows; undefined for every other item. */
export function previewOf({ body }: InboxItem) {
  return body.tool === 'execution.preview' ? (body.call as { goal: string; proposed: unknown }) : undefined;
}

/** The goal of the run that waits; undefined if the item is of no run or the person does not see the call. */
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

/** What a person changed, also after a reload. */
export const useEdits = (itemId: string): Edits => useDrafts(`edits.${itemId}`);

/**
 * The changes as the API takes them; undefined if nothing was changed.
 * @throws ServiceError at the field whose value is not of its type
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
    throw invalid(`edits.${name}`, `must be of type ${type}`);
  }
}

/** An empty field stays as it is. */
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
      <summary>Change the call</summary>
      <p className="soft">Fields without a new value stay as they are. The changed call has its own SHA-256.</p>
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
