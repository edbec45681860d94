import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { call, isConflict } from '../api.js';
import { RefusedFields, SaveButtons, useFirstProblem } from '../field.js';
import { ActionButton, Problem, Page, Loading, Loaded } from '../parts.js';
import { ReadOnlyFields } from '../read-only.js';
import { Time } from '../time.js';
import { refusalByField } from '../refusal-by-field.js';
import { personId, useMay } from '../session.js';
import { useNames } from '../use-names.js';
import { useSubmit } from '../use-submit.js';
import { AgentflowActions } from './actions.js';
import { ChangeNotes } from './change-notes.js';
import { newBodyOf, type Edited } from './document.js';
import { FieldsView, JsonView } from './editor-views.js';
import { OtherEditors } from './other-editors.js';
import { PastRunProvider } from './past-run.js';
import { fieldOf } from './problem-fields.js';
import { ReadOnlyNote } from './read-only-note.js';
import { TryProvider } from './try-step.js';
import { UndoButtons, undoKeys } from './undo.js';
import { useEditor, type Editor } from './use-editor.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import controlStyles from '../styles/controls.module.css';
import formStyles from '../styles/form.module.css';
import styles from './editor.module.css';

const Versions = lazy(() => import('./versions.js').then(({ Versions: component }) => ({ default: component })));
const route = getRouteApi('/agentflows/$agentflowId');

export function NewAgentflow() {
  return (
    <Page title="New agentflow">
      <AgentflowEditor />
    </Page>
  );
}

export function AgentflowDetails() {
  const { agentflowId: id } = route.useParams();
  const query = useQuery({
    queryKey: ['agentflow', id],
    queryFn: () => call('get', '/agentflow/{id}', { params: { id } }),
  });
  return (
    <Page title={query.data?.name ?? 'Agentflow'}>
      <Loaded query={query}>
        {(agentflow) => (
          <>
            <p className={textStyles.soft}>
              Last changed <Time at={agentflow.updated_at} />
              <By agentflow={agentflow} />,{' '}
              {agentflow.promoted_version === undefined
                ? 'not promoted'
                : `promoted as version ${agentflow.promoted_version}`}
            </p>
            <AgentflowEditor agentflow={agentflow} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Who changed an agentflow last. */
function By({ agentflow: { updated_by } }: { agentflow: Edited }) {
  const nameOf = useNames();
  if (updated_by === undefined) return null;
  return (
    <>
      {' '}
      by <bdi>{updated_by === personId() ? 'you' : nameOf(updated_by)}</bdi>
    </>
  );
}

const views = { form: 'Form', json: 'JSON', versions: 'Versions' } as const;
type View = keyof typeof views;

function AgentflowEditor({ agentflow }: { agentflow?: Edited }) {
  const may = useMay();
  const mayEdit = may(agentflow ? 'patch /agentflow/{id}' : 'post /agentflow');
  const editor = useEditor(agentflow, mayEdit);
  const [view, setView] = useState<View>('form');
  const [done, setDone] = useState<string>();
  const { error, isBusy, submit, clearError } = useSave(agentflow, editor, setDone);
  const hasFields = view === 'form';
  const { fields, top } = refusalByField(error, (path) => (hasFields ? fieldOf(path, editor.document) : undefined));
  const { form, onSent } = useFirstProblem(error);
  return (
    <PastRunProvider agentflowId={agentflow?._id}>
      <TryProvider agentflowId={agentflow?._id} stored={editor.stored} isChanged={editor.isChanged}>
        <div className={controlStyles.toolbar}>
          <ViewChoice view={view} hasVersions={agentflow !== undefined} onChoose={setView} />
          {view !== 'versions' && mayEdit && <UndoButtons editor={editor} />}
          {agentflow && <AgentflowActions agentflow={agentflow} editor={editor} onDone={setDone} />}
        </div>
        <p role="status">{done}</p>
        {mayEdit ? <OtherEditors agentflowId={agentflow?._id} hasChanges={editor.isChanged} /> : <ReadOnlyNote />}
        <ChangeNotes agentflow={agentflow} editor={editor} />
        <Problem error={top} />
        <form
          ref={form}
          className={view === 'form' ? `${formStyles.editor} ${styles.wide}` : formStyles.editor}
          onKeyDown={mayEdit ? undoKeys(editor) : undefined}
          onBlur={editor.settle}
          onSubmit={(event) => {
            event.preventDefault();
            onSent();
            if (mayEdit) void submit();
          }}
        >
          <fieldset className={formStyles.bare}>
            <legend className={textStyles.hidden}>{views[view]}</legend>
            <ReadOnlyFields isReadOnly={!mayEdit}>
              {view === 'json' && <JsonView editor={editor} />}
              {hasFields && editor.document === undefined && (
                <p className={messageStyles.problem}>{editor.textProblem} Correct it in the JSON view.</p>
              )}
              {hasFields && editor.document && (
                <RefusedFields error={error}>
                  <FieldsView document={editor.document} problems={fields} onChange={editor.change} />
                </RefusedFields>
              )}
            </ReadOnlyFields>
            {view !== 'versions' && mayEdit && (
              <SaveButtons
                className={controlStyles.stickyActions ?? ''}
                name={agentflow ? 'Save' : 'Create agentflow'}
                isChanged={editor.isChanged}
                canSave={
                  !isBusy && !editor.isOutdated && editor.document !== undefined && (!agentflow || editor.isChanged)
                }
                onDiscard={() => {
                  editor.discard();
                  clearError();
                  setDone(undefined);
                }}
              />
            )}
          </fieldset>
        </form>
        {view === 'versions' && agentflow && (
          <Suspense fallback={<Loading />}>
            <Versions
              id={agentflow._id}
              editor={editor}
              mayEdit={mayEdit}
              onLoad={(version) => {
                setView('form');
                setDone(`Version ${version} is loaded into the form. It takes effect when you save it.`);
              }}
            />
          </Suspense>
        )}
      </TryProvider>
    </PastRunProvider>
  );
}

interface ViewChoiceOptions {
  view: View;
  hasVersions: boolean;
  onChoose: (view: View) => void;
}

function ViewChoice({ view, hasVersions, onChoose }: ViewChoiceOptions) {
  const offered = (Object.keys(views) as View[]).filter((name) => name !== 'versions' || hasVersions);
  return (
    <div role="group" aria-label="View" className={controlStyles.actions}>
      {offered.map((name) => (
        <ActionButton key={name} name={views[name]} isPressed={view === name} onClick={() => onChoose(name)} />
      ))}
    </div>
  );
}

/** Sends the changes, and keeps them in the editor if the API refuses them. */
function useSave(agentflow: Edited | undefined, editor: Editor, onDone: (text: string | undefined) => void) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useSubmit(async (options) => {
    const { document, digest } = editor;
    if (!document) return;
    onDone(undefined);
    const keep = (saved: Edited) => {
      queries.setQueryData(['agentflow', saved._id], saved);
      editor.saved(saved);
    };
    if (!agentflow) {
      const made = await call('post', '/agentflow', { body: newBodyOf(document) }, options);
      keep(made);
      return navigate({ to: '/agentflows/$agentflowId', params: { agentflowId: made._id } });
    }
    const params = { id: agentflow._id };
    try {
      const body = { ...editor.changes(), ...(digest !== undefined && { expected: digest }) };
      keep(await call('patch', '/agentflow/{id}', { params, body }));
    } catch (error) {
      const stored = isConflict(error) ? await call('get', '/agentflow/{id}', { params }) : undefined;
      if (stored === undefined || stored.digest === digest) throw error;
      // Shown with the choice of what becomes of the changes.
      queries.setQueryData(['agentflow', stored._id], stored);
      return undefined;
    }
    return onDone('Saved.');
  });
}
