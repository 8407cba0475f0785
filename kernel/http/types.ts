import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Api, Endpoint, FileBody, InputOf, Operation, OutputOf } from '@granary/contract';
import type { Log } from '../log.ts';
import type { Raw } from './body.ts';

/** The caller of a request, as far as the kernel needs it. */
export interface Actor {
  /** Unique among all callers: idempotency keys belong to it. */
  readonly id: string;
  readonly role: string;
  /** A browser is behind the request: secrets are shown only where they are asked for. True of every session. */
  readonly hidesSecrets?: boolean | undefined;
  /** The session that the request was made with, where it was made with one. */
  readonly sessionId?: number | undefined;
  /** Who acts as the user, where several people of the portal may act as one. */
  readonly person?: string | undefined;
}

/** Whose limits count what somebody has open: each person's own, also where several act as one user. */
export function personOf({ id, person }: Pick<Actor, 'id' | 'person'>): string {
  return person === undefined ? id : `${id} ${person}`;
}

/** Where a service finds the credentials of a request. */
export interface CredentialSource {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params: Raw;
  readonly ip: string;
  /** The connection: a client certificate identifies the peer. */
  readonly socket: Socket;
  /** What is called: a parameter of its own is never a credential. */
  readonly endpoint: Endpoint;
}

export interface Context<A extends Actor> {
  readonly actor: A;
  readonly ip: string;
  readonly log: Log;
  readonly browser: Browser;
  /** The Set-Cookie header of the reply: only for endpoints that declare `setsCookie`. */
  setCookie: string | undefined;
  /** Whether the credentials of the request are good this moment, for a reply that takes long. */
  readonly isSignedIn?: () => Promise<boolean>;
  /** The total number of records of a list, for the `X-Total-Count` header. */
  total: number | undefined;
}

/** What a request says of the program that made it. */
export interface Browser {
  readonly userAgent: string | undefined;
  /** Whether it came over TLS, to this server or to a proxy before it. */
  readonly isSecure: boolean;
}

/** A call that was answered, for an audit log. */
export interface AnsweredCall {
  readonly operation: Operation;
  /** Undefined without a valid sign-in. */
  readonly actor: Actor | undefined;
  /** As they were sent, including secrets: the operation's declaration decides what is logged. */
  readonly params: Raw;
  readonly ip: string;
  /** 0 on success; else the code of the error or of the asynchronous result. */
  readonly code: number;
}

/** A handler's result when the work continues after the reply. */
export class Submitted {
  readonly message: string;

  constructor(message = '') {
    this.message = message;
  }
}

/**
 * A file that is streamed while it is created, because it may be larger than memory. A failure closes the connection.
 */
export interface StreamedFile {
  readonly filename: string;
  readonly stream: Readable;
}

type Handled<O> = Submitted | (O extends FileBody ? O | StreamedFile : O);

export type Handler<E extends Endpoint, A extends Actor> = (
  input: InputOf<E>,
  context: Context<A>,
) => Handled<OutputOf<E>> | Promise<Handled<OutputOf<E>>>;

/** The operations a service implements; the rest of the contract answers that it is not served yet. */
export type Handlers<P extends Api, A extends Actor> = {
  readonly [G in keyof P['groups']]?: {
    readonly [N in keyof P['groups'][G]]?: P['groups'][G][N] extends Endpoint ? Handler<P['groups'][G][N], A> : never;
  };
};

/** The caller of endpoints that need no sign-in. */
export const anonymous: Actor = { id: 'nobody', role: 'nobody' };

/** The operation ids a set of handlers implements. */
export function operationsOf(handlers: object): string[] {
  return Object.entries(handlers).flatMap(([group, endpoints]) =>
    Object.keys(endpoints as object).map((name) => `${group}.${name}`),
  );
}
