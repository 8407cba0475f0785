import { useSyncExternalStore } from 'react';
import { whenPersonLeaves } from '../../api/leaving.ts';
import { S3Problem, type S3 } from './client.ts';
import { forget, recall } from './resume.ts';
import { sendFile } from './upload.ts';

export type UploadState = 'waiting' | 'running' | 'paused' | 'failed' | 'done';

export interface UploadItem {
  readonly id: number;
  readonly s3: S3;
  readonly bucket: string;
  readonly key: string;
  readonly file: File;
  readonly state: UploadState;
  readonly sentBytes: number;
  readonly problem: string | undefined;
}

const FILES_AT_A_TIME = 2;
const REPORT_MS = 200;

/** Uploads go on while other pages are open, and end with the session. */
class UploadQueue {
  #items: readonly UploadItem[] = [];
  #lastId = 0;
  readonly #stops = new Map<number, AbortController>();
  readonly #listeners = new Set<() => void>();
  readonly #onDone = new Set<(item: UploadItem) => void>();

  constructor() {
    whenPersonLeaves(() => this.clear());
  }

  readonly snapshot = (): readonly UploadItem[] => this.#items;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  whenDone(listener: (item: UploadItem) => void): () => void {
    this.#onDone.add(listener);
    return () => this.#onDone.delete(listener);
  }

  add(s3: S3, bucket: string, files: readonly { readonly key: string; readonly file: File }[]): void {
    const added = files.map(({ key, file }) => ({
      ...{ id: ++this.#lastId, s3, bucket, key, file },
      ...{ state: 'waiting' as const, sentBytes: 0, problem: undefined },
    }));
    const keys = new Set(added.map(({ key }) => key));
    // The same file again takes the place of its earlier attempt.
    const isReplaced = (item: UploadItem) =>
      item.bucket === bucket &&
      item.s3.base === s3.base &&
      keys.has(item.key) &&
      !['waiting', 'running'].includes(item.state);
    this.#set([...this.#items.filter((item) => !isReplaced(item)), ...added]);
    this.#startNext();
  }

  pause(id: number): void {
    this.#change(id, { state: 'paused' });
    this.#stops.get(id)?.abort();
  }

  resume(id: number): void {
    this.#change(id, { state: 'waiting', problem: undefined });
    this.#startNext();
  }

  /** Also takes away what the service has of it. */
  async drop(id: number): Promise<void> {
    const item = this.#items.find((one) => one.id === id);
    this.#stops.get(id)?.abort();
    this.#set(this.#items.filter((one) => one.id !== id));
    if (!item || item.state === 'done') return;
    const target = { base: item.s3.base, person: item.s3.person, bucket: item.bucket, key: item.key };
    const record = recall(localStorage, target, item.file);
    if (!record) return;
    forget(localStorage, target);
    await item.s3.abortUpload(item.bucket, item.key, record.uploadId).catch(() => undefined);
  }

  clearDone(): void {
    this.#set(this.#items.filter(({ state }) => state !== 'done'));
  }

  clear(): void {
    for (const stop of this.#stops.values()) stop.abort();
    this.#set([]);
  }

  #startNext(): void {
    const running = this.#items.filter(({ state }) => state === 'running').length;
    const next = this.#items.filter(({ state }) => state === 'waiting').slice(0, FILES_AT_A_TIME - running);
    for (const item of next) void this.#run(item);
  }

  async #run(item: UploadItem): Promise<void> {
    const stop = new AbortController();
    this.#stops.set(item.id, stop);
    this.#change(item.id, { state: 'running' });
    let reportedAt = 0;
    const onProgress = (sentBytes: number) => {
      if (Date.now() - reportedAt < REPORT_MS) return;
      reportedAt = Date.now();
      this.#change(item.id, { sentBytes });
    };
    try {
      await sendFile({ ...item, keeper: localStorage, signal: stop.signal, onProgress });
      this.#change(item.id, { state: 'done', sentBytes: item.file.size });
      for (const listener of this.#onDone) listener(item);
    } catch (error) {
      stop.abort();
      // One that was paused and goes on already has a run of its own.
      const isLatest = this.#stops.get(item.id) === stop;
      if (isLatest && this.#items.find(({ id }) => id === item.id)?.state === 'running')
        this.#change(item.id, { state: 'failed', problem: wordsFor(error) });
    } finally {
      if (this.#stops.get(item.id) === stop) this.#stops.delete(item.id);
      this.#startNext();
    }
  }

  #change(id: number, changes: Partial<UploadItem>): void {
    this.#set(this.#items.map((item) => (item.id === id ? { ...item, ...changes } : item)));
  }

  #set(items: readonly UploadItem[]): void {
    this.#items = items;
    for (const listener of this.#listeners) listener();
  }
}

function wordsFor(error: unknown): string {
  if (error instanceof S3Problem) return `${error.message} (${error.code})`;
  if (error instanceof DOMException && error.name === 'NotReadableError')
    return 'The browser can no longer read the file. Choose it again.';
  return error instanceof Error ? error.message : String(error);
}

export const uploadQueue = new UploadQueue();

export function useUploads(): readonly UploadItem[] {
  return useSyncExternalStore(uploadQueue.subscribe, uploadQueue.snapshot);
}
