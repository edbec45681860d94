import vm from 'node:vm';

const context = vm.createContext({ work: undefined });
const script = new vm.Script('work()');

/**
 * Runs synchronous work and interrupts it after `timeoutMs`. The engine checks its own limit only between tags, and one
 * filter over a large array may run for hours.
 * @throws Error with the code `ERR_SCRIPT_EXECUTION_TIMEOUT`
 */
export function withinTime<T>(timeoutMs: number, work: () => T): T {
  const outer: unknown = context.work;
  context.work = work;
  try {
    return script.runInContext(context, { timeout: timeoutMs }) as T;
  } finally {
    context.work = outer;
  }
}
