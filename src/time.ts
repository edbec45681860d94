/** The timestamp of executions, schedules and records: epoch seconds with fractions. */
export function epochSeconds(date: Date = new Date()): number {
  return date.getTime() / 1000;
}
