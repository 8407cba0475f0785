import type { Transferable } from 'node:worker_threads';
import { namesOf, recordOf, valuesOf } from '@granary/kernel/threads';
import type { Arguments, Commit, NewContent, OperationName, WrittenVersion } from '@granary/storage/objects';

/**
 * A change as it crosses to the main thread. That of a PUT, and its answer, are lists: to name each field again costs
 * more than the values do. Its bytes go over as they are, without a copy.
 */
export type CommitMessage = readonly [operation: OperationName, args: unknown];

type Put = Arguments<'putObject'>;

const PUT = namesOf<Omit<Put, 'content'>>({
  bucket: true,
  key: true,
  size: true,
  etag: true,
  owner: true,
  attributes: true,
  retention: true,
  legalHold: true,
  expiresAt: true,
  conditions: true,
  at: true,
});
const WRITTEN = namesOf<WrittenVersion>({
  bucket: true,
  key: true,
  sequence: true,
  versionId: true,
  isLatest: true,
  isDeleteMarker: true,
  size: true,
  etag: true,
  modifiedAt: true,
  expiresAt: true,
  owner: true,
  attributes: true,
  retention: true,
  legalHold: true,
});

type Along = Extract<NewContent, { readonly kind: 'bytes' }>;
type PutMessage = readonly [values: readonly unknown[], policy: number, bytes: Uint8Array];

/** For a controller: every change is made by the main thread. */
export function askedCommit(
  ask: (message: CommitMessage, transfer?: readonly Transferable[]) => Promise<unknown>,
): Commit {
  const put = async (args: Put, { policy, bytes }: Along): Promise<WrittenVersion> => {
    const message: PutMessage = [valuesOf(PUT, args), policy, bytes];
    const written = await ask(['putObject', message], [bytes.buffer as ArrayBuffer]);
    return recordOf<WrittenVersion>(WRITTEN, written as readonly unknown[]);
  };
  const commit = (operation: OperationName, args: Arguments<OperationName>): Promise<unknown> => {
    const isAlong = operation === 'putObject' && (args as Put).content.kind === 'bytes';
    return isAlong ? put(args as Put, (args as Put).content as Along) : ask([operation, args]);
  };
  return commit as Commit;
}

/** For the main thread. */
export function commitAnswer(commit: Commit): (message: CommitMessage) => Promise<unknown> {
  const put = async ([values, policy, bytes]: PutMessage): Promise<readonly unknown[]> => {
    const args = recordOf<Omit<Put, 'content'>>(PUT, values);
    const written = await commit('putObject', { ...args, content: { kind: 'bytes', policy, bytes } });
    return valuesOf(WRITTEN, written);
  };
  return ([operation, args]) =>
    Array.isArray(args) ? put(args as unknown as PutMessage) : commit(operation, args as Arguments<typeof operation>);
}
