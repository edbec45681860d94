import { readFile } from 'node:fs/promises';
import { StackError } from './stack-error.js';
import { runSupervised, type Command } from './supervised-process.js';

const tailCharacters = 1_500;

/** @throws StackError with the end of the log if the command fails */
export async function runToEnd(command: Command, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const running = runSupervised(command);
  const abort = (): void => void running.stop(2_000);
  signal?.addEventListener('abort', abort);
  const ended = await running.exit;
  signal?.removeEventListener('abort', abort);
  signal?.throwIfAborted();
  if (ended !== 'code 0') {
    throw new StackError(
      `${command.command} failed (${ended}); the end of ${command.logFile}:\n${await endOf(command.logFile)}`,
    );
  }
}

export async function endOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.slice(-tailCharacters).trim();
}
