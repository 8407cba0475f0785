import type { Operations } from '../operations.ts';
import type { BlobRef, Place } from '../records.ts';

/** The changes that a store offers, and those that are the index's own. */
export interface IndexOperations extends Operations {
  /** A piece was rewritten elsewhere. Ignored (false) when the blob is gone or the piece moved meanwhile. */
  relocate: {
    readonly args: {
      readonly blob: BlobRef;
      readonly slot: number;
      readonly from: Place | null;
      readonly to: Place;
      readonly pieceBytes: number;
    };
    readonly result: boolean;
  };
}

export type IndexOperationName = keyof IndexOperations;
export type IndexArguments<O extends IndexOperationName> = IndexOperations[O]['args'];
export type IndexResult<O extends IndexOperationName> = IndexOperations[O]['result'];

/** Makes a change durable; rejects with an `ObjectError` when it is refused. */
export type IndexCommit = <O extends IndexOperationName>(
  operation: O,
  args: IndexArguments<O>,
) => Promise<IndexResult<O>>;
