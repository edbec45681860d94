import { capitalized, inWords, type Execution, type Step } from '../api.js';
import { ForeignText } from '../foreign-text.js';
import { ActionButton, Section } from '../parts.js';
import { failureOf, stateOf } from '../states.js';
import { useMembers } from '../use-names.js';
import { failureWords } from '../words/failures.js';
import messageStyles from '../styles/message.module.css';

interface FailureOptions {
  run: Execution;
  steps: readonly Step[];
  onOpen: (step: Step) => void;
}

/** Says first why a run failed, and what a person can do. */
export function Failure({ run, steps, onOpen }: FailureOptions) {
  const members = useMembers();
  const failure = failureOf(run);
  if (!failure) return null;
  const { code, message, by } = failure;
  const words = failureWords[code];
  const person = members?.find(({ user_id }) => user_id === by);
  const failed = steps.find(({ step_id }) => step_id === failure.step_id);
  return (
    <Section title={stateOf(run) === 'cancelled' ? 'Cancellation reason' : 'Failure reason'}>
      <div className={messageStyles.problem}>
        <p>
          <strong>{words?.cause ?? capitalized(inWords(code))}</strong>
          {person && (
            <>
              , <bdi>{person.name}</bdi>
            </>
          )}
          : <ForeignText text={message} />
        </p>
        {words && <p>{words.help}</p>}
        {failed && <ActionButton name={`Open the step “${failed.name}”`} onClick={() => onOpen(failed)} />}
      </div>
    </Section>
  );
}
