import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as wasmFile from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import { clockAt, consoleSource, describeSource, toJsonSource } from './code-globals.js';

/** The code of a `code` step. Times are epoch seconds. */
export interface CodeRequest {
  source: string;
  inputs: Record<string, unknown>;
  /** The only time that the code knows. */
  now: number;
  timeout_seconds: number;
}

export interface CodeResult {
  /** What the code wrote with `console`. */
  log: string[];
  /** The JSON value that the code returned. Absent if it failed. */
  output?: unknown;
  /** Why the code failed, with the line if it is known. */
  failure?: string;
}

declare module '../../threads/threads.js' {
  interface ThreadJobs {
    runCode(request: CodeRequest): CodeResult;
  }
}

const maxMemory = 64 * 1024 * 1024;
const maxStack = 128 * 1024;
const maxResult = 1024 * 1024;
const maxFailure = 2000;

/**
 * Runs the body of an asynchronous JavaScript function in QuickJS, without network, files, modules, timers or a clock. Runs in a
 * thread. Never rejects because of the code.
 */
export async function runCode({ source, inputs, now, timeout_seconds }: CodeRequest): Promise<CodeResult> {
  // An instance of its own: it sees no memory of other code, and one whose stack overflowed cannot be used again.
  compiled ??= compile();
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule: await compiled }));
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(maxMemory);
  runtime.setMaxStackSize(maxStack);
  const endsAt = Date.now() + timeout_seconds * 1000;
  let isLate = false;
  runtime.setInterruptHandler(() => (isLate = Date.now() > endsAt));
  const sandbox = createSandbox(runtime.newContext(), now);
  try {
    const text = sandbox.run(source, JSON.stringify(inputs));
    // It has returned, but something that it began was interrupted.
    if (isLate) throw new CodeFailed('');
    return { output: JSON.parse(text) as unknown, log: sandbox.log() };
  } catch (error) {
    if (error instanceof RangeError) return { failure: 'it calls itself too deeply', log: [] };
    if (!(error instanceof CodeFailed)) throw error;
    // The lines that it wrote can be read although its time is over.
    runtime.removeInterruptHandler();
    const failure = isLate ? `it ran longer than ${timeout_seconds} seconds` : error.message.slice(0, maxFailure);
    return { failure, log: sandbox.log() };
  }
}

/** The reason is the message. */
class CodeFailed extends Error {}

function createSandbox(context: QuickJSContext, now: number) {
  const valueOf = (result: Result): QuickJSHandle => {
    if (result.error) throw failureOf(result.error);
    return result.value;
  };
  const evaluate = (source: string, file?: string) => valueOf(context.evalCode(source, file));
  const call = (made: QuickJSHandle, ...given: QuickJSHandle[]) =>
    valueOf(context.callFunction(made, context.undefined, ...given));

  const describe = evaluate(describeSource);
  const toJson = evaluate(toJsonSource);
  const parse = evaluate('JSON.parse');
  const writtenLines = evaluate(consoleSource);
  evaluate(clockAt(now)).dispose();

  function failureOf(thrown: QuickJSHandle): CodeFailed {
    const described = context.callFunction(describe, context.undefined, thrown);
    // Without memory nothing more can be called.
    if (described.error) return new CodeFailed(String(context.dump(thrown)));
    const { text, stack } = JSON.parse(context.getString(described.value)) as { text: string; stack: string };
    const line = new RegExp(`${fileName}:(\\d+)`).exec(stack)?.[1];
    return new CodeFailed(line === undefined ? text : `line ${line}: ${text}`);
  }

  return {
    /** @returns the JSON of what the code returned @throws CodeFailed */
    run(source: string, inputs: string): string {
      // The source begins in the first line, so that the lines of errors are those of the source.
      const made = evaluate(`(async function (inputs) { "use strict"; ${source}\n})`, fileName);
      const promise = call(made, call(parse, context.newString(inputs)));
      const ended = context.runtime.executePendingJobs();
      if (ended.error) throw failureOf(ended.error);
      const state = context.getPromiseState(promise);
      if (state.type === 'rejected') throw failureOf(state.error);
      if (state.type === 'pending') throw new CodeFailed('it waits for a promise that never settles');
      const text = context.dump(call(toJson, state.value)) as unknown;
      if (typeof text !== 'string')
        throw new CodeFailed('it must return a JSON value, such as an object; use `return`');
      if (text.length > maxResult) throw new CodeFailed(`it returns more than ${maxResult} characters`);
      return text;
    },
    /** The lines that the code has written so far. */
    log(): string[] {
      const lines = context.callFunction(writtenLines, context.undefined);
      return lines.error ? [] : (JSON.parse(context.getString(lines.value)) as string[]);
    },
  };
}

type Result = { value: QuickJSHandle; error?: undefined } | { error: QuickJSHandle };

/** Compiling takes longer than most code, so each thread does it once. */
let compiled: Promise<object> | undefined;

/** Its types describe the CommonJS module. */
const variant = wasmFile.default as unknown as QuickJSSyncVariant;

/** Part of Node.js, but not of its types. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

async function compile(): Promise<object> {
  const file = fileURLToPath(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'));
  return WebAssembly.compile(await readFile(file));
}

const fileName = 'code.js';
