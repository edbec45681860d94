/** Tells a person a line, on stderr where the command failed; gives the exit code. */
export function told(line: string, code: number): number {
  (code === 0 ? process.stdout : process.stderr).write(`${line}\n`);
  return code;
}
