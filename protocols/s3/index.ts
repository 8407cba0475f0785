import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DataContext } from '../objects/context.ts';
import { S3Access } from './access/access.ts';
import { Conversation, type Wire } from './conversation.ts';
import { Documents } from './documents.ts';
import { operations } from './operations/index.ts';
import { putObject } from './operations/objects/put-object.ts';
import { Router } from './routing.ts';
import { Authenticator } from './signature/authenticate.ts';

/**
 * S3 over an object store: a listener for `request` and, as it says 100 Continue itself once a request was allowed, for
 * `checkContinue` of an HTTP server.
 */
export function createS3(context: DataContext): (request: IncomingMessage, response: ServerResponse) => void {
  const wire: Wire = {
    context,
    authenticator: new Authenticator(context),
    access: new S3Access(context),
    router: new Router(operations),
    documents: new Documents(),
    postObject: { ...putObject, name: 'PostObject' },
  };
  const nextId = requestIds();
  return (request, response) => {
    const id = nextId();
    new Conversation(wire, request, response, id).run().catch((error: unknown) => {
      context.onError(error, id);
      response.destroy();
    });
  };
}

/** Sixteen digits: half of them tell threads and starts apart, half count. */
function requestIds(): () => string {
  const prefix = randomBytes(4).toString('hex').toUpperCase();
  let count = 0;
  return () => {
    count = (count + 1) % 2 ** 32;
    return prefix + count.toString(16).toUpperCase().padStart(8, '0');
  };
}
