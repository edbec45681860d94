export interface ChartOptions {
  label: string;
  series: readonly { name: string; isBad?: boolean; values: readonly (number | null)[] }[];
}

/** Bars over time; later series are drawn over earlier ones. A table next to it has the numbers. */
export function Chart({ label, series }: ChartOptions) {
  const most = Math.max(1e-9, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const count = Math.max(1, ...series.map(({ values }) => values.length));
  return (
    <svg className="chart" role="img" aria-label={label} viewBox={`0 0 ${count} 100`} preserveAspectRatio="none">
      {series.map(({ name, isBad, values }) =>
        values.map((value, at) => {
          const height = (100 * (value ?? 0)) / most;
          return (
            <rect
              key={`${name}${at}`}
              className={isBad ? 'bad' : undefined}
              x={at + 0.15}
              y={100 - height}
              width={0.7}
              height={height}
            />
          );
        }),
      )}
    </svg>
  );
}
