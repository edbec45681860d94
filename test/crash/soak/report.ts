import { appendFileSync } from 'node:fs';
import { thirdsOf, type Level } from './memory.js';
import type { Soaked } from './run.js';

/** The results of the soak as Markdown tables. */
export function reportOf({ ledger, tally, memory, fleet, seconds }: Soaked): string {
  const shown = (value: number) => value.toFixed(1);
  const levels = ({ floor, median }: Level) => `${shown(floor)}, ${shown(median)}`;
  const kills = (what: 'worker' | 'api') => fleet.kills.filter((kill) => kill.what === what).length;
  return [
    `Soak of ${seconds} s: ${kills('worker')} workers and ${kills('api')} API processes killed, ${tally.problems.length} problems.`,
    table(
      ['load', 'acts', 'broken connections', 'answers'],
      [...tally.answers].map(([load, answers]) => [
        load,
        tally.acts.get(load) ?? 0,
        tally.retried.get(load) ?? 0,
        [...answers].map(([answer, times]) => `${answer} × ${times}`).join(', '),
      ]),
    ),
    table(['acknowledged', 'count'], ledger.counts()),
    table(
      ['memory, MiB', 'samples', 'first', 'middle third: floor, median', 'last third: floor, median', 'last'],
      memory.flatMap(({ name, resident, heap }) =>
        [
          { what: `${name}, resident`, samples: resident },
          { what: `${name}, heap`, samples: heap },
        ].map(({ what, samples }) => {
          const { middle, last } = thirdsOf(samples);
          return [
            what,
            samples.length,
            shown(samples[0] ?? NaN),
            levels(middle),
            levels(last),
            shown(samples.at(-1) ?? NaN),
          ];
        }),
      ),
    ),
  ].join('\n\n');
}

/** Appends a line about the final checks to the file of `SOAK_REPORT`. */
export function publish(text: string): void {
  console.log(text);
  if (process.env.SOAK_REPORT !== undefined) appendFileSync(process.env.SOAK_REPORT, `${text}\n\n`);
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
