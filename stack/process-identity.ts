import { readFileSync } from 'node:fs';

/** After a reboot, a pid can belong to another process. On Linux, the start time from the kernel distinguishes them. */
export interface ProcessIdentity {
  pid: number;
  started?: string | undefined;
}

export function identify(pid: number): ProcessIdentity {
  return { pid, started: startTimeOf(pid) };
}

export function isAlive({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return started === undefined || startTimeOf(pid) === started;
}

/** Field 22 of /proc/<pid>/stat. Count the fields after the name in parentheses because the name may contain spaces. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
