import { useQueries } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call, inWords, type Execution, type Step } from '../api.js';
import { Difference } from '../difference.js';
import { CheckField } from '../field.js';
import { ActionButton, Badge, Elapsed, Loading, Problem, ScrollTable } from '../parts.js';
import { quantity } from '../quantity.js';
import { pathText } from '../run/flow-path.js';
import { alignedSteps, type Side, type StepPair } from './align.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import buttonStyles from '../styles/button.module.css';

/** A flow can have 10,000 steps. */
const shownAtOnce = 200;

/** Lists the steps of both runs side by side. */
export function StepPairs({ left, right }: { left: Side; right: Side }) {
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const [shown, setShown] = useState(shownAtOnce);
  const [open, setOpen] = useState<string>();
  const pairs = useMemo(() => alignedSteps(left.steps.steps, right.steps.steps), [left, right]);
  const different = pairs.filter(({ differsIn }) => differsIn.length > 0);
  const listed = onlyDifferent ? different : pairs;
  const more = Math.min(shownAtOnce, listed.length - shown);
  if (pairs.length === 0) return <p className={messageStyles.empty}>No steps have started yet.</p>;
  return (
    <>
      <p role="status">
        {different.length} of {quantity(pairs.length, 'step')} differ.
      </p>
      <CheckField label="Only steps that differ" isChecked={onlyDifferent} onChange={setOnlyDifferent} />
      <ScrollTable label="Steps of both runs" head={['Step', 'First run', 'Second run', 'Output']}>
        {listed.slice(0, shown).map((pair) => (
          <PairRows
            key={pair.id}
            {...{ pair, left, right }}
            isOpen={open === pair.id}
            onToggle={() => setOpen(open === pair.id ? undefined : pair.id)}
          />
        ))}
      </ScrollTable>
      {more > 0 && (
        <ActionButton name={`Show ${quantity(more, 'more step')}`} onClick={() => setShown(shown + shownAtOnce)} />
      )}
    </>
  );
}

interface PairOptions {
  pair: StepPair;
  left: Side;
  right: Side;
  isOpen: boolean;
  onToggle: () => void;
}

function PairRows({ pair, left, right, isOpen, onToggle }: PairOptions) {
  const named = pair.left ?? pair.right;
  if (!named) return null;
  const run = pair.left ? left.run : right.run;
  return (
    <>
      <tr>
        <th scope="row">
          <bdi>{named.name}</bdi>
          <br />
          <span className={textStyles.soft}>
            {inWords(named.kind)}
            {named.path !== undefined && ` in ${pathText(named.path, run)}`}
          </span>
          {pair.differsIn.length > 0 && (
            <>
              <br />
              <strong className={textStyles.bad}>
                {pair.left && pair.right ? `differs in ${pair.differsIn.join(', ')}` : pair.differsIn[0]}
              </strong>
            </>
          )}
        </th>
        <td>
          <StepCell step={pair.left} />
        </td>
        <td>
          <StepCell step={pair.right} />
        </td>
        <td>
          <button type="button" className={buttonStyles.small} aria-expanded={isOpen} onClick={onToggle}>
            {isOpen ? 'Hide' : 'Compare'}
            <span className={textStyles.hidden}> the outputs of {named.name}</span>
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={4}>
            <StepOutputs {...{ pair, left, right }} />
          </td>
        </tr>
      )}
    </>
  );
}

function StepCell({ step }: { step: Step | undefined }) {
  if (!step) return <span className={textStyles.soft}>–</span>;
  return (
    <>
      <Badge state={step.status} /> <Elapsed from={step.started_at} to={step.ended_at} />
      {step.attempts > 1 && `, ${quantity(step.attempts, 'attempt')}`}
      {step.error !== null && (
        <p className={textStyles.bad}>
          <bdi>{step.error}</bdi>
        </p>
      )}
    </>
  );
}

/** Reads what the last attempt of both steps returned. The API redacts it. */
function StepOutputs({ pair, left, right }: Pick<PairOptions, 'pair' | 'left' | 'right'>) {
  const sides = [
    { side: left, step: pair.left },
    { side: right, step: pair.right },
  ];
  const read = useQueries({
    queries: sides.map(({ side: { run, steps }, step }) => ({
      queryKey: ['run', run.execution_id, 'output of', pair.id],
      queryFn: () => outputOf(run, step, steps.steps),
      staleTime: Infinity,
    })),
  });
  const [first, second] = read;
  return (
    <>
      {read.map(({ error }, at) => (
        <Problem key={at} error={error} />
      ))}
      {read.some(({ isPending }) => isPending) && <Loading />}
      {first?.isSuccess && second?.isSuccess && (
        <Difference label="Difference of the outputs of the step" from={first.data} to={second.data} />
      )}
    </>
  );
}

/** Returns null for a step without an output. */
async function outputOf({ execution_id }: Execution, step: Step | undefined, steps: readonly Step[]): Promise<unknown> {
  if (!step) return null;
  if (step.output !== undefined) return step.output;
  const number = steps.indexOf(step) + 1;
  const { exchanges } = await call('get', '/execute_flow/{execution_id}/steps/{number}', {
    params: { execution_id, number },
  });
  const last = exchanges.at(-1);
  return last?.output ?? last?.response?.body ?? null;
}
