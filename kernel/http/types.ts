import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Api, Endpoint, FileBody, InputOf, Operation, OutputOf } from '@granary/contract';
import type { Log } from '../log.ts';
import type { Raw } from './body.ts';

/** Whoever sent the request, as far as the kernel needs to know. */
export interface Actor {
  /** Distinct among all who can sign in: idempotency keys belong to it. */
  readonly id: string;
  readonly role: string;
}

/** Where a service finds the credentials of a request. */
export interface CredentialSource {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params: Raw;
  readonly ip: string;
  /** The connection it came over: a client certificate tells who is at the other end. */
  readonly socket: Socket;
  /** What is called: a parameter of its own is never a credential. */
  readonly endpoint: Endpoint;
}

export interface Context<A extends Actor> {
  readonly actor: A;
  readonly ip: string;
  readonly log: Log;
  /** How many records a list holds in all, told in the `X-Total-Count` header. */
  total: number | undefined;
}

/** A call that was answered, for whoever keeps a log of them. */
export interface AnsweredCall {
  readonly operation: Operation;
  /** Undefined where nobody signed in, or not well. */
  readonly actor: Actor | undefined;
  /** As they were sent, secrets among them: what is kept of them goes by the operation's declaration. */
  readonly params: Raw;
  readonly ip: string;
  /** 0 when it did what was asked; else the code of the error or of the asynchronous result. */
  readonly code: number;
}

/** A handler's answer when the work goes on after the reply. */
export class Submitted {
  readonly message: string;

  constructor(message = '') {
    this.message = message;
  }
}

/** A file that is sent while it is made, because it may be larger than memory. One that fails ends the connection. */
export interface StreamedFile {
  readonly filename: string;
  readonly stream: Readable;
}

type Handled<O> = Submitted | (O extends FileBody ? O | StreamedFile : O);

export type Handler<E extends Endpoint, A extends Actor> = (
  input: InputOf<E>,
  context: Context<A>,
) => Handled<OutputOf<E>> | Promise<Handled<OutputOf<E>>>;

/** What a service implements: any part of the contract; the rest answers that it is not served yet. */
export type Handlers<P extends Api, A extends Actor> = {
  readonly [G in keyof P['groups']]?: {
    readonly [N in keyof P['groups'][G]]?: P['groups'][G][N] extends Endpoint ? Handler<P['groups'][G][N], A> : never;
  };
};

/** For endpoints anyone may call, when nobody signed in. */
export const anonymous: Actor = { id: 'nobody', role: 'nobody' };

/** The operation ids a set of handlers implements. */
export function operationsOf(handlers: object): string[] {
  return Object.entries(handlers).flatMap(([group, endpoints]) =>
    Object.keys(endpoints as object).map((name) => `${group}.${name}`),
  );
}
