import { EngineError } from '../errors.ts';
import type { SentError } from './protocol.ts';

/** The controller that was asked is gone, and with it the answer. */
export class ControllerGone extends Error {
  override readonly name = 'ControllerGone';
}

export function packError(error: unknown): SentError {
  if (error instanceof EngineError) return { code: error.code, message: error.message, stack: error.stack };
  if (error instanceof Error) return { code: undefined, message: error.message, stack: error.stack };
  return { code: undefined, message: String(error), stack: undefined };
}

export function unpackError({ code, message, stack }: SentError): Error {
  const error = code === undefined ? new Error(message) : new EngineError(code, message);
  if (stack !== undefined) error.stack = stack;
  return error;
}

export function interrupted(): EngineError {
  return new EngineError('interrupted', 'The controller that did this handed over to the other one; ask again.');
}
