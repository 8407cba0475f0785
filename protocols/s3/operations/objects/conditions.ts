/** What a reader demands of a version before it is sent. Dates as they came. */
export interface ReadConditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly ifModifiedSince?: string | undefined;
  readonly ifUnmodifiedSince?: string | undefined;
}

export type ConditionOutcome = 'met' | 'failed' | 'not-modified';

/**
 * A demand on the ETag outweighs the one on the date that goes with it. HTTP dates have no milliseconds, so those of the
 * version do not count either.
 */
export function evaluate(
  conditions: ReadConditions,
  version: { readonly etag: string; readonly modifiedAt: number },
): ConditionOutcome {
  const modified = Math.floor(version.modifiedAt / 1000) * 1000;
  if (conditions.ifMatch !== undefined) {
    if (!namesTag(conditions.ifMatch, version.etag)) return 'failed';
  } else {
    const since = dateOf(conditions.ifUnmodifiedSince);
    if (since !== null && modified > since) return 'failed';
  }
  if (conditions.ifNoneMatch !== undefined) {
    return namesTag(conditions.ifNoneMatch, version.etag) ? 'not-modified' : 'met';
  }
  const since = dateOf(conditions.ifModifiedSince);
  return since !== null && modified <= since ? 'not-modified' : 'met';
}

/** `If-Range`: a range is only good for the object it was begun with; a date must be exactly that of the version. */
export function rangeHolds(
  condition: string | undefined,
  version: { readonly etag: string; readonly modifiedAt: number },
): boolean {
  if (condition === undefined) return true;
  const date = /^\w{3},/.test(condition) ? dateOf(condition) : null;
  if (date !== null) return Math.floor(version.modifiedAt / 1000) * 1000 === date;
  return !condition.startsWith('W/') && bareTag(condition) === version.etag;
}

/** Whether a list of ETags, quoted or not, has this one or is `*`. */
function namesTag(list: string, etag: string): boolean {
  return list.split(',').some((one) => {
    const tag = bareTag(one);
    return tag === '*' || tag === etag;
  });
}

/** An ETag without quotes and without the mark of a weak one. */
export function bareTag(text: string): string {
  const tag = text.trim().replace(/^W\//, '');
  return tag.length >= 2 && tag.startsWith('"') && tag.endsWith('"') ? tag.slice(1, -1) : tag;
}

/** A date that cannot be read is as good as none. */
function dateOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
