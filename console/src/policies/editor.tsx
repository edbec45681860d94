import { useState } from 'react';
import { call, validationTextOf, isResponse, type PolicyRule, type PolicySet } from '../api.js';
import { Confirm } from '../confirm.js';
import { Form, Reason, SaveButtons } from '../field.js';
import { CodeField } from '../code/code-field.js';
import { parsed, problemsAt, type TextProblem } from '../json-field.js';
import { ActionButton, Data, Window, Section } from '../parts.js';
import { useDraft } from '../use-draft.js';
import { useNames } from '../use-names.js';
import { Simulation } from './simulation.js';
import messageStyles from '../styles/message.module.css';
import controlStyles from '../styles/controls.module.css';

/** The person's changes, and the version that they started from. */
interface Draft {
  version: number;
  text: string;
}

const textOf = (rules: readonly PolicyRule[]) => JSON.stringify(rules, null, 2);

/** The text of all rules, edited or as stored. */
export function useEdited({ version, policies }: PolicySet) {
  const [stored, store] = useDraft('policies');
  const draft = stored === '' ? undefined : (JSON.parse(stored) as Draft);
  const [text, base] = draft ? [draft.text, draft.version] : [textOf(policies), version];
  return {
    text,
    base,
    isChanged: draft !== undefined,
    change: (next: string, from = base) => store(JSON.stringify({ version: from, text: next })),
    discard: () => store(''),
  };
}

/** Parses validation errors. The API names a path such as `policies.0.effect`, or a `policy_id`. */
function problemsIn(message: string, text: string): TextProblem[] {
  const read = parsed(text);
  const rules = 'value' in read && Array.isArray(read.value) ? (read.value as { policy_id?: unknown }[]) : [];
  const pathOf = (part: string): (string | number)[] | undefined => {
    const [, path = '', id] = /^(?:policies\.([\w.]+)|([\w.-]+)): /.exec(part) ?? [];
    if (path !== '') return path.split('.');
    const at = rules.findIndex(({ policy_id }) => policy_id === id);
    return id === undefined || at < 0 ? undefined : [at];
  };
  return problemsAt(message, text, pathOf);
}

interface EditorOptions {
  set: PolicySet;
  edited: ReturnType<typeof useEdited>;
  reload: () => Promise<unknown>;
}

/** Edits all rules as JSON, simulates them on recorded calls and stores them as a new version. */
export function Editor({ set, edited, reload }: EditorOptions) {
  const { text, base, isChanged, change, discard } = edited;
  const [error, setError] = useState<unknown>();
  const [problems, setProblems] = useState<readonly TextProblem[]>([]);
  const [candidate, setCandidate] = useState<PolicyRule[]>();
  const [saving, setSaving] = useState<PolicyRule[]>();
  const [saved, setSaved] = useState<number>();
  const [reason, setReason] = useState('');
  const fail = (failure: unknown) => {
    const validationText = validationTextOf(failure);
    setProblems(validationText === undefined ? [] : problemsIn(validationText, text));
    setError(validationText === undefined ? failure : undefined);
  };
  const read = (then: (rules: PolicyRule[]) => void) => {
    const result = parsed(text);
    setProblems('problem' in result ? [result.problem] : []);
    setError(undefined);
    if ('value' in result) then(result.value as PolicyRule[]);
  };
  const save = async (policies: PolicyRule[]) => {
    try {
      const why = reason.trim() === '' ? {} : { reason: reason.trim() };
      const { version } = await call('put', '/v1/policies', { body: { policies, expected_version: base, ...why } });
      setReason('');
      setSaved(version);
      setProblems([]);
      setError(undefined);
      discard();
    } catch (failure) {
      // The dialog closes, and the editor shows the error. Without a response, the dialog stays open for a retry.
      if (!isResponse(failure)) throw failure;
      fail(failure);
    }
    await reload();
  };
  return (
    <Section title="Edit all rules as JSON">
      <p>
        A rule has a <code>policy_id</code>, an <code>effect</code> (permit, forbid or require_approval) and,
        optionally, <code>tools</code>, <code>projects</code> and a Cedar condition <code>when</code>. Saving replaces
        all rules: a rule that is not in the text is deleted. Simulate a change before you save it.
      </p>
      {saved !== undefined && !isChanged && (
        <p className={messageStyles.done} role="status">
          Version {saved} is in force.
        </p>
      )}
      <Form error={error} onSubmit={() => read(setSaving)}>
        {base !== set.version && <Conflict set={set} base={base} onTake={() => change(text, set.version)} />}
        <CodeField label="Rules" language="json" text={text} onChange={change} problems={problems} />
        <SaveButtons name="Save…" isChanged={isChanged} onDiscard={discard}>
          <ActionButton name="Simulate on recorded calls" onClick={() => read(setCandidate)} />
        </SaveButtons>
      </Form>
      {candidate && <Simulation key={textOf(candidate)} candidate={{ policies: candidate }} onFailure={fail} />}
      {saving && (
        <Confirm
          title={`Replace version ${base} of the policies?`}
          action="Save new version"
          act={() => save(saving)}
          onClose={() => setSaving(undefined)}
        >
          <p>
            The new version takes effect immediately. Approvals that have not been used yet must be requested again.
          </p>
          <Reason text={reason} onChange={setReason} />
        </Confirm>
      )}
    </Section>
  );
}

/** Says that somebody else stored a version in the meantime. The person's changes are kept. */
function Conflict({ set, base, onTake }: { set: PolicySet; base: number; onTake: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const nameOf = useNames();
  const { version, created_by, policies } = set;
  return (
    <div className={messageStyles.note} role="alert">
      <p>
        You started with version {base}. In the meantime, <bdi>{nameOf(created_by ?? '')}</bdi> saved version {version}.
        Your changes are kept.
      </p>
      <p className={controlStyles.actions}>
        <ActionButton name={`Show version ${version}`} onClick={() => setOpen(true)} />
        <ActionButton name={`Replace version ${version} instead`} onClick={onTake} />
      </p>
      {isOpen && (
        <Window title={`Version ${version}`} isDrawer onClose={() => setOpen(false)}>
          <Data value={policies} label={`Rules of version ${version}`} />
        </Window>
      )}
    </div>
  );
}
