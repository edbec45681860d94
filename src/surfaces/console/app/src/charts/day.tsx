import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call } from '../api.js';
import { durationText, rounded, ScrollTable, Problem, Time, Section } from '../parts.js';
import { Chart, type ChartOptions } from './chart.js';
import { usePolled } from '../use-polled.js';

const daySeconds = 86_400;

async function readDay() {
  const to = Math.ceil(Date.now() / 60_000) * 60;
  return call('get', '/analytics/{projectID}', { query: { from: to - daySeconds, to } });
}

export function Day() {
  const { data, error } = usePolled(['home', 'day'], readDay);
  const { by_hour: hours } = data ?? { by_hour: [] };
  const startTimes = hours.map((hour) => hour.at);
  const runs = [
    { name: 'Created', values: hours.map(({ count }) => count) },
    { name: 'Failed', isBad: true, values: hours.map(({ failed }) => failed) },
  ];
  const durations = [{ name: 'Duration', values: hours.map(({ p95 }) => p95) }];
  const credits = [{ name: 'Credits', values: hours.map((hour) => hour.credits) }];
  const { p50, p95 } = data?.duration ?? { p50: null, p95: null };
  const all = (text: string) => (
    <Link to="/runs" search={{ since: '24h' }} aria-label={`Runs: ${text}`}>
      {text}
    </Link>
  );
  return (
    <Section title="Last 24 hours">
      <Problem error={error} />
      {data && (
        <>
          <div className="panels">
            <Figure
              name="Runs"
              number={all(String(data.total))}
              detail="Per hour. Failed runs are red."
              hours={startTimes}
              series={runs}
            />
            <Figure
              name="Duration"
              number={p95 === null ? '–' : all(durationText(p95))}
              detail={`95th percentile${p50 === null ? '' : `; median ${durationText(p50)}`}.`}
              hours={startTimes}
              series={durations}
            />
            <Figure
              name="Credits"
              number={all(String(rounded(data.credits)))}
              detail="Charged per hour."
              hours={startTimes}
              series={credits}
            />
          </div>
          <details>
            <summary>Hourly figures</summary>
            <ScrollTable
              label="Hourly figures"
              head={['Hour', 'Created', 'Completed', 'Failed', '95th percentile', 'Credits']}
            >
              {hours.map((hour) => (
                <tr key={hour.at}>
                  <th scope="row">
                    <Time at={hour.at} />
                  </th>
                  <td>{hour.count}</td>
                  <td>{hour.completed}</td>
                  <td>{hour.failed}</td>
                  <td>{hour.p95 === null ? '–' : durationText(hour.p95)}</td>
                  <td>{rounded(hour.credits)}</td>
                </tr>
              ))}
            </ScrollTable>
          </details>
        </>
      )}
    </Section>
  );
}

interface FigureOptions extends Omit<ChartOptions, 'label'> {
  name: string;
  number: ReactNode;
  detail: string;
}

function Figure({ name, number, detail, ...data }: FigureOptions) {
  return (
    <section className="panel" aria-label={name}>
      <h3>{name}</h3>
      <p className="number">{number}</p>
      <p className="soft">{detail}</p>
      <Chart label={`${name} per hour. The table below contains the figures.`} {...data} />
    </section>
  );
}
