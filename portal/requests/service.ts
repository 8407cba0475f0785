import { isDeepStrictEqual } from 'node:util';
import type { RequestKind } from '@granary/contract/portal';
import { badParameter, fail, type Db, type Page, type Tx } from '@granary/kernel';
import type { ArrayId, RequestId, UserId } from '../ids.ts';
import { mayActAtOnce, scopeOf, type PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import * as repository from './repository.ts';
import type { PortalRequest } from './request.ts';
import { requestView, type RequestView } from './view.ts';

/** What a user asks for. */
export interface Filing {
  readonly kind: RequestKind;
  readonly name: string;
  readonly arrayId: ArrayId | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
  /** Whether an administrator is to be asked even if the user could act alone. */
  readonly moderate: boolean;
  /** What was offered to everyone needs no administrator's word. */
  readonly isApproved?: boolean;
}

export interface Filed {
  readonly requestId: RequestId;
  /** Carried out already; else it waits for an administrator. */
  readonly decided: boolean;
  /** The work that carrying it out started. */
  readonly jobId: number | undefined;
}

/** How requests of a kind are carried out; the service whose kind it is registers this. */
export interface Executor {
  /** What can be refused before it is carried out; if it throws, the request stays as it is. */
  check?(request: PortalRequest): void | Promise<void>;
  /** In the transaction that approves it: both or neither. Returns the job it started, if any. */
  execute(tx: Tx, request: PortalRequest): number | undefined;
  /** Waits for that job a while and throws if it failed, so that the approval fails with its error. */
  finished?(jobId: number): Promise<void>;
  denied?(tx: Tx, request: PortalRequest, reason: string, by: string): void;
  /** By the user who asked; without it, what is withdrawn is treated as denied. */
  withdrawn?(tx: Tx, request: PortalRequest, by: string): void;
  /** Whether the administrator may give it another name. */
  readonly renames?: (tx: Tx, request: PortalRequest, name: string) => void;
}

/** What needs an administrator's word: filed, approved or denied, and kept as a record of who decided what. */
export class RequestService {
  readonly #tools: Tools;
  readonly #executors = new Map<RequestKind, Executor>();

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  register(kinds: readonly RequestKind[], executor: Executor): void {
    for (const kind of kinds) this.#executors.set(kind, executor);
  }

  /**
   * Files a request, and carries it out at once for those who may. `alongside` is part of the same transaction:
   * it runs once the request has its number and before it is carried out.
   */
  async file(
    actor: PortalActor,
    filing: Filing,
    alongside?: (tx: Tx, requestId: RequestId) => number | undefined,
  ): Promise<Filed> {
    const { store } = this.#tools;
    const atOnce = filing.isApproved === true || (mayActAtOnce(actor) && !filing.moderate);
    if (atOnce) await this.#executor(filing.kind).check?.(this.#draft(actor, filing));
    return store.write((tx) => {
      if (!atOnce) this.#refuseSame(tx, actor, filing);
      const requestId = this.#insert(tx, actor, filing);
      const arrayId = alongside?.(tx, requestId);
      if (arrayId !== undefined) repository.setArray(tx, requestId, arrayId);
      if (!atOnce) return { requestId, decided: false, jobId: undefined };
      return { requestId, decided: true, jobId: this.#approve(tx, this.#existing(tx, requestId), actor) };
    });
  }

  list(
    actor: PortalActor,
    status: PortalRequest['status'] | undefined,
    page: Page,
  ): { requests: RequestView[]; total: number } {
    const filter = { scope: scopeOf(actor), status };
    return this.#tools.store.read((db) => ({
      requests: repository.listRequests(db, filter, page).map(requestView),
      total: repository.countRequests(db, filter),
    }));
  }

  get(actor: PortalActor, id: RequestId): RequestView {
    return requestView(this.#tools.store.read((db) => this.#existing(db, id, scopeOf(actor))));
  }

  async approve(actor: PortalActor, id: RequestId, name: string): Promise<void> {
    const { store } = this.#tools;
    const request = store.read((db) => this.#pending(db, id));
    const executor = this.#executor(request.kind);
    if (!executor.renames && name !== request.name)
      throw badParameter('name', `must be ${request.name}, the name of the request`);
    await executor.check?.(request);
    const jobId = await store.write((tx) => {
      if (name !== request.name) executor.renames?.(tx, request, name);
      return this.#approve(tx, this.#pending(tx, id), actor);
    });
    if (jobId !== undefined) await executor.finished?.(jobId);
  }

  async deny(actor: PortalActor, id: RequestId, reason: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      this.refuse(tx, this.#pending(tx, id), reason, actor.username);
    });
  }

  /** By the user who asked, or by an administrator in their place. */
  async withdraw(actor: PortalActor, id: RequestId): Promise<void> {
    await this.#tools.store.write((tx) => {
      this.#withdraw(tx, this.#pending(tx, id, scopeOf(actor)), actor.username);
    });
  }

  async delete(actor: PortalActor, id: RequestId): Promise<void> {
    await this.#tools.store.write((tx) => {
      const request = this.#existing(tx, id);
      if (request.status === 'pending') this.refuse(tx, request, 'the request was removed', actor.username);
      repository.deleteRequest(tx, id);
    });
  }

  /** An approved request whose work failed waits again; false when it is gone. */
  reopen(tx: Tx, id: RequestId, reason: string, secretsSealed: string | null): boolean {
    return repository.reopenRequest(tx, id, reason, secretsSealed);
  }

  /** Everything still waiting about an array that is going away. */
  refuseOfArray(tx: Tx, arrayId: ArrayId, reason: string, by: string): void {
    for (const request of repository.findPendingOfArray(tx, arrayId)) this.refuse(tx, request, reason, by);
  }

  /** The order of an array, by the user who placed it; false when nothing waits. */
  withdrawOfArray(tx: Tx, arrayId: ArrayId, by: string): boolean {
    const waiting = repository.findPendingOfArray(tx, arrayId);
    for (const request of waiting) this.#withdraw(tx, request, by);
    return waiting.length > 0;
  }

  refuse(tx: Tx, request: PortalRequest, reason: string, by: string): void {
    this.#close(tx, request, { reason, by, event: `${numbered(request)} was denied by ${by}.` });
    this.#executor(request.kind).denied?.(tx, request, reason, by);
  }

  #withdraw(tx: Tx, request: PortalRequest, by: string): void {
    const reason = `withdrawn by ${by}`;
    this.#close(tx, request, { reason, by, event: `${numbered(request)} was withdrawn by ${by}.` });
    const executor = this.#executor(request.kind);
    if (executor.withdrawn) executor.withdrawn(tx, request, by);
    else executor.denied?.(tx, request, reason, by);
  }

  #close(tx: Tx, request: PortalRequest, { reason, by, event }: { reason: string; by: string; event: string }): void {
    const { clock, events } = this.#tools;
    const decision = { status: 'denied', reason, decidedBy: by, decidedAt: clock.now() } as const;
    if (!repository.decideRequest(tx, request.id, decision)) throw alreadyDecided(request);
    events.record(tx, { title: event, subject: `request:${request.id}`, actor: by });
  }

  #approve(tx: Tx, request: PortalRequest, actor: PortalActor): number | undefined {
    const { clock, events } = this.#tools;
    const decision = { status: 'approved', reason: null, decidedBy: actor.username, decidedAt: clock.now() } as const;
    if (!repository.decideRequest(tx, request.id, decision)) throw alreadyDecided(request);
    events.record(tx, {
      title: `${numbered(request)} was approved.`,
      subject: `request:${request.id}`,
      actor: actor.username,
    });
    return this.#executor(request.kind).execute(tx, request);
  }

  /** A second request for what already waits is refused. */
  #refuseSame(tx: Tx, actor: PortalActor, { kind, name, arrayId, arguments: args }: Filing): void {
    const same = repository
      .findPendingOfUser(tx, actor.userId, kind)
      .find((one) => one.arrayId === arrayId && one.name === name && isDeepStrictEqual(one.arguments, args));
    if (same)
      throw fail('in_use', {
        kind: 'The same',
        id: 'request',
        by: `request ${same.id} waits for an administrator already`,
      });
  }

  #insert(tx: Tx, actor: PortalActor, { secrets, ...filing }: Filing): number {
    const { clock, vault } = this.#tools;
    return repository.insertRequest(tx, {
      name: filing.name,
      kind: filing.kind,
      arrayId: filing.arrayId,
      userId: actor.userId,
      arguments: filing.arguments,
      secretsSealed: secrets ? vault.seal(JSON.stringify(secrets)) : null,
      createdAt: clock.now(),
    });
  }

  /** A request as `check` sees it when it is carried out before it has ever waited. */
  #draft(actor: PortalActor, filing: Filing): PortalRequest {
    return {
      id: 0,
      name: filing.name,
      status: 'pending',
      kind: filing.kind,
      arrayId: filing.arrayId,
      userId: actor.userId,
      arguments: filing.arguments,
      secretsSealed: null,
      reason: null,
      createdAt: this.#tools.clock.now(),
      decidedAt: null,
      decidedBy: null,
    };
  }

  #executor(kind: RequestKind): Executor {
    const executor = this.#executors.get(kind);
    if (!executor) throw new Error(`No executor is registered for requests of kind ${kind}`);
    return executor;
  }

  #existing(db: Db, id: RequestId, scope: UserId | null = null): PortalRequest {
    const request = repository.findRequest(db, id, scope);
    if (!request) throw fail('not_found', { kind: 'request', id });
    return request;
  }

  #pending(db: Db, id: RequestId, scope: UserId | null = null): PortalRequest {
    const request = this.#existing(db, id, scope);
    if (request.status !== 'pending') throw alreadyDecided(request);
    return request;
  }
}

function alreadyDecided({ id, status }: PortalRequest) {
  return fail('already_decided', { id, status: status === 'pending' ? 'decided' : status });
}

function numbered({ id, kind, name }: PortalRequest): string {
  return `Request ${id} (${spoken(kind)} ${name})`;
}

/** `create_array` → `create array`: events are read by people. */
function spoken(kind: string): string {
  return kind.replaceAll('_', ' ');
}
