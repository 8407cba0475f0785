/** Booleans as the records of accounts and users spell them. */
export function trueFalse(value: boolean): 'True' | 'False' {
  return value ? 'True' : 'False';
}

/** Moments as they spell them: seconds since 1970, as text. */
export function epochSeconds(ms: number): string {
  return String(Math.floor(ms / 1000));
}

/** Exact, unlike sizes of drives: a few bytes that are stored are not none. */
export function storedGigabytes(bytes: number): number {
  return bytes / 2 ** 30;
}
