import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call } from '../api.js';
import { ActionButton, durationText, ScrollTable, Problem, Section } from '../parts.js';
import { numberText } from '../quantity.js';
import { sinceNames, startOf, type Since } from '../runs/filter.js';
import { intervalOf } from '../runs/interval.js';
import { timeFormats, useTimeZone } from '../time-zone.js';
import { usePolled } from '../use-polled.js';
import { Chart, type ChartOptions } from './chart.js';
import controlStyles from '../styles/controls.module.css';
import textStyles from '../styles/text.module.css';
import panelStyles from '../panel.module.css';

const ranges = ['24h', '7d', '30d'] as const satisfies readonly Since[];
type Range = (typeof ranges)[number];
const daySeconds = 86_400;

const read = (range: Range) => call('get', '/analytics/{projectID}', { query: { from: startOf(range) } });
type Analytics = Awaited<ReturnType<typeof read>>;
type Counts = Omit<Analytics['by_day'][number], 'day'> & { name: string; since: string };

/** Shows the runs, durations and credits of a day by hour, or of several days by day. */
export function OverTime({ since, page }: { since: string | undefined; page: '/' | '/usage' }) {
  const navigate = useNavigate();
  const range = ranges.find((each) => each === since) ?? '24h';
  const { data, error } = usePolled(['home', 'over time', range], () => read(range));
  return (
    <Section title={sinceNames[range]}>
      <div role="group" aria-label="Time range" className={controlStyles.toolbar}>
        {ranges.map((each) => (
          <ActionButton
            key={each}
            name={sinceNames[each]}
            isPressed={each === range}
            onClick={() => void navigate({ to: page, search: { since: each }, replace: true })}
          />
        ))}
      </div>
      <Problem error={error} />
      {data && data.total === 0 && data.credits === 0 && (
        <p className={textStyles.soft}>No runs were created and no credits were charged in this time.</p>
      )}
      {data && (data.total > 0 || data.credits > 0) && <Figures data={data} range={range} />}
      {data && data.by_agentflow.length > 0 && <ByAgentflow agentflows={data.by_agentflow} range={range} />}
    </Section>
  );
}

/** The hours of a day, in the zone of the person, or the days of a longer range, which are those of UTC. */
function usePeriods({ by_hour, by_day }: Analytics): readonly Counts[] {
  const { minute } = timeFormats(useTimeZone());
  if (by_hour.length > 0)
    return by_hour.map(({ at, ...counts }) => ({
      ...counts,
      name: minute.format(at * 1000),
      since: intervalOf(at, at + 3600),
    }));
  const dayFormat = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', day: 'numeric', month: 'short' });
  return by_day.map(({ day, ...counts }) => {
    const at = Date.parse(day) / 1000;
    return { ...counts, name: dayFormat.format(at * 1000), since: intervalOf(at, at + daySeconds) };
  });
}

function Figures({ data, range }: { data: Analytics; range: Range }) {
  const periods = usePeriods(data);
  const unit = range === '24h' ? 'Hour' : 'Day';
  const per = range === '24h' ? 'per hour' : 'per day (UTC)';
  const { p50, p95 } = data.duration;
  const all = (text: string) => (
    <Link to="/runs" search={{ since: range }} aria-label={`Runs: ${text}`}>
      {text}
    </Link>
  );
  return (
    <>
      <div className={panelStyles.panels}>
        <Figure
          name="Runs"
          number={all(numberText(data.total))}
          detail={`Created ${per}. Failed runs are red.`}
          periods={periods}
          series={[
            { name: 'Created', values: periods.map(({ count }) => count) },
            { name: 'Failed', isBad: true, values: periods.map(({ failed }) => failed) },
          ]}
          textOf={numberText}
          isWhole
        />
        <Figure
          name="Duration"
          number={p95 === null ? '–' : all(durationText(p95))}
          detail={`95th percentile ${per}${p50 === null ? '' : `; median of all ${durationText(p50)}`}.`}
          periods={periods}
          series={[{ name: 'Duration', values: periods.map((period) => period.p95) }]}
          textOf={durationText}
        />
        <Figure
          name="Credits"
          number={all(numberText(data.credits))}
          detail={`Charged ${per}.`}
          periods={periods}
          series={[{ name: 'Credits', values: periods.map(({ credits }) => credits) }]}
          textOf={numberText}
        />
      </div>
      <details>
        <summary>{range === '24h' ? 'Hourly figures' : 'Daily figures'}</summary>
        <ScrollTable
          label="Figures"
          head={[unit, 'Created', 'Completed', 'Failed', '95th percentile', 'Credits']}
          hasNumbers
        >
          {periods.map(({ name, since, count, completed, failed, p95: slow, credits }) => (
            <tr key={since}>
              <th scope="row">
                <Link to="/runs" search={{ since }}>
                  {name}
                </Link>
              </th>
              <td>{numberText(count)}</td>
              <td>{numberText(completed)}</td>
              <td>{numberText(failed)}</td>
              <td>{slow === null ? '–' : durationText(slow)}</td>
              <td>{numberText(credits)}</td>
            </tr>
          ))}
        </ScrollTable>
      </details>
    </>
  );
}

/** What each agentflow cost, the dearest first. */
function ByAgentflow({ agentflows, range }: { agentflows: Analytics['by_agentflow']; range: Range }) {
  return (
    <ScrollTable label="Credits by agentflow" head={['Agentflow', 'Runs', 'Credits']} hasNumbers>
      {agentflows
        .toSorted((one, other) => other.credits - one.credits)
        .map(({ agentflow_id, name, count, credits }) => (
          <tr key={agentflow_id}>
            <th scope="row">
              <Link to="/runs" search={{ since: range, agentflow: agentflow_id }}>
                <bdi>{name}</bdi>
              </Link>
            </th>
            <td>{numberText(count)}</td>
            <td>{numberText(credits)}</td>
          </tr>
        ))}
    </ScrollTable>
  );
}

interface FigureOptions extends Omit<ChartOptions, 'label'> {
  name: string;
  number: ReactNode;
  detail: string;
}

function Figure({ name, number, detail, ...data }: FigureOptions) {
  return (
    <section className={panelStyles.panel} aria-label={name}>
      <h3>{name}</h3>
      <p className={panelStyles.number}>{number}</p>
      <p className={textStyles.soft}>{detail}</p>
      <Chart label={`${name} over time. The table below contains the figures.`} {...data} />
    </section>
  );
}
