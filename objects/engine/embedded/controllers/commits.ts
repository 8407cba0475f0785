import type { IndexArguments, IndexCommit, IndexOperationName } from '@granary/storage/objects';

/** A change as it crosses to the main thread. */
export interface CommitMessage {
  readonly operation: IndexOperationName;
  readonly args: IndexArguments<IndexOperationName>;
}

/** For a controller: every change is made by the main thread. */
export function askedCommit(ask: (message: CommitMessage) => Promise<unknown>): IndexCommit {
  return ((operation, args) => ask({ operation, args })) as IndexCommit;
}

/** For the main thread. */
export function commitAnswer(commit: IndexCommit): (message: CommitMessage) => Promise<unknown> {
  return ({ operation, args }) => commit(operation, args);
}
