/** Monitoring shows outputs up to this length, in characters of JSON. The run itself knows them whole. */
const maxShownLength = 65_536;

/** The output of a step as its record has it. */
export function shownOutput(output: unknown): { output?: unknown } {
  return (JSON.stringify(output)?.length ?? 0) > maxShownLength ? {} : { output };
}
