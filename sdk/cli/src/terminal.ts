import { spawn } from 'node:child_process';

const escapes = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Prints a line. A text of others cannot move the cursor or change colours. */
export function print(text: string): void {
  process.stdout.write(`${text.replace(escapes, '')}\n`);
}

/** Prints a line about what happens, apart from what the command returns. */
export function report(text: string): void {
  process.stderr.write(`${text.replace(escapes, '').replaceAll('\n', ' ')}\n`);
}

/** A progress bar in the last line of a terminal. Without a terminal, it shows nothing. */
export function progressBar(total: number): { show(done: number): void; hide(): void } {
  const { stderr } = process;
  if (!stderr.isTTY) return { show: () => undefined, hide: () => undefined };
  const width = 24;
  return {
    show(done) {
      const full = total === 0 ? 0 : Math.min(width, Math.round((done / total) * width));
      stderr.write(`\r[${'#'.repeat(full)}${'.'.repeat(width - full)}] ${done} of ${total}`);
    },
    hide: () => void stderr.write('\r\u001b[K'),
  };
}

/** Opens an address in the browser, if a person is at the terminal. The address may come from the service. */
export function openPage(address: string): void {
  if (!process.stdout.isTTY || !/^https?:\/\//.test(address)) return;
  const command = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open';
  spawn(command, [address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
