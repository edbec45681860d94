import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api.js';
import { ConfirmButton } from '../confirm.js';
import { SaveButtons } from '../field.js';
import { Loaded, Page, Problem, Section } from '../parts.js';
import { useSession } from '../session.js';
import { Time } from '../time.js';
import { useDraft } from '../use-draft.js';
import { useNames } from '../use-names.js';
import { useSubmit } from '../use-submit.js';
import { definitionOf, editedOf, repeatedName, type Edited, type OntologyState } from './definition.js';
import { TypeList } from './type-list.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import formStyles from '../styles/form.module.css';

const key = ['ontology'];
// Without `dry_run`, the API always returns the state.
const send = async (body: { define?: ReturnType<typeof definitionOf>; commit?: true }) =>
  (await call('post', '/v1/ontology', { body })) as OntologyState;

/** The types of entities and relationships of the project, with their properties. */
export function OntologyPage() {
  const query = useQuery({
    queryKey: key,
    queryFn: () => send({}),
    meta: { isGoverned: true },
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  return (
    <Page title="Ontology">
      <p className={textStyles.soft}>
        The types of the entities and relationships in the context graph, and their properties. Texts are remembered
        only in these types.
      </p>
      <Loaded query={query}>
        {(state) => <Editor key={state.draft?.updated_at ?? state.version} state={state} />}
      </Loaded>
    </Page>
  );
}

function Editor({ state }: { state: OntologyState }) {
  const mayEdit = useSession().session.grants.includes('svc:ontology.write');
  const queries = useQueryClient();
  const stored = editedOf(state);
  const [text, setText, forget] = useDraft('ontology');
  const edited = text === '' ? stored : (JSON.parse(text) as Edited);
  const repeated = repeatedName(edited);
  const change = (next: Edited) => setText(JSON.stringify(next) === JSON.stringify(stored) ? '' : JSON.stringify(next));
  const { error, isBusy, submit, clearError } = useSubmit(async () => {
    const next = await send({ define: definitionOf(edited) });
    forget(text);
    queries.setQueryData(key, next);
  });
  return (
    <>
      <InForce state={state} mayEdit={mayEdit} isChanged={text !== ''} />
      <form
        className={formStyles.editor}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Problem error={error} />
        {repeated !== undefined && (
          <p className={messageStyles.problem} role="alert">
            The name &quot;{repeated}&quot; is used twice in one list. Names must be unique.
          </p>
        )}
        <fieldset className={formStyles.bare} disabled={!mayEdit}>
          <legend className={textStyles.hidden}>Types</legend>
          <Section title="Entities">
            <TypeList
              kind="Entity type"
              types={edited.entities}
              onChange={(entities) => change({ ...edited, entities })}
            />
          </Section>
          <Section title="Relationships">
            <TypeList
              kind="Relationship type"
              types={edited.relationships}
              entityNames={edited.entities.map(({ name }) => name)}
              onChange={(relationships) => change({ ...edited, relationships })}
            />
          </Section>
          {mayEdit && (
            <SaveButtons
              name="Save draft"
              isChanged={text !== ''}
              canSave={text !== '' && !isBusy && repeated === undefined}
              onDiscard={() => {
                setText('');
                clearError();
              }}
            />
          )}
        </fieldset>
      </form>
    </>
  );
}

interface InForceOptions {
  state: OntologyState;
  mayEdit: boolean;
  /** Whether there are changes that are not in the draft. */
  isChanged: boolean;
}

function InForce({ state: { version, ontology, draft, versions }, mayEdit, isChanged }: InForceOptions) {
  const nameOf = useNames();
  return (
    <>
      <p role="status">
        {ontology === null ? (
          'No version is in force yet.'
        ) : (
          <>
            Version {version} is in force, since <Time at={versions[0]?.committed_at} isExact />, by{' '}
            <bdi>{nameOf(versions[0]?.committed_by ?? '')}</bdi>.
          </>
        )}
      </p>
      {draft && (
        <div className={messageStyles.note}>
          <p>
            A draft, saved <Time at={draft.updated_at} /> by <bdi>{nameOf(draft.updated_by)}</bdi>, is not in force.
          </p>
          {mayEdit && (
            <ConfirmButton
              button="Put into force…"
              title="Put the draft into force?"
              action={`Put version ${version + 1} into force`}
              act={() => send({ commit: true })}
              invalidates={[key]}
            >
              <p className={textStyles.soft}>
                It replaces the version in force as a whole, and is refused if stored entities do not fit. What becomes
                personal is sealed.{isChanged && ' Changes that you have not saved are not included.'}
              </p>
            </ConfirmButton>
          )}
        </div>
      )}
    </>
  );
}
