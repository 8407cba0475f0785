type Header = (name: string) => string | undefined;

function names(list: string, etag: string): boolean {
  const plain = etag.replaceAll('"', '');
  return list.split(',').some((item) => {
    const value = item.trim().replace(/^W\//, '').replaceAll('"', '');
    return value === '*' || value === plain;
  });
}

function seconds(date: string | undefined): number | undefined {
  if (date === undefined) return undefined;
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
}

/** What the conditions of a request say: it is answered, its caller has the object already, or they do not hold. */
export type Verdict = 'answer' | 'not-modified' | 'failed';

export function judge(header: Header, etag: string, modifiedAt: number): Verdict {
  const modified = Math.floor(modifiedAt / 1000);
  const ifMatch = header('if-match');
  if (ifMatch !== undefined) {
    if (!names(ifMatch, etag)) return 'failed';
  } else {
    const before = seconds(header('if-unmodified-since'));
    if (before !== undefined && modified > before) return 'failed';
  }
  const ifNoneMatch = header('if-none-match');
  if (ifNoneMatch !== undefined) return names(ifNoneMatch, etag) ? 'not-modified' : 'answer';
  const since = seconds(header('if-modified-since'));
  return since !== undefined && modified <= since ? 'not-modified' : 'answer';
}

/** If-Range: a range is only good for the object it was begun with. */
export function rangeHolds(header: Header, etag: string, modifiedAt: number): boolean {
  const condition = header('if-range');
  if (condition === undefined) return true;
  const date = /^\w{3},/.test(condition) ? seconds(condition) : undefined;
  return date === undefined ? names(condition, etag) : Math.floor(modifiedAt / 1000) <= date;
}
