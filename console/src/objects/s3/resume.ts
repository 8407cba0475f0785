/** What is remembered of uploads in parts, so that one can go on after the page was closed. */

/** Whose uploads, and where. */
export interface Origin {
  /** Where the array is reached; one browser may know many arrays. */
  readonly base: string;
  /** Several people may sign in at one browser: none is shown what another sent. */
  readonly person: string;
}

export interface Target extends Origin {
  readonly bucket: string;
  readonly key: string;
}

/** What a file is known by when it is chosen again. */
export interface FileTraits {
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
}

export interface ResumeRecord extends Target {
  readonly uploadId: string;
  readonly partBytes: number;
  readonly file: FileTraits;
  readonly begunAt: number;
}

export type Keeper = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

const PREFIX = 'granary-upload ';

function nameOf({ base, person, bucket, key }: Target): string {
  return `${PREFIX}${JSON.stringify([base, person, bucket, key])}`;
}

export function remember(keeper: Keeper, record: ResumeRecord): void {
  try {
    keeper.setItem(nameOf(record), JSON.stringify(record));
  } catch {
    // A browser that keeps nothing uploads all the same; only a reload starts anew.
  }
}

export function forget(keeper: Keeper, target: Target): void {
  keeper.removeItem(nameOf(target));
}

/** The upload that this file can go on with. Another file of the same name starts anew. */
export function recall(keeper: Keeper, target: Target, file: FileTraits): ResumeRecord | undefined {
  const record = parse(keeper.getItem(nameOf(target)));
  if (!record) return undefined;
  const { name, size, lastModified } = record.file;
  return name === file.name && size === file.size && lastModified === file.lastModified ? record : undefined;
}

/** Every upload into a bucket that was begun here and not ended. */
export function unfinished(keeper: Keeper, { base, person }: Origin, bucket: string): ResumeRecord[] {
  const names = Array.from({ length: keeper.length }, (_, index) => keeper.key(index) ?? '');
  return names
    .filter((name) => name.startsWith(PREFIX))
    .flatMap((name) => parse(keeper.getItem(name)) ?? [])
    .filter((record) => record.base === base && record.person === person && record.bucket === bucket);
}

function parse(text: string | null): ResumeRecord | undefined {
  if (text === null) return undefined;
  try {
    const record = JSON.parse(text) as Partial<ResumeRecord>;
    const isWhole =
      typeof record.uploadId === 'string' && typeof record.partBytes === 'number' && typeof record.file === 'object';
    return isWhole ? (record as ResumeRecord) : undefined;
  } catch {
    return undefined;
  }
}
