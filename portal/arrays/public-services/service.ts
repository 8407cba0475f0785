import { badParameter, fail, GranaryError, type Db, type Tx } from '@granary/kernel';
import type { ArrayId } from '../../ids.ts';
import { scopeOf, type PortalActor } from '../../actor.ts';
import type { CloudService } from '../../clouds/service.ts';
import { interfacesOfArray } from '../../networks/index.ts';
import { priceOf } from '../../pricing/price-book.ts';
import type { Tools } from '../../tools.ts';
import type { PortalArray } from '../array.ts';
import type { ArrayStates } from '../states.ts';
import type { ServiceAccounts } from './accounts.ts';
import { checkPlace } from './place.ts';
import type { PublicService } from './public-service.ts';
import * as repository from './repository.ts';
import { publicServiceView, type PublicServiceView } from './view.ts';
import { PublicServiceWork, type ServiceChange } from './work.ts';

export interface ServiceInput {
  readonly account_name: string;
  readonly admin_username: string;
  readonly admin_password: string;
  readonly ip: string;
  readonly host: string;
  readonly auto_approve: boolean;
}

export type ServiceUpdate = { readonly [K in keyof ServiceInput]?: ServiceInput[K] | undefined };

interface Parts {
  readonly tools: Tools;
  readonly clouds: CloudService;
  readonly states: ArrayStates;
  readonly accounts: ServiceAccounts;
}

const WAIT_MS_MAX = 20_000;

/** The offer of an object storage array to people who have no array of their own. */
export class PublicServiceService {
  readonly #parts: Parts;
  readonly #work: PublicServiceWork;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#work = new PublicServiceWork(parts);
  }

  get(actor: PortalActor, arrayId: ArrayId): PublicServiceView {
    const { store, clock } = this.#parts.tools;
    return store.read((db) => {
      const array = this.#parts.states.existing(db, arrayId, scopeOf(actor));
      return publicServiceView(existing(db, array), priceOf(db, array.providerId, 'public_objs', clock.now()));
    });
  }

  async create(actor: PortalActor, arrayId: ArrayId, input: ServiceInput): Promise<PublicServiceView> {
    const { tools, accounts } = this.#parts;
    const { array } = tools.store.read((db) => this.#checkNew(db, actor, arrayId, input));
    await accounts.refuseTaken(array, input.account_name);
    const jobId = await tools.store.write((tx) => {
      const { ip } = this.#checkNew(tx, actor, arrayId, input);
      repository.insertPublicService(tx, {
        arrayId,
        state: 'opening',
        accountName: input.account_name,
        remoteId: null,
        username: input.admin_username,
        passwordSealed: tools.vault.seal(input.admin_password),
        ip,
        host: input.host.toLowerCase(),
        autoApprove: input.auto_approve,
        changedAt: tools.clock.now(),
      });
      this.#record(tx, array, 'is being opened', actor);
      return this.#work.startOpening(tx, arrayId);
    });
    await this.#finished(jobId);
    return this.get(actor, arrayId);
  }

  async update(actor: PortalActor, arrayId: ArrayId, update: ServiceUpdate): Promise<PublicServiceView> {
    const { tools } = this.#parts;
    const jobId = await tools.store.write((tx) => {
      const array = this.#changeable(tx, actor, arrayId);
      const service = existing(tx, array);
      requireOpen(array, service);
      refuseRenaming(service, update);
      const ip = update.ip && checkPlace(update.ip, array, interfacesOfArray(tx, arrayId));
      if (update.admin_password !== undefined && service.remoteId === null)
        throw badParameter('admin_password', 'cannot be set: the service has no account; delete it and open it again');
      const { change, needsArray } = this.#changeOf({ ...update, ip });
      const changedAt = tools.clock.now();
      repository.updatePublicService(tx, arrayId, needsArray ? { state: 'changing', changedAt } : change);
      this.#record(tx, array, needsArray ? 'is being changed' : 'was changed', actor);
      return needsArray ? this.#work.startChange(tx, arrayId, change) : undefined;
    });
    if (jobId !== undefined) await this.#finished(jobId);
    return this.get(actor, arrayId);
  }

  /** Its account goes with all it holds. */
  async delete(actor: PortalActor, arrayId: ArrayId): Promise<void> {
    const { tools } = this.#parts;
    const jobId = await tools.store.write((tx) => {
      const array = this.#changeable(tx, actor, arrayId);
      requireOpen(array, existing(tx, array));
      repository.updatePublicService(tx, arrayId, { state: 'closing', changedAt: tools.clock.now() });
      this.#record(tx, array, 'is being withdrawn', actor);
      return this.#work.startClosing(tx, arrayId);
    });
    await this.#finished(jobId);
  }

  #changeOf({ ip, host, admin_password: password, auto_approve: autoApprove }: ServiceUpdate) {
    const passwordSealed = password === undefined ? undefined : this.#parts.tools.vault.seal(password);
    const change: ServiceChange = { ip, host: host?.toLowerCase(), passwordSealed, autoApprove };
    return { change, needsArray: [ip, host, password].some((one) => one !== undefined) };
  }

  #checkNew(db: Db, actor: PortalActor, arrayId: ArrayId, { ip }: ServiceInput) {
    const array = this.#changeable(db, actor, arrayId);
    const known = repository.findPublicService(db, arrayId);
    if (known)
      throw fail('in_use', {
        kind: 'Array',
        id: array.name,
        by: `its public object service is there already, as ${known.host}`,
      });
    return { array, ip: checkPlace(ip, array, interfacesOfArray(db, arrayId)) };
  }

  /** The account is made and removed by the array, so it has to be up. */
  #changeable(db: Db, actor: PortalActor, arrayId: ArrayId): PortalArray {
    const array = this.#parts.states.existing(db, arrayId, scopeOf(actor));
    if (array.product !== 'object_storage') throw fail('not_object_storage', { name: array.name });
    return this.#parts.states.require(db, arrayId, scopeOf(actor), 'its public object service', ['created']);
  }

  async #finished(jobId: number): Promise<void> {
    const job = await this.#parts.tools.jobs.wait(jobId, WAIT_MS_MAX);
    if (job?.state === 'failed') throw new GranaryError('not_supported', job.error ?? 'It failed.');
  }

  #record(tx: Tx, { id, name }: PortalArray, what: string, actor: PortalActor): void {
    const { tools, states } = this.#parts;
    const title = `The public object service of array ${name} ${what}.`;
    tools.events.record(tx, { title, subject: `array:${id}`, actor: actor.username });
    states.touch(tx, id);
  }
}

function existing(db: Db, { id, name }: PortalArray): PublicService {
  const service = repository.findPublicService(db, id);
  if (!service) throw fail('not_found', { kind: 'public object service of array', id: name });
  return service;
}

/** While it is being opened, changed or withdrawn, that is ended first. */
function requireOpen({ name }: PortalArray, { state }: PublicService): void {
  if (state === 'open') return;
  const kind = 'The public object service of array';
  throw fail('wrong_state', { kind, id: name, state, action: 'changing it', needed: 'open' });
}

/** The account and its data have these names at the array, and programs sign in by them. */
function refuseRenaming(service: PublicService, { account_name: name, admin_username: username }: ServiceUpdate): void {
  if (name !== undefined && name !== service.accountName)
    throw badParameter(
      'account_name',
      `cannot be changed from ${service.accountName}: delete the service and open it under the other name`,
    );
  if (username !== undefined && username !== service.username)
    throw badParameter(
      'admin_username',
      `cannot be changed from ${service.username}: add another user to account ${service.accountName} at the array`,
    );
}
