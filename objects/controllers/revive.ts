import type { PackedError } from '@granary/kernel/threads';
import { ObjectError, type ObjectErrorCode } from '@granary/storage/objects';

/** An error of the other thread as one of this. */
export function revive({ name, message, code }: PackedError): Error {
  return name === 'ObjectError' ? new ObjectError(code as ObjectErrorCode, message) : new Error(message);
}
