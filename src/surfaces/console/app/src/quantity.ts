/** Returns a number with its noun, for example `1 run` or `2 runs`. */
export const quantity = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`;
