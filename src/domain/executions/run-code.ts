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
import { AppError } from '../../base/errors.js';

/** The code of a `code` step. Times are epoch seconds. */
export interface CodeRequest {
  source: string;
  inputs: Record<string, unknown>;
  /** The only time that the code knows. */
  now: number;
  timeout_seconds: number;
}

declare module '../../threads/threads.js' {
  interface ThreadJobs {
    runCode(request: CodeRequest): unknown;
  }
}

const maxMemory = 64 * 1024 * 1024;
const maxStack = 128 * 1024;
const maxResult = 1024 * 1024;

/**
 * Runs the body of a JavaScript function in QuickJS, without network, files, modules or a clock. Runs in a thread.
 * @returns the JSON value that it returns
 * @throws AppError `validation_failed` with the line and the message of its error
 */
export async function runCode({ source, inputs, now, timeout_seconds }: CodeRequest): Promise<unknown> {
  // An instance of its own: it sees no memory of other code, and one whose stack overflowed cannot be used again.
  compiled ??= compile();
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule: await compiled }));
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(maxMemory);
  runtime.setMaxStackSize(maxStack);
  const endsAt = Date.now() + timeout_seconds * 1000;
  let isLate = false;
  runtime.setInterruptHandler(() => (isLate = Date.now() > endsAt));
  const context = runtime.newContext();
  let text: unknown;
  try {
    valueOf(context, context.evalCode(clockAt(now), 'clock.js')).dispose();
    // The source begins in the first line, so that the lines of errors are those of the source.
    const call = `(function (inputs) { "use strict"; ${source}\n})`;
    const made = valueOf(context, context.evalCode(call, fileName));
    const json = valueOf(context, context.evalCode('(run, inputs) => JSON.stringify(run(JSON.parse(inputs)))'));
    const given = context.newString(JSON.stringify(inputs));
    text = context.dump(valueOf(context, context.callFunction(json, context.undefined, made, given)));
  } catch (error) {
    if (isLate) throw refused(`it ran longer than ${timeout_seconds} seconds`);
    if (error instanceof RangeError) throw refused('it calls itself too deeply');
    throw error;
  }
  if (typeof text !== 'string') throw refused('it must return a JSON value, such as an object; use `return`');
  if (text.length > maxResult) throw refused(`it returns more than ${maxResult} characters`);
  return JSON.parse(text) as unknown;
}

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

function valueOf(
  context: QuickJSContext,
  result: { value: QuickJSHandle; error?: undefined } | { error: QuickJSHandle },
): QuickJSHandle {
  if (!result.error) return result.value;
  const { name = 'Error', message = '', stack = '' } = errorOf(context.dump(result.error));
  const line = new RegExp(`${fileName}:(\\d+)`).exec(stack)?.[1];
  throw refused(`${line === undefined ? '' : `line ${line}: `}${name}: ${message}`);
}

function errorOf(thrown: unknown): { name?: string; message?: string; stack?: string } {
  return typeof thrown === 'object' && thrown !== null ? thrown : { message: String(thrown) };
}

function refused(message: string): AppError {
  return new AppError('validation_failed', `the code failed: ${message}`);
}

/** A result must not depend on when it is computed. */
function clockAt(now: number): string {
  return `{
  const Real = Date;
  const at = ${Math.floor(now * 1000)};
  const Fixed = function Date(...parts) {
    if (new.target === undefined) return new Real(at).toString();
    return Reflect.construct(Real, parts.length === 0 ? [at] : parts, new.target);
  };
  Fixed.prototype = Real.prototype;
  Fixed.prototype.constructor = Fixed;
  Fixed.now = () => at;
  for (const name of ['parse', 'UTC']) Fixed[name] = Real[name];
  globalThis.Date = Fixed;
}`;
}
