import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AdmittedConnection, ConnectionLimits } from './connection-limits.ts';

/** By the socket that requests carry: the encrypted one on a TLS server. */
const connections = new WeakMap<object, HttpConnection>();

/** A request over this connection was authenticated, so it is dropped after unauthenticated ones. */
export function markSignedIn(socket: object): void {
  connections.get(socket)?.signIn();
}

/**
 * Applies limits to an HTTP server. They act on the TCP connection, so they hold before and during a TLS handshake as
 * well.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const handshakes = new Map<string, HttpConnection>();
  server.on('connection', (socket: Socket) => {
    const connection = HttpConnection.admit(socket, limits);
    if (!connection) return;
    connections.set(socket, connection);
    if (!isTlsServer(server)) return;
    const key = endpointsOf(socket);
    handshakes.set(key, connection);
    socket.once('close', () => handshakes.delete(key));
  });
  server.on('secureConnection', (socket: Socket) => {
    const connection = handshakes.get(endpointsOf(socket));
    handshakes.delete(endpointsOf(socket));
    if (!connection) return;
    connection.socket = socket;
    connections.set(socket, connection);
    socket.once('close', () => connection.end());
  });
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    connections.get(request.socket)?.beginRequest(request, response);
  };
  // Before the server's own listener, which may answer synchronously.
  server.prependListener('request', begin);
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', begin);
}

/**
 * Drops connections whose client reads nothing of its response for a time, and idle connections after their timeout. A
 * client that waits for a response is not dropped: some requests take as long as the work they start.
 */
export function dropUnread(server: Server, unreadMsMax: number): void {
  server.timeout = unreadMsMax;
  server.on('timeout', (socket: Socket) => {
    const isWaiting = connections.get(socket)?.isBusy === true && socket.writableLength === 0;
    if (!isWaiting) socket.destroy();
  });
}

class HttpConnection {
  /** Destroyed when the connection is dropped. */
  socket: Socket;
  readonly #place: AdmittedConnection;
  #requests = 0;
  #isSignedIn = false;

  static admit(socket: Socket, limits: ConnectionLimits): HttpConnection | undefined {
    // The connection may end between being accepted and being admitted.
    socket.on('error', ignore);
    const place = limits.admit(socket.remoteAddress ?? '', () => connection.socket.destroy());
    if (!place) {
      socket.destroy();
      return undefined;
    }
    const connection = new HttpConnection(socket, place);
    socket.once('close', () => connection.end());
    return connection;
  }

  private constructor(socket: Socket, place: AdmittedConnection) {
    this.socket = socket;
    this.#place = place;
  }

  beginRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#requests += 1;
    if (this.#isSignedIn) this.#place.enter('busy');
    else if (hasBody(request)) this.#awaitBody(request);
    else this.#place.enter('serving');
    response.once('close', () => this.#endRequest());
  }

  signIn(): void {
    if (this.#isSignedIn) return;
    this.#isSignedIn = true;
    this.#place.enter(this.#requests > 0 ? 'busy' : 'resting');
  }

  get isBusy(): boolean {
    return this.#requests > 0;
  }

  end(): void {
    this.#place.leave();
  }

  /** An incomplete request of an unauthenticated client does not count as a request. */
  #awaitBody(request: IncomingMessage): void {
    this.#place.enter('silent');
    request.once('end', () => {
      if (!this.#isSignedIn && this.#requests > 0) this.#place.enter('serving');
    });
  }

  #endRequest(): void {
    this.#requests -= 1;
    if (this.#requests === 0) this.#place.enter(this.#isSignedIn ? 'resting' : 'idle');
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The same for a raw socket and the encrypted one over it. */
function endpointsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function isTlsServer(server: Server): boolean {
  return 'setSecureContext' in server;
}

function ignore(): void {}
