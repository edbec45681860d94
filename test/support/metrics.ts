export type Samples = { name: string; labels: Record<string, string>; value: number }[];

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/**
 * The samples at `GET /metrics`.
 * @throws Error with the first line that is not of the Prometheus text format
 */
export async function metricsOf(url: string): Promise<Samples> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = text.split('\n').filter((each) => each !== '' && !each.startsWith('#'));
  return samples.map((sample) => {
    const [, name = '', labels = '', value] = line.exec(sample) ?? [];
    const number = Number(value?.replace('Inf', 'Infinity'));
    if (name === '' || (Number.isNaN(number) && value !== 'NaN' && value !== 'Nan'))
      throw new Error(`not a sample: ${sample}`);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', content = '']) => [
      label,
      content,
    ]);
    return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: number };
  });
}
