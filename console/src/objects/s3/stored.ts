/** A setting of a bucket or of an object as S3 has it. */
export interface Stored {
  /** Null where it was never set. */
  readonly document: string | null;
  /** What of it stands beside the document: a document that is sent without it would reset it. */
  readonly headers: Readonly<Record<string, string>>;
}

const BESIDE_DOCUMENT: Readonly<Record<string, readonly string[]>> = {
  lifecycle: ['x-amz-transition-default-minimum-object-size'],
};

export function headersOf(name: string, header: (name: string) => string | null): Readonly<Record<string, string>> {
  const found = (BESIDE_DOCUMENT[name] ?? []).map((each) => [each, header(each)] as const);
  return Object.fromEntries(found.filter((each): each is [string, string] => each[1] !== null));
}

/** All of it as text, for people; empty where it was never set. */
export function textOf({ document, headers }: Stored): string {
  return [...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), document ?? ''].join('\n');
}

/** Somebody else saved the setting after it was read here. */
export class ChangedMeanwhile extends Error {
  readonly now: Stored;

  constructor(now: Stored) {
    super('The setting was changed meanwhile.');
    this.name = 'ChangedMeanwhile';
    this.now = now;
  }
}

/**
 * Writes a setting that is still what the person has seen. S3 knows no condition on settings, so what is saved in the
 * moment between reading and writing is not noticed.
 */
export async function writeUnchanged<T>(
  seen: Stored,
  read: () => Promise<Stored>,
  write: () => Promise<T>,
): Promise<T> {
  const now = await read();
  if (textOf(now) !== textOf(seen)) throw new ChangedMeanwhile(now);
  return write();
}
