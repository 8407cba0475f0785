import type { Bucket } from '@granary/storage/object-store';
import { SwiftRefusal } from '../request/refusal.ts';
import type { ContainerRequest } from '../request/request.ts';

/** The container, if it is there; otherwise the reply is the same for every user who may not know. */
export function findContainer(request: ContainerRequest, may: (bucket: Bucket) => boolean): Bucket {
  const bucket = request.store.bucket(request.account.id, request.container);
  if (bucket === undefined) {
    request.access.demandReader(request.account.id);
    throw new SwiftRefusal(404, 'The container could not be found.');
  }
  request.concerns(bucket);
  request.access.demand(may(bucket), request.account.id);
  return bucket;
}
