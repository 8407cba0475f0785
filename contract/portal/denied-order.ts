import { arrayStates } from './array-records.ts';

/** What the record of an array says when an administrator has denied its order: it has failed, and this is why. */
export function denialMessage(requestId: number, reason: string): string {
  return `Request ${requestId} was denied: ${reason}`;
}

/** As what arrays are counted: an order that was denied is not an array that failed, and a deleted array is none. */
export const countedStates = [...arrayStates.filter((state) => state !== 'deleted'), 'denied'] as const;

/** The reason, of an array whose order was denied. */
export function denialReason(array: { readonly status: string; readonly message: string | null }): string | undefined {
  return array.status === 'failed' ? /^Request \d+ was denied: (.*)$/s.exec(array.message ?? '')?.[1] : undefined;
}
