import { MULTIPART_FROM_BYTES, partBytes, planParts, remaining, type Part, type StoredPart } from './parts.ts';
import { S3Problem, type S3 } from './client.ts';
import { mayPass } from './codes.ts';
import { Gate } from './gate.ts';
import { forget, recall, remember, type Keeper, type ResumeRecord } from './resume.ts';

const PARTS_AT_A_TIME = 2;
/** Half a minute in all: as long as an array needs that was killed and starts again. */
const ATTEMPTS = 6;
const PAUSE_MS = 1000;
/** Of the six that a browser has to a service: the pages and the streams of changes need theirs while files go up. */
const connections = new Gate(2);

interface Sending {
  readonly s3: S3;
  readonly bucket: string;
  readonly key: string;
  readonly file: File;
  readonly keeper: Keeper;
  readonly signal: AbortSignal;
  /** How much of the file is at the service, or on its way. */
  readonly onProgress: (bytes: number) => void;
}

/** Sends a file; one in parts goes on where it stopped, also after the page was closed. */
export async function sendFile(sending: Sending): Promise<void> {
  const { s3, bucket, key, file, signal, onProgress } = sending;
  if (file.size >= MULTIPART_FROM_BYTES) return sendInParts(sending);
  await patiently(signal, () => connections.run(() => s3.put(bucket, key, file, { signal, onSent: onProgress })));
}

async function sendInParts(sending: Sending): Promise<void> {
  const { s3, bucket, key, file, keeper } = sending;
  const target = { base: s3.base, person: s3.person, bucket, key };
  const { record, stored } = (await resumed(sending)) ?? { record: await begun(sending), stored: [] };
  const { todo, done, doneBytes } = remaining(planParts(file.size, record.partBytes), stored);
  const sent = await sendParts(sending, record, todo, doneBytes);
  await patiently(sending.signal, () => s3.completeUpload(bucket, key, record.uploadId, [...done, ...sent]));
  forget(keeper, target);
}

/** What the service has of an upload that was begun before; undefined where it knows of none. */
async function resumed({ s3, bucket, key, file, keeper, signal }: Sending) {
  const target = { base: s3.base, person: s3.person, bucket, key };
  const record = recall(keeper, target, file);
  if (!record) return undefined;
  try {
    return { record, stored: await patiently(signal, () => s3.parts(bucket, key, record.uploadId)) };
  } catch (error) {
    if (!(error instanceof S3Problem) || error.code !== 'NoSuchUpload') throw error;
    forget(keeper, target);
    return undefined;
  }
}

async function begun({ s3, bucket, key, file, keeper }: Sending): Promise<ResumeRecord> {
  const uploadId = await s3.beginUpload(bucket, key, file.type === '' ? 'application/octet-stream' : file.type);
  const { name, size, lastModified } = file;
  const record = {
    base: s3.base,
    person: s3.person,
    bucket,
    key,
    uploadId,
    partBytes: partBytes(size),
    file: { name, size, lastModified },
    begunAt: Date.now(),
  };
  remember(keeper, record);
  return record;
}

async function sendParts(
  { s3, bucket, key, file, signal, onProgress }: Sending,
  { uploadId }: ResumeRecord,
  todo: readonly Part[],
  doneBytes: number,
): Promise<StoredPart[]> {
  const underway = new Map<number, number>();
  const report = () => onProgress(doneBytes + [...underway.values()].reduce((sum, bytes) => sum + bytes, 0));
  const sent: StoredPart[] = [];
  const waiting = todo.values();
  report();
  const work = async () => {
    for (const { number, start, end } of waiting) {
      const onSent = (bytes: number) => {
        underway.set(number, Math.min(bytes, end - start));
        report();
      };
      const at = { bucket, key, uploadId, number };
      const send = () => s3.putPart(at, file.slice(start, end), { signal, onSent });
      sent.push(await patiently(signal, () => connections.run(send)));
      onSent(end - start);
    }
  };
  await Promise.all(Array.from({ length: PARTS_AT_A_TIME }, work));
  return sent;
}

/** A lost connection and an overloaded service are asked again; a refusal stays one. */
async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      signal.throwIfAborted();
      return await work();
    } catch (error) {
      const isPassing = error instanceof TypeError || (error instanceof S3Problem && mayPass(error));
      if (!isPassing || attempt === ATTEMPTS || signal.aborted) throw error;
      await pause(PAUSE_MS * 2 ** (attempt - 1), signal);
    }
  }
}

/** Ends early when the work is stopped. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
