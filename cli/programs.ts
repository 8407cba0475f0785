import { fileURLToPath } from 'node:url';

/** The programs a cloud runs, one process for each array. */
export function programs(): { readonly storage_array: string; readonly object_storage: string } {
  return {
    storage_array: fileURLToPath(import.meta.resolve('@granary/array/main')),
    object_storage: fileURLToPath(import.meta.resolve('@granary/objects/main')),
  };
}
