import { Socket, type SocketConstructorOpts } from 'node:net';

/** What Node keeps behind a socket, and how one is made around it: no part of its documentation. */
interface Inside {
  _handle: { readonly useUserBuffer?: unknown } | null;
}

interface Options {
  readonly handle: object;
  readonly noDelay: boolean;
  readonly onread: { readonly buffer: Uint8Array; readonly callback: (bytes: number, buffer: Uint8Array) => boolean };
}

/**
 * An accepted connection as a socket that receives into one buffer, again and again. By default every piece received
 * lies in memory of its own; at hundreds of megabytes a second that alone keeps the garbage collector busy for a fifth
 * of the time. Node offers this for sockets one connects, not for accepted ones, hence the way around; where it does
 * not lead anywhere, the socket stays as it is. `received` must be done with the bytes when it returns.
 */
export function receiveInPlace(accepted: Socket, bufferBytes: number, received: (bytes: Buffer) => void): Socket {
  const handle = (accepted as unknown as Inside)._handle;
  if (handle === null || typeof handle.useUserBuffer !== 'function') {
    accepted.on('data', received);
    accepted.resume();
    return accepted;
  }
  (accepted as unknown as Inside)._handle = null;
  accepted.destroy();
  const buffer = Buffer.allocUnsafeSlow(bufferBytes);
  const options: Options = {
    handle,
    noDelay: true,
    onread: {
      buffer,
      callback(bytes) {
        received(buffer.subarray(0, bytes));
        return true;
      },
    },
  };
  return new Socket(options as unknown as SocketConstructorOpts);
}
