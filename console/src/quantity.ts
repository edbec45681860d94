const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

/** Writes a number for people, for example `999,597.44`. */
export const numberText = (value: number): string => numbers.format(value);

/** Returns a number with its noun, for example `1 run` or `2,000 runs`. */
export const quantity = (count: number, one: string, several = `${one}s`): string =>
  `${numberText(count)} ${count === 1 ? one : several}`;
