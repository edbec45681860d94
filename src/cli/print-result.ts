/** Prints a line, on stderr if the exit code is not 0, and returns the exit code. */
export function printResult(line: string, code: number): number {
  (code === 0 ? process.stdout : process.stderr).write(`${line}\n`);
  return code;
}
