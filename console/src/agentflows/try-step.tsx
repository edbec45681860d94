import { useQuery } from '@tanstack/react-query';
import { createContext, useContext, useState, type ReactNode } from 'react';
import { call, capitalized, inWords, messageOf, type Execution } from '../api.js';
import { Facts } from '../facts.js';
import { Form, TextField } from '../field.js';
import { ApprovalLink, RunLink } from '../links.js';
import { ActionButton, Badge, Data, Elapsed, Loading, Problem, Window } from '../parts.js';
import { pollInterval } from '../news.js';
import { useMay } from '../session.js';
import { failureOf, isOver, stateOf, waitingOf } from '../states.js';
import { useDrafts } from '../use-draft.js';
import { useSubmit } from '../use-submit.js';
import { idOf, nodesOf, titleOf, type Fields, type FlowDocument } from './document.js';
import { usePastRun } from './past-run.js';
import { exampleValues, fieldsIn, outputsReadBy, partNamesAt, type TryValues } from './try-values.js';
import controlStyles from '../styles/controls.module.css';
import buttonStyles from '../styles/button.module.css';
import textStyles from '../styles/text.module.css';

/** Opens the window in which a step is tried. Undefined if the person may not try one. */
const Trying = createContext<((id: string) => void) | undefined>(undefined);

interface ProviderOptions {
  agentflowId: string | undefined;
  /** The saved agentflow, which is what runs. */
  stored: FlowDocument;
  isChanged: boolean;
  children: ReactNode;
}

/** The window is outside of the form of the editor, because forms cannot be nested. */
export function TryProvider({ agentflowId, stored, isChanged, children }: ProviderOptions) {
  const may = useMay();
  const [tried, setTried] = useState<string>();
  const mayTry = agentflowId !== undefined && may('post /agentflow/{id}/steps/{step_id}/try');
  const step = nodesOf(stored).find((node) => idOf(node) === tried);
  return (
    <Trying value={mayTry ? setTried : undefined}>
      {children}
      {mayTry && tried !== undefined && (
        <Window title={`Try ${step ? titleOf(step) : tried}`} onClose={() => setTried(undefined)}>
          {step ? (
            <TryStep agentflowId={agentflowId} document={stored} step={step} isChanged={isChanged} />
          ) : (
            <p>Save the agentflow first: only what is saved can be tried.</p>
          )}
        </Window>
      )}
    </Trying>
  );
}

export function TryButton({ node }: { node: Fields }) {
  const open = useContext(Trying);
  return open ? <ActionButton name="Try…" onClick={() => open(idOf(node))} /> : null;
}

interface StepOptions {
  agentflowId: string;
  document: FlowDocument;
  step: Fields;
  isChanged: boolean;
}

/** Reads the values of the chosen past run, then shows the form with them. */
function TryStep(props: StepOptions) {
  const { document, step } = props;
  const { runId } = usePastRun();
  const { data, error } = useQuery({
    queryKey: ['evaluate', runId, idOf(step), 'values'],
    queryFn: () => valuesIn(runId, document, step),
    enabled: runId !== '',
    retry: false,
    staleTime: Infinity,
  });
  if (runId !== '' && !data && !error) return <Loading />;
  return (
    <>
      {error && <p className={textStyles.soft}>The chosen run has no values for this step: {messageOf(error)}</p>}
      <TryForm {...props} runId={runId} example={data ?? exampleValues(document, step)} />
    </>
  );
}

/** What the step knew in a run, as far as it reads it. */
async function valuesIn(runId: string, document: FlowDocument, step: Fields): Promise<TryValues> {
  const names = partNamesAt(document, step);
  const known = names.map((name) => `${JSON.stringify(name)}: ${name}`).join(', ');
  const { value } = await call('get', '/execute_flow/{execution_id}/evaluate', {
    params: { execution_id: runId },
    query: { expression: `{"inputs": inputs, "outputs": outputs, "names": {${known}}}`, at: idOf(step) },
  });
  const { outputs, ...others } = value as TryValues;
  const read = outputsReadBy(document, step).map((id) => [id, outputs[id] ?? null] as const);
  return { ...others, outputs: Object.fromEntries(read) };
}

type FormOptions = StepOptions & { runId: string; example: TryValues };

function TryForm({ agentflowId, document, step, isChanged, runId, example }: FormOptions) {
  const id = idOf(step);
  const { drafts, set } = useDrafts(`try.${agentflowId}.${id}.${runId}`);
  const [started, setStarted] = useState<string>();
  const shown = (name: keyof TryValues) => drafts[name] ?? JSON.stringify(example[name], null, 2);
  const { error, isBusy, submit } = useSubmit(async (options) => {
    setStarted(undefined);
    const { goal } = drafts;
    const hasNames = partNamesAt(document, step).length > 0;
    const body = {
      ...(goal !== undefined && { goal }),
      inputs: fieldsIn('inputs', shown('inputs')),
      outputs: fieldsIn('outputs', shown('outputs')),
      ...(hasNames && { names: fieldsIn('names', shown('names')) }),
    };
    const request = { params: { id: agentflowId, step_id: id }, body };
    setStarted((await call('post', '/agentflow/{id}/steps/{step_id}/try', request, options)).execution_id);
  });
  const field = (name: keyof TryValues, label: string, hint: string) => (
    <TextField
      {...{ name, label, hint }}
      className={textStyles.code}
      spellCheck={false}
      rows={4}
      text={shown(name)}
      onChange={(typed) => set(name, typed)}
    />
  );
  return (
    <Form error={error} onSubmit={() => void submit()}>
      <p className={textStyles.soft}>
        Runs this {step.type === undefined ? 'agent' : 'step'} alone, as it is saved. What it does is real: it uses
        credits, calls systems and asks people.
        {isChanged && ' Unsaved changes are not included.'}
      </p>
      <TextField
        label="Goal"
        name="goal"
        text={drafts.goal ?? ''}
        placeholder="Try a step"
        onChange={(typed) => set('goal', typed)}
      />
      {field('inputs', 'Inputs', 'A JSON object: what expressions call inputs.')}
      {field('outputs', 'Earlier outputs', 'A JSON object: the outputs of other agents and steps by id.')}
      {partNamesAt(document, step).length > 0 &&
        field('names', 'Names of its part', 'A JSON object: what the step knows as the item or the round.')}
      <p className={controlStyles.actions}>
        <button className={buttonStyles.primary} aria-disabled={isBusy}>
          Try
        </button>
      </p>
      {started !== undefined && <Result id={started} />}
    </Form>
  );
}

/** Shows the answer, the error and the duration, as soon as the run has them. */
function Result({ id }: { id: string }) {
  const { data: run, error } = useQuery({
    queryKey: ['run', id],
    queryFn: () => call('get', '/execute_flow/{execution_id}', { params: { execution_id: id } }),
    refetchInterval: (query) => (query.state.data && isOver(query.state.data) ? false : pollInterval(query)),
  });
  const { data: monitoring } = useQuery({
    queryKey: ['run', id, 'steps'],
    queryFn: () => call('get', '/execute_flow/{execution_id}/monitoring', { params: { execution_id: id } }),
    enabled: run !== undefined && isOver(run),
  });
  const from = monitoring?.steps[0]?.started_at;
  return (
    <section aria-label="Result">
      <Problem error={error} />
      {run && (
        <>
          <div role="status">
            <Facts
              of={{
                Result: <Badge state={stateOf(run)} />,
                Duration: isOver(run) && from !== undefined && <Elapsed from={from} to={run.end_time} />,
                Error: errorText(run),
                Waiting: waitingText(run),
                Run: <RunLink id={id} />,
              }}
            />
          </div>
          {run.conclusion && (
            <Data value={run.conclusion.output ?? run.conclusion.conclusion} label="Output of the step" />
          )}
        </>
      )}
    </section>
  );
}

function errorText(run: Execution): string | undefined {
  const failure = failureOf(run);
  return failure && `${capitalized(inWords(failure.code))}: ${failure.message}`;
}

function waitingText(run: Execution) {
  const waiting = isOver(run) ? undefined : waitingOf(run);
  if (!waiting) return undefined;
  const { kind, approval_id } = waiting;
  return approval_id === undefined ? capitalized(inWords(kind)) : <ApprovalLink id={approval_id} />;
}
