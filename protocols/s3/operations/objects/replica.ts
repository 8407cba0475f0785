import type { S3Request } from '../../request.ts';

/** What another array sends that replicates to this one. S3 tells of replicas by this header and does not pass them on. */
export const REPLICATION_STATUS = 'x-amz-replication-status';
export const REPLICA = 'REPLICA';

/** Whether a change was made elsewhere first, so that it is not passed on again: two buckets may replicate to each other. */
export function isReplica(request: S3Request, action: string): boolean {
  if (request.header(REPLICATION_STATUS) !== REPLICA) return false;
  request.demand(action);
  return true;
}
