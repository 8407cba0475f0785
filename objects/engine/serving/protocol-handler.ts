import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DataContext } from '@granary/protocols/objects';
import type { DataHandler } from './data-server.ts';

type Handle = DataHandler['handle'];

/** S3 and Swift over one context. Their code is loaded with the first request: an idle array does without it. */
export function protocolHandler(context: DataContext): DataHandler {
  let loaded: Handle | undefined;
  let loading: Promise<Handle> | undefined;
  const handle: Handle = (request, response) => {
    if (loaded) {
      loaded(request, response);
      return;
    }
    loading ??= load(context);
    loading.then(
      (ready) => (loaded = ready)(request, response),
      (error: unknown) => {
        loading = undefined;
        context.onError(error, 'none');
        response.writeHead(500).end();
      },
    );
  };
  return { handle, handleContinue: handle };
}

async function load(context: DataContext): Promise<Handle> {
  const [{ createS3 }, { createSwift, isSwiftRequest }] = await Promise.all([
    import('@granary/protocols/s3'),
    import('@granary/protocols/swift'),
  ]);
  const s3 = createS3(context);
  const swift = createSwift(context);
  return (request: IncomingMessage, response: ServerResponse) => {
    if (!isForSwift(request, isSwiftRequest)) s3(request, response);
    else if (expectsOther(request)) response.writeHead(417, { 'content-length': 0, connection: 'close' }).end();
    else swift(request, response);
  };
}

/** A token is Swift's alone: who sends one to an address that is not Swift's is answered as Swift does. */
function isForSwift(request: IncomingMessage, isSwiftRequest: (url: string) => boolean): boolean {
  if (isS3Signed(request)) return false;
  return isSwiftRequest(request.url ?? '/') || request.headers['x-auth-token'] !== undefined;
}

/** Something other than 100 Continue, which nothing here can meet. */
function expectsOther({ headers }: IncomingMessage): boolean {
  const expected = headers.expect?.trim() ?? '';
  return expected !== '' && expected.toLowerCase() !== '100-continue';
}

/** A bucket may have the name of one of Swift's own paths: what is signed for S3 is S3. */
function isS3Signed({ headers, url }: IncomingMessage): boolean {
  if (headers.authorization?.startsWith('AWS') === true) return true;
  return url !== undefined && (url.includes('X-Amz-Signature=') || url.includes('AWSAccessKeyId='));
}
