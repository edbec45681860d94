import { AxisBottom, AxisLeft } from '@visx/axis';
import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar } from '@visx/shape';

export interface ChartOptions {
  label: string;
  /** The start of each hour, in epoch seconds. */
  hours: readonly number[];
  series: readonly { name: string; isBad?: boolean; values: readonly (number | null)[] }[];
}

const [width, height, left, bottom] = [340, 134, 34, 112];
const timeText = (hour: number) => new Date(hour * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

/** Draws bars over time, and later series in front of earlier ones. The numbers are in a table next to the chart. */
export function Chart({ label, hours, series }: ChartOptions) {
  const maxValue = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))) || 1;
  const x = scaleBand({ domain: [...hours], range: [left, width], padding: 0.3 });
  const y = scaleLinear({ domain: [0, maxValue], range: [bottom, 6], nice: 3 });
  return (
    <svg className="chart" role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`}>
      {series.map(({ name, isBad, values }) =>
        values.map((value, at) => {
          const hour = hours[at] ?? 0;
          const top = y(value ?? 0);
          return (
            <Bar
              key={`${name}${hour}`}
              className={isBad ? 'bad' : undefined}
              x={x(hour)}
              y={top}
              width={x.bandwidth()}
              height={bottom - top}
            >
              <title>{`${name}, ${timeText(hour)}: ${value ?? 'none'}`}</title>
            </Bar>
          );
        }),
      )}
      <AxisLeft scale={y} left={left} numTicks={3} />
      <AxisBottom
        scale={x}
        top={bottom}
        tickValues={hours.filter((_, at) => at % 6 === 3)}
        tickFormat={(hour) => timeText(hour)}
      />
    </svg>
  );
}
