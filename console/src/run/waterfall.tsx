import { useState } from 'react';
import { inWords, type Execution, type Step } from '../api.js';
import { quantity } from '../quantity.js';
import { ActionButton, Badge, durationText, Elapsed } from '../parts.js';
import { pathText } from './flow-path.js';
import { timeFormats, useTimeZone } from '../time-zone.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import styles from './waterfall.module.css';

/** A flow can have 10,000 steps. */
const shownAtOnce = 500;

/** Draws the steps over time, with each attempt of a step. */
export function Waterfall(props: { run: Execution; steps: readonly Step[]; onOpen: (step: Step) => void }) {
  const { run, steps, onOpen } = props;
  const [shown, setShown] = useState(shownAtOnce);
  const { time } = timeFormats(useTimeZone());
  const more = Math.min(shownAtOnce, steps.length - shown);
  if (steps.length === 0)
    return (
      <p className={messageStyles.empty}>
        {run.status === 'ready' ? 'The run has not started.' : 'No steps have started yet.'}
      </p>
    );
  const now = Date.now() / 1000;
  const from = Math.min(...steps.map(({ started_at }) => started_at));
  const to = Math.max(from + 0.001, ...steps.map(({ ended_at }) => ended_at ?? now));
  const place = (start: number, end: number | null) => ({
    left: `${(100 * (start - from)) / (to - from)}%`,
    width: `${Math.max(0.4, (100 * ((end ?? now) - start)) / (to - from))}%`,
  });
  const { agents, steps: flowSteps = [] } = run.agentflow;
  const titles = new Map([...agents, ...flowSteps].map(({ _id, title }) => [_id, title || _id]));
  return (
    <ol className={styles.waterfall}>
      <li className={styles.axis} aria-hidden="true">
        <span />
        <span>
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <span key={part}>{durationText(part * (to - from))}</span>
          ))}
        </span>
      </li>
      {steps.slice(0, shown).map((step) => (
        <li key={step.step_id}>
          <button type="button" onClick={() => onOpen(step)} className={styles.step}>
            <span className={styles.name}>
              <bdi>{step.name}</bdi> <Badge state={step.status} />
              <span className={styles.detail}>
                {inWords(step.kind)}
                {step.agent_id !== '' && (
                  <>
                    {' '}
                    of <bdi>{titles.get(step.agent_id) ?? step.agent_id}</bdi>
                  </>
                )}
                {step.path !== undefined && (
                  <>
                    {' '}
                    in <bdi>{pathText(step.path, run)}</bdi>
                  </>
                )}
                , {quantity(step.attempts, 'attempt')}, <Elapsed from={step.started_at} to={step.ended_at} />
              </span>
            </span>
            <span className={styles.track} aria-hidden="true">
              {bars(step).map(({ attempt, started_at, ended_at, error, isBad }) => (
                <i
                  key={started_at}
                  title={titleOf(time, { attempt, from: started_at, to: ended_at ?? now, error })}
                  className={`${styles.bar} ${styles[isBad ? 'failed' : step.status] ?? ''}`}
                  style={place(started_at, ended_at)}
                />
              ))}
            </span>
          </button>
          {step.error !== null && <p className={textStyles.bad}>{step.error}</p>}
        </li>
      ))}
      {more > 0 && (
        <li className={styles.more}>
          <ActionButton name={`Show ${quantity(more, 'more step')}`} onClick={() => setShown(shown + shownAtOnce)} />
        </li>
      )}
    </ol>
  );
}

function bars({ attempts, started_at, ended_at, error, status, attempt_details = [] }: Step) {
  if (attempt_details.length === 0)
    return [{ attempt: attempts, started_at, ended_at, error, isBad: status === 'failed' }];
  return attempt_details.map((attempt) => ({ ...attempt, isBad: attempt.error !== null }));
}

interface BarTitle {
  attempt: number;
  /** Epoch seconds. */
  from: number;
  to: number;
  error: string | null;
}

/** Returns the tooltip. The drawer of the step contains the same data. */
function titleOf(time: Intl.DateTimeFormat, { attempt, from, to, error }: BarTitle): string {
  const [start, end] = [from, to].map((at) => time.format(at * 1000));
  return `Attempt ${attempt}: ${start} to ${end}, ${durationText(to - from)}${error === null ? '' : `\n${error}`}`;
}
