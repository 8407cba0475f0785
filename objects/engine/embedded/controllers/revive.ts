import type { PackedError } from '@granary/kernel/threads';
import { ObjectError, StorageError, type ObjectErrorCode, type StorageErrorCode } from '@granary/storage/objects';

/** An error of the other thread as one of this. */
export function revive({ name, message, code }: PackedError): Error {
  if (name === 'ObjectError') return new ObjectError(code as ObjectErrorCode, message);
  return name === 'StorageError' ? new StorageError(code as StorageErrorCode, message) : new Error(message);
}
