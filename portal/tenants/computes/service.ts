import type { InputOf } from '@granary/contract';
import type { portalApi } from '@granary/contract/portal';
import { bytes, fail, GB, type Db, type Page, type Tx } from '@granary/kernel';
import type { RequestId, UserId } from '../../ids.ts';
import { scopeOf, type PortalActor } from '../../actor.ts';
import type { Tools } from '../../tools.ts';
import { findProvider } from '../../providers/repository.ts';
import { visibleProvider } from '../service.ts';
import type { Compute } from './compute.ts';
import * as repository from './repository.ts';
import { computeView, type ComputeView } from './view.ts';

type ComputeInput = InputOf<(typeof portalApi.groups.computes)['create']>;

/** What a request to open a compute account keeps: the call's own parameters. */
export type ComputeArguments = Omit<ComputeInput, 'moderate'>;

/** Files a request, or carries it out at once for those who may. */
export type FileRequest = (
  actor: PortalActor,
  request: {
    kind: 'create_compute' | 'delete_compute';
    name: string;
    moderate: boolean;
    arguments: Record<string, unknown>;
  },
) => Promise<{ decided: boolean; requestId: RequestId }>;

/** Why an account cannot go: what its limits hold up; undefined where nothing does. */
export type ExcessWithout = (db: Db, account: Compute) => string | undefined;

/** Compute accounts: how much a user may run at a provider. */
export class ComputeService {
  readonly #tools: Pick<Tools, 'store' | 'clock' | 'events'>;
  readonly #excessWithout: ExcessWithout;

  constructor(tools: Pick<Tools, 'store' | 'clock' | 'events'>, excessWithout: ExcessWithout = () => undefined) {
    this.#tools = tools;
    this.#excessWithout = excessWithout;
  }

  list(actor: PortalActor, page: Page): { computes: ComputeView[]; total: number } {
    return this.#tools.store.read((db) => ({
      computes: repository.listComputes(db, scopeOf(actor), page).map(computeView),
      total: repository.countComputes(db, scopeOf(actor)),
    }));
  }

  get(actor: PortalActor, id: number): ComputeView {
    return computeView(this.#tools.store.read((db) => existing(db, id, scopeOf(actor))));
  }

  /** With an account its limits go, so an administrator decides, as about the account itself. */
  async remove(actor: PortalActor, id: number, fileRequest: FileRequest): Promise<string> {
    const { displayName: name } = this.#tools.store.read((db) => {
      const account = existing(db, id, scopeOf(actor));
      this.#refuseExcess(db, account);
      return account;
    });
    const request = { kind: 'delete_compute', name, moderate: false, arguments: { compute_id: id } } as const;
    const { decided, requestId } = await fileRequest(actor, request);
    return decided
      ? `Compute account ${name} was removed.`
      : `The removal of compute account ${name} waits for an administrator as request ${requestId}.`;
  }

  /** Carries a removal out, in the transaction that decides it; one that is gone already is removed. */
  removeCompute(tx: Tx, id: number, actor: string): void {
    const account = repository.findCompute(tx, id, null);
    if (!account) return;
    this.#refuseExcess(tx, account);
    repository.deleteCompute(tx, id);
    const title = `Compute account ${account.displayName} was removed.`;
    this.#tools.events.record(tx, { title, subject: `compute:${id}`, actor });
  }

  #refuseExcess(db: Db, account: Compute): void {
    const by = this.#excessWithout(db, account);
    if (by !== undefined) throw fail('in_use', { kind: 'Compute account', id: account.displayName, by });
  }

  /** Asks for an account; what cannot work is refused before a request is filed. */
  async order({ moderate, ...input }: ComputeInput, actor: PortalActor, fileRequest: FileRequest): Promise<string> {
    const { provider_id: providerId, display_name: name } = input;
    this.#tools.store.read((db) => {
      visibleProvider(db, actor, providerId);
      refuseTakenName(db, { userId: actor.userId, providerId, displayName: name });
    });
    const request = { kind: 'create_compute', name, moderate, arguments: input } as const;
    const { decided, requestId } = await fileRequest(actor, request);
    return decided
      ? `Compute account ${name} was created.`
      : `Compute account ${name} waits for an administrator as request ${requestId}.`;
  }

  /** Carries a request out, in the transaction that decides it. */
  createCompute(
    tx: Tx,
    { userId, arguments: args, actor }: { userId: UserId; arguments: ComputeArguments; actor: string },
  ): number {
    const compute = computeOf(userId, args);
    const { providerId, displayName } = compute;
    if (!findProvider(tx, providerId)) throw fail('not_found', { kind: 'provider', id: providerId });
    refuseTakenName(tx, compute);
    const id = repository.insertCompute(tx, { ...compute, createdAt: this.#tools.clock.now() });
    const title = `Compute account ${displayName} was created.`;
    this.#tools.events.record(tx, { title, subject: `compute:${id}`, actor });
    return id;
  }
}

function existing(db: Db, id: number, scope: UserId | null): Compute {
  const account = repository.findCompute(db, id, scope);
  if (!account) throw fail('not_found', { kind: 'compute account', id });
  return account;
}

function refuseTakenName(db: Db, compute: Pick<Compute, 'userId' | 'providerId' | 'displayName'>): void {
  if (repository.isComputeNameTaken(db, compute)) throw fail('name_taken', { name: compute.displayName });
}

function computeOf(userId: UserId, args: ComputeArguments): Omit<Compute, 'id' | 'createdAt'> {
  return {
    userId,
    providerId: args.provider_id,
    displayName: args.display_name,
    description: args.display_description ?? null,
    cores: args.cores,
    ram: bytes(args.ram * GB),
    instances: args.instances,
  };
}
