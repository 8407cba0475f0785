import type { Arguments, Commit, OperationName } from '@granary/storage/objects';

/** A change as it crosses to the main thread. */
export interface CommitMessage {
  readonly operation: OperationName;
  readonly args: Arguments<OperationName>;
}

/** For a controller: every change is made by the main thread. */
export function askedCommit(ask: (message: CommitMessage) => Promise<unknown>): Commit {
  return ((operation, args) => ask({ operation, args })) as Commit;
}

/** For the main thread. */
export function commitAnswer(commit: Commit): (message: CommitMessage) => Promise<unknown> {
  return ({ operation, args }) => commit(operation, args);
}
