import type { InputOf } from '@granary/contract';
import type { portalApi } from '@granary/contract/portal';
import { bytes, fail, GB, type Db, type Tx } from '@granary/kernel';
import type { RequestId, UserId } from '../../ids.ts';
import type { PortalActor } from '../../actor.ts';
import type { Tools } from '../../tools.ts';
import { findProvider } from '../../providers/repository.ts';
import { visibleProvider } from '../service.ts';
import type { Compute } from './compute.ts';
import * as repository from './repository.ts';

type ComputeInput = InputOf<(typeof portalApi.groups.computes)['create']>;

/** What a request to open a compute account keeps: the call's own parameters. */
export type ComputeArguments = Omit<ComputeInput, 'moderate'>;

/** Files a request, or carries it out at once for those who may. */
export type FileRequest = (
  actor: PortalActor,
  request: { kind: 'create_compute'; name: string; moderate: boolean; arguments: Record<string, unknown> },
) => Promise<{ decided: boolean; requestId: RequestId }>;

/** Compute accounts: how much a user may run at a provider. */
export class ComputeService {
  readonly #tools: Pick<Tools, 'store' | 'clock' | 'events'>;

  constructor(tools: Pick<Tools, 'store' | 'clock' | 'events'>) {
    this.#tools = tools;
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
