import { Link } from '@tanstack/react-router';
import { AxisBottom, AxisLeft } from '@visx/axis';
import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar } from '@visx/shape';
import styles from './chart.module.css';

/** An hour or a day, with the words for it, and the value of `since` that selects its runs. */
export interface Period {
  name: string;
  since: string;
}

export interface ChartOptions {
  label: string;
  periods: readonly Period[];
  series: readonly { name: string; isBad?: boolean; values: readonly (number | null)[] }[];
  /** Writes a value at the axis and at its bar. */
  textOf(value: number): string;
  /** Whether the values are counts, so that the axis has no fractions. */
  isWhole?: boolean;
}

const [width, height, left, bottom] = [340, 134, 62, 112];

/**
 * Draws bars over time, and later series in front of earlier ones. Each period links to its runs. The table next to the
 * chart has the same numbers and links for the keyboard.
 */
export function Chart({ label, periods, series, textOf, isWhole = false }: ChartOptions) {
  // The first and the last hour of a day have the same name.
  const keys = periods.map(({ since }) => since);
  const maxValue = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))) || 1;
  const x = scaleBand({ domain: keys, range: [left, width], padding: 0.3 });
  const y = scaleLinear({ domain: [0, maxValue], range: [bottom, 6], nice: 3 });
  // At most six names fit below the bars, and none at the right edge.
  const every = Math.ceil(keys.length / 6);
  const ticks = y.ticks(3).filter((tick) => !isWhole || Number.isInteger(tick));
  return (
    <svg className={styles.chart} role="group" aria-label={label} viewBox={`0 0 ${width} ${height}`}>
      {periods.map(({ name, since }, at) => {
        const shown = series.map((each) => ({ ...each, value: each.values[at] ?? null }));
        const text = `${name}: ${shown.map(({ name: of, value }) => `${of} ${value === null ? 'none' : textOf(value)}`).join(', ')}`;
        return (
          <Link key={since} to="/runs" search={{ since }} tabIndex={-1} aria-label={text} className={styles.period}>
            <title>{text}</title>
            <rect x={(x(since) ?? 0) - (x.step() - x.bandwidth()) / 2} y={0} width={x.step()} height={bottom} />
            {shown.map(({ name: of, isBad, value }) => (
              <Bar
                key={of}
                className={isBad ? styles.bad : undefined}
                x={x(since)}
                y={y(value ?? 0)}
                width={x.bandwidth()}
                height={bottom - y(value ?? 0)}
              />
            ))}
          </Link>
        );
      })}
      <AxisLeft scale={y} left={left} tickValues={ticks} tickFormat={(value) => textOf(Number(value))} />
      <AxisBottom
        scale={x}
        top={bottom}
        tickValues={keys.filter((_, at) => at % every === 0 && at <= keys.length - every / 2)}
        tickFormat={(_, at) => periods[at * every]?.name}
      />
    </svg>
  );
}
