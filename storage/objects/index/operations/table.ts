import type { IndexArguments, IndexOperationName, IndexResult } from '../index-operations.ts';
import { relocate } from './blobs.ts';
import { changeBucket, createBucket, deleteBucket } from './buckets.ts';
import type { Change } from './change.ts';
import { endNotifications, postponeNotification, trimNotifications } from './notifications.ts';
import { changeVersion, deleteObject, moveVersion, putObject } from './objects.ts';
import { dropUsage, purgeAccount } from './purge.ts';
import { endReplication, setReplicationUpload, postponeReplication } from './replication.ts';
import { abortUpload, completeUpload, createUpload, putPart } from './uploads.ts';

type Table = { readonly [O in IndexOperationName]: (change: Change, args: IndexArguments<O>) => IndexResult<O> };

export const OPERATIONS: Table = {
  createBucket,
  changeBucket,
  deleteBucket,
  putObject,
  deleteObject,
  changeVersion,
  moveVersion,
  createUpload,
  putPart,
  completeUpload,
  abortUpload,
  relocate,
  endReplication,
  postponeReplication,
  setReplicationUpload,
  endNotifications,
  postponeNotification,
  trimNotifications,
  purgeAccount,
  dropUsage,
};
